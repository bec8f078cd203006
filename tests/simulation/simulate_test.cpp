// What `windlass simulate` is made of: fleet files, campaigns, the small form of a failure,
// reports.
#include "cli/apis.hpp"
#include "cli/commands.hpp"
#include "simulation/commands/simulate/campaign.hpp"
#include "simulation/commands/simulate/report.hpp"
#include "simulation/commands/simulate/workers.hpp"
#include "simulation/fleet_file.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

namespace {

using namespace std::chrono_literals;
using namespace simulation;
namespace simulate = cli::simulate;

std::string problem(const std::string& yaml) {
  const auto read = read_fleet(yaml, "fleet.yaml");
  return read ? "fine" : read.error().message();
}

TEST(FleetFile, DescribesClustersPoolsAndFaults) {
  const auto read = read_fleet(R"(
clusters:
- name: prod
  count: 2
  nodes: 6
  maxUnavailable: 2
  labels: {windlass.dev/wave: main}
  pool: {labels: {windlass.dev/max-per-zone: "1"}, policy: mine}
- {name: dev, nodes: 3, maxUnavailable: 25%}
faults: [cut, 409, crashes]
disturbed: 90s
patience: 2h
hosts: {stage: 1m, reboot: 45s}
)",
                               "fleet.yaml");
  ASSERT_TRUE(read) << read.error().message();
  ASSERT_EQ(read->clusters.size(), 3u);
  EXPECT_EQ(read->clusters[1].name, "prod-2");
  EXPECT_EQ(read->clusters[1].nodes, 6u);
  EXPECT_EQ(read->clusters[1].max_unavailable, "2");
  EXPECT_EQ(read->clusters[1].labels.at("windlass.dev/wave"), "main");
  EXPECT_EQ(read->clusters[1].pool_labels.at("windlass.dev/max-per-zone"), "1");
  EXPECT_EQ(read->clusters[1].policy, "mine");
  EXPECT_EQ(read->clusters[2].name, "dev");
  EXPECT_EQ(read->faults, (troubles{trouble::cut, trouble::conflict, trouble::crashes}));
  EXPECT_EQ(read->disturbed_for, 90s);
  EXPECT_EQ(read->patience, 2h);
  EXPECT_EQ(read->stage_time, 1min);
  EXPECT_EQ(read->reboot_time, 45s);
}

