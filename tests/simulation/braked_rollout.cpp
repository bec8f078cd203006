#include "tests/simulation/braked_rollout.hpp"

#include "app/api/brake.hpp"
#include "cli/apis.hpp"
#include "reactor/loop.hpp"
#include "simulation/brake_invariants.hpp"
#include "simulation/speed_invariants.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>

namespace simulation {
namespace {

using namespace std::chrono_literals;

constexpr reactor::nanoseconds braked_for = 3min, rest_of_rollout = 4min;

/// One run of it, seen by the judges.
class rollout_run {
public:
  rollout_run(reactor::loop& l, home_rollout r) : loop_(l), story_(std::move(r)) {
    node_world_options o;
    o.mishaps = false;
    o.fleet = story_.fleet;
    world_ = std::make_unique<node_world>(l, std::move(o));
    world_->home_api().put(
        {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "kube-system"}}}});
    story_.prepare(*world_);
  }

  rollout_outcome go(beginnings& judge, std::function<void()> on_write,
                     units::change_limits limits) {
    world_->home_api().on_write = [&](const k8s::sim::written& w) {
      if (rolls_ && w.name != units::brake_object) written(on_write);
    };
    world_->on_write = [&](std::size_t of, const k8s::sim::written& w) {
      judge.saw(world_->clusters()[of]->name(), w);
      if (rolls_) written(on_write);
    };
    for (const auto& c : world_->clusters())
      c->api().before = [&judge, &c = *c](const k8s::sim::request& r) {
        judge.saw_request(c.name(), r, c.api());
        return std::optional<k8s::sim::answer>();
      };
    reactor::task_group tasks(loop_);
    tasks.start("rollout", live(limits));
    loop_.run();
    for (const std::string& one : world_->violations()) out_.violations.push_back(one);
    return std::move(out_);
  }
  void say_brake(const char* state) {
    world_->home_api().put({{"apiVersion", "v1"},
                            {"kind", "ConfigMap"},
                            {"metadata", {{"name", units::brake_object}, {"namespace", "default"}}},
                            {"data", {{"state", state}, {"why", "a trial"}}}});
  }
  std::size_t writes() const noexcept { return out_.writes; }
  reactor::task_group& beside() noexcept { return beside_; }

private:
  void written(const std::function<void()>& on_write) {
    ++out_.writes;
    if (on_write) on_write();
  }
  bool has_arrived() const { return world_->hosts_on(new_image) == world_->node_count(); }

  reactor::awaitable<void> live(units::change_limits limits) {
    (void)world_->start();
    cli::service_options s = cli::with_all_apis();
    s.home = world_->home();
    s.packs_are_tested = true;
    s.max_changes = limits;
    if (story_.settings) story_.settings(s);
    cli::service windlass(loop_, std::move(s), reactor::logger());
    auto started = co_await windlass.start();
    EXPECT_TRUE(started.has_value()) << (started ? "" : started.error().message());
    co_await loop_.sleep_for(story_.settles);
    rolls_ = true;
    story_.begin(*world_);
    for (int i = 0; i < 240 && !has_arrived(); ++i) co_await loop_.sleep_for(15s);
    co_await loop_.sleep_for(rest_of_rollout);
    out_.has_arrived = has_arrived();
    co_await windlass.stop();
    co_await beside_.cancel_and_join();
    world_->home_api().on_write = nullptr;
    co_await world_->stop();
  }

  reactor::loop& loop_;
  home_rollout story_;
  std::unique_ptr<node_world> world_;
  rollout_outcome out_;
  bool rolls_ = false;
  reactor::task_group beside_{loop_};
};

}  // namespace

rollout_outcome run_braked(reactor::loop& l, home_rollout r, std::size_t brake_at) {
  rollout_run run(l, std::move(r));
  brake_invariants judge([&] { return l.now(); });
  bool landed = false;
  const auto lift = [&]() -> reactor::awaitable<void> {
    co_await l.sleep_for(braked_for);
    judge.lifted();
    run.say_brake("off");
  };
  const auto land = [&] {
    if (run.writes() != brake_at) return;
    landed = true;
    run.say_brake("on");
    judge.landed();
    run.beside().start("lift", lift());
  };
  rollout_outcome out = run.go(judge, land, {});
  out.landed = landed;
  for (const std::string& one : judge.violations()) out.violations.push_back(one);
  return out;
}

rollout_outcome run_limited(reactor::loop& l, home_rollout r, units::change_limits limits) {
  rollout_run run(l, std::move(r));
  speed_invariants judge(limits, [&] { return l.now(); });
  rollout_outcome out = run.go(judge, {}, limits);
  out.began = judge.seen();
  for (const std::string& one : judge.violations()) out.violations.push_back(one);
  return out;
}

void sweep_brake(const std::function<home_rollout(reactor::loop& l)>& make, const char* what) {
  const char* asked = std::getenv("WINDLASS_BRAKE_SEEDS");
  const std::uint64_t n = asked ? std::strtoull(asked, nullptr, 10) : 10;
  const auto run = [&](std::uint64_t seed, std::size_t brake_at) {
    reactor::loop l{reactor::loop::mode::simulated, seed};
    return run_braked(l, make(l), brake_at);
  };
  const rollout_outcome whole = run(1, 0);
  ASSERT_TRUE(whole.violations.empty()) << whole.violations.front();
  ASSERT_TRUE(whole.has_arrived);
  ASSERT_GT(whole.writes, 50u);
  std::uint64_t landed = 0;
  for (std::uint64_t seed = 1; seed <= n; ++seed) {
    const rollout_outcome r = run(seed, 1 + (seed - 1) * whole.writes / n);
    ASSERT_TRUE(r.violations.empty()) << what << ", seed " << seed << ": " << r.violations.front();
    ASSERT_TRUE(r.has_arrived) << what << ", seed " << seed;
    landed += r.landed;
  }
  EXPECT_GT(landed, n / 2);
  std::printf("## brake %s: %llu of %llu landed in rollouts of %zu writes\n", what,
              static_cast<unsigned long long>(landed), static_cast<unsigned long long>(n),
              whole.writes);
}

}  // namespace simulation
