// Clusters, kubeconfigs and policies put what a terminal would obey into every text that is theirs;
// nothing of it may reach a person raw.
#include "cli/apis.hpp"
#include "formats/base64.hpp"
#include "reactor/http/client.hpp"
#include "reactor/loop.hpp"
#include "reactor/plain/printable.hpp"
#include "service/overview/overview.hpp"
#include "service/service.hpp"
#include "simulation/commands/demo/show.hpp"
#include "simulation/node_world.hpp"
#include "tests/hostile/canary.hpp"
#include "tests/k8s/client/api_server.hpp"
#include "tests/reactor/run.hpp"
#include "tests/reactor/temporary_folder.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace {

namespace json = boost::json;
using namespace std::chrono_literals;
using reactor::awaitable;

/// A title, a carriage return, C1, a turned text, a hidden character, a forged line.
const std::string hostile =
    "\x1b]0;owned\x07\r\nprod  Live\u009b2J\u202egnp\u2066\u200b\ufeff\u2028\x7f";

std::string without_colours(std::string text) {
  for (const char* code : {"\033[32m", "\033[33m", "\033[31m", "\033[2m", "\033[0m"})
    for (std::size_t at; (at = text.find(code)) != std::string::npos;)
      text.erase(at, std::string_view(code).size());
  return text;
}

/// A rollout whose policy speaks as `body` says, on nodes whose conditions are hostile; what
/// everybody gets to see.
std::map<std::string, std::string> shown(const std::string& body) {
  std::map<std::string, std::string> seen;
  reactor::temporary_folder packs;
  packs.write(
      "loud/policy.lua",
      "local bad = \"\\27]0;owned\\7\\r\\nprod  "
      "Live\\194\\1552J\\226\\128\\174gnp\\226\\128\\139\\127\"\n"
      "local function plan(units)\n" +
          body +
          "\nend\nreturn { name = \"loud\", version = \"1\", order = 1, applies = { apis = { "
          "\"bootc\" } }, rollout = { plan = plan } }\n");
  reactor::loop l(reactor::loop::mode::simulated, 5);
  auto log = std::make_shared<reactor::log_capture>();
  reactor::run_task(l, [&]() -> awaitable<void> {
    simulation::world_options o;
    o.clusters = 2;
    o.nodes = 4;
    o.mishaps = false;
    simulation::node_world world(l, o);
    (void)world.start();
    simulation::cluster& c = *world.clusters().front();
    for (const char* broken : {"name-", "exec-"}) {
      const std::string name = broken + std::string("cluster");
      const bool exec = name.starts_with("exec");
      const std::string text =
          "users: [{name: \"u\\e]0;owned\\a\\u202e\", user: {exec: {command: x}}}]\n"
          "clusters: [{name: c, cluster: {server: 'http://c'}}]\ncontexts: [{name: "
          "\"x\\e]0;owned\\a\\u202e\", context: {cluster: " +
          std::string(exec ? "c" : "d") + ", user: \"u\\e]0;owned\\a\\u202e\"}}]\n";
      json::object secret{{"apiVersion", "v1"},
                          {"kind", "Secret"},
                          {"metadata",
                           {{"name", name},
                            {"namespace", "default"},
                            {"labels", {{"sigs.k8s.io/multicluster-runtime-kubeconfig", "true"}}}}},
                          {"data", {{"kubeconfig", formats::encode_base64(text)}}}};
      k8s::client home(l, world.home());
      auto made = co_await home.create(k8s::resources::secrets(), "default", std::move(secret));
      EXPECT_TRUE(made) << made.error().message();
      co_await home.stop();
    }
    cli::service_options options = cli::with_all_apis();
    options.home = world.home();
    options.policies.emplace_back(packs.path());
    options.health_at = reactor::endpoint{"windlass", 8081};
    cli::service windlass(
        l, std::move(options),
        reactor::logger([&l] { return l.wall(); }, log, reactor::log_level::debug));
    auto started = co_await windlass.start();
    EXPECT_TRUE(started) << started.error().message();
    co_await l.sleep_for(30s);
    world.roll_out(simulation::new_image);
    co_await l.sleep_for(30s);
    for (const std::string& node : c.node_names()) {
      c.api().edit("", "nodes", "", node, [](json::object& n) {
        for (json::value& one : n["status"].as_object()["conditions"].as_array()) {
          one.as_object()["message"] = hostile;
          one.as_object()["reason"] = hostile;
        }
      });
      c.api().edit("node.bootc.dev", "bootcnodes", "", node, [](json::object& n) {
        json::object& status =
            n["status"].is_object() ? n["status"].as_object() : n["status"].emplace_object();
        json::array conditions;
        conditions.push_back(json::object{{"type", "Degraded"},
                                          {"status", "True"},
                                          {"reason", hostile},
                                          {"message", hostile},
                                          {"lastTransitionTime", "2026-01-01T00:00:00Z"}});
        status["conditions"] = std::move(conditions);
      });
    }
    co_await l.sleep_for(2s);
    const cli::fleet_overview f = co_await cli::look_at(windlass, l, {}, l.now() + 10s);
    for (const cli::extent wide : {cli::extent::usual, cli::extent::wide}) {
      const std::string how = wide == cli::extent::wide ? " -o wide" : "";
      seen["status" + how] = cli::status_text(f, wide, cli::colours::shown).text();
      seen["plan" + how] = cli::plan_text(f, wide, cli::colours::shown).text();
    }
    for (const std::string& node : c.node_names())
      seen["explain"] += cli::explain_text(f, node, cli::colours::shown).text();
    seen["live view"] =
        cli::demo::drawn(cli::demo::view_of(world, windlass), {200, 50}, cli::colours::shown)
            .text();
    for (const auto format : {cli::output_format::json, cli::output_format::yaml}) {
      const std::string how = format == cli::output_format::json ? " -o json" : " -o yaml";
      seen["status" + how] = cli::machine_text(cli::status_json(f), format);
      seen["plan" + how] = cli::machine_text(cli::plan_json(f), format);
    }
    reactor::http::client_options to;
    to.origin = reactor::http::parse_origin("http://windlass:8081").value();
    reactor::http::client asking(l, std::move(to));
    reactor::http::request r;
    r.method = "GET";
    r.target = "/clusters";
    auto page = co_await asking.fetch(std::move(r));
    EXPECT_TRUE(page);
    if (page) seen["/clusters"] = page->body;
    co_await asking.stop();
    co_await windlass.stop();
    k8s::client home(l, world.home());
    k8s::list_options all;
    auto events = co_await home.list(k8s::resources::events(), all);
    EXPECT_TRUE(events);
    if (events) {
      for (const json::value& e : events->at("items").as_array())
        seen["events"] += std::string(e.at("note").as_string()) + "\n" +
                          std::string(e.at("reason").as_string()) + "\n";
    }
    co_await home.stop();
    co_await world.stop();
  });
  for (const reactor::log_record& record : log->records()) {
    seen["log"] += reactor::format_console(record, true) + "\n";
    seen["log json"] += reactor::format_json(record) + "\n";
  }
  return seen;
}

