#pragma once

#include "releases/trains/train.hpp"
#include "reactor/awaitable.hpp"
#include "reactor/plain/result.hpp"
#include "registry/client.hpp"

#include <string>
#include <vector>

namespace cli {

/// A name that an image has by now, as its registry says it.
struct named_image {
  std::string ref, digest;
  enum class naming { given, there_already } how = naming::given;
};

/// Gives the images of a train the names of a release, and the indexes over them, below `place`
/// ("ghcr.io/example").
/// Order    everything is looked at before anything is written: what was tested is still called so,
///          and every name is free or names that digest. Then each is named and asked for again,
///          and all of them once more at the end: of two promotions at once, the one whose names
///          the other overwrote fails. A second run goes on where the first one ended.
/// Errors   errc::refused names the image; before the first write unless it says how many were
///          named.
reactor::awaitable<reactor::result<std::vector<named_image>>> give_names(
    registry::client& c, std::string place, policies::trains::train_answer plan);

}  // namespace cli
