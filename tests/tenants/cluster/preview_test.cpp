// What is said beforehand, against what then happens.
#include "tests/tenants/cluster/stage.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>

#include <map>
#include <random>
#include <set>

namespace helm::tenants::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string said(const object_change& c) {
  std::string text = c.action + " " + c.kind + "/" + c.name;
  for (const std::string& line : c.lines) text += " | " + line;
  return text;
}

std::vector<std::string> said(const std::vector<object_change>& all) {
  std::vector<std::string> out;
  for (const object_change& c : all) out.push_back(said(c));
  return out;
}

std::string door(const std::string& leads_to) {
  return "apiVersion: v1\nkind: Service\nmetadata:\n  name: door\nspec:\n  ports: [{port: 80}]\n  "
         "selector: {room: " +
         leads_to + "}\n";
}

const char* const hook =
    "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: before\n  annotations: {helm.sh/hook: "
    "pre-upgrade}\n";

class TenantPreview : public TenantStage {
protected:
  /// As `windlass tenant diff` asks.
  awaitable<outcome<tenant_preview>> preview(std::string cluster, settings s) {  // borrowed
    auto looks = start(std::move(s), {}, units::mode::look);
    co_await l.sleep_for(3s);
    tenant_cluster* on = looks->on(cluster);
    EXPECT_NE(on, nullptr);
    k8s::object_key key;
    key.ns = "default";
    key.name = "acme";
    auto seen = co_await on->preview(std::move(key));
    co_await looks->stop();
    co_return seen;
  }
};

TEST_F(TenantPreview, ShowsTheObjectsThatAnOperationWouldChangeAndWritesNothing) {
  play([&]() -> awaitable<void> {
    member& a = cluster("a");
    a.put_tenant("acme");
    charts->offer("2.0.0", archive_of("2.0.0", {{"templates/door.yaml", door("one")}}));
    charts->offer("3.0.0", archive_of("3.0.0", {{"templates/door.yaml", door("two")},
                                                {"templates/hook.yaml", hook}}));
    const std::size_t before = a.writes;
    auto fresh = co_await preview("a", of_version("2.0.0"));
    EXPECT_EQ(a.writes, before);
    EXPECT_TRUE(fresh) << fresh.error().text;
    if (!fresh) co_return;
    EXPECT_EQ(fresh->plan.action, "install");
    EXPECT_THAT(said(fresh->changes), ElementsAre("create ConfigMap/web", "create Service/door"));

    auto windlass = start(of_version("2.0.0"));
    const bool came = co_await ready("a");
    EXPECT_TRUE(came);
    co_await windlass->stop();
    const std::size_t installed = a.writes;
    auto next = co_await preview("a", of_version("3.0.0"));
    EXPECT_EQ(a.writes, installed);
    EXPECT_TRUE(next) << next.error().text;
    if (!next) co_return;
    EXPECT_EQ(next->plan.action, "upgrade");
    EXPECT_EQ(next->plan.from, "web 2.0.0");
    EXPECT_THAT(said(next->changes),
                ElementsAre("run ConfigMap/before | pre-upgrade",
                            "change ConfigMap/web | data.version: \"2.0.0\" → \"3.0.0\"",
                            "change Service/door | spec.selector.room: \"one\" → \"two\""));
    auto back = co_await preview("a", of_version("1.2.0"));
    EXPECT_TRUE(back) << back.error().text;
    if (back) {
      EXPECT_THAT(said(back->changes), ::testing::Contains("delete Service/door"));
    }
    auto same = co_await preview("a", of_version("2.0.0"));
    EXPECT_TRUE(same && same->changes.empty());
  });
}

TEST_F(TenantPreview, SaysWhatIsWrongWithTheChart) {
  play([&]() -> awaitable<void> {
    cluster("a").put_tenant("acme");
    auto none = co_await preview("a", of_version("9.9.9"));
    EXPECT_FALSE(none);
    if (!none) {
      EXPECT_THAT(none.error().text, HasSubstr("9.9.9"));
    }
    auto word = co_await preview("a", of_version("latest"));
    EXPECT_TRUE(word) << word.error().text;
    if (word) {
      EXPECT_EQ(word->plan.action, "held");
    }
    charts->offer("4.0.0", archive_of("4.0.0", {{"templates/bad.yaml", "{{ fail \"no\" }}"}}));
    auto bad = co_await preview("a", of_version("4.0.0"));
    EXPECT_FALSE(bad);
    if (!bad) {
      EXPECT_THAT(bad.error().text, HasSubstr("no"));
    }
  });
}

