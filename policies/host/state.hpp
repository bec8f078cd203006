#pragma once

// Inside policies/host only: what the sandbox and the functions it gives to Lua share.

#include "policies/host/sandbox.hpp"
#include "policies/host/view.hpp"
#include "reactor/loop.hpp"
#include "reactor/waiters.hpp"

#include <lua.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace policies {

/// A policy shares the loop after this many instructions …
inline constexpr std::int64_t quantum = 10'000;
/// … or after this time, which a slow machine reaches first. Half the stall bound of 2 ms.
inline constexpr reactor::nanoseconds quantum_time = std::chrono::milliseconds(1);
/// The same on the worker, where a pause costs more than the rest of the process gains from it.
inline constexpr std::int64_t worker_quantum = 100'000;
inline constexpr reactor::nanoseconds worker_quantum_time = std::chrono::milliseconds(5);
/// A pause that never comes.
inline constexpr std::int64_t in_no_slices = std::numeric_limits<std::int64_t>::max() / 8;
/// A pack of our own runs on the loop while its heap is smaller: what one step of the collector,
/// one rehash or one answer may cost grows with the heap, and no hook reaches into them.
inline constexpr std::size_t loop_heap_bytes = 1024 * 1024;
/// An answer with more values, or more text, is judged and freed on the worker.
inline constexpr std::size_t loop_answer_values = 2'000, loop_answer_bytes = 64 * 1024;
/// The hook looks at the clock this often.
inline constexpr int hook_every = 100;
/// While a big block lives, single instructions may be slow (comparing, converting, scanning it).
inline constexpr int hook_every_with_big_blocks = 5;
inline constexpr std::size_t big_block_bytes = 64 * 1024;
/// No single table part or string is larger. A table part of keys that all collide is quadratic, in
/// one instruction: this bounds what a worker can be kept busy with beyond the end of a call.
inline constexpr std::size_t max_block_bytes = 1024 * 1024 + 64 * 1024;
/// What the text functions make at most.
inline constexpr std::size_t max_text_bytes = 512 * 1024;
inline constexpr std::size_t max_pattern_bytes = 16 * 1024;
/// Character comparisons that one find, match or gsub step may take: about 0.5 ms.
inline constexpr std::uint64_t max_match_steps = 100'000;

/// As luaL_loadbuffer, for a text of our own. A simulation, which opens thousands of sandboxes, has
/// it compiled from the second time on.
int load_ours(lua_State* L, std::string_view source, const char* chunk);

/// One call in progress; it is `current` while its Lua thread runs.
struct call_state {
  std::uint64_t id = 0;
  std::int64_t budget = 0, spent = 0, slice = 0;
  std::int64_t pause_every = quantum;
  reactor::nanoseconds pause_after = quantum_time;
  reactor::steady_time resumed_at{};
  bool exhausted = false;
  std::vector<std::string> log;
};

/// Shape    one thread has it at a time: the loop, or the worker while `busy`. What Lua never sees
///          (busy, wanted, idle, abandoned) is the loop's alone.
struct sandbox_state {
  reactor::loop& loop;
  sandbox_limits limits;
  pack_files files;
  std::string label;
  author by = author::stranger;

  bool busy = false;                // a call has it on the worker
  std::size_t wanted = 0;           // calls that wait for their turn
  reactor::waiters idle{loop};      // they wait here
  bool answers_much = false;        // its last answer was too large for the loop
  std::vector<int> abandoned = {};  // references of cancelled calls, given back by the next one

  /// What a function of the library has read and now pushes: it stays here when that raises.
  value held = {};

  lua_State* lua = nullptr;
  call_state* current = nullptr;
  std::uint64_t last_call = 0;
  const void* view_metatable = nullptr;
  int view_metatable_at = LUA_NOREF;  // in the registry
  const void* list_metatable = nullptr;
  int list_metatable_at = LUA_NOREF;  // in the registry
  std::size_t used_bytes = 0, big_blocks = 0;
  int armed = 0;
  bool bounded = false;  // not while lua_newstate runs: LuaJIT crashes when it fails half-way

  ~sandbox_state() { close(); }
  /// Frees everything; 1 ms for every 1.5 MB.
  void close();
  bool grants(std::size_t old_size, std::size_t new_size);
  void* resize(void* block, std::size_t old_size, std::size_t new_size);

  /// The allocator's user pointer is the state: reachable from any lua_State without a lookup.
  static sandbox_state& of(lua_State* L);
  /// Counts work that no instruction stands for; asks for a pause when the slice is used up.
  void charge(std::int64_t steps);
  void arm(int every);
  int usual_interval() const { return big_blocks == 0 ? hook_every : hook_every_with_big_blocks; }
};

/// The allocator of a Lua state; `user` is its sandbox_state.
void* allocate(void* user, void* block, std::size_t old_size, std::size_t new_size);

/// Pushes the table of functions that prelude.lua builds upon. May raise.
void push_library(lua_State* L);
/// Makes the metatable of views and keeps it in the registry. May raise.
void prepare_views(lua_State* L);
/// Adds is_view, view_next and is_list to the table on top. May raise.
void add_view_functions(lua_State* L);
/// Makes the metatable that marks lists and keeps it in the registry. May raise.
void prepare_lists(lua_State* L);
/// Marks the table on top as a list, also while it is empty. May raise.
void mark_list(lua_State* L);
/// Whether the table at `index` is marked. Raises nothing; needs one stack slot.
bool is_marked_list(lua_State* L, int index);
/// Pushes plain data as tables. May raise: `v` belongs to a caller that outlives that.
void push_value(lua_State* L, const value& v);
/// Pushes a view for the current call. May raise.
void push_view(lua_State* L, const view_type* type, const void* object);
/// Raises `message` with the place of the innermost function of the policy itself.
[[noreturn]] void raise(lua_State* L, const char* format, ...)
    __attribute__((format(printf, 2, 3)));
/// Writes "file:line: " of the innermost function that belongs to the pack; empty when there is
/// none.
void policy_place(lua_State* L, char* out, std::size_t size);
/// A copied value and how much it is.
struct copied {
  value what;
  std::size_t values = 0, bytes = 0;
};
/// Copies the value at `index` out of Lua. Raises nothing; the caller made sure of 3 stack slots
/// per level.
reactor::result<copied> copy_out(lua_State* L, int index, const value_limits& limits);

}  // namespace policies
