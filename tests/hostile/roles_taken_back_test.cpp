// A right of the service that is taken back while it follows objects by it.
#include "k8s/client/client.hpp"
#include "k8s/informer/informer.hpp"
#include "k8s/sim/api_server.hpp"
#include "k8s/sim/server.hpp"
#include "k8s/views/pod.hpp"
#include "reactor/loop.hpp"
#include "tests/reactor/run.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace {

namespace json = boost::json;
using namespace std::chrono_literals;
using reactor::awaitable;

constexpr const char* role = R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole",
  "metadata":{"name":"r"},"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["list","watch"]}]})";
constexpr const char* binding =
    R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBinding","metadata":{"name":"r"},
  "roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"r"},
  "subjects":[{"kind":"ServiceAccount","name":"a","namespace":"default"}]})";

class RolesTakenBack : public testing::TestWithParam<k8s::freshness> {
protected:
  k8s::sim::answer ask(std::string method, std::string path, std::string body = {}) {
    k8s::sim::request r =
        k8s::sim::make_request(std::move(method), std::move(path), std::move(body));
    r.user = "admin";
    return api_.handle(r);
  }
  void put(const char* text) { api_.put(json::parse(text).as_object()); }
  std::string token() {
    put(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"default"}})");
    put(R"({"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"a","namespace":"default"}})");
    const auto made = ask("POST", "/api/v1/namespaces/default/serviceaccounts/a/token",
                          R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest"})");
    EXPECT_EQ(made.status, 201) << made.body;
    return std::string(json::parse(made.body).at("status").at("token").as_string());
  }
  static k8s::sim::api_options options(reactor::loop& l) {
    auto o = k8s::sim::options_on(l);
    o.access.judge = k8s::sim::authorization::rbac;
    o.access.groups["admin"] = {"system:masters"};
    return o;
  }
  reactor::loop l_{reactor::loop::mode::simulated, 3};
  k8s::sim::api_server api_{options(l_)};
};

/// An API server judges a request once, so a watch goes on after its Role was taken back; the next
/// question is refused, and then nothing may be done by what is known.
TEST_P(RolesTakenBack, EndWhatIsDoneByThemWithTheNextQuestion) {
  k8s::sim::server served(l_, {.at = {"home", 80}, .tls = nullptr});
  served.add(api_);
  ASSERT_TRUE(served.start());
  put(role);
  put(binding);
  const reactor::nanoseconds noticed_within = GetParam() == k8s::freshness::close ? 20s : 17min;
  k8s::connection to;
  to.server = served.url();
  to.token.bytes = reactor::secret(token());
  reactor::run_task(l_, [&]() -> awaitable<void> {
    k8s::client client(l_, to);
    k8s::informer_options o;
    o.collection = k8s::resources::pods();
    k8s::informer<k8s::pod> pods(l_, client, std::move(o));
    pods.set_freshness(GetParam());
    pods.start();
    const bool synced = co_await pods.synced(l_.now() + 10s);
    EXPECT_TRUE(synced);
    co_await l_.sleep_for(1min);
    EXPECT_FALSE(pods.is_old());
    EXPECT_FALSE(pods.last_error());

    EXPECT_EQ(ask("DELETE", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/r").status,
              200);
    EXPECT_EQ(api_.watch_count(), 1u) << "as the real one";
    co_await l_.sleep_for(noticed_within);
    EXPECT_TRUE(pods.last_error() && pods.last_error()->code == k8s::errc::forbidden);
    EXPECT_FALSE(pods.may_be_acted_upon());

    put(binding);
    co_await l_.sleep_for(2min);
    EXPECT_TRUE(pods.is_synced());
    EXPECT_FALSE(pods.last_error());
    EXPECT_EQ(pods.may_be_acted_upon(), GetParam() == k8s::freshness::close);
    co_await pods.stop();
    co_await client.stop();
    co_await served.stop();
  });
}

INSTANTIATE_TEST_SUITE_P(Of, RolesTakenBack,
                         testing::Values(k8s::freshness::close, k8s::freshness::none),
                         [](const auto& info) {
                           return std::string(info.param == k8s::freshness::close
                                                  ? "AViewThatIsActedUpon"
                                                  : "AViewAtRest");
                         });

}  // namespace
