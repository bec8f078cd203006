// Policy source from strangers: the first byte chooses between a program for the sandbox, one whose
// n-th allocation fails, a pattern with its subject, and a text that our reader and LuaJIT's must
// see alike.

#include "policies/host/matcher.hpp"
#include "policies/host/sandbox.hpp"
#include "policies/host/source_check.hpp"
#include "reactor/loop.hpp"
#include "reactor/task_group.hpp"

#include <lua.hpp>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>

namespace {

void run_source(const std::uint8_t* data, std::size_t size, policies::memory_trial* trial) {
  reactor::loop l(reactor::loop::mode::simulated, 1);
  policies::sandbox_limits limits;
  limits.heap_bytes = 4 * 1024 * 1024;
  limits.trial = trial;
  policies::pack_files files{{"main.lua", std::string(reinterpret_cast<const char*>(data), size)}};
  auto box = policies::sandbox::open(l, "fuzz", std::move(files), limits);
  if (!box) {
    if (box.error().code != reactor::errc::refused && trial == nullptr) std::abort();
    return;
  }
  reactor::task_group tasks(l);
  tasks.start("policy", [&]() -> reactor::awaitable<void> {
    std::vector<policies::argument> arguments{policies::argument(policies::value("main"))};
    auto ran = co_await policies::sandbox::run(*box, "evaluate", std::move(arguments), 50'000);
    if (ran && ran->cost.instructions > 200'000) std::abort();
  });
  l.run();
  if (!tasks.empty()) std::abort();
}

/// LuaJIT must not come to load its FFI: where it does, the source was to be refused.
void read_source(const std::uint8_t* data, std::size_t size) {
  const std::string source(reinterpret_cast<const char*>(data), size);
  if (policies::check_source(source)) return;
  lua_State* L = luaL_newstate();
  lua_pushcfunction(L, luaopen_package);
  lua_pushstring(L, LUA_LOADLIBNAME);
  lua_call(L, 1, 0);
  if (luaL_loadbufferx(L, source.data(), source.size(), "x", "t") == 0) lua_pop(L, 1);
  lua_getfield(L, LUA_REGISTRYINDEX, "_LOADED");
  lua_getfield(L, -1, "ffi");
  if (!lua_isnil(L, -1)) std::abort();
  lua_close(L);
}

void run_pattern(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return;
  const std::size_t split = data[0] % size;
  const std::string pattern(reinterpret_cast<const char*>(data) + 1, split);
  const std::string subject(reinterpret_cast<const char*>(data) + 1 + split, size - 1 - split);
  policies::matcher m(subject, pattern, 20'000);
  policies::matcher::span whole;
  if (!m.search(0, whole)) return;
  if (whole.begin > whole.end || whole.end > subject.size()) std::abort();
  for (std::size_t i = 0; i < m.captures(); ++i) {
    const auto c = m.get(i, whole);
    if (m.error() == nullptr && c.length >= 0 &&
        c.begin + static_cast<std::size_t>(c.length) > subject.size())
      std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || size > 4096) return 0;
  if (data[0] == 'P') {
    run_pattern(data + 1, size - 1);
  } else if (data[0] == 'L') {
    read_source(data + 1, size - 1);
  } else if (data[0] == 'M' && size > 3) {
    policies::memory_trial trial{.fail_from = data[1] + std::uint64_t{256} * (data[2] % 16),
                                 .fail_count = data[2] < 128 ? 1 : ~std::uint64_t{0}};
    run_source(data + 3, size - 3, &trial);
  } else {
    run_source(data, size, nullptr);
  }
  return 0;
}
