#include "policies/host/sandbox.hpp"

#include "policies/host/embedded.hpp"
#include "policies/host/state.hpp"
#include "reactor/memory.hpp"

#include <luajit.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace policies {
namespace {

using reactor::errc;
using reactor::fault;
using reactor::make_fault;
using reactor::result;

constexpr const char* entry_key = "windlass.entries";
/// Every use of the heap costs: this many bytes count as one instruction.
constexpr std::size_t bytes_per_step = 64;
constexpr int max_arguments = 16;  // fits the stack that a new Lua thread starts with

void* allocate(void* user, void* block, std::size_t old_size, std::size_t new_size) {
  auto& state = *static_cast<sandbox_state*>(user);
  if (block == nullptr) old_size = 0;
  if (state.bounded && new_size > old_size &&
      (new_size > max_block_bytes ||
       state.used_bytes - old_size + new_size > state.limits.heap_bytes)) {
    return nullptr;
  }
  void* moved = nullptr;
  if (new_size == 0) {
    std::free(block);
  } else {
    moved = std::realloc(block, new_size);
    if (moved == nullptr) {
      if (new_size <= old_size) return block;
      // The pack is within its limit: it is the process that has none left, and no verdict about the pack.
      reactor::memory_lost();
    }
  }
  state.used_bytes = state.used_bytes - old_size + new_size;
  if (state.used_bytes > state.peak_bytes) state.peak_bytes = state.used_bytes;
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

/// The last resort: an error outside of every protected call is a bug of the host.
int panic(lua_State* L) {
  const char* why =
      lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "an error that is no text";
  std::fprintf(stderr, "windlass: policy host: unprotected Lua error: %s\n", why);
  std::abort();
}

/// Runs every `hook_every` instructions. A call that is over its budget is paused as well and never
/// resumed, so that no pcall of the policy can catch the end.
void on_count(lua_State* L, lua_Debug*) {
  sandbox_state& state = sandbox_state::of(L);
  call_state* call = state.current;
  if (call == nullptr) return;
  call->spent += state.armed;
  call->slice += state.armed;
  if (state.armed != state.usual_interval()) state.arm(state.usual_interval());
  if (call->spent > call->budget) call->exhausted = true;
  const bool pause = call->exhausted || call->slice >= quantum ||
                     state.loop.now() - call->resumed_at >= quantum_time;
  if (!pause) return;
  if (lua_isyieldable(L) != 0) {
    lua_yield(L, 0);
  } else if (call->exhausted || call->slice >= 4 * quantum) {
    // Below a C function that called back. The sandbox offers none, but should one appear: raise at every
    // instruction until the call has unwound.
    call->exhausted = true;
    state.arm(1);
    luaL_error(L, "the instruction budget is used up");
  }
}

/// Calls f(L) in protected mode; f must own nothing with a destructor when it raises. The error text, if any.
template <class F>
std::optional<std::string> protect(lua_State* L, F f) {
  const int status = lua_cpcall(
      L,
      [](lua_State* inner) {
        auto& body = *static_cast<F*>(lua_touserdata(inner, 1));
        lua_settop(inner, 0);
        body(inner);
        return 0;
      },
      &f);
  if (status == 0) return std::nullopt;
  std::string why =
      lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "an error that is no text";
  lua_settop(L, 0);
  return why;
}

void push_value(lua_State* L, const value& v) {
  luaL_checkstack(L, 4, "argument");
  if (const bool* b = v.if_bool()) {
    lua_pushboolean(L, *b ? 1 : 0);
  } else if (const double* n = v.if_number()) {
    lua_pushnumber(L, *n);
  } else if (const std::string* s = v.if_string()) {
    lua_pushlstring(L, s->data(), s->size());
  } else if (const value::array* a = v.if_array()) {
    lua_createtable(L, static_cast<int>(a->size()), 0);
    for (std::size_t i = 0; i < a->size(); ++i) {
      push_value(L, (*a)[i]);
      lua_rawseti(L, -2, static_cast<int>(i + 1));
    }
  } else if (const value::object* o = v.if_object()) {
    lua_createtable(L, 0, static_cast<int>(o->size()));
    for (const auto& [key, member] : *o) {
      lua_pushlstring(L, key.data(), key.size());
      push_value(L, member);
      lua_rawset(L, -3);
    }
  } else {
    lua_pushnil(L);
  }
}

void push_argument(lua_State* L, const argument& a) {
  if (const auto* v = std::get_if<view>(&a)) {
    push_view(L, v->type, v->object.get());
  } else {
    push_value(L, std::get<value>(a));
  }
}

/// Opens the base libraries, then lets prelude.lua build from them what a policy sees. Raises.
void set_up(lua_State* L) {
  for (const auto& [name, open] :
       {luaL_Reg{"", luaopen_base}, luaL_Reg{LUA_STRLIBNAME, luaopen_string},
        luaL_Reg{LUA_MATHLIBNAME, luaopen_math}}) {
    lua_pushcfunction(L, open);
    lua_pushstring(L, name);
    lua_call(L, 1, 0);
  }
  luaJIT_setmode(L, 0, LUAJIT_MODE_ENGINE | LUAJIT_MODE_OFF);
  prepare_views(L);
  const std::string_view source = prelude_source();
  if (luaL_loadbuffer(L, source.data(), source.size(), "=windlass") != 0) lua_error(L);
  push_library(L);
  add_view_functions(L);
  lua_pushvalue(L, LUA_GLOBALSINDEX);
  lua_call(L, 2, 1);
  lua_setfield(L, LUA_REGISTRYINDEX, entry_key);
  // The free list of references exists from now on, so that giving one back allocates nothing.
  lua_newtable(L);
  luaL_unref(L, LUA_REGISTRYINDEX, luaL_ref(L, LUA_REGISTRYINDEX));
}

/// The text of the error on top of the finished thread, with the policy's own line where Lua named the prelude's.
std::string error_text(lua_State* thread) {
  if (lua_type(thread, -1) != LUA_TSTRING) {
    return std::string("raised an error that is no text but a ") + luaL_typename(thread, -1);
  }
  std::size_t size = 0;
  const char* data = lua_tolstring(thread, -1, &size);
  std::string text(data, std::min<std::size_t>(size, 2000));
  char place[LUA_IDSIZE + 24];
  policy_place(thread, place, sizeof place);
  if (text.starts_with("windlass:")) {
    const std::size_t behind = text.find(": ");
    text = place + (behind == std::string::npos ? text : text.substr(behind + 2));
  } else if (text == "not enough memory" || text == "stack overflow") {
    text = place + text;
  }
  return text;
}

}  // namespace

sandbox_state& sandbox_state::of(lua_State* L) {
  void* user = nullptr;
  lua_getallocf(L, &user);
  return *static_cast<sandbox_state*>(user);
}

void sandbox_state::charge(std::int64_t steps) {
  if (current == nullptr) return;
  current->spent += steps;
  current->slice += steps;
  if (current->slice >= quantum && armed != 1) arm(1);
}

void sandbox_state::arm(int every) {
  armed = every;
  lua_sethook(lua, on_count, LUA_MASKCOUNT, every);
}

/// What a suspended call holds; its destructor is what cancellation leaves to do.
struct sandbox::running {
  running(sandbox_state& s, std::int64_t budget) : state(s) {
    call.id = ++s.last_call;
    call.budget = budget;
  }
  running(const running&) = delete;
  running& operator=(const running&) = delete;
  ~running() {
    if (thread != nullptr) luaL_unref(state.lua, LUA_REGISTRYINDEX, reference);
  }

