#pragma once

#include <span>
#include <string_view>

namespace policies {

/// A file that was put into the program at build time by embed.cmake.
struct embedded_file {
  std::string_view path;  // "rollout/default/policy.lua"
  std::string_view content;
};

/// The stock packs, sorted by path.
std::span<const embedded_file> stock_files();
/// prelude.lua
std::string_view prelude_source();

}  // namespace policies
