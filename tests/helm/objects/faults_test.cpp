#include "k8s/sim/server.hpp"
#include "reactor/side_by_side.hpp"
#include "reactor/task_group.hpp"
#include "tests/helm/objects/stage.hpp"
#include "tests/reactor/run.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace helm::objects::testing {
namespace {

template <class T>
std::string problem_of(const outcome<T>& r) {
  return r ? std::string() : r.error().text;
}

k8s::sim::answer refusal(int status, const std::string& reason) {
  k8s::sim::answer a;
  a.status = status;
  a.body = R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":")" + reason +
           R"(","message":"not now","code":)" + std::to_string(status) + "}";
  return a;
}

TEST(Create, TriesFiveTimesOnConflicts) {
  for (const int conflicts : {4, 5}) {
    play([=](stage& s) -> awaitable<void> {
      object_list list = co_await s.built(config_map("a", "k: v"));
      int seen = 0;
      s.embedded()->before = [&](const k8s::sim::request& r) -> std::optional<k8s::sim::answer> {
        if (r.method != "POST" || ++seen > conflicts) return std::nullopt;
        return refusal(409, "Conflict");
      };
      auto made = co_await s.objects().create(list);
      s.embedded()->before = nullptr;
      EXPECT_EQ(problem_of(made), conflicts < 5 ? "" : "1 error occurred:\n\t* not now\n\n");
      EXPECT_EQ(seen, 5);
    });
  }
}

TEST(Create, SendsNeighboursOfOneKindTogetherAndKindsInTurn) {
  play([](stage& s) -> awaitable<void> {
    std::string manifest;
    for (int i = 0; i < 20; ++i) manifest += config_map("m" + std::to_string(i), "k: v");
    manifest += "---\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\n";
    object_list list = co_await s.built(manifest);
    s.embedded()->after = [](const k8s::sim::request& r, k8s::sim::answer& a) {
      if (r.method == "POST") a.delay = 1s;
    };
    const reactor::steady_time begin = s.loop().now();
    auto made = co_await s.objects().create(list);
    EXPECT_EQ(problem_of(made), "");
    const auto took = s.loop().now() - begin;
    EXPECT_GE(took, 3s);
    EXPECT_LT(took, 4s) << "20 maps, 10 at a time, then the secret";
  });
}

TEST(WaitReady, OutlastsAnIllServer) {
  play([](stage& s) -> awaitable<void> {
    object_list list = co_await s.built(
        "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: [{port: 80}]}\n");
    (void)co_await s.objects().create(list);
    int seen = 0;
    s.embedded()->before = [&](const k8s::sim::request& r) -> std::optional<k8s::sim::answer> {
      if (r.method != "GET" || ++seen > 5) return std::nullopt;
      return refusal(503, "ServiceUnavailable");
    };
    auto waited = co_await s.objects().wait_ready(list, false, s.soon());
    EXPECT_EQ(problem_of(waited), "");
    seen = -100;
    auto given_up = co_await s.objects().wait_ready(list, false, s.loop().now() + 1h);
    s.embedded()->before = nullptr;
    EXPECT_EQ(problem_of(given_up), "not now") << "after 30 tries";
  });
}

TEST(Update, StopsWhereTheServerDoesNotAnswer) {
  play([](stage& s) -> awaitable<void> {
    object_list list = co_await s.built(config_map("a", "k: v") + config_map("b", "k: v"));
    (void)co_await s.objects().create(list);
    s.embedded()->before = [&](const k8s::sim::request& r) -> std::optional<k8s::sim::answer> {
      if (r.method != "GET") return std::nullopt;
      return refusal(503, "ServiceUnavailable");
    };
    update_options plain;
    update_result did;
    auto done = co_await s.objects().update(list, list, plain, &did);
    s.embedded()->before = nullptr;
    EXPECT_EQ(problem_of(done), "could not get information about the resource: not now");
    EXPECT_TRUE(did.updated.empty());
  });
}

