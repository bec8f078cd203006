// An API server whose etcd is restored from a backup under the service: its versions go back.
#include "bootc/api.hpp"
#include "bootc/bootc_cluster.hpp"
#include "cli/apis.hpp"
#include "k8s/sim/api_server.hpp"
#include "reactor/loop.hpp"
#include "service/service.hpp"
#include "simulation/node_world.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;
namespace json = boost::json;
using reactor::awaitable;

struct restored_fleet {
  restored_fleet() {
    simulation::world_options o;
    o.clusters = 2;
    o.nodes = 4;
    o.mishaps = false;
    world = std::make_unique<simulation::node_world>(l, o);
  }
  k8s::sim::api_server& api() { return world->clusters().front()->api(); }

  /// Whether the pool's status is about its present spec.
  bool is_observed() {
    const auto pool = api().get("node.bootc.dev", "bootcnodepools", "", "workers");
    return pool && pool->at("status").as_object().contains("observedGeneration") &&
           pool->at("status").at("observedGeneration") == pool->at("metadata").at("generation");
  }
  bool has_members(cli::service& windlass, std::size_t wanted) {
    std::size_t live = 0;
    for (const k8s::cluster* c : windlass.clusters()) live += c->is_live() ? 1 : 0;
    return windlass.clusters().size() == wanted && live == wanted;
  }

  /// Of the informers of nodes, pools and BootcNodes of the first member: how many answers from the
  /// past each has refused.
  std::vector<std::uint64_t> refused(cli::service& windlass) {
    std::vector<std::uint64_t> all;
    for (const k8s::cluster* c : windlass.clusters())
      if (bootc::bootc_cluster* part = bootc::bootc_part(*c); part && all.empty())
        for (const k8s::informer_base* i :
             {&part->node_informer(), &part->pool_informer(), &part->bootc_node_informer()})
          all.push_back(i->counters().older_refused);
    return all;
  }

  awaitable<void> run() {
    (void)world->start();
    cli::service_options o = cli::with_all_apis();
    o.home = world->home();
    cli::service windlass(l, std::move(o), reactor::logger());
    auto started = co_await windlass.start();
    EXPECT_TRUE(started.has_value());
    co_await l.sleep_for(5min);

    // A member at rest.
    const auto member = api().save();
    world->roll_out(simulation::new_image);
    co_await l.sleep_for(30min);
    EXPECT_EQ(world->hosts_on(simulation::new_image), 8U);
    api().restore(*member);
    world->pools().front()->set_image(simulation::middle_image);
    co_await l.sleep_for(121s);
    EXPECT_TRUE(is_observed()) << "the pool's new image was not seen";
    co_await l.sleep_for(30min);
    EXPECT_EQ(world->hosts_on(simulation::middle_image), 4U);

    // While a rollout is under way.
    const auto before = api().save();
    world->pools().front()->set_image(simulation::new_image);
    co_await l.sleep_for(20s);
    api().restore(*before);
    world->pools().front()->set_image(simulation::old_image);
    const std::vector<std::uint64_t> known = refused(windlass);
    co_await l.sleep_for(20s);
    const std::vector<std::uint64_t> now = refused(windlass);
    EXPECT_EQ(now.size(), 3U);
    for (std::size_t i = 0; i < now.size(); ++i)
      EXPECT_GT(now[i], known[i]) << "a caller attended to this cluster";
    // Before it acts on the new history, a pass waits until no request of its own can still land.
    co_await l.sleep_for(40s);
    EXPECT_TRUE(is_observed());

    // Home, whose Secrets nobody attends to.
    world->take_away(1);
    co_await l.sleep_for(60s);
    EXPECT_TRUE(has_members(windlass, 1));
    const auto home = world->home_api().save();
    for (int i = 0; i < 100; ++i) {
      json::object metadata{{"name", "later-" + std::to_string(i)}, {"namespace", "default"}};
      json::object made{{"apiVersion", "v1"}, {"kind", "ConfigMap"}};
      made["metadata"] = std::move(metadata);
      world->home_api().put(std::move(made));
    }
    co_await l.sleep_for(5min);  // bookmarks and questions have told of these versions
    world->home_api().restore(*home);
    world->bring(1);
    co_await l.sleep_for(125s);
    EXPECT_TRUE(has_members(windlass, 2)) << "the Secret of a cluster was not seen";
    co_await windlass.stop();
    co_await world->stop();
  }
  reactor::loop l{reactor::loop::mode::simulated, 5};
  std::unique_ptr<simulation::node_world> world;
};

TEST(RestoredStorage, IsNoticedByEveryInformer) {
  restored_fleet f;
  reactor::task_group tasks(f.l);
  tasks.start("test", f.run());
  f.l.run();
}

}  // namespace
