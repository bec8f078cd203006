#include "cli/apis.hpp"
#include "service/overview/overview.hpp"
#include "service/service.hpp"
#include "simulation/node_world.hpp"
#include "tests/hostile/canary.hpp"
#include "tests/k8s/client/api_server.hpp"
#include "tests/reactor/temporary_folder.hpp"

namespace canary_run {
namespace {

TEST_F(Canary, NothingOfAServiceShowsACredential) {
  findings found;
  reactor::run_task(l, [&]() -> awaitable<void> {
    k8s::api_server home(l, "home");
    k8s::scripted_server elsewhere(l, {"elsewhere", 6443}), proxy(l, {"proxy", 3128});
    proxy.otherwise([](const received& r) {
      const std::string said(r.fields.get("Proxy-Authorization"));
      return answer::text(407, "text/plain", "no: " + said + " " + said.substr(said.find(' ') + 1));
    });
    std::vector<std::unique_ptr<k8s::scripted_server>> servers;
    std::vector<std::unique_ptr<k8s::api_server>> halves;
    const auto add = [&](const std::string& bytes) {
      home.put("c" + std::to_string(found.paths++), bytes);
    };
    // Servers that repeat what they were sent, from the first request or after a good beginning.
    for (const echo& e : echoes()) {
      for (const char* user : {"token: ", "username: joe, password: "}) {
        const std::string host = "h" + std::to_string(servers.size());
        servers.push_back(std::make_unique<k8s::scripted_server>(l, reactor::endpoint{host, 6443}));
        servers.back()->otherwise(e.make);
        add(kubeconfig(host, user + bait));
      }
      const std::string host = "half" + std::to_string(halves.size());
      halves.push_back(std::make_unique<k8s::api_server>(l, host));
      for (const char* path : {"/apis", "/api/v1/nodes", "/api/v1/pods"}) {
        halves.back()->server.always("GET", path, e.make([] {
          received r;
          r.fields.set("Authorization", "Bearer " + bait);
          return r;
        }()));
      }
      add(kubeconfig(host, "token: " + bait));
    }
    // Proxies and hosts that cannot be used.
    const std::string via = "    proxy-url: http://joe:" + bait + "@";
    add(kubeconfig("h0", "token: " + bait, via + "proxy:3128\n"));
    add(kubeconfig("h0", "token: " + bait, via + "nobody:3128\n"));
    add(kubeconfig("nobody", "token: " + bait));
    std::string tls = kubeconfig("h0", "token: " + bait);
    tls.replace(tls.find("http://"), 7, "https://");  // a server that does not speak TLS
    add(tls);
    // Kubeconfigs that cannot be read.
    for (const bench::hostile::kubeconfig& k : bench::hostile::kubeconfigs())
      if (!k.local && !k.says.empty() && k.text.size() < 100'000) add(k.text);

    cli::service_options options = cli::with_all_apis();
    options.home = home.server.to();
    options.home.token.bytes = reactor::secret(std::string(bait));
    options.home_alone_is_a_fleet = false;
    cli::service windlass(
        l, std::move(options),
        reactor::logger([this] { return l.wall(); }, log, reactor::log_level::debug));
    auto started = co_await windlass.start();
    EXPECT_TRUE(started) << started.error().message();
    co_await l.sleep_for(5min);
    const cli::fleet_overview f = co_await cli::look_at(windlass, l, {}, l.now() + 10s);
    found.outputs["status"] = cli::status_text(f, cli::extent::wide, cli::colours::shown).text();
    found.outputs["plan"] = cli::plan_text(f, cli::extent::wide, cli::colours::shown).text();
    found.outputs["status json"] = cli::machine_text(cli::status_json(f), cli::output_format::json);
    found.outputs["plan yaml"] = cli::machine_text(cli::plan_json(f), cli::output_format::yaml);
    k8s::fleet::reading clusters(windlass.fleet());
    while (auto piece = clusters.next()) found.outputs["clusters"] += *piece;
    found.outputs["metrics"] = windlass.metrics().text();
    std::size_t silent = 0;
    const json::value all = json::parse(found.outputs["clusters"]);
    for (const json::value& c : all.as_array()) silent += c.at("lastError").as_string().empty();
    EXPECT_LE(silent, halves.size()) << "clusters without an error";
    co_await windlass.stop();
    for (const received& r : home.server.requests())
      found.outputs["what home was sent"] += r.method + " " + r.target + " " + r.body + "\n";
    EXPECT_NE(found.outputs["what home was sent"].find("KubeconfigInvalid"), std::string::npos);
    for (const received& r : elsewhere.requests()) {
      EXPECT_EQ(hits(r.target + r.body + sent(r)), 0u) << "a credential went to another host";
    }
    for (auto& s : servers) co_await s->stop();
    for (auto& s : halves) co_await s->server.stop();
    co_await proxy.stop();
    co_await elsewhere.stop();
    co_await home.server.stop();
  });
  found.outputs["log"] = logged();
  EXPECT_GE(found.paths, 150u);
  report("service", found);
}

/// A policy that looks at everything that it is given and can reach.
constexpr const char* curious = R"(
local bait = "c4n" .. "4ry"
local texts, found, seen
local function walk(v, depth)
  local t = type(v)
  if t == "string" then
    texts = texts + 1
    if string.find(v, bait, 1, true) then found = found + 1 end
  elseif (t == "table" or t == "userdata") and depth < 7 and not seen[v] then
    seen[v] = true
    pcall(function()
      for k, x in pairs(v) do
        walk(k, depth + 1)
        walk(x, depth + 1)
      end
    end)
  end
end
local function plan(...)
  texts, found, seen = 0, 0, {}
  for _, v in ipairs({ ... }) do walk(v, 0) end
  walk(_G, 0)
  log("curious: " .. texts .. " texts, bait " .. found)
  return { start = {}, holds = {} }
end
return { name = "curious", version = "1", order = 1, applies = { apis = { "bootc" } }, rollout = { plan = plan } }
)";

/// All that a person may ask of a fleet, in every form.
std::string everything_of(const cli::fleet_overview& f) {
  std::string out;
  for (const cli::extent wide : {cli::extent::usual, cli::extent::wide})
    for (const cli::colours lively : {cli::colours::none, cli::colours::shown})
      out += cli::status_text(f, wide, lively).text() + cli::plan_text(f, wide, lively).text();
  for (const cli::cluster_overview& c : f.clusters)
    for (const cli::api_overview& api : c.apis)
      for (const units::plan_row& row : api.rows)
        for (const units::unit& one : row.units)
          out += cli::explain_text(f, one.name, cli::colours::shown).text() +
                 cli::machine_text(cli::explain_json(f, one.name), cli::output_format::json);
  return out;
}

TEST_F(Canary, NoPolicyCanReachACredential) {
  reactor::temporary_folder packs;
  packs.write("curious/policy.lua", curious);
  std::string shown;
  reactor::run_task(l, [&]() -> awaitable<void> {
    simulation::world_options o;
    o.clusters = 2;
    o.nodes = 3;
    o.mishaps = false;
    simulation::node_world world(l, o);
    (void)world.start();
    std::size_t n = 0;
    for (const auto& c : world.clusters()) {
      const std::string user = ++n % 2 ? "token: " : "username: joe, password: ";
      std::string text = kubeconfig(c->name(), user + bait);
      text.replace(text.find(":6443"), 5, ":80");
      world.home_api().put(
          {{"apiVersion", "v1"},
           {"kind", "Secret"},
           {"metadata",
            {{"name", c->name()},
             {"namespace", "default"},
             {"annotations", {{"note", bait}}},
             {"labels", {{"sigs.k8s.io/multicluster-runtime-kubeconfig", "true"}, {"zone", "a"}}}}},
           {"data",
            {{"kubeconfig", formats::encode_base64(text)},
             {"more", formats::encode_base64(bait)}}}});
    }
    cli::service_options options = cli::with_all_apis();
    options.home = world.home();
    options.policies.emplace_back(packs.path());
    cli::service windlass(
        l, std::move(options),
        reactor::logger([this] { return l.wall(); }, log, reactor::log_level::debug));
    auto started = co_await windlass.start();
    EXPECT_TRUE(started) << started.error().message();
    co_await l.sleep_for(30s);
    world.roll_out(simulation::new_image);
    co_await l.sleep_for(60s);
    shown = everything_of(co_await cli::look_at(windlass, l, {}, l.now() + 10s));
    co_await windlass.stop();
    co_await world.stop();
  });
  const std::string said = logged();
  EXPECT_NE(said.find("curious: "), said.npos) << "the policy was not asked";
  EXPECT_EQ(said.find("curious: 0 texts"), said.npos);
  for (std::size_t at = 0; (at = said.find(" texts, bait ", at)) != said.npos; ++at)
    EXPECT_EQ(said[at + 13], '0') << "a policy found a credential";
  EXPECT_EQ(hits(said), 0u);
  EXPECT_NE(shown.find("waits"), shown.npos) << shown;
  EXPECT_EQ(hits(shown), 0u);
}

}  // namespace
}  // namespace canary_run
