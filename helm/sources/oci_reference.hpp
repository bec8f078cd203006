#pragma once

#include "helm/problem.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace helm::sources {

/// "oci://…": a chart in a registry.
bool is_oci(std::string_view reference);

/// host/path/name[:tag][@digest], without the scheme.
struct oci_reference {
  std::string registry;    // host with port
  std::string repository;  // path with the chart's name
  std::string tag;         // with "_" where the version has "+"
  std::string digest;      // "sha256:…"

  /// "host/path/name:tag", or "…@sha256:…" without a tag.
  std::string text() const;
  /// What the manifest is asked by: the digest when there is one.
  const std::string& manifest() const { return digest.empty() ? tag : digest; }
};

/// Errors   "invalid reference: …"
outcome<oci_reference> parse_oci_reference(std::string_view text);

/// A chart version as a tag, and back: tags know no plus sign.
std::string tag_of(std::string_view version);
/// The tags that are strict versions, newest first, with their plus signs.
std::vector<std::string> versions_of(const std::vector<std::string>& tags);
/// The exact version first, else the first that satisfies the constraint; "" is any release.
/// Errors   "Could not locate a version matching provided version string %s", those of the constraint.
outcome<std::string> find_version(const std::vector<std::string>& versions,
                                  const std::string& wanted);

/// True for "sha256:" and 64 lower-case hexadecimal digits.
bool is_digest(std::string_view text);

}  // namespace helm::sources
