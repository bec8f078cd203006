#include "bench/policy.hpp"

#include "bench/child.hpp"
#include "bench/measure.hpp"
#include "bench/peer_program.hpp"
#include "policies/disruption.hpp"
#include "policies/host/embedded.hpp"
#include "policies/rollout.hpp"
#include "reactor/loop.hpp"
#include "reactor/system/private_folder.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
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

constexpr std::size_t warm_up = 500, decisions = 20'000, peers = 10;
constexpr double peer_seconds = 1;
constexpr int reloaded_packs = 20;
/// The rule that is asked here and there: a stock pack as it is shipped.
constexpr std::string_view rule = "/policies/disruption/zones/policy.lua";

/// A pool of ten of which one may be disturbed in each zone, and one is.
std::shared_ptr<policies::rollout_input> decision_input() {
  auto input = std::make_shared<policies::rollout_input>(*pool_of(peers));
  input->units[4].slotted = true;
  input->fleet.pool_labels = {{k8s::interned("windlass.dev/max-per-zone"), k8s::interned("1")}};
  return input;
}

/// One question after the other, each with what it is given made ready for Lua and its answer
/// checked.
reactor::awaitable<void> measure_decisions(reactor::loop& l, boost::json::object& out,
                                           std::string& question,
                                           std::string& problem) {  // borrowed
  policies::host packs(l, {});
  auto loaded = co_await packs.load();
  if (!loaded) {
    problem = loaded.error().message();
    l.stop();
    co_return;
  }
  const auto input = decision_input();
  policies::subject about;
  about.api = "bootc";
  about.object_labels.emplace("windlass.dev/max-per-zone", "1");
  packs.on_question = [&](const policies::question_note& n) {
    policies::value::array all;
    for (const policies::argument& a : n.arguments) all.push_back(policies::plain_of(a));
    question = policies::to_text(policies::value(std::move(all)));
  };
  (void)co_await policies::admit_disruption(packs, about, input, 1, l.wall());
  packs.on_question = nullptr;
  std::vector<double> us;
  us.reserve(decisions);
  const auto began = process_cpu();
  for (std::size_t i = 0; i < warm_up + decisions; ++i) {
    policies::subject s = about;
    const auto before = process_cpu();
    auto answer = co_await policies::admit_disruption(packs, std::move(s), input, 1, l.wall());
    if (i < warm_up) continue;
    us.push_back(static_cast<double>((process_cpu() - before).count()) / 1e3);
    if (answer.pack.empty()) problem = "no pack answered";
  }
  out["decisions"] = decisions;
  out["decision_s"] = rounded(static_cast<double>((process_cpu() - began).count()) / 1e9, 2);
  std::ranges::sort(us);
  out["decision_us"] = rounded(us[us.size() / 2], 2);
  out["decision_p999_us"] = rounded(us[us.size() - us.size() / 1000 - 1], 2);
  co_await packs.stop();
  l.stop();
}

/// A program in Go that is asked the same, built when it is wanted.
struct peer {
  const char* folder;
  const char* figure;  // of its answer, in microseconds
  bool takes_rule;     // the pack's own file; the others have the rule in their own language
};
constexpr peer all_peers[] = {{"policy", "gopher_lua_us", true},
                              {"policy_opa", "opa_us", false},
                              {"policy_cel", "cel_go_us", false}};

/// Null where it cannot be built or asked, and why.
void ask_peer(boost::json::object& out, boost::json::object& skipped, const peer& p,
              const std::string& question) {
  out[p.figure] = nullptr;
  const peer_program program = go_peer(std::string("peers/") + p.folder);
  if (program.path.empty()) {
    skipped[p.figure] = program.skipped;
    return;
  }
  std::vector<std::string> command{program.path};
  if (p.takes_rule) command.push_back(WINDLASS_SOURCE_DIR + std::string(rule));
  command.insert(command.end(), {question, std::to_string(peer_seconds)});
  auto asked = child::start_program(command);
  boost::system::error_code bad;
  const auto v = asked ? boost::json::parse(asked->read_line(), bad) : boost::json::value();
  const boost::json::value* us = v.is_object() ? v.get_object().if_contains("us") : nullptr;
  if (!us) {
    skipped[p.figure] = "it did not answer";
    return;
  }
  out[p.figure] = rounded(us->to_number<double>(), 2);
  boost::json::value& peers = out["peers"];
  if (!peers.is_array()) peers.emplace_array();
  peers.get_array().push_back(boost::json::object{{"figure", p.figure},
                                                  {"peer", v.get_object().at("peer")},
                                                  {"go", v.get_object().at("go")},
                                                  {"answer", v.get_object().at("answer")}});
}

