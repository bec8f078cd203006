#include "bench/policy.hpp"

#include "bench/measure.hpp"
#include "policies/rollout.hpp"
#include "reactor/loop.hpp"

#include <boost/json.hpp>

#include <stdexcept>

namespace bench {
namespace {

std::shared_ptr<const policies::rollout_input> pool_of(std::size_t units) {
  auto input = std::make_shared<policies::rollout_input>();
  for (std::size_t i = 0; i < units; ++i) {
    policies::rollout_unit u;
    u.name = "node-" + std::to_string(100'000 + i);
    u.cluster = "bench";
    u.pool = "workers";
    u.zone = std::string(1, static_cast<char>('a' + i % 3));
    u.state = i % 10 == 0 ? "UpToDate" : "Staged";
    input->units.push_back(std::move(u));
  }
  input->fleet.pool = "workers";
  input->fleet.cluster = "bench";
  input->fleet.unit_count = units;
  input->fleet.startable = "Staged";
  input->fleet.capacity = input->fleet.free = std::max<std::size_t>(1, units / 20);
  return input;
}

reactor::awaitable<void> measure(reactor::loop& l, boost::json::array& points,
                                 std::string& problem) {
  policies::host packs(l, {});
  auto loaded = co_await packs.load();
  if (!loaded) problem = loaded.error().message();
  for (const std::size_t units : {10, 500, 5'000}) {
    if (!problem.empty()) break;
    const auto input = pool_of(units);
    const std::size_t calls = std::max<std::size_t>(5, 20'000 / units);
    (void)l.take_health();
    const auto cpu = process_cpu();
    for (std::size_t i = 0; i < calls && problem.empty(); ++i) {
      policies::subject subject;
      auto answer = co_await policies::plan_rollout(packs, std::move(subject), input, l.wall());
      if (!answer) problem = answer.error().message();
    }
    const double ms =
        static_cast<double>((process_cpu() - cpu).count()) / 1e6 / static_cast<double>(calls);
    boost::json::object o;
    o["units"] = units;
    o["ms_per_call"] = rounded(ms, 3);
    o["us_per_unit"] = rounded(ms * 1e3 / static_cast<double>(units), 2);
    o["longest_stall_ms"] = rounded(static_cast<double>(l.health().longest_stall.count()) / 1e6, 2);
    points.push_back(std::move(o));
  }
  co_await packs.stop();
  l.stop();
}

}  // namespace

boost::json::object measure_policy() {
  boost::json::object o = environment();
  boost::json::array points;
  std::string problem;
  reactor::loop l;
  {
    reactor::task_group tasks(l);
    tasks.start("policy", measure(l, points, problem));
    l.run();
  }
  if (!problem.empty()) throw std::runtime_error(problem);
  o["points"] = std::move(points);
  return o;
}

}  // namespace bench
