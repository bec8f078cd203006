// Policy source from strangers: the first byte chooses between a program for the sandbox and a pattern with its subject.

#include "policies/host/matcher.hpp"
#include "policies/host/sandbox.hpp"
#include "reactor/loop.hpp"
#include "reactor/task_group.hpp"

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>

namespace {

void run_source(const std::uint8_t* data, std::size_t size) {
  reactor::loop l(reactor::loop::mode::simulated, 1);
  policies::sandbox_limits limits;
  limits.heap_bytes = 4 * 1024 * 1024;
  policies::pack_files files{{"main.lua", std::string(reinterpret_cast<const char*>(data), size)}};
  auto box = policies::sandbox::open(l, "fuzz", std::move(files), limits);
  if (!box) {
    if (box.error().code != reactor::errc::refused) std::abort();
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
  } else {
    run_source(data, size);
  }
  return 0;
}
