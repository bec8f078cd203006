#pragma once

#include "policies/host/sandbox.hpp"

#include <cstddef>
#include <map>
#include <set>
#include <string>

namespace policies {

/// Which lines of a pack's Lua ran. Belongs to the call that runs in the sandbox at the moment.
struct line_coverage {
  std::map<std::string, std::set<int>, std::less<>> ran;  // by path in the pack: "policy.lua"
};

struct file_coverage {
  std::string file;
  std::size_t lines = 0, ran = 0;  // lines that hold code, and those of them that ran
  std::set<int> missed;
};

/// What of the pack's Lua, its tests left out, is code, and how much of it ran. Blocks: call it
/// through offload.
std::vector<file_coverage> lines_of(const pack_files& files, const line_coverage& seen);

}  // namespace policies
