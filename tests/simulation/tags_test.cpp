// A fleet that follows a tag: what `windlass demo --tags` shows, and what `windlass simulate` does
// to registries.
#include "app/output.hpp"
#include "bootc/registry_settings.hpp"
#include "cli/apis.hpp"
#include "formats/digest.hpp"
#include "reactor/loop.hpp"
#include "service/overview/overview.hpp"
#include "simulation/commands/demo/show.hpp"
#include "simulation/commands/simulate/campaign.hpp"
#include "simulation/commands/simulate/report.hpp"
#include "simulation/node_world.hpp"
#include "simulation/tag_registry.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace {

using namespace std::chrono_literals;
using simulation::trouble;
namespace simulate = cli::simulate;

TEST(TagRegistry, TheManifestsHaveTheDigestsOfTheImages) {
  EXPECT_TRUE(simulation::old_image.ends_with("@" + formats::digest_of(simulation::old_manifest)));
  EXPECT_TRUE(
      simulation::middle_image.ends_with("@" + formats::digest_of(simulation::middle_manifest)));
  EXPECT_TRUE(simulation::new_image.ends_with("@" + formats::digest_of(simulation::new_manifest)));
}

struct shown {
  cli::demo::show_result told;
  std::string document, why;
  std::size_t violations = 0, wanted = 0, questions = 0;
};

/// The story of the demo, in virtual time.
class demo_run {
public:
  explicit demo_run(reactor::loop& l) : loop_(l), registry_(l), tasks_(l) {}

  shown go() {
    simulation::world_options o;
    o.clusters = 4;
    o.nodes = 6;
    world_ = std::make_unique<simulation::node_world>(loop_, o);
    tasks_.start("demo", play());
    loop_.run();
    out_.violations = world_->violation_count();
    out_.wanted = world_->unit_count() - world_->expected_held();
    return std::move(out_);
  }

private:
  reactor::awaitable<void> play() {
    EXPECT_TRUE(registry_.start());
    EXPECT_TRUE(world_->start());
    world_->roll_out(registry_.ref());
    cli::service_options options = cli::with_all_apis();
    options.home = world_->home();
    bootc::registry_settings how;
    how.interval.value = 2s;
    const std::string ref = registry_.ref();
    how.insecure.value = {ref.substr(0, ref.find('/'))};  // it speaks no TLS
    bootc::set_up(units::named(options.apis, "bootc"), bootc::settings_from(how, {}, "windlass"));
    cli::service windlass(loop_, std::move(options), reactor::logger());
    cli::demo::show_options show;
    show.roll_out = [this] { registry_.move(simulation::new_image); };
    reactor::event stop(loop_);
    out_.told = co_await cli::demo::play(loop_, *world_, windlass, std::move(show), stop);
    out_.document = boost::json::serialize(cli::status_json(out_.told.last));
    out_.why = cli::explain_text(out_.told.last, "cluster-001/node-01", cli::colours::none).text();
    out_.questions = registry_.requests();
    co_await windlass.stop();
    co_await world_->stop();
    co_await registry_.stop();
    loop_.stop();
  }

  reactor::loop& loop_;
  simulation::tag_registry registry_;
  std::unique_ptr<simulation::node_world> world_;
  shown out_;
  reactor::task_group tasks_;
};

TEST(DemoTags, TheTagMovesAndTheFleetFollowsWithoutAnythingBroken) {
  reactor::loop l(reactor::loop::mode::simulated, 3);
  {
    demo_run demo(l);
    const shown s = demo.go();
    EXPECT_EQ(s.told.problem, "");
    EXPECT_TRUE(s.told.finished);
    EXPECT_EQ(s.violations, 0u);
    EXPECT_EQ(s.told.updated, s.wanted);
    EXPECT_GT(s.questions, 2u);
    // What is followed is shown.
    EXPECT_NE(s.document.find("registry.demo.local:5000/os/node:stable"), std::string::npos)
        << s.document;
    EXPECT_NE(s.why.find("registry.demo.local:5000/os/node:stable"), std::string::npos) << s.why;
  }
  EXPECT_EQ(l.live(), reactor::live_counts());
}

TEST(SimulatedRegistries, TagsMoveAndSecretsRotateAndAllArriveAtTheLastOne) {
  simulate::campaign c;
  c.apis = cli::apis();
  c.fleet = simulation::usual_fleet(2, 4);
  c.fleet.faults = {trouble::registries, trouble::tag_moves, trouble::secret_rotations};
  c.policies = {""};
  c.first_seed = 1;
  c.seeds = 4;
  const simulate::campaign_outcome out = simulate::run(c);
  EXPECT_EQ(out.runs, 4u);
  EXPECT_TRUE(out.failing_seeds.empty())
      << simulate::report_text(out, {}, cli::colours::none).text();
}

}  // namespace
