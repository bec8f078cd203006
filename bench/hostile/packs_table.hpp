#pragma once

// Inside bench/hostile only: the packs by theme.

#include "bench/hostile/packs.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench::hostile {

/// What a pack answers or logs when it got hold of something that it must not have.
inline constexpr std::string_view escape_mark = "ESCAPED";

/// A pack whose rollout.plan(units, fleet, now) has this body. `above` stands before it, at the top
/// of the file.
inline std::string plans(std::string_view body, std::string_view above = {}) {
  return std::string(above) + "\nlocal function plan(units, fleet, now)\n" + std::string(body) +
         "\nend\nreturn {name = 'hostile', rollout = {plan = plan}}\n";
}
/// A pack that does this while it is loaded.
inline std::string loads(std::string_view body) {
  return std::string(body) +
         "\nreturn {name = 'hostile', rollout = {plan = function() return {} end}}\n";
}

void add_loops(std::vector<pack>& all);
void add_memory(std::vector<pack>& all);
void add_text(std::vector<pack>& all);
void add_reach(std::vector<pack>& all);
void add_answers(std::vector<pack>& all);
void add_sources(std::vector<pack>& all);

}  // namespace bench::hostile