TEST(FleetFile, NonsenseIsRefusedByItsPath) {
  const std::pair<const char*, const char*> table[] = {
      {"clusters: 3", "clusters: expected a list of clusters, got 3"},
      {"{}", "clusters: is missing"},
      {"clusters: []", "clusters: expected a list of clusters"},
      {"clusters: [{nodes: 3}]", "clusters[0].name: is missing"},
      {"clusters: [{name: a, nodes: 1}]",
       "clusters[0].nodes: expected a whole number from 3 to 200, got 1"},
      {"clusters: [{name: a, nodes: many}]", "clusters[0].nodes: expected a whole number"},
      {"clusters: [{name: a}, {name: a}]", "clusters[1].name: there is another cluster named a"},
      {"clusters: [{name: home}]", "clusters[0].name: expected a name"},
      {"clusters: [{name: A_b}]", "clusters[0].name: expected a name"},
      {"clusters: [{name: a, node: 3}]",
       "clusters[0]: unknown field 'node'; known are name, count, nodes"},
      {"clusters: [{name: a, maxUnavailable: 0}]", "clusters[0].maxUnavailable: expected"},
      {"clusters: [{name: a, maxUnavailable: 120%}]", "clusters[0].maxUnavailable: expected"},
      {"clusters: [{name: a, labels: [x]}]", "clusters[0].labels: expected a mapping, got a list"},
      {"clusters: [{name: a, pool: {labels: {x: 1}}}]",
       "clusters[0].pool.labels[\"x\"]: expected a text, got 1"},
      {"clusters: [{name: a, count: 101}]", "clusters[0].count: expected a whole number"},
      {"clusters: [{name: a, count: 60}, {name: b, count: 60}]", "more than 100 clusters"},
      {"clusters: [{name: a, count: 90, nodes: 200}]", "more than 2000 nodes in all"},
      {"clusters: [{name: a}]\nfaults: [cuts]", "faults[0]: there is no fault 'cuts'"},
      {"clusters: [{name: a}]\nfaults: cut", "faults: expected a list of faults"},
      {"clusters: [{name: a}]\npatience: 3 days", "patience: expected a time such as 90s"},
      {"clusters: [{name: a}]\npatience: -1h", "patience: expected a time"},
      {"clusters: [{name: a}]\npatience: 99999999999999h", "patience: expected a time"},
      {"clusters: [{name: a}]\nhosts: {boot: 1s}", "hosts: unknown field 'boot'"},
      {"- a", "the fleet: expected a mapping, got a list"},
      {"clusters: [", "at line 2"}};
  for (const auto& [yaml, why] : table)
    EXPECT_NE(problem(yaml).find(why), std::string::npos) << yaml << "\n  said: " << problem(yaml);
  EXPECT_NE(problem(std::string(70'000, '#')).find("more than 64 KiB"), std::string::npos);
}

const std::string examples = WINDLASS_SOURCE_DIR "/deploy/examples/fleet/";

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  EXPECT_TRUE(in) << path;
  return text.str();
}

/// The fields that are known at some place, as its message names them.
std::vector<std::string> known_at(const std::string& yaml) {
  const std::string said = problem(yaml);
  std::stringstream names(said.substr(said.rfind("known are ") + 10));
  std::vector<std::string> out;
  for (std::string name; names >> name;) {
    if (name.ends_with(',')) name.pop_back();
    out.push_back(name);
  }
  return out;
}

TEST(FleetFile, EachFieldIsInItsPage) {
  const std::string page = bytes_of(WINDLASS_SOURCE_DIR "/docs/simulating.md");
  const std::pair<const char*, const char*> places[] = {
      {"x: 1", ""},
      {"clusters: [{name: a, x: 1}]", "clusters[]."},
      {"clusters: [{name: a, pool: {x: 1}}]", "clusters[].pool."},
      {"clusters: [{name: a}]\nhosts: {x: 1}", "hosts."}};
  for (const auto& [yaml, path] : places) {
    const auto known = known_at(yaml);
    EXPECT_GE(known.size(), 2u) << yaml;
    for (const std::string& name : known) {
      const bool is_parent = name == "pool" || name == "hosts";
      EXPECT_NE(page.find("| `" + std::string(path) + name + (is_parent ? "." : "` |")), page.npos)
          << path << name;
    }
  }
}

simulate::campaign small(std::uint64_t seeds) {
  simulate::campaign c;
  c.apis = cli::apis();
  c.fleet = usual_fleet(2, 4);
  c.policies = {""};
  c.first_seed = 1;
  c.seeds = seeds;
  return c;
}

TEST(Simulate, EveryFaultAtOnceBreaksNothingAndTheSameSeedsGiveTheSameTrace) {
  const simulate::campaign_outcome one = run(small(6)), other = run(small(6));
  EXPECT_EQ(one.runs, 6u);
  EXPECT_TRUE(one.failing_seeds.empty())
      << simulate::report_text(one, {}, cli::colours::none).text();
  EXPECT_EQ(one.trace, other.trace);
  EXPECT_GT(one.disturbed_answers, 0u);
  EXPECT_GT(one.crashes, 0u);
  simulate::campaign later = small(6);
  later.first_seed = 2;
  EXPECT_NE(run(later).trace, one.trace);
}

TEST(Simulate, TheOutcomeIsTheSameHoweverManyRunSideBySide) {
  simulate::campaign c = small(3);
  const simulate::campaign_outcome alone = run(c);
  std::vector<std::uint64_t> told;
  c.jobs = 3;
  c.on_outcome = [&](const std::string&, const simulate::trial_outcome& o) {
    told.push_back(o.seed);
  };
  const simulate::campaign_outcome together = run(c);
  EXPECT_EQ(told, (std::vector<std::uint64_t>{1, 2, 3}));
  EXPECT_GT(together.cpu_seconds, 0);
  auto one = simulate::report_json(alone, {}), other = simulate::report_json(together, {});
  for (const char* measured : {"cpu_seconds", "cluster_hours_per_cpu_minute"}) {
    one.erase(measured);
    other.erase(measured);
  }
  EXPECT_EQ(one, other);
}

simulate::campaign of_the_example() {
  const auto fleet = read_fleet(bytes_of(examples + "fleet.yaml"), "fleet.yaml");
  EXPECT_TRUE(fleet) << (fleet ? "" : fleet.error().message());
  simulate::campaign c = small(2);
  if (fleet) c.fleet = *fleet;
  c.policies = {examples + "policies"};
  return c;
}

TEST(Simulate, TheLabelsOfTheExampleChooseItsPackWhichIsCounted) {
  simulate::campaign c = of_the_example();
  const simulate::campaign_outcome out = run(c);
  EXPECT_TRUE(out.is_good()) << simulate::report_text(out, {}, cli::colours::none).text();
  const auto report = simulate::report_json(out, {});
  const auto& one = report.at("policies").at(0).as_object();
  EXPECT_TRUE(one.at("never_asked").as_array().empty());
  const auto asked = [&](const char* pack, const char* hook) {
    for (const auto& a : one.at("asked").as_array())
      if (a.at("pack") == pack && a.at("hook") == hook) return a.at("asked").to_number<int>();
    return 0;
  };
  EXPECT_GT(asked("prod-after-dev", "rollout.plan"), 0);
  EXPECT_GT(asked("rollout/default", "rollout.plan"), 0) << "of dev";
  EXPECT_GT(asked("disruption/default", "disruption.admit"), 0);
  const std::string text = simulate::report_text(out, {}, cli::colours::none).text();
  EXPECT_NE(text.find("prod-after-dev"), text.npos) << text;
  EXPECT_NE(simulate::report_html(out, {}).find("<td>prod-after-dev</td>"), text.npos);
}

TEST(Simulate, APackThatNoRunAskedFailsTheCampaignThoughEverySeedIsWell) {
  simulate::campaign c = of_the_example();
  for (simulation::fleet_cluster& one : c.fleet.clusters) one.labels.clear();
  const simulate::campaign_outcome out = run(c);
  EXPECT_TRUE(out.failing_seeds.empty());
  EXPECT_FALSE(out.is_good());
  EXPECT_EQ(out.policies.front().never_asked(), std::vector<std::string>{"prod-after-dev"});
  const auto report = simulate::report_json(out, {});
  EXPECT_EQ(report.at("policies").at(0).at("never_asked").as_array().size(), 1u);
  const std::string text = simulate::report_text(out, {}, cli::colours::none).text();
  EXPECT_NE(text.find("FAIL policy pack prod-after-dev of "), text.npos) << text;
  EXPECT_NE(simulate::report_html(out, {}).find("was never asked"), text.npos);
}

TEST(Simulate, ExitsWithOneOnAPackThatWasNeverAsked) {
  const auto code = [](std::vector<std::string> more) {
    std::vector<std::string> line{"simulate", "--policies", examples + "policies",
                                  "--seeds",  "1",          "--jobs",
                                  "1",        "--faults",   "none"};
    line.insert(line.end(), more.begin(), more.end());
    testing::internal::CaptureStdout();
    const int ended = cli::dispatch(line);
    (void)testing::internal::GetCapturedStdout();
    return ended;
  };
  EXPECT_EQ(code({"--clusters", "1", "--nodes", "3"}), 1);
  EXPECT_EQ(code({"--fleet", examples + "fleet.yaml"}), 0);
}

TEST(Crew, TellsInOrderAndOutlivesAProcessThatEnds) {
  simulate::workers s;
  s.jobs = 2;
  s.count = 5;
  const auto ours = ::getpid();
  s.work = [&](std::size_t, std::size_t i) -> std::string {
    if (::getpid() == ours) return "not beside us";
    if (i == 1) ::raise(SIGKILL);
    if (i == 3) ::_exit(7);
    return std::string(100'000 * (5 - i), static_cast<char>('a' + i));
  };
  std::vector<std::string> told;
  s.done = [&](std::size_t i, std::optional<std::string> text, const std::string& why) {
    told.push_back(std::to_string(i) + ":" + (text ? text->substr(text->size() - 2) : why));
  };
  s.run();
  EXPECT_EQ(told, (std::vector<std::string>{"0:aa", "1:was ended by signal 9 (Killed)", "2:cc",
                                            "3:ended with code 7", "4:ee"}));
}

TEST(Simulate, ItsReportHasTheFiguresOfABenchmark) {
  simulate::campaign c = small(1);
  c.fleet.faults.clear();
  const simulate::campaign_outcome out = run(c);
  const boost::json::object report = simulate::report_json(out, {});
  EXPECT_EQ(report.at("runs"), 1u);
  EXPECT_EQ(report.at("violations"), 0u);
  EXPECT_EQ(report.at("divergent_caches"), 0u);
  EXPECT_TRUE(report.at("failing_seeds").as_array().empty());
  EXPECT_EQ(report.at("trace_hash").as_string().size(), 16u);
  const std::string html = simulate::report_html(out, {});
  EXPECT_NE(html.find("<svg"), std::string::npos);
  EXPECT_EQ(html.find("<script"), std::string::npos);
}

TEST(Simulate, AnImpossibleTaskFailsIsMadeSmallAndSaysHowToRunItAgain) {
  simulate::campaign c = small(1);
  c.fleet.clusters.front().policy = "nobody";  // a pack that is not there: its pool never starts
  c.fleet.faults = {trouble::cut, trouble::split};
  c.fleet.patience = 2min;
  const simulate::campaign_outcome out = run(c);
  ASSERT_EQ(out.failing_seeds, std::vector<std::uint64_t>{1});
  ASSERT_EQ(out.failures.size(), 1u);
  const simulate::failure& f = out.failures.front();
  EXPECT_EQ(f.shrunk.clusters.size(), 1u);
  EXPECT_EQ(f.shrunk.clusters.front().nodes, 3u);
  EXPECT_TRUE(f.shrunk.faults.empty());
  EXPECT_FALSE(f.tail.empty());
  EXPECT_NE(f.findings.front().find("did not end"), std::string::npos) << f.findings.front();
  EXPECT_EQ(simulate::replay_command(f, " --fleet f.yaml"),
            "windlass simulate --fleet f.yaml --seed 1 --seeds 1 --clusters 1 --nodes 3 --faults "
            "none");
}

}  // namespace
