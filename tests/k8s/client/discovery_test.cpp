#include "k8s/client/discovery.hpp"

#include "k8s/client/client.hpp"
#include "k8s/client/kubeconfig.hpp"
#include "tests/k8s/scripted_server.hpp"
#include "tests/reactor/run.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace k8s {
namespace {

using namespace std::chrono_literals;

class DiscoveryMemory : public testing::Test {
protected:
  using body = std::function<awaitable<void>(scripted_server& server, discovery& known)>;
  /// A server of v1 and apps/v1, with a Pod and a Deployment.
  void run(body f) {
    reactor::run_task(l, [&]() -> awaitable<void> {
      scripted_server server(l);
      // The newest rule that fits counts.
      server.always("GET", "/api", answer::json(200, R"({"versions":["v1"]})"));
      server.always("GET", "/api/v1", kinds("pods", "Pod"));
      server.always(
          "GET", "/apis",
          answer::json(
              200,
              R"({"groups":[{"name":"apps","versions":[{"groupVersion":"apps/v1","version":"v1"}]}]})"));
      server.always("GET", "/apis/apps/v1", kinds("deployments", "Deployment"));
      server.always("GET", "/version",
                    answer::json(200, R"({"gitVersion":"v1.36.0-x","major":"1","minor":"36+"})"));
      client api(l, server.to());
      discovery known(api);
      co_await f(server, known);
      co_await api.stop();
      co_await server.stop();
    });
  }
  static answer kinds(const std::string& plural, const std::string& kind) {
    return answer::json(200, R"({"kind":"APIResourceList","resources":[{"name":")" + plural +
                                 R"(","kind":")" + kind + R"(","namespaced":true}]})");
  }
  static std::string listed(const result<std::vector<std::string>>& all) {
    if (!all) return all.error().message();
    std::string out;
    for (const std::string& one : *all) out += (out.empty() ? "" : " ") + one;
    return out;
  }

  reactor::loop l{reactor::loop::mode::simulated, 3};
};

TEST_F(DiscoveryMemory, AsksForTheVersionOnceAMinute) {
  run([this](scripted_server& server, discovery& known) -> awaitable<void> {
    for (int i = 0; i < 5; ++i) {
      auto said = co_await known.recent_version();
      const version_texts v = said ? *said : version_texts();
      EXPECT_EQ(v.git_version + " " + v.major + "." + v.minor, "v1.36.0-x 1.36+");
      co_await l.sleep_for(11s);
    }
    EXPECT_EQ(server.count("GET", "/version"), 1u);
    co_await l.sleep_for(5s);
    (void)co_await known.recent_version();
    EXPECT_EQ(server.count("GET", "/version"), 2u);
    (void)co_await known.read_version(5s);
    EXPECT_EQ(server.count("GET", "/version"), 3u) << "a proof that the server is there is new";
  });
}

TEST_F(DiscoveryMemory, AFailureToSayTheVersionIsNotKept) {
  run([](scripted_server& server, discovery& known) -> awaitable<void> {
    server.on("GET", "/version", answer::failure(503, "ServiceUnavailable", "no"));
    auto failed = co_await known.recent_version();
    EXPECT_FALSE(failed);
    auto said = co_await known.recent_version();
    EXPECT_TRUE(said);
  });
}

TEST_F(DiscoveryMemory, KeepsTheNamesOfEverythingUntilSomethingChanges) {
  run([this](scripted_server& server, discovery& known) -> awaitable<void> {
    const std::string first = "apps/v1 apps/v1/Deployment v1 v1/Pod";
    std::vector<std::string> skipped;
    for (int i = 0; i < 3; ++i) {
      auto all = co_await known.everything(skipped);
      EXPECT_EQ(listed(all), first);
    }
    EXPECT_EQ(server.requests().size(), 4u);
    // One that is missing is looked for again, and brings along what came meanwhile.
    server.always("GET", "/apis/apps/v1", kinds("statefulsets", "StatefulSet"));
    auto found = co_await known.find("apps/v1", "StatefulSet");
    EXPECT_TRUE(found && *found);
    auto later = co_await known.everything(skipped);
    EXPECT_EQ(listed(later), "apps/v1 apps/v1/StatefulSet v1 v1/Pod");
    known.forget();
    server.always("GET", "/apis", answer::json(200, R"({"groups":[]})"));
    auto after = co_await known.everything(skipped);
    EXPECT_EQ(listed(after), "v1 v1/Pod");
    EXPECT_TRUE(skipped.empty());
    co_await l.sleep_for(discovery::longest_life);
    const std::size_t before = server.requests().size();
    (void)co_await known.everything(skipped);
    EXPECT_GT(server.requests().size(), before);
  });
}

TEST_F(DiscoveryMemory, AGroupVersionThatDidNotAnswerIsAskedNextTime) {
  run([](scripted_server& server, discovery& known) -> awaitable<void> {
    server.on("GET", "/apis/apps/v1", answer::failure(503, "ServiceUnavailable", "no"));
    std::vector<std::string> skipped;
    auto all = co_await known.everything(skipped);
    EXPECT_EQ(listed(all), "apps/v1 v1 v1/Pod");
    EXPECT_EQ(skipped, std::vector<std::string>{"apps/v1"});
    skipped.clear();
    auto again = co_await known.everything(skipped);
    EXPECT_EQ(listed(again), "apps/v1 apps/v1/Deployment v1 v1/Pod");
    EXPECT_TRUE(skipped.empty());
  });
}

}  // namespace
}  // namespace k8s