void ask_peers(boost::json::object& out, const std::string& question) {
  boost::json::object skipped;
  for (const peer& p : all_peers) ask_peer(out, skipped, p, question);
  out["ratio"] = nullptr;
  if (!out["gopher_lua_us"].is_null())
    out["ratio"] = rounded(
        out["gopher_lua_us"].to_number<double>() / out["decision_us"].to_number<double>(), 1);
  if (!skipped.empty()) out["skipped"] = std::move(skipped);
}

/// As `run` has them: tests see the fields of hooks.
policies::host::options options_of(const std::string& folder) {
  policies::hook_list known;
  known.push_back(policies::rollout_hook());
  known.push_back(policies::disruption_hook());
  policies::host::options o;
  o.folders.push_back(folder);
  o.stock = false;
  o.limits.hooks = std::make_shared<const policies::hook_list>(std::move(known));
  return o;
}

/// A folder of packs that all change at once: each is loaded and tested aside, then takes over.
reactor::awaitable<void> measure_reload(reactor::loop& l, boost::json::object& out,
                                        std::string& problem) {  // borrowed
  const reactor::private_folder folder("bench");
  namespace fs = std::filesystem;
  const auto write_all = [&](int edit) {
    for (int i = 0; i < reloaded_packs; ++i) {
      const fs::path to = fs::path(folder.path()) / ("pack-" + std::to_string(i));
      fs::create_directories(to);
      for (const policies::embedded_file& f : policies::stock_files()) {
        if (!f.path.starts_with("disruption/zones/")) continue;
        std::string text(f.content);
        if (const auto at = text.find("\"disruption/zones\""); at != std::string::npos)
          text.insert(at + 1, std::to_string(i) + "/");
        std::ofstream(to / fs::path(f.path).filename()) << text << "\n-- " << edit << "\n";
      }
    }
  };
  write_all(0);
  policies::host packs(l, options_of(folder.path()));
  auto loaded = co_await packs.load();
  if (!loaded) {
    problem = loaded.error().message();
    l.stop();
    co_return;
  }
  write_all(1);
  co_await l.yield();
  (void)l.take_health();
  const auto cpu = process_cpu(), wall = monotonic();
  co_await packs.reload();
  out["reload_packs"] = packs.reloads();
  out["reload_20_packs_ms"] = rounded(static_cast<double>((process_cpu() - cpu).count()) / 1e6, 1);
  out["reload_20_packs_wall_ms"] =
      rounded(static_cast<double>((monotonic() - wall).count()) / 1e6, 1);
  out["reload_stall_us"] = rounded(static_cast<double>(l.health().longest_stall.count()) / 1e3, 0);
  if (packs.reloads() != reloaded_packs) problem = "not all packs were reloaded";
  co_await packs.stop();
  l.stop();
}

reactor::awaitable<void> measure(reactor::loop& l, boost::json::array& points, stalls& held_up,
                                 std::string& problem) {
  policies::host packs(l, {});
  auto loaded = co_await packs.load();
  if (!loaded) problem = loaded.error().message();
  for (const std::size_t units : {10, 500, 5'000}) {
    if (!problem.empty()) break;
    const auto input = pool_of(units);
    const std::size_t calls = std::max<std::size_t>(100, 20'000 / units);
    co_await l.yield();  // what makes the pool takes long, and is not what is measured
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
    o["longest_stall_ms"] = rounded(seconds_of(l.health().longest_stall) * 1e3);
    held_up.add(l.health());
    points.push_back(std::move(o));
  }
  co_await packs.stop();
  l.stop();
}

}  // namespace

boost::json::object measure_policy() {
  boost::json::object o = environment();
  boost::json::array points;
  stalls held_up;
  std::string problem, question;
  const auto run = [&](const std::function<reactor::awaitable<void>(reactor::loop&)>& body) {
    reactor::loop l;
    reactor::task_group tasks(l);
    tasks.start("policy", body(l));
    l.run();
    if (!problem.empty()) throw std::runtime_error(problem);
  };
  run([&](reactor::loop& l) { return measure_decisions(l, o, question, problem); });
  run([&](reactor::loop& l) { return measure(l, points, held_up, problem); });
  const boost::json::object& largest = points.back().as_object();
  o["plan_5000_ms"] = largest.at("ms_per_call");
  tell_stalls(o, held_up);
  run([&](reactor::loop& l) { return measure_reload(l, o, problem); });
  ask_peers(o, question);
  o["points"] = std::move(points);
  return o;
}

}  // namespace bench
