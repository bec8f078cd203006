#include "bench/releases.hpp"

#include "bench/measure.hpp"
#include "bench/releases/quiet_fleet.hpp"
#include "policies/versions.hpp"
#include "reactor/loop.hpp"
#include "reactor/task_group.hpp"
#include "releases/library.hpp"
#include "releases/pool_decision.hpp"
#include "releases/rules/planning.hpp"
#include "releases/rules/repository.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <stdexcept>

namespace bench {
namespace {

using namespace policies::releases;
using reactor::result;

constexpr std::size_t clusters = 1'000, releases_of_clusters = 4, gate_calls = 21, map_passes = 5;

double seconds_since(reactor::nanoseconds begin) {
  return static_cast<double>((process_cpu() - begin).count()) / 1e9;
}

using step = release_step;

double middle_of(std::vector<double>& all) {
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::ranges::nth_element(all, middle);
  return *middle;
}

/// Neighbours of a provider, in the order of their versions.
std::vector<step> steps_of(const repository& all) {
  std::vector<step> steps;
  for (const auto& [name, folder] : all.folders) {
    for (std::size_t i = 0; i < folder.releases.size(); ++i)
      steps.push_back({i > 0 ? folder.releases[i - 1] : nullptr, folder.releases[i]});
  }
  return steps;
}

/// The last step of each provider whose images have the usual names, among those that are offered.
std::vector<step> newest_steps(const repository& all) {
  std::vector<step> newest;
  for (const char* name : {"azure", "capa", "cloud-director"}) {
    const auto folder = all.folders.find(name);
    if (folder == all.folders.end()) continue;
    const auto& releases = folder->second.releases;
    for (std::size_t i = releases.size(); i-- > 1;) {
      if (releases[i]->archived || releases[i - 1]->archived) continue;
      newest.push_back({releases[i - 1], releases[i]});
      break;
    }
  }
  return newest;
}

reactor::awaitable<result<std::int64_t>> judge(policies::host& packs, diff_question q) {
  auto question = std::make_shared<const diff_question>(std::move(q));
  policies::subject who;
  auto answer = co_await diff_releases(packs, std::move(who), std::move(question));
  if (!answer) co_return answer.error();
  co_return answer->cost.instructions;
}

/// What a plan asks for each cluster: what it should run, what its image is called and whether it
/// may get there. Answers about a Release are asked once for all clusters that have it.
reactor::awaitable<result<void>> plan_clusters(reactor::loop& l, policies::host& packs,
                                               const std::vector<step>& steps) {  // borrowed
  ::releases::library books(l, packs);
  books.start();
  for (const step& s : steps) {
    books.put(s.base->name, write_document(*s.base));
    books.put(s.release->name, write_document(*s.release));
  }
  (void)co_await books.read(reactor::never);
  result<void> done;
  for (std::size_t i = 0; i < clusters && done && !steps.empty(); ++i) {
    const step& s = steps[i % steps.size()];
    const auto base = books.find(s.base->name), to = books.find(s.release->name);
    auto question = std::make_shared<policies::versions_question>();
    question->api = "bootc";
    question->cluster = "cluster-" + std::to_string(i);
    question->name = "workers";
    question->wanted = to->version;
    question->running = base->version;
    for (const auto& b : books.of(to->provider)) {
      policies::catalogue_entry e;
      e.version = b->version;
      e.reference = b->name;
      question->catalogue.push_back(std::move(e));
    }
    policies::subject who;
    who.api = "bootc";
    auto answer =
        co_await policies::resolve_version(packs, std::move(who), std::move(question), l.wall());
    ::releases::followed_pool e;
    e.pool = "workers";
    e.ref = "registry.example.com/os/node:old";
    e.settled = true;
    e.at = base->name;
    const pool_facts usual;
    auto image = co_await books.image(to->name, usual);
    auto own = co_await books.step(std::string(), to->name, usual);
    auto judged = co_await books.step(base->name, to->name, usual);
    if (!answer) done = answer.error();
    if (!image) done = image.error();
    if (!own) done = own.error();
    if (!judged) done = judged.error();
    if (!done) continue;
    e.release = answer->reference;
    e.image = std::move(*image);
    e.own = std::move(own->findings);
    e.steps.push_back({base->name, std::move(*judged)});
    (void)::releases::decide(e);
  }
  co_await books.stop();
  co_return done;
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

  // The first pass meets what loading left behind; of the others the one in the middle counts, as
  // what else the machine does falls on few of them.
  std::vector<double> each;
  for (std::size_t pass = 0; pass <= map_passes; ++pass) {
    for (const step& s : steps) {
      const auto before = process_cpu();
      auto question = std::make_shared<map_question>();
      question->release = s.release;
      policies::subject who;
      auto answer = co_await map_release(packs, std::move(who), std::move(question));
      if (!answer) co_return answer.error();
      if (pass > 0) each.push_back(seconds_since(before));
    }
  }
  o["map_us"] = rounded(middle_of(each) * 1e6, 1);

  auto begin = process_cpu();
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
    each.clear();
    for (std::size_t i = 0; i < gate_calls; ++i) {
      const auto before = process_cpu();
      auto question = std::make_shared<gate_question>();
      question->step = question_about(all, largest->base, largest->release);
      policies::subject who;
      auto answer = co_await may_pass(packs, std::move(who), std::move(question));
      if (!answer) co_return answer.error();
      each.push_back(seconds_since(before));
    }
    o["gate_largest_ms"] = rounded(middle_of(each) * 1e3, 2);
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
  auto planned = co_await plan_clusters(l, packs, offered);
  if (!planned) co_return planned.error();
  o["plan_1000_s"] = rounded(seconds_since(begin), 3);
  stalls held_up;
  held_up.add(l.health());
  o["rss_mb"] = rounded(static_cast<double>(resident_bytes()) / (1024.0 * 1024.0), 1);
  tell_stalls(o, held_up);
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
  for (auto& [name, figure] : measure_quiet_fleet(newest_steps(*all))) o[name] = figure;
  return o;
}

}  // namespace bench
