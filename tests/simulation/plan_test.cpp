// What `windlass plan` says before a rollout is what `windlass run` then does: one planner behind
// both.
#include "cli/apis.hpp"
#include "reactor/loop.hpp"
#include "service/overview/overview.hpp"
#include "service/service.hpp"
#include "simulation/node_world.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <set>

namespace {

using namespace std::chrono_literals;
namespace json = boost::json;

struct comparison {
  std::vector<std::string> planned;   // `start` of the plan, in order
  std::set<std::string> held;         // units with a hold
  std::vector<std::string> happened;  // who took the first slots
  std::size_t nodes = 0;
  std::string problem;
};

void edit_rollout(simulation::cluster& c, const std::function<void(json::object&)>& change) {
  c.api().edit("node.bootc.dev", "bootcnodepools", "", "workers", [&](json::object& pool) {
    json::object& spec = pool["spec"].as_object();
    change(spec["rollout"].as_object());
    json::value& generation = pool["metadata"].as_object()["generation"];
    generation = generation.is_int64() ? generation.get_int64() + 1 : 2;
  });
}

class plan_run {
public:
  explicit plan_run(std::uint64_t seed)
      : loop_(reactor::loop::mode::simulated, seed), tasks_(loop_) {}

  comparison go() {
    simulation::world_options o;
    o.clusters = 1;
    o.nodes = loop_.random().between(std::uint64_t{3}, std::uint64_t{10});
    o.mishaps = false;
    world_ = std::make_unique<simulation::node_world>(loop_, o);
    tasks_.start("compare", run());
    loop_.run();
    return std::move(result_);
  }

private:
  std::unique_ptr<cli::service> windlass(units::mode does) {
    cli::service_options o = cli::with_all_apis();
    o.home = world_->home();
    o.does = does;
    return std::make_unique<cli::service>(loop_, std::move(o), reactor::logger());
  }

  reactor::awaitable<void> run() {
    using mode = units::mode;
    (void)world_->start();
    simulation::cluster& c = *world_->clusters().front();
    result_.nodes = world_->node_count();
    // Every node has the new image and nobody may start: the pool is paused. Then windlass is away.
    edit_rollout(c, [&](json::object& rollout) {
      rollout["paused"] = true;
      rollout["maxUnavailable"] = loop_.random().between(std::uint64_t{1}, std::uint64_t{4});
    });
    world_->roll_out(simulation::new_image);
    auto first = windlass(mode::act);
    (void)co_await first->start();
    co_await loop_.sleep_for(60s);
    co_await first->stop();
    edit_rollout(c, [](json::object& rollout) { rollout["paused"] = false; });

    auto looking = windlass(mode::look);
    (void)co_await looking->start();
    const cli::fleet_overview overview =
        co_await cli::look_at(*looking, loop_, {}, loop_.now() + 30s);
    co_await looking->stop();
    const json::object plan = cli::plan_json(overview);
    const json::object& pool =
        plan.at("clusters").as_array().at(0).at("pools").as_array().at(0).as_object();
    for (const json::value& name : pool.at("start").as_array())
      result_.planned.emplace_back(name.as_string());
    for (const json::value& h : pool.at("holds").as_array())
      result_.held.emplace(h.at("unit").as_string());

    c.on_write = [this](const k8s::sim::written& w) {
      if (w.plural != "bootcnodes" || w.type == k8s::sim::write_type::deleted) return;
      const json::value* annotations =
          w.after->at("metadata").as_object().if_contains("annotations");
      const bool slotted =
          annotations && annotations->as_object().contains("bootc.dev/in-reboot-slot");
      if (slotted && result_.happened.size() < result_.planned.size() &&
          taken_.insert(std::string(w.name)).second)
        result_.happened.emplace_back(w.name);
    };
    auto second = windlass(mode::act);
    (void)co_await second->start();
    co_await loop_.sleep_for(20s);
    co_await second->stop();
    co_await world_->stop();
  }

  reactor::loop loop_;
  std::unique_ptr<simulation::node_world> world_;
  comparison result_;
  std::set<std::string> taken_;
  reactor::task_group tasks_;
};

class Plan : public testing::TestWithParam<int> {};

TEST_P(Plan, SaysWhoGoesFirstAndWhyEveryOtherNodeWaits) {
  const auto first = static_cast<std::uint64_t>(GetParam()) * 25;
  for (std::uint64_t seed = first + 1; seed <= first + 25; ++seed) {
    const comparison c = plan_run(seed).go();
    ASSERT_FALSE(c.planned.empty()) << "seed " << seed;
    EXPECT_EQ(c.planned, c.happened) << "seed " << seed;
    for (const std::string& starter : c.planned)
      EXPECT_FALSE(c.held.contains(starter)) << "seed " << seed;
    EXPECT_EQ(c.planned.size() + c.held.size(), c.nodes)
        << "seed " << seed << ": every other node has a hold";
    if (HasFailure()) break;
  }
}
INSTANTIATE_TEST_SUITE_P(Over100Fleets, Plan, testing::Range(0, 4));

}  // namespace
