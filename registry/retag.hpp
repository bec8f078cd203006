#pragma once

#include "registry/client.hpp"

#include <string>
#include <vector>

namespace registry {

enum class retagged { made, there_already };

/// What stands in the way of giving an image another name; nothing is written.
/// Shape    `from` has a tag and the digest that was promised of it; `to` a tag, of the same
///          registry.
/// Errors   errc::altered: the tag names another digest by now. errc::refused: the other name is
///          taken by another one, and names stay where they are.
awaitable<answer<retagged>> can_retag(client& c, oci_reference from, oci_reference to);

/// Gives the image that `from` names by its digest the name `to` as well, in the same or another
/// repository of that registry. Blobs are mounted, or carried over where the registry does not
/// mount, and manifests stored as they are, those of an index first: the digest stays. Again is no
/// harm.
/// Errors   as can_retag; errc::malformed: an index of indexes.
awaitable<answer<retagged>> retag(client& c, oci_reference from, oci_reference to);

/// An image of an index to be: a reference with its digest, and the architecture that it is for.
struct index_part {
  oci_reference at;
  std::string architecture;
};
/// The text of an index of these images; nothing is written. Of a part that is an index itself, as
/// builders make them that attest, the one image for its architecture is taken: clients do not pull
/// what is an index of indexes.
/// Errors   as client::manifest; errc::refused: such a part has no image for it, or several.
awaitable<answer<std::string>> index_of(client& c, std::vector<index_part> parts);
/// Whether what has this digest may be called so: `made` when the name is free.
/// Errors   errc::refused: the name is taken by another one.
awaitable<answer<retagged>> can_name(client& c, oci_reference to, std::string digest);

}  // namespace registry
