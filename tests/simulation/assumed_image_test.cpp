// `plan --image` beside the deed: what the planner says of an image that no pool asks for yet is
// what it says once the pool asks for it.
#include "app/api/assumed_targets.hpp"
#include "bootc/api.hpp"
#include "bootc/registry_settings.hpp"
#include "cli/apis.hpp"
#include "reactor/loop.hpp"
#include "service/overview/overview.hpp"
#include "service/service.hpp"
#include "simulation/node_world.hpp"
#include "simulation/tag_registry.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace {

using namespace std::chrono_literals;
using reactor::awaitable;

/// A registry that has whatever it is asked for by digest.
class every_image final : public registry::tag_source {
public:
  registry::awaitable<registry::answer<std::string>> digest_of(
      registry::image_ref of, std::string, std::shared_ptr<const registry::pull_secret>) override {
    co_return of.digest;
  }
};

struct fleet {
  explicit fleet(std::uint64_t seed) : loop(reactor::loop::mode::simulated, seed) {
    simulation::world_options o;
    o.clusters = 1 + seed % 2;
    o.nodes = 2 + seed % 5;
    o.mishaps = false;
    world = std::make_unique<simulation::node_world>(loop, o);
  }
  awaitable<cli::fleet_overview> look(std::map<std::string, std::string> assumed,
                                      registry::tag_source* tags = nullptr) {
    every_image known;
    cli::service_options o = cli::with_all_apis();
    o.home = world->home();
    o.does = units::mode::look;
    bootc::settings s;
    s.tags = tags ? tags : &known;
    auto images = std::make_shared<units::assumed_targets>();
    images->by_row = std::move(assumed);
    s.assumed = images;
    bootc::set_labels(s, {});
    bootc::set_up(units::named(o.apis, "bootc"), std::move(s));
    cli::service looking(loop, std::move(o), reactor::logger());
    auto started = co_await looking.start();
    EXPECT_TRUE(started);
    cli::fleet_overview f = co_await cli::look_at(looking, loop, std::string(), loop.now() + 15s);
    co_await looking.stop();
    co_return f;
  }
  /// A service at work for so long.
  awaitable<void> act(reactor::nanoseconds time) {
    cli::service_options o = cli::with_all_apis();
    o.home = world->home();
    cli::service acting(loop, std::move(o), reactor::logger());
    auto started = co_await acting.start();
    EXPECT_TRUE(started);
    co_await loop.sleep_for(time);
    co_await acting.stop();
  }
  void go(std::function<awaitable<void>()> body) {
    reactor::task_group tasks(loop);
    tasks.start("test", [&]() -> awaitable<void> {
      EXPECT_TRUE(world->start());
      co_await body();
      co_await world->stop();
    });
    loop.run();
  }
  reactor::loop loop;
  std::unique_ptr<simulation::node_world> world;
};

/// Of each pool: target, who goes first, what the next pass does, and why the others wait.
std::vector<std::string> said(const cli::fleet_overview& f) {
  std::vector<std::string> out;
  for (const cli::cluster_overview& c : f.clusters)
    for (const cli::api_overview& a : c.apis)
      for (const units::plan_row& r : a.rows) {
        if (a.name != "bootc") continue;
        std::string text = c.name + "/" + r.name + " -> " + r.target + ":";
        for (const std::string& s : r.start) text += " " + s;
        for (const units::planned_action& p : r.actions) text += ", " + p.action + " " + p.unit;
        for (const units::hold& h : r.forecast) text += "; " + h.unit + " " + h.code;
        out.push_back(std::move(text));
      }
  return out;
}

std::vector<std::string> notes(const cli::fleet_overview& f) {
  std::vector<std::string> out;
  for (const cli::cluster_overview& c : f.clusters)
    for (const cli::api_overview& a : c.apis)
      for (const units::plan_row& r : a.rows) out.insert(out.end(), r.notes.begin(), r.notes.end());
  return out;
}

