// Who only looks: what is written, what is shown, how long it takes, and its JSON against
// docs/schema.
#include "cli/apis.hpp"
#include "cli/commands.hpp"
#include "formats/base64.hpp"
#include "helm/commands/program/helm_verbs.hpp"
#include "reactor/http/client.hpp"
#include "reactor/loop.hpp"
#include "reactor/system/files.hpp"
#include "service/overview/overview.hpp"
#include "service/service.hpp"
#include "simulation/node_world.hpp"
#include "tests/cli/schema.hpp"
#include "tests/reactor/temporary_folder.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

namespace cli {
namespace {

using namespace std::chrono_literals;
namespace json = boost::json;
using units::plan_row;

struct looked {
  fleet_overview overview;
  json::value nodes_table, stuck_events;  // of the cluster whose drain a budget blocks
  std::size_t writes = 0, node_events = 0;
  reactor::nanoseconds took{};
};

json::object kubeconfig_secret(const std::string& name, const std::string& kubeconfig) {
  json::object labels{{"sigs.k8s.io/multicluster-runtime-kubeconfig", "true"}};
  json::object metadata{{"name", name}, {"namespace", "default"}};
  metadata["labels"] = std::move(labels);
  json::object data{{"kubeconfig", formats::encode_base64(kubeconfig)}};
  json::object secret{{"apiVersion", "v1"}, {"kind", "Secret"}};
  secret["metadata"] = std::move(metadata);
  secret["data"] = std::move(data);
  return secret;
}

/// What the API server answers to who asks as kubectl does.
reactor::awaitable<json::value> asked(reactor::loop& l, std::string server, std::string target,
                                      std::string accept) {
  const std::string at = server.substr(server.find("//") + 2);
  reactor::http::client_options o;
  o.origin = {false, at.substr(0, at.find(':')),
              static_cast<std::uint16_t>(std::stoi(at.substr(at.find(':') + 1)))};
  reactor::http::client caller(l, std::move(o));
  reactor::http::request r;
  r.target = std::move(target);
  r.fields.add("Accept", std::move(accept));
  auto got = co_await caller.fetch(std::move(r), 1 << 22);
  co_await caller.stop();
  co_return got ? json::parse(got->body) : json::value(got.error().message());
}

/// A rollout that is stuck where the mishaps hold it, beside a cluster that refuses and one whose
/// Secret is unreadable; then somebody looks.
looked look() {
  looked out;
  reactor::loop l(reactor::loop::mode::simulated, 11);
  simulation::world_options o;
  o.clusters = 4;
  o.nodes = 4;
  const auto world = std::make_unique<simulation::node_world>(l, o);
  EXPECT_TRUE(world->start());
  const auto with = [&](units::mode does) {
    service_options options = with_all_apis();
    options.home = world->home();
    options.does = does;
    return std::make_unique<service>(l, std::move(options), reactor::logger());
  };
  reactor::task_group tasks(l);
  tasks.start("look", [&]() -> reactor::awaitable<void> {
    auto acting = with(units::mode::act);
    auto started = co_await acting->start();
    EXPECT_TRUE(started);
    co_await l.sleep_for(30s);
    world->roll_out();
    co_await l.sleep_for(120s);
    co_await acting->stop();
    acting.reset();
    k8s::client home(l, world->home());
    json::object broken = kubeconfig_secret("broken", "users: 7\n");
    auto made = co_await home.create(k8s::resources::secrets(), "default", std::move(broken));
    EXPECT_TRUE(made);
    json::object refusing = kubeconfig_secret(
        "refusing",
        "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{name: c, cluster: {server: "
        "\"http://nobody:1\"}}]\nusers: [{name: u, user: {token: t}}]\ncontexts: [{name: c, "
        "context: {cluster: c, user: u}}]\n");
    made = co_await home.create(k8s::resources::secrets(), "default", std::move(refusing));
    EXPECT_TRUE(made);
    co_await home.stop();
    world->home_api().on_write = [&](const k8s::sim::written&) { ++out.writes; };
    world->on_write = [&](std::size_t, const k8s::sim::written& w) {
      if (w.plural == "events") ++out.node_events;
    };
    auto looking = with(units::mode::look);
    const reactor::steady_time began = l.now();
    started = co_await looking->start();
    EXPECT_TRUE(started);
    out.overview = co_await look_at(*looking, l, {}, l.now() + 15s);
    out.took = l.now() - began;
    const std::string stuck = looking->fleet().find("cluster-004")->api().server();
    out.nodes_table = co_await asked(l, stuck, "/apis/node.bootc.dev/v1alpha1/bootcnodes",
                                     "application/json;as=Table;g=meta.k8s.io;v=v1");
    out.stuck_events =
        co_await asked(l, stuck, "/apis/events.k8s.io/v1/events", "application/json");
    co_await l.sleep_for(30s);  // what was queued would be written by now
    co_await looking->stop();
    world->home_api().on_write = {};
    world->on_write = {};
    co_await world->stop();
    l.stop();
  });
  l.run();
  return out;
}

const looked& seen() {
  static const looked once = look();
  return once;
}

const cluster_overview* cluster_of(const std::string& name) {
  const auto found = std::ranges::find(seen().overview.clusters, name, &cluster_overview::name);
  return found == seen().overview.clusters.end() ? nullptr : &*found;
}

TEST(Looking, WritesNothingNotEvenAnEvent) {
  EXPECT_EQ(seen().writes, 0u);
  EXPECT_EQ(seen().node_events, 0u);
}

TEST(Looking, ShowsTheClusterWhoseSecretCannotBeRead) {
  const cluster_overview* broken = cluster_of("broken");
  ASSERT_NE(broken, nullptr);
  EXPECT_EQ(broken->state, "Invalid");
  EXPECT_NE(broken->last_error, "");
  EXPECT_NE(status_text(seen().overview, extent::usual, colours::none, 80).text().find("Invalid"),
            std::string::npos);
}

TEST(Looking, DoesNotWaitForAClusterThatRefusesAtOnce) {
  const cluster_overview* refusing = cluster_of("refusing");
  ASSERT_NE(refusing, nullptr);
  EXPECT_EQ(refusing->state, "Unreachable");
  EXPECT_NE(refusing->last_error, "");
  EXPECT_LT(seen().took, 8s);
}

TEST(Looking, KnowsTheBudgetThatBlocksAnotherProcessesDrain) {
  const cluster_overview* blocked = cluster_of("cluster-004");
  ASSERT_NE(blocked, nullptr);
  const auto& holds = blocked->apis.front().rows.front().holds;
  ASSERT_EQ(holds.size(), 1u);
  EXPECT_EQ(holds.front().code, "pdb");
  EXPECT_TRUE(holds.front().sentence.starts_with(
      "the PodDisruptionBudget default/legacy allows no eviction of default/legacy-"))
      << holds.front().sentence;
  EXPECT_NE(explain_text(seen().overview, "cluster-004/" + holds.front().unit, colours::none)
                .text()
                .find("[pdb]"),
            std::string::npos);
}

TEST(Looking, KubectlShowsTheCodeThatExplainSays) {
  const units::hold h = cluster_of("cluster-004")->apis.front().rows.front().holds.front();
  const json::object& table = seen().nodes_table.as_object();
  std::map<std::string, std::size_t> columns;
  for (const json::value& c : table.at("columnDefinitions").as_array())
    columns.emplace(c.at("name").as_string(), columns.size());
  for (const json::value& row : table.at("rows").as_array()) {
    const json::array& cells = row.at("cells").as_array();
    if (cells.at(columns.at("Name")) != json::value(h.unit)) continue;
    EXPECT_EQ(cells.at(columns.at("Hold")), "pdb");
    EXPECT_EQ(cells.at(columns.at("Why")), json::value(h.sentence));
    EXPECT_EQ(cells.at(columns.at("Slot")), "held");
  }
  EXPECT_FALSE(h.since.empty());
  const std::string why =
      explain_text(seen().overview, "cluster-004/" + h.unit, colours::none).text();
  EXPECT_NE(why.find("since:    " + h.since), std::string::npos) << why;
}

TEST(Looking, WhoIsStuckHasOneEventThatNamesThePod) {
  const units::hold h = cluster_of("cluster-004")->apis.front().rows.front().holds.front();
  std::size_t stuck = 0;
  for (const json::value& e : seen().stuck_events.at("items").as_array()) {
    // Others waited for a budget for a moment.
    if (e.at("reason") != "Stuck" || e.at("regarding").at("name") != json::value(h.unit)) continue;
    ++stuck;
    EXPECT_TRUE(e.at("note").as_string().starts_with("pdb: " + h.sentence)) << e.at("note");
  }
  EXPECT_EQ(stuck, 1u);
}

TEST(Looking, FitsInto80ColumnsAndHoldsGoOnInTheNextLine) {
  for (const page& text : {status_text(seen().overview, extent::usual, colours::shown, 80),
                           plan_text(seen().overview, extent::usual, colours::none, 80),
                           explain_text(seen().overview, "node-03", colours::none, 80)}) {
    const std::string& all = text.text();
    for (std::size_t begin = 0; begin < all.size();) {
      const std::size_t end = std::min(all.find('\n', begin), all.size());
      std::string bare = all.substr(begin, end - begin);
      for (std::size_t at; (at = bare.find('\033')) != std::string::npos;)
        bare.erase(at, bare.find('m', at) - at + 1);
      EXPECT_LE(page(bare).width(), 80u) << bare;
      begin = end + 1;
    }
  }
  EXPECT_NE(
      status_text(seen().overview, extent::usual, colours::none, 80).text().find("RELEASED BY"),
      std::string::npos);
}

TEST(Documents, AreAsTheirSchemasSay) {
  EXPECT_EQ(breaks_schema(status_document(seen().overview)), "");
  EXPECT_EQ(breaks_schema(plan_document(seen().overview)), "");
  const json::object explained = explain_document(seen().overview, "node-03");
  EXPECT_EQ(explained.at("found").as_array().size(), 4u);
  EXPECT_EQ(breaks_schema(explained), "");
  json::object old = status_document(seen().overview);
  old["last_error"] = "x";
  EXPECT_NE(breaks_schema(old), "") << "the schema refuses keys with underscores";
}

struct looked_twice {
  fleet_overview acting, plain, with_packs;  // the service, and who looks without and with packs
};

/// A service whose own pack holds everybody is at work; others look at what it does.
looked_twice look_beside_a_freeze() {
  looked_twice out;
  const reactor::temporary_folder mine, theirs;
  const auto pack = [](const std::string& name, const std::string& code) {
    return "return { name = '" + name +
           "', version = '7', rollout = { plan = function(units)\n  local holds = {}\n  for _, u "
           "in "
           "ipairs(units) do\n    holds[u.name] = { code = '" +
           code + "', reason = 'says " + name + "' }\n  end\n  return { holds = holds }\nend } }\n";
  };
  mine.write("freeze/policy.lua", pack("freeze", "Freeze"));
  theirs.write("other/policy.lua", pack("other", "Other"));
  reactor::loop l(reactor::loop::mode::simulated, 12);
  simulation::world_options o;
  o.clusters = 1;
  o.nodes = 3;
  o.mishaps = false;
  const auto world = std::make_unique<simulation::node_world>(l, o);
  EXPECT_TRUE(world->start());
  const auto with = [&](units::mode does, std::vector<std::string> policies) {
    service_options options = with_all_apis();
    options.home = world->home();
    options.does = does;
    if (does == units::mode::look && policies.empty()) options.shows = units::verdicts::published;
    options.policies = std::move(policies);
    return std::make_unique<service>(l, std::move(options), reactor::logger());
  };
  reactor::task_group tasks(l);
  tasks.start("look", [&]() -> reactor::awaitable<void> {
    auto acting = with(units::mode::act, {mine.path()});
    auto started = co_await acting->start();
    EXPECT_TRUE(started);
    co_await l.sleep_for(30s);
    world->roll_out();
    co_await l.sleep_for(120s);
    out.acting = co_await look_at(*acting, l, {}, l.now() + 15s);
    auto plain = with(units::mode::look, {});
    started = co_await plain->start();
    EXPECT_TRUE(started);
    out.plain = co_await look_at(*plain, l, {}, l.now() + 15s);
    co_await plain->stop();
    auto with_packs = with(units::mode::look, {theirs.path()});
    started = co_await with_packs->start();
    EXPECT_TRUE(started);
    out.with_packs = co_await look_at(*with_packs, l, {}, l.now() + 15s);
    co_await with_packs->stop();
    co_await acting->stop();
    co_await world->stop();
    l.stop();
  });
  l.run();
  return out;
}

const looked_twice& seen_beside_a_freeze() {
  static const looked_twice once = look_beside_a_freeze();
  return once;
}

TEST(LookingWithoutPacks, SaysWhatTheServiceAtWorkHoldsAndWhoSaysIt) {
  const auto holds = holds_of(seen_beside_a_freeze().plain);
  ASSERT_EQ(holds.size(), 3u);
  EXPECT_EQ(holds, holds_of(seen_beside_a_freeze().acting));
  EXPECT_EQ(holds.front().code, "policy:Freeze");
  EXPECT_EQ(holds.front().by, "freeze 7");
  EXPECT_FALSE(holds.front().since.empty());
  const std::string why =
      explain_text(seen_beside_a_freeze().plain, "node-01", colours::none).text();
  EXPECT_NE(why.find("says freeze [policy:Freeze]"), std::string::npos) << why;
  EXPECT_NE(why.find("said by:  freeze 7"), std::string::npos) << why;
  const std::string status =
      status_text(seen_beside_a_freeze().plain, extent::usual, colours::none, 80).text();
  EXPECT_NE(status.find("the service at work asks packs that are not at hand here: freeze 7"),
            std::string::npos)
      << status;
}

TEST(LookingWithoutPacks, OnlyThePlanSaysWhatThePacksAtHandWouldAnswer) {
  const plan_row& row = seen_beside_a_freeze().plain.clusters.front().apis.front().rows.front();
  EXPECT_EQ(row.start.size(), 1u) << "the stock pack would let one go";
  const std::string plan =
      plan_text(seen_beside_a_freeze().plain, extent::usual, colours::none, any_width).text();
  EXPECT_NE(plan.find("the service at work asks others: freeze 7"), std::string::npos) << plan;
  EXPECT_EQ(breaks_schema(plan_document(seen_beside_a_freeze().plain)), "");
  EXPECT_EQ(breaks_schema(status_document(seen_beside_a_freeze().plain)), "");
  EXPECT_EQ(breaks_schema(explain_document(seen_beside_a_freeze().plain, "node-01")), "");
}

TEST(LookingWithPacks, AsksThem) {
  const auto holds = holds_of(seen_beside_a_freeze().with_packs);
  ASSERT_EQ(holds.size(), 3u);
  EXPECT_EQ(holds.front().code, "policy:Other");
  EXPECT_EQ(holds.front().by, "other 7");
}

TEST(PolicyFault, IsAHoldAConditionAnEventAMetricAndALineOfStatus) {
  const reactor::temporary_folder mine;
  mine.write(
      "broken/policy.lua",
      "return { name = 'broken', version = '2', rollout = { plan = function()\n  error('boom')"
      "\nend } }\n");
  reactor::loop l(reactor::loop::mode::simulated, 13);
  simulation::world_options o;
  o.clusters = 1;
  o.nodes = 3;
  o.mishaps = false;
  const auto world = std::make_unique<simulation::node_world>(l, o);
  EXPECT_TRUE(world->start());
  fleet_overview acting, looking;
  std::string counted;
  json::value events, pool;
  reactor::task_group tasks(l);
  tasks.start("look", [&]() -> reactor::awaitable<void> {
    service_options acts = with_all_apis();
    acts.home = world->home();
    acts.policies = {mine.path()};
    acts.metrics_at = reactor::endpoint{"windlass", 8080};
    service at_work(l, std::move(acts), reactor::logger());
    auto started = co_await at_work.start();
    EXPECT_TRUE(started);
    co_await l.sleep_for(30s);
    world->roll_out();
    co_await l.sleep_for(120s);
    acting = co_await look_at(at_work, l, {}, l.now() + 15s);
    counted = at_work.metrics().text();
    const std::string server = world->clusters().front()->name();
    const std::string at = at_work.fleet().find(server)->api().server();
    events = co_await asked(l, at, "/apis/events.k8s.io/v1/events", "application/json");
    pool = *world->clusters().front()->api().get("node.bootc.dev", "bootcnodepools", "", "workers");
    service_options looks = with_all_apis();
    looks.home = world->home();
    looks.does = units::mode::look;
    looks.shows = units::verdicts::published;
    service beside(l, std::move(looks), reactor::logger());
    started = co_await beside.start();
    EXPECT_TRUE(started);
    looking = co_await look_at(beside, l, {}, l.now() + 15s);
    co_await beside.stop();
    co_await at_work.stop();
    co_await world->stop();
    l.stop();
  });
  l.run();
  const auto holds = holds_of(acting);
  ASSERT_EQ(holds.size(), 3u);
  EXPECT_EQ(holds.front().code, "policy-fault");
  EXPECT_NE(holds.front().sentence.find("boom"), std::string::npos) << holds.front().sentence;
  EXPECT_EQ(holds_of(looking), holds) << "whoever looks says the same";
  std::string degraded;
  for (const json::value& c : pool.at("status").at("conditions").as_array())
    if (c.at("type") == "Degraded") degraded = c.at("reason").as_string();
  EXPECT_EQ(degraded, "PolicyFault");
  std::size_t told = 0;
  for (const json::value& e : events.at("items").as_array())
    if (e.at("reason") == "PolicyFault" && e.at("type") == "Warning") ++told;
  EXPECT_EQ(told, 1u);
  EXPECT_NE(counted.find(R"(windlass_policy_failing{hook="rollout.plan",pack="broken"} 1)"),
            std::string::npos);
  EXPECT_EQ(counted.find("windlass_policy_faults_total 0\n"), std::string::npos);
  const std::string status = status_text(acting, extent::usual, colours::none, any_width).text();
  EXPECT_NE(status.find("rollout.plan fails since"), std::string::npos) << status;
}

/// What a command writes to standard output.
std::string said_by(const std::vector<std::string>& arguments, int expected) {
  testing::internal::CaptureStdout();
  const int code = dispatch(arguments);
  std::string said = testing::internal::GetCapturedStdout();
  EXPECT_EQ(code, expected) << said;
  return said;
}

TEST(PolicyTest, PassesOnlyWhenThereIsATest) {
  reactor::temporary_folder folder;
  reactor::put(
      folder / "policy.lua",
      "return { name = 'a', version = '1', rollout = { plan = function() return { start = {} } "
      "end } }\n");
  std::filesystem::path dir = std::string(folder / "");
  const std::string text = said_by({"policy", "test", dir.string(), "-o", "json"}, 1);
  const json::object report = json::parse(text).as_object();
  EXPECT_FALSE(report.at("passed").as_bool());
  EXPECT_EQ(breaks_schema(report), "");
  said_by({"policy", "test", dir.string(), "--allow-none"}, 0);
  reactor::temporary_folder nothing;
  said_by({"policy", "test", std::string(nothing / "")}, 1);
}

TEST(PolicyTest, SpeaksJUnitToo) {
  reactor::temporary_folder folder;
  folder.write("policy.lua",
               "return { name = 'a', version = '1', rollout = { plan = function() return { start = "
               "{} } end } }\n");
  folder.write(
      "policy_test.lua",
      "test('goes', function() end)\ntest('breaks <it>', function() error('a < b') end)\n");
  const std::string said = said_by({"policy", "test", folder.path(), "-o", "junit"}, 1);
  EXPECT_NE(said.find("tests=\"3\" failures=\"1\""), std::string::npos) << said;
  EXPECT_NE(said.find("name=\"breaks &lt;it&gt;\""), std::string::npos) << said;
  EXPECT_NE(said.find("a &lt; b"), std::string::npos) << said;
}

TEST(PolicyPacks, AreListedShownAndCheckedAsTheirSchemasSay) {
  const reactor::temporary_folder folder;
  folder.write(
      "slip/policy.lua",
      "return { name = 'slip', version = '3', order = 7, rollout = { plan = "
      "function(units)\n  for _, u in ipairs(units) do if u.redy then return { start = {} } "
      "end end\n  return { start = {} }\nend } }\n");
  const json::object listed =
      json::parse(said_by({"policy", "list", "--policies", folder.path(), "-o", "json"}, 0))
          .as_object();
  EXPECT_EQ(breaks_schema(listed), "");
  std::set<std::string> names;
  for (const json::value& p : listed.at("packs").as_array())
    names.emplace(p.at("name").as_string());
  EXPECT_TRUE(names.contains("slip") && names.contains("rollout/default"));
  const json::object shown =
      json::parse(said_by({"policy", "show", "slip", "--policies", folder.path(), "-o", "json"}, 0))
          .as_object();
  EXPECT_EQ(breaks_schema(shown), "");
  EXPECT_EQ(shown.at("version"), "3");
  EXPECT_EQ(shown.at("hooks"), json::array{"rollout.plan"});
  said_by({"policy", "show", "nobody"}, 1);
  folder.write("broken/policy.lua", "return {\n");
  const json::object checked =
      json::parse(said_by({"policy", "check", folder.path(), "-o", "json"}, 1)).as_object();
  EXPECT_EQ(breaks_schema(checked), "");
  for (const json::value& p : checked.at("packs").as_array()) {
    if (p.at("folder") == "broken") {
      EXPECT_TRUE(p.as_object().contains("refused"));
    } else {
      ASSERT_EQ(p.at("slips").as_array().size(), 1u);
      EXPECT_EQ(p.at("slips").at(0).at("wrong"), "redy");
      EXPECT_EQ(p.at("slips").at(0).at("right"), "ready");
    }
  }
}

TEST(PolicyCheck, RefusesClustersThatWaitForEachOther) {
  reactor::temporary_folder folder;
  std::filesystem::copy(std::string(WINDLASS_SOURCE_DIR) + "/policies/rollout/dependencies",
                        folder.path(), std::filesystem::copy_options::recursive);
  folder.write("dependencies.lua", "return { a = { 'b' }, b = { 'a' } }\n");
  const std::string said = said_by({"policy", "check", folder.path()}, 1);
  EXPECT_NE(said.find("clusters wait for each other: a -> b -> a"), std::string::npos) << said;
}

std::vector<std::string> words_in(std::string_view name) {
  std::vector<std::string> out = {"helm"};
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t end = std::min(name.find(' ', at), name.size());
    out.emplace_back(name.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

TEST(HelmUsage, EveryVerbSaysWhatItTakesAndAllItsFlags) {
  for (const helm::verb& v : helm::verbs()) {
    if (v.family == helm::verb_family::refused) continue;
    auto asked = words_in(v.name);
    const std::string usage = "Usage: windlass helm " + std::string(v.name);
    asked.push_back("--help");
    const std::string said = said_by(asked, 0);
    EXPECT_NE(said.find(usage), std::string::npos) << v.name;
    asked.back() = "-h";
    asked.insert(asked.begin() + 1, {"--namespace", "x"});
    EXPECT_EQ(said_by(asked, 0), said);
    if (helm::is_group(v)) continue;
    for (const helm::flag_info& f : helm_flags(v)) {
      EXPECT_NE(said.find("--" + f.name), std::string::npos) << v.name << " --" << f.name;
      EXPECT_TRUE(!f.about.empty() || f.is == helm::flag_info::use::ignored)
          << v.name << " --" << f.name << " is explained nowhere";
    }
  }
  EXPECT_EQ(said_by({"helm", "version", "--short"}, 0), "v3.21.4\n");
  EXPECT_EQ(said_by({"helm", "--debug", "version", "--short"}, 0), "v3.21.4\n");
  said_by({"helm", "help", "frobnicate"}, 1);
  said_by({"helm", "plugin", "list"}, 2);
  said_by({"helm", "search", "hub", "x"}, 2);
}

TEST(HelmUsage, TheReferenceSaysWhatTheProgramTakes) {
  std::ifstream in(std::string(WINDLASS_SOURCE_DIR) + "/docs/helm.md");
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(page, said_by({"helm", "help", "--reference"}, 0))
      << "older than the program: build/release/windlass helm help --reference > docs/helm.md";
}

}  // namespace
}  // namespace cli