void expect_printable(const std::map<std::string, std::string>& seen,
                      const std::vector<std::string>& planted) {
  for (const auto& [where, raw] : seen) {
    const std::string text = without_colours(raw);
    EXPECT_FALSE(text.empty()) << where;
    EXPECT_EQ(reactor::printable_lines(text), text) << where;
    EXPECT_EQ(text.find("\nprod"), std::string::npos) << where << " has a forged line";
  }
  for (const std::string& where : planted)
    EXPECT_NE(seen.at(where).find("]0;owned"), std::string::npos)
        << where << " shows nothing hostile, so nothing was tried:\n"
        << seen.at(where);
}

TEST(HostileText, OfNodesKubeconfigsAndPoliciesIsNeverShownRaw) {
  expect_printable(shown("  log(bad)\n  local holds = {}\n  for _, u in ipairs(units) do\n"
                         "    if u.state == \"Staged\" and not u.slotted then\n"
                         "      holds[u.name] = { code = \"Loud\", reason = bad }\n    end\n  end\n"
                         "  return { start = {}, holds = holds }"),
                   {"status", "plan", "explain", "status -o json", "status -o yaml", "/clusters",
                    "log", "log json", "events"});
}

TEST(HostileText, OfAnErrorInAPolicyIsNeverShownRaw) {
  expect_printable(shown("  error(bad)"), {"log", "/clusters", "events"});
}

/// As JSON has it, as bytes, and as bytes that are not UTF-8: a server puts each into every place
/// of its answers.
const std::vector<std::string> planted = {
    R"(\u001b]0;owned\u0007\r\nprod  Live\u009b2J\u202egnp\u2066\u200b\ufeff\u2028\u007f)",
    "\x1b]0;owned\x07\rprod  Live\u009b2J\u202egnp\u2066\u200b\ufeff\u2028\x7f",
    "]0;owned\x9b"
    "2J\xc2\xff\xf0\x9f\xed\xa0\x80"};

