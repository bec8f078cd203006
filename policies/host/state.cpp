// The Lua state's memory and its hook: what bounds a policy from below.

#include "policies/host/state.hpp"

#include "policies/host/coverage.hpp"
#include "reactor/per_thread.hpp"
#include "reactor/plain/memory.hpp"

#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace policies {
namespace {

/// Every use of the heap costs: this many bytes count as one instruction.
constexpr std::size_t bytes_per_step = 64;

/// A line of the pack begins: noted for who tests it.
void note_line(lua_State* L, lua_Debug* at, sandbox_state& state) {
  if (lua_getinfo(L, "S", at) == 0) return;
  const std::string_view source(at->source), label(state.label);
  // "@label/lib/zones.lua"
  if (source.size() <= label.size() + 2 || source[0] != '@' ||
      source.substr(1, label.size()) != label)
    return;
  try {
    auto& ran = state.limits.coverage->ran;
    const std::string_view file = source.substr(label.size() + 2);
    auto found = ran.find(file);
    if (found == ran.end()) found = ran.emplace(std::string(file), std::set<int>()).first;
    found->second.insert(at->currentline);
  } catch (...) {  // no memory: a line that is not counted
  }
}

/// What load_ours has compiled, by chunk.
struct compiled_texts {
  struct one {
    std::string source, bytecode;
  };
  std::map<std::string, one, std::less<>> all;
};
constexpr std::size_t most_compiled_texts = 200;  // our packs have 60 files

/// Runs every `hook_every` instructions. A call that is over its budget is paused as well and never
/// resumed, so that no pcall of the policy can catch the end.
void on_count(lua_State* L, lua_Debug* at) {
  sandbox_state& state = sandbox_state::of(L);
  if (at->event == LUA_HOOKLINE) {
    note_line(L, at, state);
    return;
  }
  call_state* call = state.current;
  if (call == nullptr) return;
  call->spent += state.armed;
  call->slice += state.armed;
  if (state.armed != state.usual_interval()) state.arm(state.usual_interval());
  if (call->spent > call->budget) call->exhausted = true;
  const bool pause = call->exhausted || call->slice >= call->pause_every ||
                     state.loop.now() - call->resumed_at >= call->pause_after;
  if (!pause) return;
  if (lua_isyieldable(L) != 0) {
    lua_yield(L, 0);
  } else if (call->exhausted || call->slice >= 4 * call->pause_every) {
    // Below a C function that called back. The sandbox offers none, but should one appear: raise at
    // every instruction until the call has unwound.
    call->exhausted = true;
    state.arm(1);
    luaL_error(L, "the instruction budget is used up");
  }
}

}  // namespace

int load_ours(lua_State* L, std::string_view source, const char* chunk) {
  const sandbox_state& state = sandbox_state::of(L);
  if (!state.loop.simulated() || state.limits.trial)
    return luaL_loadbufferx(L, source.data(), source.size(), chunk, "t");
  auto& all = reactor::of_this_thread<compiled_texts>().all;
  const auto known = all.find(std::string_view(chunk));
  if (known != all.end() && known->second.source == source) {
    const std::string& code = known->second.bytecode;
    return luaL_loadbufferx(L, code.data(), code.size(), chunk, "b");
  }
  const int status = luaL_loadbufferx(L, source.data(), source.size(), chunk, "t");
  if (status != 0 || all.size() >= most_compiled_texts) return status;
  // Where there is no memory for it, it is compiled again the next time.
  (void)reactor::memory_allows([&] {
    compiled_texts::one made{std::string(source), {}};
    const auto write = [](lua_State*, const void* data, std::size_t size, void* to) {
      const bool kept = reactor::memory_allows(
          [&] { static_cast<std::string*>(to)->append(static_cast<const char*>(data), size); });
      return kept ? 0 : 1;
    };
    if (lua_dump(L, write, &made.bytecode) == 0)
      all.insert_or_assign(std::string(chunk), std::move(made));
  });
  return status;
}

sandbox_state& sandbox_state::of(lua_State* L) {
  void* user = nullptr;
  lua_getallocf(L, &user);
  return *static_cast<sandbox_state*>(user);
}

bool sandbox_state::grants(std::size_t old_size, std::size_t new_size) {
  if (!bounded) return true;
  if (memory_trial* t = limits.trial;
      t != nullptr && t->asked++ >= t->fail_from && t->failed < t->fail_count) {
    ++t->failed;
    return false;
  }
  return new_size <= max_block_bytes && used_bytes - old_size + new_size <= limits.heap_bytes;
}

/// As realloc and free.
void* sandbox_state::resize(void* block, std::size_t old_size, std::size_t new_size) {
  if (new_size == 0) {
    std::free(block);
    return nullptr;
  }
  void* moved = std::realloc(block, new_size);
  if (moved != nullptr) return moved;
  if (new_size <= old_size) return block;
  // The pack is within its limit: it is the process that has none left, and no verdict about the
  // pack.
  reactor::memory_lost();
}

void* allocate(void* user, void* block, std::size_t old_size, std::size_t new_size) {
  auto& state = *static_cast<sandbox_state*>(user);
  if (block == nullptr) old_size = 0;
  if (new_size > old_size && !state.grants(old_size, new_size)) return nullptr;
  void* moved = state.resize(block, old_size, new_size);
  if (moved == nullptr && new_size != 0) return nullptr;
  state.used_bytes = state.used_bytes - old_size + new_size;
  if (old_size > big_block_bytes) --state.big_blocks;
  if (new_size > big_block_bytes) {
    ++state.big_blocks;
    if (state.current != nullptr && state.armed > hook_every_with_big_blocks)
      state.arm(hook_every_with_big_blocks);
  }
  if (new_size >= 16 * bytes_per_step)
    state.charge(static_cast<std::int64_t>(new_size / bytes_per_step));
  return moved;
}

void sandbox_state::charge(std::int64_t steps) {
  if (current == nullptr) return;
  current->spent += steps;
  current->slice += steps;
  if (current->slice >= current->pause_every && armed != 1) arm(1);
}

void sandbox_state::arm(int every) {
  armed = every;
  lua_sethook(lua, on_count, LUA_MASKCOUNT | (limits.coverage ? LUA_MASKLINE : 0), every);
}

void sandbox_state::close() {
  if (lua != nullptr) lua_close(lua);
  lua = nullptr;
}

}  // namespace policies
