// Policies that are an object of the home cluster: which keys are packs, and a service that follows
// them in virtual time.
#include "service/config_map_packs.hpp"

#include "cli/apis.hpp"
#include "k8s/sim/server.hpp"
#include "reactor/loop.hpp"
#include "service/overview/overview.hpp"
#include "service/policy_refusals.hpp"
#include "service/service.hpp"
#include "tests/cli/schema.hpp"

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

TEST(PolicyRefusals, ANoteIsReadBack) {
  const noted_refusal said{"0123456789ab", "load policy pack rules: rules/policy.lua:1: no"};
  EXPECT_EQ(read_refusal_note(refusal_note(said.content, said.why)), said);
  EXPECT_FALSE(read_refusal_note("the kubeconfig changed"));
  EXPECT_FALSE(read_refusal_note("content 01 is in force"));
}

TEST(PolicyRefusals, AreToldOnceForAContentAndAgainEachHalfHourUntilTheyAreMended) {
  refusal_teller t;
  const auto told = [&](std::string content, std::set<std::string> why, reactor::nanoseconds at) {
    std::string out;
    for (const k8s::event_note& e : t.on(
             "configmap:rules", {{}, std::move(content), std::move(why)}, reactor::steady_time(at)))
      out += e.reason + ";";
    return out;
  };
  EXPECT_EQ(told("a", {}, 0s), "") << "nothing was ever refused";
  EXPECT_EQ(told("b", {"no"}, 1s), "PolicyRefused;");
  EXPECT_EQ(told("b", {"no"}, 2s), "");
  EXPECT_EQ(told("c", {"no"}, 3s), "PolicyRefused;") << "another edit of the other pack";
  EXPECT_EQ(told("c", {"no", "nor"}, 4s), "PolicyRefused;PolicyRefused;");
  EXPECT_EQ(told("c", {"no", "nor"}, 1h), "PolicyRefused;PolicyRefused;");
  EXPECT_EQ(told("d", {}, 2h), "PolicyAccepted;");
  EXPECT_EQ(told("d", {}, 3h), "");
}

TEST(PolicyRefusals, ContentIsThatOfTheKeysAndNotOfTheObject) {
  config_map_view one, other;
  one.data = other.data = {{"policy.lua", "return {}"}};
  other.meta.name = "other";
  EXPECT_EQ(content_of(&one), content_of(&other));
  other.data["policy.lua"] = "return { }";
  EXPECT_NE(content_of(&one), content_of(&other));
  other = one;
  other.binary = {"x"};
  EXPECT_NE(content_of(&one), content_of(&other));
  EXPECT_EQ(content_of(nullptr), "none");
}

TEST(ConfigMapPacks, ARefusedEditIsAnEventThatStatusShowsUntilItIsMended) {
  home_with_rules h;
  h.rules({{"policy.lua", pack_text("mine", "1")}});
  std::vector<std::string> shown;
  reactor::task_group tasks(h.l);
  const auto look = [&] {
    tasks.start("look", [&]() -> reactor::awaitable<void> {
      co_await h.l.sleep_for(500ms);
      fleet_overview f;
      f.refused = co_await refused_policies(h.windlass->home()->api(), "default");
      const boost::json::object document = status_document(f);
      EXPECT_EQ(breaks_schema(document), "");
      std::string one = document.contains("policiesRefused")
                            ? boost::json::serialize(document.at("policiesRefused"))
                            : std::string("none");
      const std::string text = status_text(f, extent::usual, colours::none).text();
      EXPECT_EQ(text.find("default/rules") != text.npos, one != "none") << text;
      shown.push_back(std::move(one));
    });
  };
  const std::map<std::string, std::string> good{{"a.policy.lua", pack_text("a", "1")},
                                                {"b.policy.lua", pack_text("b", "1")}};
  auto broken = good, other_edited = good;
  broken["a.policy.lua"] = "return {";
  other_edited = broken;
  other_edited["b.policy.lua"] = pack_text("b", "2");
  EXPECT_EQ(h.run({[&] { look(); },
                   [&] {
                     h.rules(broken);
                     look();
                   },
                   [&] {
                     h.rules(other_edited);
                     look();
                   },
                   [&] {
                     h.rules(good);
                     look();
                   },
                   [&] {
                     h.api.erase("", "configmaps", "default", "rules");
                     look();
                   },
                   [&] {
                     h.rules(good);
                     look();
                   }}),
            "");
  ASSERT_EQ(shown.size(), 6u);
  EXPECT_EQ(shown[0], "none");
  EXPECT_THAT(shown[1], HasSubstr(R"("configMap":"rules","reason":"load policy pack a: a/policy)"));
  EXPECT_THAT(shown[2], HasSubstr("load policy pack a"))
      << "an edit of the pack beside it mends nothing";
  EXPECT_EQ(shown[3], "none");
  EXPECT_THAT(shown[4], HasSubstr("there is no such ConfigMap"));
  EXPECT_EQ(shown[5], "none");
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
