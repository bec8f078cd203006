#pragma once

// Inside policies/host only: what the sandbox and the functions it gives to Lua share.

#include "policies/host/sandbox.hpp"
#include "policies/host/view.hpp"
#include "reactor/loop.hpp"

#include <lua.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace policies {

/// A policy shares the loop after this many instructions …
inline constexpr std::int64_t quantum = 10'000;
/// … or after this time, which a slow machine reaches first. Half the stall bound of 2 ms.
inline constexpr reactor::nanoseconds quantum_time = std::chrono::milliseconds(1);
/// The hook looks at the clock this often.
inline constexpr int hook_every = 100;
/// While a big block lives, single instructions may be slow (comparing, converting, scanning it).
inline constexpr int hook_every_with_big_blocks = 5;
inline constexpr std::size_t big_block_bytes = 64 * 1024;
/// No single table part or string is larger: one instruction must not take longer than the stall bound.
inline constexpr std::size_t max_block_bytes = 2 * 1024 * 1024;
/// What the text functions make at most.
inline constexpr std::size_t max_text_bytes = 512 * 1024;
/// Character comparisons that one find, match or gsub step may take: about 0.5 ms.
inline constexpr std::uint64_t max_match_steps = 100'000;

/// One call in progress; it is `current` while its Lua thread runs.
struct call_state {
  std::uint64_t id = 0;
  std::int64_t budget = 0, spent = 0, slice = 0;
  reactor::steady_time resumed_at{};
  bool exhausted = false;
  std::vector<std::string> log;
};

struct sandbox_state {
  reactor::loop& loop;
  sandbox_limits limits;
  pack_files files;
  std::string label;

  lua_State* lua = nullptr;
  call_state* current = nullptr;
  std::uint64_t last_call = 0;
  const void* view_metatable = nullptr;
  std::size_t used_bytes = 0, peak_bytes = 0, big_blocks = 0;
  int armed = 0;
  bool bounded = false;  // not while lua_newstate runs: LuaJIT crashes when it fails half-way

  /// The allocator's user pointer is the state: reachable from any lua_State without a lookup.
  static sandbox_state& of(lua_State* L);
  /// Counts work that no instruction stands for; asks for a pause when the slice is used up.
  void charge(std::int64_t steps);
  void arm(int every);
  int usual_interval() const { return big_blocks == 0 ? hook_every : hook_every_with_big_blocks; }
};

/// Pushes the table of functions that prelude.lua builds upon. May raise.
void push_library(lua_State* L);
/// Makes the metatable of views and keeps it in the registry. May raise.
void prepare_views(lua_State* L);
/// Adds is_view and view_next to the table on top. May raise.
void add_view_functions(lua_State* L);
/// Pushes a view for the current call. May raise.
void push_view(lua_State* L, const view_type* type, const void* object);
/// Raises `message` with the place of the innermost function of the policy itself.
[[noreturn]] void raise(lua_State* L, const char* format, ...)
    __attribute__((format(printf, 2, 3)));
/// Writes "file:line: " of the innermost function that belongs to the pack; empty when there is none.
void policy_place(lua_State* L, char* out, std::size_t size);
/// Copies the value at `index` out of Lua. Raises nothing; the caller made sure of 3 stack slots per level.
reactor::result<value> copy_out(lua_State* L, int index, const value_limits& limits);

}  // namespace policies