  /// Makes the thread with the entry and its arguments on its stack.
  std::optional<std::string> prepare(const std::string& entry,
                                     const std::vector<argument>& arguments) {
    state.current = &call;
    auto failed = protect(state.lua, [&](lua_State* L) {
      lua_State* made = lua_newthread(L);
      lua_getfield(L, LUA_REGISTRYINDEX, entry_key);
      lua_getfield(L, -1, entry.c_str());
      lua_remove(L, -2);
      luaL_checkstack(L, max_arguments, "arguments");
      for (const argument& a : arguments) push_argument(L, a);
      lua_xmove(L, made, static_cast<int>(arguments.size()) + 1);
      reference = luaL_ref(L, LUA_REGISTRYINDEX);
      thread = made;
    });
    state.current = nullptr;
    return failed;
  }

  int resume(int arguments) {
    call.slice = 0;
    call.resumed_at = state.loop.now();
    state.current = &call;
    state.arm(state.usual_interval());
    const int status = lua_resume(thread, arguments);
    state.current = nullptr;
    return status;
  }

  result<value> take_answer() {
    lua_State* L = state.lua;
    const int depth = static_cast<int>(state.limits.answer.depth);
    const int found = lua_gettop(thread);
    auto failed =
        protect(L, [&](lua_State* inner) { luaL_checkstack(inner, 3 * depth + 16, "answer"); });
    if (failed) return make_fault(errc::limit, {}, *failed);
    if (found == 0) return value();
    lua_settop(thread, 1);  // what a function returns beyond its first value is not asked for
    lua_xmove(thread, L, 1);
    auto answer = copy_out(L, lua_gettop(L), state.limits.answer);
    lua_settop(L, 0);
    return answer;
  }

