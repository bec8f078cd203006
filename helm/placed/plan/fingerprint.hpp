#pragma once

#include "helm/go.hpp"

#include <string>
#include <string_view>

namespace helm::placed {

/// Where the one chart is, as the flags have it: texts are hashed untouched.
struct chart_coordinates {
  std::string repo, name, version;
  /// "https://charts.jetstack.io/cert-manager:1.19.1"
  std::string text() const { return repo + "/" + name + ":" + version; }
  friend bool operator==(const chart_coordinates&, const chart_coordinates&) = default;
};

/// What a cluster's annotation on an object stands for: 64 digits of SHA-256 in lower case over
/// "repo|name|version" and, for each key at the top of the values in the order of bytes,
/// "|key=value".
/// Shape    true, false; whole numbers in plain decimals, others as Go prints them (1.5); texts as
///          they are; null is <nil>; maps and lists are JSON without blanks, keys sorted.
/// Requires values is a map or nil.
std::string fingerprint(const chart_coordinates& chart, const value& values);

/// The text that is hashed; for tests and for who wonders.
std::string fingerprint_text(const chart_coordinates& chart, const value& values);

/// Tells values apart, however deep: of the desired ones and of those that a record has.
std::string values_digest(const value& values);

}  // namespace helm::placed
