#pragma once

#include "formats/plain/problem.hpp"

#include <string>
#include <string_view>

namespace registry {

using formats::outcome;

/// "oci://…": something in a registry.
bool is_oci(std::string_view reference);

/// host/path/name[:tag][@digest], without the scheme.
struct oci_reference {
  std::string registry;    // host with port
  std::string repository;  // path with the name at its end
  std::string tag;         // with "_" where the version has "+"
  std::string digest;      // "sha256:…"

  /// "host/path/name:tag", or "…@sha256:…" without a tag.
  std::string text() const;
  /// What the manifest is asked by: the digest when there is one.
  const std::string& manifest() const { return digest.empty() ? tag : digest; }
};

/// Errors   "invalid reference: …"
outcome<oci_reference> parse_oci_reference(std::string_view text);

/// A version as a tag: tags know no plus sign.
std::string tag_of(std::string_view version);

}  // namespace registry