TEST_F(TenantPreview, APersonWhoAsksForItEndsTheWaitAfterAFailure) {
  play([&]() -> awaitable<void> {
    member& a = cluster("a");
    a.put_tenant("acme");
    a.forbids = [](const k8s::sim::request& r) {
      return r.method == "POST" && r.path.ends_with("/configmaps");
    };
    auto windlass = start(of_version("1.2.0"));
    // Long enough for the pauses to have grown to minutes.
    co_await l.sleep_for(5min);
    a.forbids = {};
    const std::string before = a.records("acme", "tenant-acme-a");
    co_await l.sleep_for(20s);
    EXPECT_EQ(a.records("acme", "tenant-acme-a"), before) << "it waits";
    a.api.edit(names::group, "tenants", "default", "acme", [](json::object& o) {
      json::value& annotations = o["metadata"].as_object()["annotations"];
      if (!annotations.is_object()) annotations.emplace_object();
      annotations.get_object()[names::retry] = "now";
    });
    const bool came = co_await ready("a", "acme", 5s);
    EXPECT_TRUE(came);
    co_await windlass->stop();
  });
}

std::size_t revisions_in(const std::string& records) {
  return static_cast<std::size_t>(std::ranges::count(records, ':'));
}

void ask_again(member& on, const std::string& words) {
  on.api.edit(names::group, "tenants", "default", "acme", [&](json::object& o) {
    json::value& annotations = o["metadata"].as_object()["annotations"];
    if (!annotations.is_object()) annotations.emplace_object();
    annotations.get_object()[names::retry] = words;
  });
}

// Each failure counts for what was asked for, so that one request is one attempt and then pauses.
TEST_F(TenantPreview, ARequestToTryAgainThatFailsIsOneAttemptAndThenWaits) {
  play([&]() -> awaitable<void> {
    member& a = cluster("a");
    a.put_tenant("acme");
    auto windlass = start(of_version("1.2.0"));
    const bool came = co_await ready("a");
    EXPECT_TRUE(came);
    co_await windlass->stop();
    a.forbids = [](const k8s::sim::request& r) {
      return r.method == "PATCH" && r.path.find("/configmaps/") != std::string::npos;
    };
    charts->offer("1.3.0", archive_of("1.3.0"));
    windlass = start(of_version("1.3.0"));
    co_await l.sleep_for(10s);
    EXPECT_EQ(revisions_in(a.records("acme", "tenant-acme-a")), 2u);
    ask_again(a, "now");
    co_await l.sleep_for(25s);
    EXPECT_EQ(revisions_in(a.records("acme", "tenant-acme-a")), 3u) << "at once, and not again";
    co_await l.sleep_for(60s);
    EXPECT_EQ(revisions_in(a.records("acme", "tenant-acme-a")), 4u) << "after 30 s";
    co_await windlass->stop();
  });
}

TEST_F(TenantPreview, RequestsWithoutEndDoNotFillTheHistory) {
  play([&]() -> awaitable<void> {
    member& a = cluster("a");
    a.put_tenant("acme");
    a.forbids = [](const k8s::sim::request& r) {
      return r.method == "POST" && r.path.ends_with("/configmaps");
    };
    settings all_kept = of_version("1.2.0");
    all_kept.max_history = 0;
    auto windlass = start(all_kept);
    for (int i = 0; i < 60; ++i) {
      ask_again(a, std::to_string(i));
      co_await l.sleep_for(1s);
    }
    const std::size_t made = revisions_in(a.records("acme", "tenant-acme-a"));
    EXPECT_GE(made, 6u) << "each request counts";
    EXPECT_LE(made, 13u) << "and none sooner than five seconds after a failure";
    co_await windlass->stop();
  });
}

