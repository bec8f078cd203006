#pragma once

#include "helm/charts/chart.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace helm::sources {

inline constexpr std::size_t provenance_bytes_limit = 1u << 20;

/// The one signed block of a .prov file, whatever stands around it: nothing else may be believed.
/// Lifetime views the text.
/// Errors   "signature block not found"
outcome<std::string_view> find_signed_block(std::string_view text);

/// What a signed text says of files: name → "sha256:…".
using checksums = std::map<std::string, std::string>;
/// Reads the text that was signed: Chart.yaml, a line of three dots, the sums.
/// Errors   "message block must have at least two parts", those of the YAML reader.
outcome<checksums> read_signed_text(std::string_view text);

/// The digest or why not: `name` must be in the sums with this one, "sha256:…".
/// Errors   "provenance does not contain a SHA for a file named %q", "sha256 sum does not match for
///          %s: %q != %q".
outcome<std::string> check_sum(const checksums& sums, const std::string& name,
                               const std::string& digest);

/// The text to sign for an archive.
outcome<std::string> write_signed_text(const metadata& m, const std::string& name,
                                       std::string_view bytes);

}  // namespace helm::sources
