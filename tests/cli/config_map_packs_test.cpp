// Policies that are an object of the home cluster: which keys are packs, and a service that follows
// them in virtual time.
#include "service/config_map_packs.hpp"

#include "cli/apis.hpp"
#include "k8s/sim/server.hpp"
#include "reactor/loop.hpp"
#include "service/service.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>

#include <string>

namespace cli {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

std::string pack_text(const std::string& name, const std::string& version) {
  return "return { name = '" + name + "', version = '" + version +
         "', rollout = { plan = function() return {} end } }\n";
}

std::string packs_of(std::map<std::string, std::string> data) {
  config_map_view m;
  m.data = std::move(data);
  auto read = packs_in(m, "rules");
  if (!read) return "!" + read.error().message();
  std::string out;
  for (const policies::pack_source& p : *read) {
    out += p.folder + ":";
    for (const auto& [name, content] : p.files) out += " " + name;
    if (p.unreadable) out += " !" + p.unreadable->message();
    out += "\n";
  }
  return out;
}

TEST(ConfigMapPacks, KeysAreFilesOfOnePackOrOfSeveral) {
  EXPECT_EQ(packs_of({{"policy.lua", ""}, {"policy_test.lua", ""}, {"waves.lua", ""}}),
            "rules: policy.lua policy_test.lua waves.lua\n");
  EXPECT_EQ(packs_of({{"a.policy.lua", ""},
                      {"a.zones.lua", ""},
                      {"a.b.policy.lua", ""},
                      {"a.b.names.lua", ""}}),
            "a: policy.lua zones.lua\na.b: names.lua policy.lua\n");
  EXPECT_THAT(packs_of({{"a.policy.lua", ""}, {"README.md", ""}}),
              HasSubstr("configmap:rules: README.md is of no pack; keys are PACK.FILE"));
  EXPECT_THAT(packs_of({{"README.md", ""}}), HasSubstr("no pack in it"));
  EXPECT_THAT(packs_of({}), HasSubstr("no pack in it"));
  EXPECT_THAT(packs_of({{"policy.lua", std::string(70'000, ' ')}}),
              HasSubstr("policy.lua is larger than 64 KiB"));
  std::map<std::string, std::string> many;
  for (int i = 0; i < 65; ++i) many["p" + std::to_string(i) + ".policy.lua"] = "";
  EXPECT_THAT(packs_of(many), HasSubstr("more than 64 packs"));
  config_map_view m;
  m.binary = {"policy.lua"};
  EXPECT_THAT(packs_in(m, "rules").error().message(), HasSubstr("policy.lua is binary"));
}

TEST(ConfigMapPacks, ANamespaceMayBeSaid) {
  EXPECT_FALSE(config_map_named("./policies", "fleet"));
  EXPECT_EQ(config_map_named("configmap:rules", "fleet")->ns, "fleet");
  EXPECT_EQ(config_map_named("configmap:ops/rules", "fleet")->ns, "ops");
  EXPECT_EQ(config_map_named("configmap:ops/rules", "fleet")->name, "rules");
}

/// A home with a ConfigMap, and a service that takes its policies from it.
struct home_with_rules {
  home_with_rules()
      : api(k8s::sim::options_on(l)), home(l, {.at = {"home", 6443}, .tls = nullptr}) {
    home.add(api);
    if (!home.start()) throw std::runtime_error("no home");
  }
  void rules(std::map<std::string, std::string> data) {
    boost::json::object all;
    for (const auto& [key, text] : data) all[key] = text;
    api.put({{"apiVersion", "v1"},
             {"kind", "ConfigMap"},
             {"metadata", {{"name", "rules"}, {"namespace", "default"}}},
             {"data", std::move(all)}});
  }
  /// Starts a service, and then takes one step a second.
  std::string run(std::vector<std::function<void()>> steps) {
    std::string problem;
    service_options o = with_all_apis();
    o.home.server = home.url();
    o.discover = false;
    o.policies = {"configmap:rules"};
    windlass = std::make_unique<service>(l, std::move(o), reactor::logger());
    reactor::task_group tasks(l);
    tasks.start("follow", [&]() -> reactor::awaitable<void> {
      auto started = co_await windlass->start();
      if (!started) problem = started.error().message();
      for (const auto& step : steps) {
        if (!started) break;
        step();
        co_await l.sleep_for(1s);
        said.push_back(first());
      }
      co_await windlass->stop();
      co_await home.stop();
      l.stop();
    });
    l.run();
    windlass.reset();
    return problem;
  }
  /// The pack that comes first, and what is wrong with it.
  std::string first() const {
    const policies::pack_status p = windlass->packs().status().front();
    return p.name + " " + p.version + (p.refused.empty() ? "" : " but " + p.refused);
  }

  reactor::loop l{reactor::loop::mode::simulated, 7};
  k8s::sim::api_server api;
  k8s::sim::server home;
  std::unique_ptr<service> windlass;
  std::vector<std::string> said;
};

TEST(ConfigMapPacks, AreInForceWithinASecondAndTheLastGoodOnesAreKept) {
  home_with_rules h;
  h.rules({{"policy.lua", pack_text("mine", "1")}});
  const std::string failing_test = "test('never', function() expect_true(false) end)\n";
  EXPECT_EQ(
      h.run({[] {}, [&] { h.rules({{"policy.lua", pack_text("mine", "2")}}); },
             [&] { h.rules({{"policy.lua", "return {"}}); },
             [&] {
               h.rules({{"policy.lua", pack_text("mine", "3")}, {"policy_test.lua", failing_test}});
             },
             [&] { h.api.erase("", "configmaps", "default", "rules"); },
             [&] { h.rules({{"README.md", ""}}); },
             [&] { h.rules({{"mine.policy.lua", pack_text("mine", "4")}}); }}),
      "");
  ASSERT_EQ(h.said.size(), 7u);
  EXPECT_EQ(h.said[0], "mine 1");
  EXPECT_EQ(h.said[1], "mine 2");
  EXPECT_THAT(h.said[2], HasSubstr("mine 2 but load policy pack rules: rules/policy.lua:"));
  EXPECT_THAT(h.said[3], HasSubstr("mine 2 but test policy pack rules: "));
  EXPECT_THAT(h.said[4], HasSubstr("there is no such ConfigMap"));
  EXPECT_THAT(h.said[5], HasSubstr("no pack in it"));
  EXPECT_EQ(h.said[6], "mine 4");
}

TEST(ConfigMapPacks, OneThatIsNotThereStartsNothing) {
  home_with_rules h;
  EXPECT_THAT(h.run({}), HasSubstr("configmap:default/rules: there is no such ConfigMap"));
}

TEST(ConfigMapPacks, NeedAHome) {
  reactor::loop l(reactor::loop::mode::simulated, 7);
  service_options o = with_all_apis();
  o.policies = {"configmap:rules"};
  service s(l, std::move(o), reactor::logger());
  std::string problem;
  reactor::task_group tasks(l);
  tasks.start("start", [&]() -> reactor::awaitable<void> {
    auto started = co_await s.start();
    if (!started) problem = started.error().message();
    co_await s.stop();
  });
  l.run();
  EXPECT_THAT(problem, HasSubstr("needs a home cluster"));
}

}  // namespace
}  // namespace cli