TEST(AssumedImage, IsPlannedAsItIsDoneOnAHundredFleets) {
  const std::string image(simulation::new_image);
  std::size_t moved = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    fleet f(seed);
    f.go([&]() -> awaitable<void> {
      co_await f.act(20s);
      std::map<std::string, std::string> workers{{"workers", image}}, none;
      const auto planned = co_await f.look(std::move(workers));
      const auto before = co_await f.look(none);
      for (simulation::pool_cluster* c : f.world->pools()) c->set_image(image);
      co_await f.loop.sleep_for(1s);
      const auto done = co_await f.look(none);
      EXPECT_EQ(said(planned), said(done)) << "seed " << seed;
      EXPECT_NE(said(before), said(done)) << "seed " << seed;
      if (!said(planned).empty() && said(planned).front().find(": ") != std::string::npos) ++moved;
    });
  }
  EXPECT_EQ(moved, 100u) << "in each of them a node goes first";
}

TEST(AssumedImage, WritesNothingAndTellsWhatIsFetchedInHowManySteps) {
  fleet f(3);
  f.go([&]() -> awaitable<void> {
    co_await f.act(20s);
    std::size_t writes = 0;
    f.world->on_write = [&](std::size_t, const k8s::sim::written& w) {
      if (w.plural == "bootcnodepools" || w.plural == "bootcnodes" || w.plural == "nodes") ++writes;
    };
    std::map<std::string, std::string> every{{"", std::string(simulation::new_image)}};
    const auto planned = co_await f.look(std::move(every));
    EXPECT_EQ(writes, 0u);
    const auto all = notes(planned);
    EXPECT_EQ(all.size(), f.world->pools().size());
    for (const std::string& one : all)
      EXPECT_NE(one.find("5 nodes fetch it; 5 nodes boot it in "), std::string::npos) << one;
  });
}

/// A registry whose every image carries a Kubernetes that is newer than the API servers.
class newer_image final : public registry::tag_source {
public:
  registry::awaitable<registry::answer<std::string>> digest_of(
      registry::image_ref of, std::string, std::shared_ptr<const registry::pull_secret>) override {
    co_return of.digest;
  }
  registry::awaitable<registry::answer<registry::image_labels>> labels_of(
      registry::image_ref, std::shared_ptr<const registry::pull_secret>) override {
    registry::image_labels all;
    all["io.kubernetes.version"] = "v1.99.0";
    co_return all;
  }
};

TEST(AssumedImage, ThatNoNodeHasSeenIsLookedUpForItsKubernetes) {
  newer_image images;
  fleet f(5);
  f.go([&]() -> awaitable<void> {
    co_await f.act(20s);
    std::map<std::string, std::string> workers{{"workers", std::string(simulation::new_image)}};
    const auto planned = co_await f.look(std::move(workers), &images);
    std::size_t held = 0;
    for (const cli::cluster_overview& c : planned.clusters)
      for (const cli::api_overview& a : c.apis)
        for (const units::plan_row& r : a.rows) {
          EXPECT_TRUE(r.start.empty()) << "no node goes first";
          held += static_cast<std::size_t>(
              std::ranges::count(r.forecast, "version-skew", &units::hold::code));
        }
    EXPECT_EQ(held, f.world->node_count());
  });
}

/// A registry that knows one tag.
class one_tag final : public registry::tag_source {
public:
  explicit one_tag(std::string digest) : digest_(std::move(digest)) {}
  registry::awaitable<registry::answer<std::string>> digest_of(
      registry::image_ref of, std::string, std::shared_ptr<const registry::pull_secret>) override {
    if (of.tag == "42" || of.digest == digest_) co_return digest_;
    co_return registry::failed(registry::errc::not_found, "no such tag");
  }

private:
  std::string digest_;
};

TEST(AssumedImage, OfATagIsWhatTheRegistrySaysNowOrNotKnown) {
  const std::string image(simulation::new_image), digest = image.substr(image.find('@') + 1),
                                                  repository = image.substr(0, image.find('@'));
  one_tag tags(digest);
  fleet f(4);
  f.go([&]() -> awaitable<void> {
    co_await f.act(20s);
    std::map<std::string, std::string> by_digest{{"workers", repository + "@" + digest}},
        by_tag{{"workers", repository + ":42"}}, unknown{{"workers", repository + ":43"}};
    const auto one = co_await f.look(std::move(by_digest), &tags);
    const auto same = co_await f.look(std::move(by_tag), &tags);
    EXPECT_EQ(said(one), said(same));
    const auto none = co_await f.look(std::move(unknown), &tags);
    bool told = false;
    for (const std::string& note : notes(none))
      told = told || note.find("no such tag") != std::string::npos;
    EXPECT_TRUE(told);
  });
}

}  // namespace