  sandbox_state& state;
  call_state call;
  lua_State* thread = nullptr;
  int reference = LUA_NOREF;
};

sandbox::sandbox(std::unique_ptr<sandbox_state> state) : state_(std::move(state)) {}

sandbox::~sandbox() {
  if (state_->lua != nullptr) lua_close(state_->lua);
}

const pack_files& sandbox::files() const {
  return state_->files;
}

std::size_t sandbox::heap_bytes() const {
  return state_->used_bytes;
}

result<std::shared_ptr<sandbox>> sandbox::open(reactor::loop& l, std::string label,
                                               pack_files files, sandbox_limits limits) {
  auto state = std::unique_ptr<sandbox_state>(new sandbox_state{
      .loop = l, .limits = limits, .files = std::move(files), .label = std::move(label)});
  std::shared_ptr<sandbox> made(new sandbox(std::move(state)));
  sandbox_state& s = *made->state_;
  s.lua = lua_newstate(allocate, &s);
  if (s.lua == nullptr)
    return make_fault(errc::limit, "open a policy sandbox", "not enough memory");
  s.bounded = true;
  lua_atpanic(s.lua, panic);
  if (auto failed = protect(s.lua, [](lua_State* L) { set_up(L); }))
    return make_fault(errc::limit, "open a policy sandbox", *failed);
  return made;
}

reactor::awaitable<result<call_answer>> sandbox::run(std::shared_ptr<sandbox> in, std::string entry,
                                                     std::vector<argument> arguments,
                                                     std::int64_t instructions) {
  sandbox_state& state = *in->state_;
  running r(state, instructions);
  if (arguments.size() + 1 > max_arguments)
    co_return make_fault(errc::refused, {}, "too many arguments");
  if (auto failed = r.prepare(entry, arguments)) co_return make_fault(errc::limit, {}, *failed);
  const reactor::steady_time started = state.loop.now();
  call_cost cost;
  int status = r.resume(static_cast<int>(arguments.size()));
  while (status == LUA_YIELD) {
    if (r.call.exhausted) {
      co_return make_fault(errc::limit, {},
                           "gave up after " + std::to_string(instructions) +
                               " instructions, the budget of this call");
    }
    if (state.loop.now() - started > state.limits.wall_time) {
      co_return make_fault(errc::limit, {},
                           "gave up after " + reactor::format_duration(state.limits.wall_time) +
                               ", the longest a call may take");
    }
    co_await state.loop.yield();
    ++cost.turns;
    status = r.resume(0);
  }
  if (status == LUA_ERRMEM) {
    co_return make_fault(errc::limit, {},
                         error_text(r.thread) + " (" +
                             std::to_string(state.limits.heap_bytes / (1024 * 1024)) +
                             " MiB at most)");
  }
  if (status != 0)
    co_return make_fault(r.call.exhausted ? errc::limit : errc::refused, {}, error_text(r.thread));
  auto answer = r.take_answer();
  if (!answer) co_return answer.error();
  cost.instructions = r.call.spent;
  cost.heap_bytes = state.used_bytes;
  call_answer done{std::move(*answer), cost, std::move(r.call.log)};
  co_return std::move(done);
}

}  // namespace policies
