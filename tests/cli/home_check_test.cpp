// `windlass check` against an embedded API server in virtual time: before the chart is there, when
// it works, and what it says of each thing that is wrong.
#include "helm/members/home_check.hpp"

#include "bootc/api.hpp"
#include "helm/members/member_objects.hpp"
#include "k8s/sim/server.hpp"
#include "reactor/loop.hpp"
#include "tests/cli/schema.hpp"
#include "tests/reactor/run.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>

namespace cli {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;
using reactor::awaitable;
using level = home_finding::level;

constexpr const char* ns = "bootc-operator";

class HomeCheck : public testing::Test {
protected:
  reactor::loop l{reactor::loop::mode::simulated, 3};
  k8s::sim::api_server home{k8s::sim::options_on(l)};
  k8s::sim::server front{l, {.at = {"home", 6443}, .tls = nullptr}};

  void run(std::function<awaitable<void>(k8s::client& api)> story) {
    front.add(home);
    ASSERT_TRUE(front.start());
    reactor::run_task(l, [&, story = std::move(story)]() -> awaitable<void> {
      k8s::connection to;
      to.server = front.url();
      k8s::client api(l, std::move(to));
      co_await story(api);
      co_await api.stop();
      co_await front.stop();
    });
  }
  awaitable<home_check> after(k8s::client& api) {  // borrowed
    std::vector<units::api> apis{bootc::api({})};
    co_return co_await check_after(l, api, ns, std::move(apis));
  }
  /// The chart as it is a moment after its install.
  void install() {
    member_settings s;
    s.as = member_settings::part::home;
    s.image = "registry.example.com/windlass:1";
    const auto objects = member_objects(s);
    ASSERT_TRUE(objects) << objects.error().message();
    for (const member_object& o : *objects) {
      json::object body = o.body;
      if (o.what.namespaced) body["metadata"].as_object()["namespace"] = o.key.ns;
      if (o.what.kind == "Deployment")
        body["status"] = {{"observedGeneration", 1'000},
                          {"readyReplicas", 1},
                          {"replicas", 1},
                          {"updatedReplicas", 1}};
      home.put(std::move(body));
    }
    lease("pod-1");
  }
  void lease(const std::string& holder) {
    home.put({{"apiVersion", "coordination.k8s.io/v1"},
              {"kind", "Lease"},
              {"metadata", {{"name", bootc::api({}).lease}, {"namespace", ns}}},
              {"spec",
               {{"holderIdentity", holder},
                {"leaseDurationSeconds", 15},
                {"renewTime", reactor::format_rfc3339_micro(l.wall())}}}});
  }
};

const home_finding* finding(const home_check& c, const std::string& name) {
  const auto found = std::ranges::find(c.findings, name, &home_finding::name);
  return found == c.findings.end() ? nullptr : &*found;
}
level level_of(const home_check& c, const std::string& name) {
  const home_finding* f = finding(c, name);
  EXPECT_NE(f, nullptr) << name;
  return f ? f->is : level::failure;
}
std::string shown(const home_check& c) {
  return check_text(c, colours::none, any_width).text();
}

TEST_F(HomeCheck, BeforeTheInstallAllIsWellForAnAdministratorOfABareCluster) {
  run([&](k8s::client& api) -> awaitable<void> {
    const home_check c = co_await check_before(l, api, ns);
    EXPECT_FALSE(c.failed()) << shown(c);
    for (const char* name :
         {"server", "kinds", "daemon", "rights", "namespace", "admission", "other operators"})
      EXPECT_EQ(level_of(c, name), level::ok) << name << "\n" << shown(c);
    EXPECT_EQ(breaks_schema(check_document(c)), "");
    EXPECT_NE(shown(c).find("0 failures"), std::string::npos);
  });
}

TEST_F(HomeCheck, BeforeTheInstallNamesEachRightThatIsMissing) {
  run([&](k8s::client& api) -> awaitable<void> {
    home.access().authorize = [](const std::string&, const k8s::sim::request& r) {
      return r.path.find("/customresourcedefinitions") == std::string::npos &&
             r.path.find("/eviction") == std::string::npos;
    };
    const home_check c = co_await check_before(l, api, ns);
    EXPECT_TRUE(c.failed());
    EXPECT_EQ(level_of(c, "rights"), level::failure);
    EXPECT_FALSE(finding(c, "rights")->todo.empty());
    const auto lacks = [&](const std::string& text) {
      return std::ranges::any_of(c.missing, [&](const right& r) { return r.text() == text; });
    };
    EXPECT_TRUE(lacks("create customresourcedefinitions.apiextensions.k8s.io"));
    EXPECT_TRUE(lacks("create pods/eviction")) << "who grants a right must have it";
    EXPECT_EQ(breaks_schema(check_document(c)), "");
  });
}

TEST_F(HomeCheck, AfterTheInstallAllIsWell) {
  run([&](k8s::client& api) -> awaitable<void> {
    install();
    const home_check c = co_await after(api);
    EXPECT_FALSE(c.failed()) << shown(c);
    for (const char* name : {"server", "kinds", "daemon", "service", "page", "policies", "lease"})
      EXPECT_EQ(level_of(c, name), level::ok) << name << "\n" << shown(c);
    // The embedded server knows neither reviews of other users nor EndpointSlices.
    EXPECT_EQ(level_of(c, "rights"), level::warning);
    EXPECT_EQ(level_of(c, "metrics"), level::warning);
    EXPECT_EQ(finding(c, "lease")->says, "bootc by pod-1");
    EXPECT_EQ(breaks_schema(check_document(c)), "");
  });
}

TEST_F(HomeCheck, AfterTheInstallSaysOfEachThingWhatIsWrongAndWhatToDo) {
  run([&](k8s::client& api) -> awaitable<void> {
    const home_check nothing = co_await after(api);
    for (const char* name : {"kinds", "daemon", "service", "lease"}) {
      EXPECT_EQ(level_of(nothing, name), level::failure) << name;
      const home_finding* f = finding(nothing, name);
      EXPECT_TRUE(f && !f->todo.empty()) << name;
    }
    install();
    co_await l.sleep_for(60s);
    const home_check silent = co_await after(api);
    EXPECT_EQ(level_of(silent, "lease"), level::failure) << "nobody renews it";
    lease("");
    const home_check released = co_await after(api);
    EXPECT_NE(finding(released, "lease")->says.find("has no holder"), std::string::npos);
    lease("pod-2");
    home.edit("apps", "deployments", ns, "bootc-operator-controller-manager", [](json::object& o) {
      o["status"].as_object()["readyReplicas"] = 0;
      o["spec"]
          .as_object()["template"]
          .at("spec")
          .at("containers")
          .as_array()[0]
          .as_object()["args"] = {"--policies=configmap:rules", "--ui", "0.0.0.0:8090"};
    });
    const home_check c = co_await after(api);
    EXPECT_EQ(level_of(c, "service"), level::failure);
    EXPECT_EQ(level_of(c, "lease"), level::ok);
    EXPECT_EQ(level_of(c, "policies"), level::failure);
    EXPECT_NE(finding(c, "policies")->says.find("bootc-operator/rules is not there"),
              std::string::npos);
    EXPECT_EQ(finding(c, "page")->says, "at 0.0.0.0:8090 of the pod");
    EXPECT_EQ(breaks_schema(check_document(c)), "");
  });
}

TEST_F(HomeCheck, SaysWhichMembersAreNotReached) {
  home_check c;
  listed_cluster well, away;
  well.seen.name = "prod-eu-1";
  well.seen.state = "Live";
  away.seen.name = "prod-us-1";
  away.seen.state = "Unreachable";
  away.seen.last_error = "connection refused";
  add_members(c, {well});
  EXPECT_EQ(c.findings.back().says, "1 of 1 reachable");
  add_members(c, {well, away});
  EXPECT_EQ(c.findings.back().is, level::failure);
  EXPECT_EQ(c.findings.back().says, "prod-us-1 is Unreachable: connection refused");
  EXPECT_EQ(c.findings.back().todo, "`windlass cluster check prod-us-1` says what it lacks");
}

}  // namespace
}  // namespace cli