// Who says nothing of the chart is shown what the service at work has and does, not what the
// defaults would do.
TEST_F(TenantPreview, WithoutAChartOfItsOwnALookShowsWhatTheServiceAtWorkPublishes) {
  play([&]() -> awaitable<void> {
    member& a = cluster("a");
    a.put_tenant("acme");
    a.put_tenant("beta");
    a.forbids = [](const k8s::sim::request& r) {
      return r.method == "POST" && r.path.find("/beta/configmaps") != std::string::npos;
    };
    auto windlass = start(of_version("1.2.0"));
    const bool came = co_await ready("a");
    EXPECT_TRUE(came);
    co_await l.sleep_for(10s);
    auto looks = start(default_settings(), {}, units::mode::look);
    co_await l.sleep_for(3s);
    const auto shown = co_await looks->on("a")->overview();
    const auto at_work = co_await windlass->on("a")->overview();
    EXPECT_EQ(shown.size(), 1u);
    EXPECT_EQ(shown.front().name, "web");
    EXPECT_EQ(shown.front().target, "http://charts/web:1.2.0");
    EXPECT_EQ(shown.front().updated, at_work.front().updated);
    EXPECT_EQ(shown.front().degraded, at_work.front().degraded);
    EXPECT_EQ(shown.front().holds.size(), 1u);
    if (shown.front().holds.size() == 1 && at_work.front().holds.size() == 1) {
      EXPECT_EQ(shown.front().holds.front().code, "backoff");
      EXPECT_EQ(shown.front().holds.front().sentence, at_work.front().holds.front().sentence);
      EXPECT_EQ(shown.front().holds.front().released_by, at_work.front().holds.front().released_by);
    }
    co_await looks->stop();
    const std::size_t before = a.writes;
    co_await l.sleep_for(10s);  // the next attempt is 30 s after the first
    EXPECT_EQ(a.writes, before) << "and says it once";
    co_await windlass->stop();
  });
}

/// What a plan says of one Tenant on one cluster.
struct forecast {
  std::string action, from, hold;
};
using forecasts = std::map<std::pair<std::string, std::string>, forecast>;

/// What became of a release, by its records before and after.
std::string what_became(const std::string& before, const std::string& after, bool there) {
  if (!there) return before.empty() ? "gone" : "uninstall";
  if (before == after) return "same";
  if (before.empty()) return "install";
  return "upgrade";
}

class PlanAndDeed : public TenantStage {
protected:
  awaitable<void> a_fleet(unsigned seed);
  awaitable<forecasts> plan(settings s);  // borrowed
  std::size_t judged = 0;
  std::map<std::string, std::size_t> seen;
};

awaitable<forecasts> PlanAndDeed::plan(settings s) {
  forecasts out;
  auto looks = start(std::move(s), {}, units::mode::look);
  co_await l.sleep_for(3s);
  for (auto& [name, m] : members) {
    tenant_cluster* on = looks->on(name);
    EXPECT_NE(on, nullptr);
    if (!on) continue;
    const auto rows = co_await on->overview();
    for (const units::plan_row& row : rows)
      for (const units::unit& u : row.units) {
        forecast f;
        std::string tenant;
        for (const units::detail& d : u.details) {
          if (d.key == "tenant") tenant = std::get<std::string>(d.value);
          if (d.key == "action") f.action = std::get<std::string>(d.value);
          if (d.key == "from") f.from = std::get<std::string>(d.value);
        }
        for (const units::hold& h : row.forecast)
          if (h.unit == u.name) f.hold = h.code;
        EXPECT_EQ(f.action == "held", !f.hold.empty())
            << tenant << " " << f.action << " " << f.hold;
        const bool once = out.emplace(std::pair(name, tenant), f).second;
        EXPECT_TRUE(once) << tenant;
      }
  }
  co_await looks->stop();
  co_return out;
}

