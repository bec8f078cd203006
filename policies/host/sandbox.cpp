#include "policies/host/sandbox.hpp"

#include "policies/host/embedded.hpp"
#include "policies/host/source_check.hpp"
#include "policies/host/state.hpp"
#include "reactor/loop_slice.hpp"
#include "reactor/plain/thread_time.hpp"

#include <luajit.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <utility>

namespace policies {

void push_value(lua_State* L, const value& v) {
  luaL_checkstack(L, 4, "argument");
  if (const bool* b = v.if_bool()) {
    lua_pushboolean(L, *b ? 1 : 0);
  } else if (const double* n = v.if_number()) {
    lua_pushnumber(L, *n);
  } else if (const std::string* s = v.if_string()) {
    lua_pushlstring(L, s->data(), s->size());
  } else if (const auto* a = std::get_if<value::array>(&v.data)) {
    lua_createtable(L, static_cast<int>(a->size()), 0);
    for (std::size_t i = 0; i < a->size(); ++i) {
      push_value(L, (*a)[i]);
      lua_rawseti(L, -2, static_cast<int>(i + 1));
    }
    mark_list(L);
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

namespace {

using reactor::errc;
using reactor::fault;
using reactor::make_fault;
using reactor::result;

constexpr const char* entry_key = "windlass.entries";
constexpr int max_arguments = 16;  // fits the stack that a new Lua thread starts with

/// The last resort: an error outside of every protected call is a bug of the host.
int panic(lua_State* L) {
  const char* why =
      lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "an error that is no text";
  std::fprintf(stderr, "windlass: policy host: unprotected Lua error: %s\n", why);
  std::abort();
}

/// Calls f(L) in protected mode; f must own nothing with a destructor when it raises. The error
/// text, if any.
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
  prepare_lists(L);
  const std::string_view source = prelude_source();
  if (load_ours(L, source, "=windlass") != 0) lua_error(L);
  push_library(L);
  add_view_functions(L);
  lua_pushvalue(L, LUA_GLOBALSINDEX);
  lua_call(L, 2, 1);
  lua_setfield(L, LUA_REGISTRYINDEX, entry_key);
  // The free list of references exists from now on, so that giving one back allocates nothing.
  lua_newtable(L);
  luaL_unref(L, LUA_REGISTRYINDEX, luaL_ref(L, LUA_REGISTRYINDEX));
}

void forget(reactor::loop& l, const value* v, bool large) {
  std::unique_ptr<const value> last(v);
  if (large) l.start_on_worker([](auto& held) { held.reset(); }, std::move(last));
}

/// The text of the error on top of the finished thread, with the policy's own line where Lua named
/// the prelude's.
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

/// One call. All that it does to the Lua state happens in advance(), whose caller has the state to
/// itself.
struct sandbox::running {
  running(std::shared_ptr<sandbox> sandbox, std::string entry_name, std::vector<argument> given,
          std::int64_t instructions, judge reader, const value_limits& limits)
      : in(std::move(sandbox)),
        state(*in->state_),
        entry(std::move(entry_name)),
        arguments(std::move(given)),
        accept(std::move(reader)),
        answer_limits(limits) {
    call.id = ++state.last_call;
    call.budget = instructions;
  }
  running(const running&) = delete;
  running& operator=(const running&) = delete;
  /// On the loop. Another call may be using the state meanwhile.
  ~running() {
    if (thread != nullptr) state.abandoned.push_back(reference);
  }

  /// Runs one slice; there is an outcome when it was the last.
  void advance() noexcept {
    const reactor::nanoseconds before = reactor::thread_cpu();
    step();
    cost.processor_time += reactor::thread_cpu() - before;
    cost.instructions = call.spent;
    if (!outcome) return;
    cost.heap_bytes = state.used_bytes;
    drop();
  }

  std::shared_ptr<sandbox> in;
  sandbox_state& state;
  call_state call;
  std::string entry;
  std::vector<argument> arguments;
  judge accept;
  value_limits answer_limits;
  std::optional<result<call_answer>> outcome;
  call_cost cost{.turns = 0};
  bool aside = false;       // this slice runs on the worker
  bool must_aside = false;  // the rest is too much for the loop

private:
  void step() {
    if (returned) {
      outcome = finish(0);
      return;
    }
    int given = 0;
    if (thread == nullptr) {
      if (auto failed = prepare()) {
        outcome = make_fault(errc::limit, {}, *failed);
        return;
      }
      given = static_cast<int>(arguments.size());
    }
    const int status = resume(given);
    if (status == 0 && !aside && state.answers_much) {
      returned = must_aside = true;
    } else if (status != LUA_YIELD) {
      outcome = finish(status);
      // On the loop only a small answer is tried; whatever was wrong with it, the worker finds
      // again.
      if (status == 0 && !aside && !*outcome && outcome->error().code == errc::malformed) {
        outcome.reset();
        returned = must_aside = true;
      }
    } else if (call.exhausted) {
      outcome = make_fault(errc::limit, {},
                           "gave up after " + std::to_string(call.budget) +
                               " instructions, the budget of this call");
    }
  }

  /// Makes the thread with the entry and its arguments on its stack.
  std::optional<std::string> prepare() {
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

  int resume(int given) {
    call.slice = 0;
    call.resumed_at = state.loop.now();
    state.current = &call;
    state.arm(state.usual_interval());
    const int status = lua_resume(thread, given);
    state.current = nullptr;
    return status;
  }

  result<call_answer> finish(int status) {
    if (status == LUA_ERRMEM) {
      return make_fault(errc::limit, {},
                        error_text(thread) + " (" +
                            std::to_string(state.limits.heap_bytes / (1024 * 1024)) +
                            " MiB at most)");
    }
    if (status != 0)
      return make_fault(call.exhausted ? errc::limit : errc::refused, {}, error_text(thread));
    auto answer = take_answer();
    if (!answer) return answer.error();
    const bool large = answer->values > loop_answer_values || answer->bytes > loop_answer_bytes;
    state.answers_much = large;
    call_answer done;
    if (accept) {
      done.accepted = accept(answer->what);
    } else {
      done.answer = answer_value(new value(std::move(answer->what)),
                                 [large, &l = state.loop](const value* v) { forget(l, v, large); });
    }
    done.log = std::move(call.log);
    return done;
  }

  result<copied> take_answer() {
    lua_State* L = state.lua;
    value_limits limits = answer_limits;
    if (!aside) {
      limits.nodes = std::min(limits.nodes, loop_answer_values);
      limits.text_bytes = std::min(limits.text_bytes, loop_answer_bytes);
    }
    const int depth = static_cast<int>(limits.depth);
    const int found = lua_gettop(thread);
    auto failed =
        protect(L, [&](lua_State* inner) { luaL_checkstack(inner, 3 * depth + 16, "answer"); });
    if (failed) return make_fault(errc::limit, {}, *failed);
    if (found == 0) return copied();
    lua_settop(thread, 1);  // what a function returns beyond its first value is not asked for
    lua_xmove(thread, L, 1);
    auto answer = copy_out(L, lua_gettop(L), limits);
    lua_settop(L, 1);
    lua_xmove(L, thread, 1);
    return answer;
  }

  void drop() {
    lua_settop(state.lua, 0);
    if (thread != nullptr) luaL_unref(state.lua, LUA_REGISTRYINDEX, reference);
    thread = nullptr;
  }

  lua_State* thread = nullptr;
  int reference = LUA_NOREF;
  bool returned = false;  // what it returned is still on the thread
};

/// The Lua state belongs to one call at a time. Taken and given back on the loop; in between it may
/// go to the worker.
class sandbox::turn {
public:
  explicit turn(std::shared_ptr<sandbox> in) : in_(std::move(in)), state_(*in_->state_) {}
  turn(const turn&) = delete;
  turn& operator=(const turn&) = delete;
  ~turn() {
    if (has_it_) state_.busy = false;
    if (!state_.busy) state_.idle.wake_one();
  }

  reactor::awaitable<void> take() {
    struct wish {
      std::size_t& count;
      explicit wish(std::size_t& c) : count(c) { ++count; }
      ~wish() { --count; }
    } mine(state_.wanted);
    while (state_.busy) co_await state_.idle.wait();
    state_.busy = has_it_ = true;
  }

private:
  std::shared_ptr<sandbox> in_;
  sandbox_state& state_;
  bool has_it_ = false;
};

sandbox::sandbox(std::unique_ptr<sandbox_state> state) : state_(std::move(state)) {}

/// Freeing a full heap takes 50 ms, which the worker has.
sandbox::~sandbox() {
  if (state_->lua == nullptr) return;
  reactor::loop& l = state_->loop;
  std::shared_ptr<sandbox_state> last(std::move(state_));
  l.start_on_worker([](const auto& closed) { closed->close(); }, std::move(last));
}

const pack_files& sandbox::files() const {
  return state_->files;
}

result<std::shared_ptr<sandbox>> sandbox::open(reactor::loop& l, std::string label,
                                               pack_files files, sandbox_limits limits, author by) {
  for (const auto& [name, content] : files) {
    if (!name.ends_with(".lua")) continue;
    if (const auto wrong = check_source(content)) {
      return make_fault(
          errc::refused, {},
          label + "/" + name + ":" + std::to_string(wrong->line) + ": " + wrong->reason);
    }
  }
  auto state = std::unique_ptr<sandbox_state>(new sandbox_state{
      .loop = l, .limits = limits, .files = std::move(files), .label = std::move(label), .by = by});
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

reactor::awaitable<result<std::shared_ptr<sandbox>>> sandbox::open_aside(
    reactor::loop& l, std::string label, pack_files files, sandbox_limits limits, author by) {
  const auto opening = [](reactor::loop& of, std::string& name, pack_files& all,
                          const reactor::vouched<sandbox_limits>& within, author whose) {
    return open(of, std::move(name), std::move(all), within.value, whose);
  };
  // The limits may name a trial of memory: a test's, which waits for what it began.
  reactor::vouched<sandbox_limits> most{std::move(limits)};
  co_return co_await l.offload(opening, std::ref(l), std::move(label), std::move(files),
                               std::move(most), by);
}

reactor::awaitable<call_outcome> sandbox::run(std::shared_ptr<sandbox> in, std::string entry,
                                              std::vector<argument> arguments,
                                              std::int64_t instructions, judge accept,
                                              std::optional<value_limits> limits) {
  sandbox_state& state = *in->state_;
  if (arguments.size() + 1 > max_arguments)
    co_return make_fault(errc::refused, {}, "too many arguments");
  const bool loop_may = state.by == author::ourselves && entry == "call";
  // How a state hashes texts, and with that when it takes memory, is another one in each process:
  // what is simulated must not be cut where that decides.
  const bool in_one_go = loop_may && state.loop.simulated();
  const reactor::steady_time started = state.loop.now();
  auto r = std::make_shared<running>(in, std::move(entry), std::move(arguments), instructions,
                                     std::move(accept), limits.value_or(state.limits.answer));
  const auto off_loop = [&] {
    return !in_one_go &&
           (!loop_may || r->must_aside || state.answers_much || state.used_bytes > loop_heap_bytes);
  };
  const auto ended = [&](call_outcome with) {
    with.cost = r->cost;
    if (with) with->cost = r->cost;
    return with;
  };
  for (;;) {
    // A caller with hundreds of units gets answers that it does not wait for, one behind the other.
    if (!off_loop()) {
      if (reactor::loop_slice::is_over()) co_await reactor::loop_slice::yield();
      reactor::loop_slice::spend();
    }
    std::shared_ptr<turn> held;
    if (state.busy || state.wanted != 0 || off_loop()) {
      held = std::make_shared<turn>(in);
      co_await held->take();
    }
    for (const int reference : state.abandoned) luaL_unref(state.lua, LUA_REGISTRYINDEX, reference);
    state.abandoned.clear();
    ++r->cost.turns;
    const bool leaves = off_loop();
    r->aside = leaves || in_one_go;  // as large an answer as any
    if (leaves) {
      if (state.loop.jobs_take_time()) {
        r->call.pause_every = in_no_slices;  // as many jobs as calls, in each process
      } else if (!state.loop.simulated()) {  // there the worker is the loop
        r->call.pause_every = worker_quantum;
        r->call.pause_after = worker_quantum_time;
      }
      // A cancelled call leaves here at once; what it holds comes back to the loop when the slice
      // has ended.
      const auto slice = [](reactor::loop& l, std::shared_ptr<running>& call,
                            std::shared_ptr<turn>& its) {
        call->advance();
        l.post([call = std::move(call), its = std::move(its)]() mutable {
          call.reset();
          its.reset();
        });
      };
      co_await state.loop.offload(slice, std::ref(state.loop), r, std::move(held));
    } else {
      r->call.pause_every = in_one_go ? in_no_slices : quantum;
      r->call.pause_after = quantum_time;
      r->advance();
      held.reset();
    }
    if (r->outcome) break;
    if (r->cost.processor_time > state.limits.processor_time && !state.loop.simulated()) {
      co_return ended(make_fault(errc::limit, {},
                                 "gave up after " +
                                     reactor::format_duration(state.limits.processor_time) +
                                     " of processor time, the most a call may take"));
    }
    if (state.loop.now() - started > state.limits.wall_time) {
      co_return ended(make_fault(errc::limit, {},
                                 "gave up after " +
                                     reactor::format_duration(state.limits.wall_time) +
                                     ", the longest a call may take"));
    }
    co_await state.loop.yield();
  }
  co_return ended(std::move(*r->outcome));
}

}  // namespace policies
