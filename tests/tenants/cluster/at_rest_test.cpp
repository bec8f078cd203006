// What is asked of API servers for releases that rest, and what is noticed there all the same.
#include "tests/tenants/cluster/home_stage.hpp"

#include <algorithm>

namespace helm::tenants::testing {
namespace {

/// Requests but watches and the reads of one object by which a view is proved current.
class counted_requests {
public:
  explicit counted_requests(member& at) {
    at.answers = [this](const k8s::sim::request& r) {
      if (!is_of_a_view(r)) asked.push_back(r.method + " " + r.path);
      return std::optional<k8s::sim::answer>();
    };
  }
  std::vector<std::string> asked;

private:
  static bool is_of_a_view(const k8s::sim::request& r) {
    return r.method == "GET" && std::ranges::any_of(r.query, [](const auto& q) {
             return q.first == "watch" || (q.first == "limit" && q.second == "1");
           });
  }
};

std::string first_of(const std::vector<std::string>& all) {
  return all.empty() ? "" : all.front();
}

bool is_watch(const k8s::sim::request& r) {
  return std::ranges::any_of(r.query, [](const auto& q) { return q.first == "watch"; });
}

class TenantAtRest : public TenantStage {
protected:
  /// The newest record says something else, as after `helm rollback`.
  static void take_records_away(member& at, const std::string& ns) {
    for (const json::object& secret : at.api.list("", "secrets")) {
      const json::object& meta = secret.at("metadata").as_object();
      const std::string name(meta.at("name").as_string());
      if (meta.at("namespace").as_string() == ns && name.starts_with("sh.helm.release"))
        (void)at.api.erase("", "secrets", ns, name);
    }
  }
};

TEST_F(TenantAtRest, NothingIsAskedForIt) {
  play([&]() -> awaitable<void> {
    member& a = cluster("a");
    for (const char* name : {"one", "two", "three", "four"}) a.put_tenant(name);
    auto windlass = start(of_version("1.2.0"));
    for (const char* name : {"one", "two", "three", "four"}) {
      const bool came = co_await ready("a", name);
      EXPECT_TRUE(came);
    }
    co_await l.sleep_for(5min);
    counted_requests counted(a);
    co_await l.sleep_for(1h);
    EXPECT_EQ(counted.asked.size(), 0u) << first_of(counted.asked);
    a.answers = nullptr;
    co_await windlass->stop();
  });
}

// The note of the fingerprint makes a new version, which the status after it has to name: one that
// is refused is read again.
TEST_F(TenantAtRest, TheStatusAfterAnInstallIsNotRefused) {
  play([&]() -> awaitable<void> {
    member& a = cluster("a");
    a.put_tenant("acme");
    counted_requests counted(a);
    auto windlass = start(of_version("1.2.0"));
    const bool came = co_await ready("a");
    EXPECT_TRUE(came);
    std::size_t notes = 0, after_note = 0;
    for (const std::string& request : counted.asked) {
      if (!request.starts_with("PATCH")) continue;
      if (request.ends_with("/tenants/acme")) ++notes, after_note = 0;
      if (request.ends_with("/tenants/acme/status")) ++after_note;
    }
    EXPECT_EQ(notes, 2u) << "the finalizer and the fingerprint";
    EXPECT_EQ(after_note, 1u);
    a.answers = nullptr;
    co_await windlass->stop();
  });
}

TEST_F(TenantAtRest, AStartAsksForEachRecordAndNothingElse) {
  play([&]() -> awaitable<void> {
    member& a = cluster("a");
    a.put_tenant("acme");
    auto windlass = start(of_version("1.2.0"));
    const bool came = co_await ready("a");
    EXPECT_TRUE(came);
    co_await windlass->stop();
    counted_requests counted(a);
    const std::size_t writes = a.writes;
    auto again = start(of_version("1.2.0"));
    co_await l.sleep_for(10min);
    const auto of_the_release =
        std::ranges::count_if(counted.asked, [](const std::string& request) {
          return request.find("/namespaces/acme") != request.npos;
        });
    EXPECT_LE(of_the_release, 2) << "its newest record is listed and read";
    EXPECT_EQ(a.writes, writes);
    a.answers = nullptr;
    co_await again->stop();
  });
}

TEST_F(TenantAtRest, WhatGoesIsNoticedAtOnce) {
  play([&]() -> awaitable<void> {
    member& a = cluster("a");
    a.put_tenant("acme");
    settings heals = of_version("1.2.0");
    heals.drift = drift_mode::heal;
    heals.check_interval = 1h;
    auto windlass = start(heals);
    const bool came = co_await ready("a");
    EXPECT_TRUE(came);
    co_await l.sleep_for(2h);  // the views of what it owns are complete
    (void)a.api.erase("", "configmaps", "acme", "web");
    const bool back = co_await until([&] { return a.value("acme") == "standard 1.2.0"; }, 10s);
    EXPECT_TRUE(back) << "without a check";
    co_await l.sleep_for(1min);
    take_records_away(a, "acme");
    const bool recorded =
        co_await until([&] { return !a.records("acme", "tenant-acme-a").empty(); }, 10s);
    EXPECT_TRUE(recorded);
    co_await windlass->stop();
  });
}

TEST_F(TenantAtRest, AnObjectThatIsOnlyHiddenFromTheWatchIsNotMissing) {
  play([&]() -> awaitable<void> {
    member& a = cluster("a");
    a.put_tenant("acme");
    settings s = of_version("1.2.0");
    s.check_interval = 10s;
    auto windlass = start(s);
    const bool came = co_await ready("a");
    EXPECT_TRUE(came);
    co_await l.sleep_for(1min);
    a.api.edit("", "configmaps", "acme", "web", [](json::object& o) {
      o["metadata"].as_object()["labels"].as_object().erase("app.kubernetes.io/managed-by");
    });
    co_await l.sleep_for(5min);
    EXPECT_EQ(a.told("DriftDetected"), 0u) << "it is there, without the label";
    (void)a.api.erase("", "configmaps", "acme", "web");
    const bool told = co_await until([&] { return a.told("DriftDetected") == 1; }, 5min);
    EXPECT_TRUE(told);
    co_await windlass->stop();
  });
}

TEST_F(TenantAtRest, WithoutTheRightToWatchItIsLookedAtEachInterval) {
  play([&]() -> awaitable<void> {
    member& a = cluster("a");
    a.put_tenant("acme");
    a.forbids = [](const k8s::sim::request& r) {
      return is_watch(r) && r.path.find("/tenants") == r.path.npos;
    };
    auto windlass = start(of_version("1.2.0"));
    const bool came = co_await ready("a");
    EXPECT_TRUE(came);
    co_await l.sleep_for(3min);
    (void)a.api.erase("", "configmaps", "acme", "web");
    const bool told = co_await until([&] { return a.told("DriftDetected") == 1; }, 3min);
    EXPECT_TRUE(told);
    co_await windlass->stop();
  });
}

TEST_F(TenantAtRest, ViewsThatAreLostAreNotBelieved) {
  play([&]() -> awaitable<void> {
    member& a = cluster("a");
    a.put_tenant("acme");
    auto windlass = start(of_version("1.2.0"));
    const bool came = co_await ready("a");
    EXPECT_TRUE(came);
    co_await l.sleep_for(5min);
    // From now on no view of what releases are made of comes back.
    a.forbids = [](const k8s::sim::request& r) {
      return is_watch(r) && r.path.find("/tenants") == r.path.npos;
    };
    co_await l.sleep_for(2h);  // every stream has ended
    (void)a.api.erase("", "configmaps", "acme", "web");
    const bool told = co_await until([&] { return a.told("DriftDetected") == 1; }, 5min);
    EXPECT_TRUE(told);
    co_await windlass->stop();
  });
}

TEST_F(KryptonAtHome, NothingIsAskedForOneThatRests) {
  play([&]() -> awaitable<void> {
    member& eu = cluster("eu");
    put_way("eu-kubeconfig", "eu");
    for (const char* name : {"shop", "bank"}) put(name, "eu");
    auto windlass = run();
    for (const char* name : {"shop", "bank"}) {
      const bool came = co_await until_says(name, "Ready/Deployed");
      EXPECT_TRUE(came);
    }
    co_await l.sleep_for(5min);
    {
      counted_requests there(eu), here(home());
      co_await l.sleep_for(1h);
      EXPECT_EQ(there.asked.size(), 0u) << first_of(there.asked);
      EXPECT_EQ(here.asked.size(), 0u) << first_of(here.asked);
      eu.answers = home().answers = nullptr;
    }
    remove_map(eu, "shop");
    const bool back = co_await until([&] { return eu.has("configmaps", "shop", "web"); }, 10s);
    EXPECT_TRUE(back);
    co_await windlass->stop();
  });
}

}  // namespace
}  // namespace helm::tenants::testing