TEST(Capabilities, DoWithoutAGroupThatDoesNotAnswer) {
  play([](stage& s) -> awaitable<void> {
    s.embedded()->before = [&](const k8s::sim::request& r) -> std::optional<k8s::sim::answer> {
      if (r.path != "/apis/policy/v1") return std::nullopt;
      return refusal(503, "ServiceUnavailable");
    };
    auto seen = co_await s.objects().capabilities();
    s.embedded()->before = nullptr;
    EXPECT_EQ(problem_of(seen), "");
    if (!seen) co_return;
    const auto& all = seen->api_versions;
    EXPECT_EQ(std::count(all.begin(), all.end(), "policy/v1"), 1);
    EXPECT_EQ(std::count(all.begin(), all.end(), "policy/v1/PodDisruptionBudget"), 0);
  });
}

/// Everything once: creating, updating, waiting, deleting.
awaitable<void> everything(stage& s) {  // borrowed
  auto built = co_await s.objects().build(
      config_map("a", "k: v") + config_map("b", "k: v") + config_map("c", "k: v"), s.ns());
  if (!built) co_return;
  object_list list = std::move(*built);
  (void)co_await s.objects().create(list);
  object_list next{list[0], list[1]};
  next[0].body["data"].as_object()["k"] = "w";
  update_options plain;
  (void)co_await s.objects().update(list, next, plain, nullptr);
  (void)co_await s.objects().wait_ready(next, true, s.soon());
  (void)co_await s.objects().remove(next, "Background");
  (void)co_await s.objects().wait_gone(next, s.soon());
}

TEST(Objects, CanBeCancelledAtEachStep) {
  bool ended = false;
  int cancelled = 0;
  for (int steps = 0; !ended; steps += 1 + steps / 40) {
    reactor::loop l(reactor::loop::mode::simulated, 3);
    stage s(l);
    reactor::run_task(l, [&]() -> awaitable<void> { co_await s.set_up(); });
    reactor::task_group tasks(l);
    tasks.start("work", [&]() -> awaitable<void> {
      co_await everything(s);
      ended = true;
    });
    for (int i = 0; i < steps && !tasks.empty(); ++i) l.run_one();
    cancelled += !tasks.empty();
    reactor::run_task(l, [&]() -> awaitable<void> {
      co_await tasks.cancel_and_join();
      co_await s.tear_down();
    });
  }
  EXPECT_GT(cancelled, 50);
}

TEST(SideBySide, EndsWhenAllHaveEnded) {
  reactor::loop l(reactor::loop::mode::simulated, 1);
  std::size_t running = 0, most = 0, ended = 0;
  reactor::run_task(l, [&]() -> awaitable<void> {
    std::function<awaitable<void>(std::size_t)> act = [&](std::size_t i) -> awaitable<void> {
      most = std::max(most, ++running);
      co_await l.sleep_for(std::chrono::seconds(1 + i % 3));
      --running, ++ended;
    };
    co_await reactor::side_by_side(25, act, 4);
    EXPECT_EQ(ended, 25u);
    EXPECT_EQ(most, 4u);
    co_await reactor::side_by_side(0, act);
    EXPECT_EQ(ended, 25u);
  });
}

TEST(InstallCrds, WaitsUntilDiscoveryListsTheKind) {
  for (const bool ever : {true, false}) {
    play([=](stage& s) -> awaitable<void> {
      const std::string group = s.ns() + ".example.com";
      std::vector<std::pair<std::string, std::string>> files{{"crds/w.yaml", definition(group)}};
      const reactor::steady_time begin = s.loop().now();
      const reactor::steady_time listed = ever ? begin + 3s : reactor::never;
      s.embedded()->before = [&s, listed, path = "/apis/" + group](
                                 const k8s::sim::request& r) -> std::optional<k8s::sim::answer> {
        if (!r.path.starts_with(path) || s.loop().now() >= listed) return std::nullopt;
        return refusal(404, "NotFound");
      };
      auto made = co_await s.objects().install_crds(files, s.soon());
      const auto took = s.loop().now() - begin;
      s.embedded()->before = nullptr;
      EXPECT_EQ(problem_of(made), "");
      EXPECT_GE(took, ever ? 3s : 10s);
      EXPECT_LT(took, ever ? 5s : 12s) << "whoever needs it says that it is missing";
    });
  }
}

}  // namespace
}  // namespace helm::objects::testing
