#include "bench/releases.hpp"

#include "bench/measure.hpp"
#include "policies/releases/planning.hpp"
#include "policies/releases/repository.hpp"
#include "reactor/loop.hpp"
#include "reactor/task_group.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <stdexcept>

namespace bench {
namespace {

using namespace policies::releases;
using reactor::result;

constexpr std::size_t clusters = 1'000, releases_of_clusters = 4, gate_calls = 20;

double seconds_since(reactor::nanoseconds begin) {
  return static_cast<double>((process_cpu() - begin).count()) / 1e9;
}

struct step {
  std::shared_ptr<const document> base, release;
};

/// Neighbours of a provider, in the order of their versions.
std::vector<step> steps_of(const repository& all) {
  std::vector<step> steps;
  for (const auto& [name, folder] : all.folders) {
    for (std::size_t i = 0; i < folder.releases.size(); ++i)
      steps.push_back({i > 0 ? folder.releases[i - 1] : nullptr, folder.releases[i]});
  }
  return steps;
}

reactor::awaitable<result<std::int64_t>> judge(policies::host& packs, diff_question q) {
  auto question = std::make_shared<const diff_question>(std::move(q));
  policies::subject who;
  auto answer = co_await diff_releases(packs, std::move(who), std::move(question));
  if (!answer) co_return answer.error();
  co_return answer->cost.instructions;
}

/// Everything, one after another; the first failure ends it.
reactor::awaitable<result<void>> measure(reactor::loop& l, policies::host& packs,
                                         const repository& all,
                                         boost::json::object& o) {  // borrowed
  auto loaded = co_await packs.load();
  if (!loaded) co_return loaded.error();
  const std::vector<step> steps = steps_of(all);
  o["releases"] = steps.size();
  (void)l.take_health();

  auto begin = process_cpu();
  for (const step& s : steps) {
    auto question = std::make_shared<map_question>();
    question->release = s.release;
    policies::subject who;
    auto answer = co_await map_release(packs, std::move(who), std::move(question));
    if (!answer) co_return answer.error();
  }
  o["map_us"] = rounded(seconds_since(begin) * 1e6 / static_cast<double>(steps.size()), 1);

  begin = process_cpu();
  std::int64_t most = 0;
  const step* largest = nullptr;
  for (const step& s : steps) {
    auto question = question_about(all, s.base, s.release);
    auto cost = co_await judge(packs, std::move(question));
    if (!cost) co_return cost.error();
    if (s.base && (!largest || *cost > most)) {
      most = *cost;
      largest = &s;
    }
  }
  o["check_all_s"] = rounded(seconds_since(begin), 3);

  if (largest != nullptr) {
    begin = process_cpu();
    for (std::size_t i = 0; i < gate_calls; ++i) {
      auto question = std::make_shared<gate_question>();
      question->step = question_about(all, largest->base, largest->release);
      policies::subject who;
      auto answer = co_await may_pass(packs, std::move(who), std::move(question));
      if (!answer) co_return answer.error();
    }
    o["gate_largest_ms"] = rounded(seconds_since(begin) * 1e3 / gate_calls, 2);
    o["gate_largest"] = largest->base->name + " -> " + largest->release->name;
  }

  // The last Releases that are offered, each cluster on the way from one to the next.
  std::vector<step> offered;
  for (const step& s : steps) {
    if (s.base && !s.release->archived) offered.push_back(s);
  }
  if (offered.size() > releases_of_clusters)
    offered.erase(offered.begin(), offered.end() - releases_of_clusters);
  begin = process_cpu();
  for (std::size_t i = 0; i < clusters && !offered.empty(); ++i) {
    const step& s = offered[i % offered.size()];
    auto question = question_about(all, s.base, s.release);
    question.within = "folder";
    auto cost = co_await judge(packs, std::move(question));
    if (!cost) co_return cost.error();
  }
  o["plan_1000_s"] = rounded(seconds_since(begin), 3);
  o["worst_stall_us"] = rounded(static_cast<double>(l.health().longest_stall.count()) / 1e3, 1);
  o["rss_mb"] = rounded(static_cast<double>(resident_bytes()) / (1024.0 * 1024.0), 1);
  co_return result<void>();
}

reactor::awaitable<void> run(reactor::loop& l, policies::host& packs, const repository& all,
                             boost::json::object& o, std::string& problem) {
  auto done = co_await measure(l, packs, all, o);
  if (!done) problem = done.error().message();
  co_await packs.stop();
  l.stop();
}

}  // namespace

boost::json::object measure_releases(const std::string& folder) {
  const auto all = read_repository(folder);
  if (!all) throw std::runtime_error(all.error().message());
  boost::json::object o = environment();
  std::string problem;
  reactor::loop l;
  policies::host packs(l, {});
  {
    reactor::task_group tasks(l);
    tasks.start("releases", run(l, packs, *all, o, problem));
    l.run();
  }
  if (!problem.empty()) throw std::runtime_error(problem);
  return o;
}

}  // namespace bench
