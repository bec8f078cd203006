#pragma once

#include "formats/plain/problem.hpp"

#include <cstdint>
#include <string>

namespace formats {

inline constexpr std::uint64_t file_bytes_limit = 256u << 20;

/// Reads a whole file, or a pipe to its end.
/// Errors   "open PATH: no such file or directory", "read PATH: is a directory", "read PATH: more
///          than N bytes", …
outcome<std::string> read_file(const std::string& path, std::uint64_t limit = file_bytes_limit);

}  // namespace formats