awaitable<void> PlanAndDeed::a_fleet(unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  std::set<std::pair<std::string, std::string>> all;  // cluster, "ns/name"
  const unsigned clusters = 1 + below(3);
  const auto add = [&](const std::string& on, const std::string& name, const std::string& ns) {
    const unsigned kind = below(8);
    cluster(on).put_tenant(name, ns, kind == 0 ? "elsewhere" : kind == 1 ? on : std::string());
    all.emplace(on, ns + "/" + name);
  };
  for (unsigned c = 0; c < clusters; ++c) {
    const std::string on(1, static_cast<char>('a' + c));
    cluster(on).put_namespace("other");
    for (unsigned t = 0; t <= below(4); ++t) add(on, "t" + std::to_string(t), "default");
  }
  const std::string first = "1.2.0";
  if (below(5) != 0) {  // else nothing has ever run
    const bool broken = below(4) == 0;
    member& a = cluster("a");
    if (broken)
      a.forbids = [](const k8s::sim::request& r) {
        return r.method == "POST" && r.path.ends_with("/configmaps");
      };
    auto windlass = start(of_version(first));
    co_await l.sleep_for(20s);
    co_await windlass->stop();
    a.forbids = {};
  }
  // What people do meanwhile.
  for (const auto& [on, tenant] : std::set(all)) {
    const std::string ns = tenant.substr(0, tenant.find('/')),
                      name = tenant.substr(tenant.find('/') + 1);
    member& m = cluster(on);
    switch (below(6)) {
      case 0: {
        const k8s::sim::request gone = k8s::sim::make_request(
            "DELETE", "/apis/mesh.openkcm.io/v1alpha1/namespaces/" + ns + "/tenants/" + name);
        (void)m.api.handle(gone);
        break;
      }
      case 1:
        m.api.edit(names::group, "tenants", ns, name, [](json::object& o) {
          json::object& meta = o["metadata"].as_object();
          if (meta.contains("annotations")) meta.erase("annotations");
        });
        break;
      case 2: add(on, name, "other"); break;
      default: break;
    }
  }
  if (below(2) == 0) add("a", "late", "default");
  static const char* const versions[] = {"1.2.0", "1.3.0", "1.3.0", "latest"};
  const std::string version = versions[below(4)];

  std::map<std::string, std::size_t> writes;
  for (auto& [name, m] : members) writes[name] = m->all_writes;
  const forecasts said = co_await plan(of_version(version));
  std::map<std::pair<std::string, std::string>, std::string> before;
  for (auto& [name, m] : members) EXPECT_EQ(m->all_writes, writes[name]) << "a plan writes nothing";
  const auto records = [&](const std::string& on, const std::string& tenant) {
    const std::string name = tenant.substr(tenant.find('/') + 1);
    return cluster(on).records(name, "tenant-" + name + "-" + on);
  };
  for (const auto& one : all) before[one] = records(one.first, one.second);

  auto windlass = start(of_version(version));
  co_await l.sleep_for(25s);
  for (const auto& one : all) {
    const auto& [on, tenant] = one;
    const std::string ns = tenant.substr(0, tenant.find('/')),
                      name = tenant.substr(tenant.find('/') + 1);
    const bool there = !cluster(on).tenant(name, ns).empty();
    const std::string became = what_became(before[one], records(on, tenant), there);
    const auto found = said.find(one);
    const std::string what = "seed " + std::to_string(seed) + " " + on + " " + tenant + " " +
                             version + ": " + before[one] + " → " + records(on, tenant);
    ++judged;
    if (found == said.end()) {  // it is of another cluster, or was gone already
      const bool alone = !all.contains({on, (ns == "other" ? "default/" : "other/") + name});
      EXPECT_TRUE(!alone || became == "same" || became == "gone") << what;
      ++seen["unlisted"];
      continue;
    }
    const forecast& f = found->second;
    ++seen[f.action];
    if (f.action == "install" || f.action == "upgrade" || f.action == "uninstall") {
      EXPECT_EQ(became, f.action) << what;
    } else if (f.hold == "conflict") {
      EXPECT_TRUE(there) << what;  // the records are the winner's
    } else {
      EXPECT_TRUE(became == "same" || became == "gone") << f.action << " " << f.hold << " " << what;
    }
    EXPECT_EQ(f.from.empty(), before[one].empty() || f.hold == "conflict") << what;
  }
  co_await windlass->stop();
}

TEST_F(PlanAndDeed, WhatThenHappensIsWhatThePlanSaidOnAHundredFleets) {
  for (unsigned seed = 1; seed <= 100; ++seed)
    play([&, seed]() -> awaitable<void> { co_await a_fleet(seed); });
  std::cout << "## plan and deed: " << judged << " Tenants";
  for (const auto& [what, n] : seen) std::cout << ", " << n << " " << what;
  std::cout << "\n";
  for (const char* what : {"install", "upgrade", "uninstall", "skip", "held", "unlisted"})
    EXPECT_GT(seen[what], 10u) << what;
}

}  // namespace
}  // namespace helm::tenants::testing
