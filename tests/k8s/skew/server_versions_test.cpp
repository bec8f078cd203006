#include "k8s/skew/server_versions.hpp"

#include "k8s/client/client.hpp"
#include "k8s/client/discovery.hpp"
#include "k8s/client/kubeconfig.hpp"
#include "tests/k8s/scripted_server.hpp"
#include "tests/reactor/run.hpp"

#include <gtest/gtest.h>

namespace k8s {
namespace {

using namespace std::chrono_literals;

answer version_answer(const std::string& text) {
  return answer::json(200, R"({"major":"1","minor":"33+","gitVersion":")" + text + R"("})");
}

class SkewServerVersions : public testing::Test {
protected:
  void run(std::function<awaitable<void>(scripted_server& server, skew::server_versions&)> f) {
    reactor::run_task(l, [&]() -> awaitable<void> {
      scripted_server server(l);
      client api(l, server.to());
      discovery known(api);
      skew::server_versions versions(l, known);
      co_await f(server, versions);
      co_await api.stop();
      co_await server.stop();
    });
  }
  using texts = std::vector<std::string>;
  reactor::loop l{reactor::loop::mode::simulated, 3};
};

TEST_F(SkewServerVersions, SeveralBehindABalancerAreSeenAndOneThatIsGoneIsForgotten) {
  run([this](scripted_server& server, skew::server_versions& v) -> awaitable<void> {
    server.always("GET", "/version", version_answer("v1.33.1-eks-0a1b2c3"));
    co_await v.look();
    EXPECT_EQ(v.seen(), texts{"v1.33.1-eks-0a1b2c3"});
    server.always("GET", "/version", version_answer("v1.34.0+k3s1"));
    co_await v.look();
    EXPECT_EQ(server.count("GET", "/version"), 1u) << "at most once a minute";
    co_await l.sleep_for(61s);
    co_await v.look();
    EXPECT_EQ(v.seen(), (texts{"v1.33.1-eks-0a1b2c3", "v1.34.0+k3s1"}));
    for (int i = 0; i < 5; ++i) {
      co_await l.sleep_for(61s);
      co_await v.look();
    }
    EXPECT_EQ(v.seen(), texts{"v1.34.0+k3s1"});
    co_await l.sleep_for(6min);
    EXPECT_EQ(v.seen(), texts{}) << "what was said long ago is not known now";
  });
}

TEST_F(SkewServerVersions, AServerThatRefusesLiesOrRambleSaysNothing) {
  run([this](scripted_server& server, skew::server_versions& v) -> awaitable<void> {
    const answer bad[] = {answer::failure(403, "Forbidden", "no"), answer::json(200, "[1]"),
                          answer::json(200, R"({"gitVersion":7})"), version_answer(""),
                          version_answer(std::string(5'000, '1'))};
    for (const answer& a : bad) {
      server.always("GET", "/version", a);
      co_await v.look();
      EXPECT_EQ(v.seen(), texts{});
      co_await l.sleep_for(61s);
    }
    EXPECT_EQ(server.count("GET", "/version"), std::size(bad));
  });
}

TEST_F(SkewServerVersions, OneThatSaysAnotherEachTimeFillsNoMemory) {
  run([this](scripted_server& server, skew::server_versions& v) -> awaitable<void> {
    for (int i = 0; i < 100; ++i) {
      server.always("GET", "/version", version_answer("v1.33." + std::to_string(i)));
      co_await v.look();
      EXPECT_LE(v.seen().size(), skew::server_versions::most);
      co_await l.sleep_for(61s);
    }
  });
}

}  // namespace
}  // namespace k8s