TEST(HostileText, OfServersIsNeverShownRawWhereverTheyPutIt) {
  std::map<std::string, std::string> seen;
  reactor::loop l(reactor::loop::mode::simulated, 9);
  auto log = std::make_shared<reactor::log_capture>();
  std::size_t clusters = 0;
  reactor::run_task(l, [&]() -> awaitable<void> {
    k8s::api_server home(l, "home");
    std::vector<std::unique_ptr<k8s::scripted_server>> servers;
    std::vector<std::unique_ptr<k8s::api_server>> halves;
    for (const std::string& text : planted) {
      for (const canary_run::echo& e : canary_run::echoes()) {
        canary_run::received r;
        r.fields.set("Authorization", "Bearer " + text);
        const std::string host = "h" + std::to_string(servers.size());
        servers.push_back(std::make_unique<k8s::scripted_server>(l, reactor::endpoint{host, 6443}));
        servers.back()->otherwise([a = e.make(r)](const canary_run::received&) { return a; });
        home.put("c" + std::to_string(clusters++), canary_run::kubeconfig(host, "token: t"));
        const std::string half = "half" + std::to_string(halves.size());
        halves.push_back(std::make_unique<k8s::api_server>(l, half));
        for (const char* path : {"/apis", "/api/v1/nodes", "/api/v1/pods"})
          halves.back()->server.always("GET", path, e.make(r));
        home.put("c" + std::to_string(clusters++), canary_run::kubeconfig(half, "token: t"));
      }
      halves.push_back(std::make_unique<k8s::api_server>(l, "uid" + std::to_string(clusters)));
      halves.back()->uid = text;
      home.put("c" + std::to_string(clusters),
               canary_run::kubeconfig("uid" + std::to_string(clusters), "token: t"));
      ++clusters;
    }
    cli::service_options options = cli::with_all_apis();
    options.home = home.server.to();
    options.home_alone_is_a_fleet = false;
    cli::service windlass(
        l, std::move(options),
        reactor::logger([&l] { return l.wall(); }, log, reactor::log_level::debug));
    auto started = co_await windlass.start();
    EXPECT_TRUE(started) << started.error().message();
    co_await l.sleep_for(5min);
    const cli::fleet_overview f = co_await cli::look_at(windlass, l, {}, l.now() + 10s);
    for (const cli::extent wide : {cli::extent::usual, cli::extent::wide}) {
      const std::string how = wide == cli::extent::wide ? " -o wide" : "";
      seen["status" + how] = cli::status_text(f, wide, cli::colours::shown).text();
      seen["plan" + how] = cli::plan_text(f, wide, cli::colours::shown).text();
    }
    for (const auto format : {cli::output_format::json, cli::output_format::yaml}) {
      const std::string how = format == cli::output_format::json ? " -o json" : " -o yaml";
      seen["status" + how] = cli::machine_text(cli::status_json(f), format);
      seen["plan" + how] = cli::machine_text(cli::plan_json(f), format);
    }
    k8s::fleet::reading reading(windlass.fleet());
    while (auto piece = reading.next()) seen["/clusters"] += *piece;
    seen["/metrics"] = windlass.metrics().text();
    co_await windlass.stop();
    for (const canary_run::received& r : home.server.requests()) {
      if (r.method != "POST" || r.target.find("/events") == r.target.npos) continue;
      const json::value event = json::parse(r.body);
      seen["events"] += std::string(event.at("note").as_string()) + "\n" +
                        std::string(event.at("reason").as_string()) + "\n";
    }
    for (auto& s : servers) co_await s->stop();
    for (auto& h : halves) co_await h->server.stop();
    co_await home.server.stop();
  });
  for (const reactor::log_record& record : log->records()) {
    seen["log"] += reactor::format_console(record, true) + "\n";
    seen["log json"] += reactor::format_json(record) + "\n";
  }
  EXPECT_GE(clusters, 150u);
  expect_printable(seen,
                   {"status", "plan", "status -o json", "/clusters", "log", "log json", "events"});
  std::cout << "## printed: servers " << clusters << " with unprintable text, shown raw nowhere of "
            << seen.size() << "\n";
}

}  // namespace
