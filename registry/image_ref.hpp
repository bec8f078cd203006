#pragma once

#include "reactor/plain/result.hpp"

#include <string>
#include <string_view>

namespace registry {

/// A canonical image reference: `DOMAIN/PATH[:TAG][@sha256:HEX]`. Short names are refused, since
/// two hosts may expand them differently.
struct image_ref {
  std::string name;    // "quay.io/org/os"
  std::string tag;     // empty = none given
  std::string digest;  // "sha256:…" or empty

  /// The tag that is meant: `latest` when neither tag nor digest was given.
  std::string effective_tag() const { return tag.empty() && digest.empty() ? "latest" : tag; }
  /// "quay.io/org/os@sha256:…": what nodes are asked to run.
  std::string pinned(std::string_view to_digest) const {
    return name + "@" + std::string(to_digest);
  }
  friend bool operator==(const image_ref&, const image_ref&) = default;
};

/// Errors: errc::malformed; `detail` says what is wrong, without repeating the reference.
/// Source: the grammar of distribution/reference, restricted to names that carry a registry.
reactor::result<image_ref> parse_image_ref(std::string_view text);

/// The digest inside a pull specification ("repo@sha256:…"), or empty.
std::string_view digest_in(std::string_view pull_spec) noexcept;

}  // namespace registry
