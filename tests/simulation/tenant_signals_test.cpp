// The whole service brings a chart to a fleet in waves while a signal turns bad in the middle of
// them: the waves halt, say why, and go on after it.
#include "cli/apis.hpp"
#include "reactor/loop.hpp"
#include "service/overview/overview.hpp"
#include "service/service.hpp"
#include "simulation/commands/simulate/trial_tenants.hpp"
#include "simulation/node_world.hpp"
#include "tests/simulation/signal_stage.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>

#include <memory>
#include <string>

namespace simulation {
namespace {

using namespace std::chrono_literals;
namespace json = boost::json;
using reactor::awaitable;
using testing::HasSubstr;

/// Clusters c0, c1 and c2 in the waves 0, 1 and 2, each with a Tenant t-1, t-2 and t-3.
class SignalledTenants : public testing::Test {
protected:
  SignalledTenants() {
    for (int i = 0; i < 3; ++i) {
      fleet_cluster c;
      c.name = "c" + std::to_string(i);
      c.nodes = 1;
      c.tenants = 1;
      c.labels["mesh.openkcm.io/wave"] = std::to_string(i);
      plan_.clusters.push_back(std::move(c));
    }
    node_world_options o;
    o.fleet = plan_.clusters;
    o.mishaps = false;
    world_ = std::make_unique<node_world>(l_, std::move(o));
    tenants_ = std::make_unique<cli::simulate::trial_tenants>(l_, *world_, plan_);
  }

  awaitable<std::unique_ptr<cli::service>> serve() {
    cli::service_options o;
    o.apis = tenants_->with(cli::apis());
    o.hooks = units::hooks_of(o.apis);
    o.home = world_->home();
    o.packs_are_tested = true;
    stage_.settings(o);
    auto out = std::make_unique<cli::service>(l_, std::move(o), reactor::logger());
    auto started = co_await out->start();
    EXPECT_TRUE(started.has_value()) << (started ? "" : started.error().message());
    co_return out;
  }
  void label_tenants() {
    for (const auto& c : world_->clusters())
      for (const json::object& o : c->api().list("mesh.openkcm.io", "tenants"))
        c->api().edit("mesh.openkcm.io", "tenants", "default",
                      std::string(o.at("metadata").at("name").as_string()), [](json::object& t) {
                        t["metadata"].as_object()["labels"] = {{"windlass.dev/signals", ""}};
                      });
  }
  /// "1.1.0 1.0.0 1.0.0", of the Tenants of the three clusters.
  std::string versions() const {
    std::string out;
    for (std::size_t i = 0; i < 3; ++i) {
      const auto map =
          world_->clusters()[i]->api().get("", "configmaps", "t-" + std::to_string(i + 1), "app");
      out += (i > 0 ? " " : "") +
             (map ? std::string(map->at("data").at("version").as_string()) : "none");
    }
    return out;
  }
  awaitable<bool> until(std::string wanted, reactor::nanoseconds within) {
    const auto give_up = l_.now() + within;
    while (versions() != wanted && l_.now() < give_up) co_await l_.sleep_for(1s);
    co_return versions() == wanted;
  }
  /// What `plan` says of the Tenants of a cluster.
  awaitable<std::string> holds(cli::service& of, std::string cluster) {  // borrowed
    const cli::fleet_overview seen = co_await cli::look_at(of, l_, {}, l_.now() + 30s);
    std::string out;
    for (const cli::cluster_overview& c : seen.clusters)
      for (const cli::api_overview& a : c.apis)
        for (const units::plan_row& r : a.rows)
          for (const units::hold& h : r.holds)
            if (c.name == cluster) out += h.unit + " " + h.code + ": " + h.sentence + "\n";
    co_return out;
  }

  reactor::loop l_{reactor::loop::mode::simulated, 11};
  fleet_plan plan_;
  signal_stage stage_{l_};
  std::unique_ptr<node_world> world_;
  std::unique_ptr<cli::simulate::trial_tenants> tenants_;
};

TEST_F(SignalledTenants, AWaveHaltsWhenAnEarlierOneBrokeSomethingAndGoesOnAfter) {
  reactor::task_group tasks(l_);
  tasks.start("test", [&]() -> awaitable<void> {
    stage_.start();
    (void)world_->start();
    const auto put = tenants_->start();
    EXPECT_TRUE(put.has_value());
    label_tenants();
    auto windlass = co_await serve();
    const bool installed = co_await until("1.0.0 1.0.0 1.0.0", 5min);
    EXPECT_TRUE(installed) << versions();
    EXPECT_EQ(stage_.asked, 0) << "a first installation waits for no signal";
    co_await windlass->stop();
    // The service starts again with another version.
    tenants_->roll_out();
    windlass = co_await serve();
    const bool first = co_await until("1.1.0 1.0.0 1.0.0", 10min);
    EXPECT_TRUE(first) << versions();
    stage_.value = "0.2";
    co_await l_.sleep_for(30min);
    EXPECT_EQ(versions(), "1.1.0 1.0.0 1.0.0");
    const std::string bad = co_await holds(*windlass, "c1");
    EXPECT_THAT(bad, HasSubstr("signal-bad: errors is 0.2, at most 0.01 is allowed (seen "));
    stage_.value = "NaN";
    co_await l_.sleep_for(10min);
    EXPECT_EQ(versions(), "1.1.0 1.0.0 1.0.0") << "unknown is never a pass";
    const std::string unknown = co_await holds(*windlass, "c1");
    EXPECT_THAT(unknown, HasSubstr("signal-unknown: errors is unknown: the answer is NaN"));
    stage_.value = "0.001";
    const bool all = co_await until("1.1.0 1.1.0 1.1.0", 30min);
    EXPECT_TRUE(all) << versions();
    co_await windlass->stop();
    co_await tenants_->stop();
    co_await stage_.stop();
    co_await world_->stop();
  });
  l_.run();
}

}  // namespace
}  // namespace simulation
