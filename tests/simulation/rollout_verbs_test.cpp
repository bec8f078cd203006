// `windlass rollout` as a person uses it beside a running service: what is shown, what is written,
// and where.
#include "app/api/assumed_targets.hpp"
#include "app/api/brake.hpp"
#include "app/api/override_order.hpp"
#include "bootc/registry_settings.hpp"
#include "cli/apis.hpp"
#include "reactor/loop.hpp"
#include "service/commands/rollout/rollout.hpp"
#include "service/service.hpp"
#include "simulation/node_world.hpp"
#include "simulation/tag_registry.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <set>

namespace {

using namespace std::chrono_literals;
namespace json = boost::json;
using reactor::awaitable;
using verb = cli::rollout_arguments::command;

/// What one `windlass rollout` said and did.
struct said {
  int code = -1;
  std::string text, bytes, complaint;
};

/// A registry that answers the same to whoever asks.
class answers final : public registry::tag_source {
public:
  explicit answers(registry::answer<std::string> answer) : answer_(std::move(answer)) {}
  registry::awaitable<registry::answer<std::string>> digest_of(
      registry::image_ref of, std::string, std::shared_ptr<const registry::pull_secret>) override {
    asked += of.digest + " ";
    co_return answer_;
  }
  std::string asked;

private:
  registry::answer<std::string> answer_;
};

/// Three clusters of two nodes; "cluster-001" is labelled env=test, the others env=prod.
class RolloutVerbs : public testing::Test {
protected:
  void SetUp() override {
    simulation::world_options o;
    o.clusters = 3;
    o.nodes = 2;
    o.mishaps = false;
    world_ = std::make_unique<simulation::node_world>(loop_, o);
  }
  void label(std::size_t cluster, const char* env) {
    world_->home_api().edit("", "secrets", "default", simulation::world::cluster_name(cluster),
                            [&](json::object& secret) {
                              json::object& metadata = secret["metadata"].as_object();
                              metadata["labels"].as_object()["env"] = env;
                            });
  }
  cli::rollout_arguments ask(verb what, std::string pool = "workers") {
    cli::rollout_arguments a;
    a.what = what;
    a.pool = std::move(pool);
    if (what == verb::set_image) a.image = std::string(simulation::new_image);
    a.timeout = 15s;
    return a;
  }
  /// `images`: what set-image asks, as the program has it; null: it asks none.
  awaitable<said> say(cli::rollout_arguments a, registry::tag_source* images = nullptr) {
    cli::service_options o = cli::with_all_apis();
    o.home = world_->home();
    o.does = units::mode::look;
    if (images) {
      bootc::settings s;
      auto assumed = std::make_shared<units::assumed_targets>();
      assumed->by_row[a.pool] = a.image;
      s.assumed = std::move(assumed);
      s.tags = images;
      bootc::set_up(units::named(o.apis, "bootc"), std::move(s));
    }
    cli::service looking(loop_, std::move(o), reactor::logger());
    auto started = co_await looking.start();
    EXPECT_TRUE(started);
    said out;
    cli::command_output into;
    into.text = [&](const cli::page& p) { out.text += p.text(); };
    into.bytes = [&](const std::string& b) { out.bytes += b; };
    into.complaint = [&](const std::string& c) { out.complaint += c; };
    reactor::event stop(loop_);
    out.code = co_await cli::roll(loop_, looking, std::move(a), stop, into);
    co_await looking.stop();
    co_return out;
  }
  awaitable<said> say(verb what, std::string pool = "workers") {
    cli::rollout_arguments a = ask(what, std::move(pool));
    said s = co_await say(std::move(a));
    co_return s;
  }
  /// What the pools of the clusters ask for: "new", "old", and "paused" after it.
  std::string wishes() {
    std::string all;
    for (const auto& c : world_->clusters()) {
      const auto pool = c->api().get("node.bootc.dev", "bootcnodepools", "", "workers");
      const json::object& spec = pool->at("spec").as_object();
      all += all.empty() ? "" : " ";
      all += spec.at("image").at("ref").as_string() == simulation::new_image ? "new" : "old";
      const json::value* rollout = spec.if_contains("rollout");
      const json::value* paused = rollout ? rollout->as_object().if_contains("paused") : nullptr;
      if (paused && paused->as_bool()) all += "-paused";
    }
    return all;
  }
  /// With `registry`, the pools follow its tag, and somebody has to approve what it names.
  void go(std::function<awaitable<void>()> body, simulation::tag_registry* registry = nullptr) {
    reactor::task_group tasks(loop_);
    tasks.start("test", [&]() -> awaitable<void> {
      EXPECT_TRUE(world_->start());
      label(0, "test");
      label(1, "prod");
      label(2, "prod");
      cli::service_options o = cli::with_all_apis();
      o.home = world_->home();
      if (registry) {
        EXPECT_TRUE(registry->start());
        for (simulation::pool_cluster* c : world_->pools()) {
          c->api().edit("node.bootc.dev", "bootcnodepools", "", "workers", [](json::object& pool) {
            pool["spec"].as_object()["image"].as_object()["updates"] = "Manual";
          });
          c->set_image(registry->ref());
        }
        bootc::registry_settings how;
        how.interval.value = 2s;
        const std::string ref = registry->ref();
        how.insecure.value = {ref.substr(0, ref.find('/'))};  // it speaks no TLS
        bootc::set_up(units::named(o.apis, "bootc"), bootc::settings_from(how, {}, "windlass"));
      }
      cli::service acting(loop_, std::move(o), reactor::logger());
      auto started = co_await acting.start();
      EXPECT_TRUE(started);
      co_await loop_.sleep_for(30s);
      metrics_ = &acting.metrics();
      co_await body();
      co_await acting.stop();
      co_await world_->stop();
      if (registry) co_await registry->stop();
    });
    loop_.run();
  }
  /// Clusters whose hosts run the new image, by number.
  std::string moved() {
    std::string all;
    for (std::size_t i = 0; i < world_->pools().size(); ++i)
      if (world_->pools()[i]->pool_progress().updated == 2 && target_of(i) == new_digest())
        all += (all.empty() ? "" : " ") + std::to_string(i + 1);
    return all;
  }
  static std::string new_digest() {
    return std::string(simulation::new_image.substr(simulation::new_image.find('@') + 1));
  }
  std::string target_of(std::size_t cluster) {
    const auto pool =
        world_->pools()[cluster]->api().get("node.bootc.dev", "bootcnodepools", "", "workers");
    const json::value* digest = pool->at("status").as_object().if_contains("targetDigest");
    return digest ? std::string(digest->as_string()) : std::string();
  }
  reactor::loop loop_{reactor::loop::mode::simulated, 17};
  std::unique_ptr<simulation::node_world> world_;
  reactor::metrics* metrics_ = nullptr;  // of the service, during the body
};

TEST_F(RolloutVerbs, ShowWhatTheyWouldWriteAndWriteNothing) {
  go([this]() -> awaitable<void> {
    std::size_t writes = 0;
    world_->on_write = [&](std::size_t, const k8s::sim::written& w) {
      if (w.plural == "bootcnodepools" && w.after &&
          w.after->at("spec").at("image").at("ref").as_string() == simulation::new_image)
        ++writes;
    };
    const said s = co_await say(verb::set_image);
    EXPECT_EQ(s.code, 0) << s.complaint;
    EXPECT_NE(s.text.find("cluster-003"), std::string::npos) << s.text;
    EXPECT_NE(s.text.find("Nothing was written; --yes does it."), std::string::npos) << s.text;
    EXPECT_EQ(wishes(), "old old old");
    EXPECT_EQ(writes, 0u);
  });
}

TEST_F(RolloutVerbs, SetTheImageOfEveryClusterAndTheFleetMoves) {
  go([this]() -> awaitable<void> {
    cli::rollout_arguments a = ask(verb::set_image);
    a.yes = true;
    const said s = co_await say(std::move(a));
    EXPECT_EQ(s.code, 0) << s.complaint;
    EXPECT_EQ(wishes(), "new new new");
    cli::rollout_arguments watching = ask(verb::status);
    watching.list.watch = true;
    const said seen = co_await say(std::move(watching));
    EXPECT_EQ(seen.code, 0) << seen.complaint;
    EXPECT_NE(seen.text.find("6 of 6 nodes updated, 0 updating, 0 degraded, 0 held"),
              std::string::npos)
        << seen.text;
    EXPECT_EQ(world_->hosts_on(simulation::new_image), 6u);
    co_await loop_.sleep_for(10s);  // the last slot is given back
    const std::string counted = metrics_->text();
    for (const char* line :
         {R"(windlass_units{api="bootc",cluster="cluster-001",pool="workers",state="UpToDate"} 2)",
          "windlass_stage_duration_seconds_count 6", "windlass_drain_duration_seconds_count 6",
          "windlass_reboot_duration_seconds_count 6"})
      EXPECT_NE(counted.find(std::string(line) + "\n"), std::string::npos) << line;
  });
}

TEST_F(RolloutVerbs, AreLimitedByLabelsAndNames) {
  go([this]() -> awaitable<void> {
    cli::rollout_arguments a = ask(verb::set_image);
    a.yes = true;
    a.list.selector = "env=prod";
    a.list.clusters = {"cluster-001", "cluster-002"};
    const said s = co_await say(std::move(a));
    EXPECT_EQ(s.code, 0) << s.complaint;
    EXPECT_EQ(wishes(), "old new old");
  });
}

TEST_F(RolloutVerbs, PauseAndResumeWhatAPersonWouldEdit) {
  go([this]() -> awaitable<void> {
    cli::rollout_arguments a = ask(verb::pause);
    a.yes = true;
    a.list.clusters = {"cluster-002"};
    cli::rollout_arguments back = a;
    back.what = verb::resume;
    const said paused = co_await say(std::move(a));
    EXPECT_EQ(paused.code, 0) << paused.complaint;
    EXPECT_EQ(wishes(), "old old-paused old");
    const said resumed = co_await say(std::move(back));
    EXPECT_EQ(resumed.code, 0) << resumed.complaint;
    EXPECT_EQ(wishes(), "old old old");
  });
}

TEST_F(RolloutVerbs, ApproveWhatATagOffersWhereItIsAskedFor) {
  simulation::tag_registry registry(loop_);
  go(
      [&]() -> awaitable<void> {
        cli::rollout_arguments nothing = ask(verb::approve);
        said s = co_await say(std::move(nothing));
        EXPECT_EQ(s.code, 1);
        EXPECT_NE(s.complaint.find("nothing of \"workers\" waits for approval"), std::string::npos)
            << s.complaint;
        registry.move(simulation::new_image);
        co_await loop_.sleep_for(20s);
        EXPECT_EQ(moved(), "") << "it is offered and nobody moves";
        cli::rollout_arguments shows = ask(verb::approve);
        s = co_await say(std::move(shows));
        EXPECT_EQ(s.code, 0) << s.complaint;
        EXPECT_NE(s.text.find("Nothing was written; --yes does it."), std::string::npos) << s.text;
        cli::rollout_arguments one = ask(verb::approve);
        one.yes = true;
        one.list.clusters = {"cluster-002"};
        s = co_await say(std::move(one));
        EXPECT_EQ(s.code, 0) << s.complaint;
        co_await loop_.sleep_for(60s);
        EXPECT_EQ(moved(), "2");
        cli::rollout_arguments wrong = ask(verb::approve);
        wrong.yes = true;
        wrong.digest = "latest";
        s = co_await say(std::move(wrong));
        EXPECT_EQ(s.code, 2) << s.complaint;
        cli::rollout_arguments rest = ask(verb::approve);
        rest.yes = true;
        rest.digest = new_digest();
        s = co_await say(std::move(rest));
        EXPECT_EQ(s.code, 0) << s.complaint;
        co_await loop_.sleep_for(60s);
        EXPECT_EQ(moved(), "1 2 3");
      },
      &registry);
}

TEST_F(RolloutVerbs, SetImageLooksTheImageUpAndAsksThePlannerFirst) {
  go([this]() -> awaitable<void> {
    answers there(new_digest());
    cli::rollout_arguments a = ask(verb::set_image);
    said s = co_await say(std::move(a), &there);
    EXPECT_EQ(s.code, 0) << s.complaint;
    EXPECT_NE(there.asked.find(new_digest()), std::string::npos) << there.asked;
    EXPECT_NE(s.text.find("goes first: "), std::string::npos) << s.text;
    EXPECT_NE(s.text.find("2 nodes fetch it; 2 nodes boot it in 2 steps or more"),
              std::string::npos)
        << s.text;
    EXPECT_NE(s.text.find("how long it takes is not known"), std::string::npos) << s.text;
    EXPECT_EQ(s.text.find("warning: "), std::string::npos) << s.text;
    EXPECT_EQ(wishes(), "old old old");
  });
}

TEST_F(RolloutVerbs, SetImageAsksForNoImageThatTheRegistryDoesNotHave) {
  go([this]() -> awaitable<void> {
    answers absent(registry::failed(registry::errc::not_found, "manifest unknown"));
    cli::rollout_arguments a = ask(verb::set_image);
    a.yes = true;
    said s = co_await say(std::move(a), &absent);
    EXPECT_EQ(s.code, 1);
    EXPECT_NE(s.text.find("manifest unknown; --no-lookup asks for it all the same"),
              std::string::npos)
        << s.text;
    EXPECT_EQ(wishes(), "old old old");
    cli::rollout_arguments trusting = ask(verb::set_image);
    trusting.yes = trusting.no_lookup = true;
    trusting.list.clusters = {"cluster-001"};
    s = co_await say(std::move(trusting), &absent);
    EXPECT_EQ(s.code, 0) << s.text;
    EXPECT_EQ(wishes(), "new old old");
    // A registry that is reached from its clusters alone.
    answers away(registry::failed(registry::errc::unavailable, "no route to host"));
    cli::rollout_arguments warned = ask(verb::set_image);
    warned.yes = true;
    s = co_await say(std::move(warned), &away);
    EXPECT_EQ(s.code, 0) << s.text;
    EXPECT_NE(s.text.find("warning: "), std::string::npos) << s.text;
    EXPECT_NE(s.text.find("no route to host"), std::string::npos) << s.text;
    EXPECT_EQ(wishes(), "new new new");
  });
}

TEST_F(RolloutVerbs, TheServiceNotesWhatOthersAskedForAndHowLongItTook) {
  go([this]() -> awaitable<void> {
    for (simulation::pool_cluster* c : world_->pools()) c->set_image(simulation::new_image);
    co_await loop_.sleep_for(30min);
    EXPECT_EQ(moved(), "1 2 3");
    for (simulation::pool_cluster* c : world_->pools()) c->set_image(simulation::middle_image);
    co_await loop_.sleep_for(30min);
    cli::rollout_arguments told = ask(verb::history);
    told.list.output.format = cli::output_format::json;
    said s = co_await say(std::move(told));
    const json::value document = json::parse(s.bytes);
    for (const json::value& cluster : document.at("clusters").as_array()) {
      const json::array& all = cluster.at("history").as_array();
      EXPECT_EQ(all.size(), 3u) << s.bytes;
      for (const json::value& one : all) {
        EXPECT_TRUE(one.as_object().contains("done")) << s.bytes;
        EXPECT_EQ(one.at("units").to_number<int>(), 2) << s.bytes;
        EXPECT_EQ(one.at("atOnce").to_number<int>(), 1) << s.bytes;
      }
    }
    answers there(new_digest());
    cli::rollout_arguments next = ask(verb::set_image);
    s = co_await say(std::move(next), &there);
    EXPECT_NE(s.text.find("takes about "), std::string::npos) << s.text;
    EXPECT_NE(s.text.find("the median of 6 rollouts"), std::string::npos) << s.text;
  });
}

TEST_F(RolloutVerbs, UndoGoesBackAndHistoryTellsBothAndWho) {
  go([this]() -> awaitable<void> {
    cli::rollout_arguments early = ask(verb::undo);
    early.yes = true;
    said s = co_await say(std::move(early));
    EXPECT_EQ(s.code, 1);
    EXPECT_NE(s.text.find("its history has no image"), std::string::npos) << s.text;
    cli::rollout_arguments a = ask(verb::set_image);
    a.yes = true;
    s = co_await say(std::move(a));
    EXPECT_EQ(s.code, 0) << s.text;
    EXPECT_EQ(wishes(), "new new new");
    cli::rollout_arguments shown = ask(verb::undo);
    s = co_await say(std::move(shown));
    EXPECT_EQ(s.code, 0) << s.complaint;
    EXPECT_EQ(wishes(), "new new new") << "shown, not done";
    cli::rollout_arguments back = ask(verb::undo);
    back.yes = true;
    back.list.clusters = {"cluster-001"};
    s = co_await say(std::move(back));
    EXPECT_EQ(s.code, 0) << s.complaint;
    EXPECT_EQ(wishes(), "old new new");
    cli::rollout_arguments told = ask(verb::history);
    told.list.output.format = cli::output_format::json;
    told.list.clusters = {"cluster-001"};
    s = co_await say(std::move(told));
    EXPECT_EQ(s.code, 0) << s.complaint;
    const json::value document = json::parse(s.bytes);
    const json::array& all = document.at("clusters").at(0).at("history").as_array();
    EXPECT_EQ(all.size(), 3u) << s.bytes;
    if (all.size() == 3) {
      EXPECT_EQ(all[1].at("target").as_string(), simulation::new_image);
      EXPECT_EQ(all[1].at("manager").as_string(), "windlass");
      EXPECT_EQ(all[0].at("target"), all[2].at("target"));
      EXPECT_EQ(all[0].at("outcome").as_string(), "2 of 2 updated");
    }
    cli::rollout_arguments again = ask(verb::undo);
    again.yes = true;
    again.list.clusters = {"cluster-001"};
    again.to_revision = 2;
    s = co_await say(std::move(again));
    EXPECT_EQ(s.code, 0) << s.complaint;
    EXPECT_EQ(wishes(), "new new new");
    cli::rollout_arguments never = ask(verb::undo);
    never.to_revision = 77;
    s = co_await say(std::move(never));
    EXPECT_EQ(s.code, 1);
    EXPECT_NE(s.text.find("its history has no revision 77"), std::string::npos) << s.text;
  });
}

TEST_F(RolloutVerbs, LeaveWhatAnotherFieldManagerKeepsUnlessTheyAreForced) {
  go([this]() -> awaitable<void> {
    world_->clusters().at(1)->api().edit(
        "node.bootc.dev", "bootcnodepools", "", "workers", [](json::object& pool) {
          pool["metadata"].as_object()["managedFields"] = json::parse(
              R"([{"manager":"argocd-controller","operation":"Apply","time":"2026-01-01T00:00:00Z",
                   "apiVersion":"node.bootc.dev/v1alpha1","fieldsType":"FieldsV1",
                   "fieldsV1":{"f:spec":{"f:image":{"f:ref":{}}}}}])");
        });
    cli::rollout_arguments a = ask(verb::set_image);
    a.yes = true;
    said s = co_await say(std::move(a));
    EXPECT_EQ(s.code, 1);
    EXPECT_NE(s.text.find("argocd-controller"), std::string::npos) << s.text;
    EXPECT_EQ(wishes(), "new old new");
    cli::rollout_arguments forced = ask(verb::set_image);
    forced.yes = forced.force = true;
    s = co_await say(std::move(forced));
    EXPECT_EQ(s.code, 0) << s.text;
    EXPECT_EQ(wishes(), "new new new");
    cli::rollout_arguments pause = ask(verb::pause);
    pause.yes = true;
    s = co_await say(std::move(pause));
    EXPECT_EQ(s.code, 0) << "no other manager has this field: " << s.text;
  });
}

TEST_F(RolloutVerbs, AWatchEndsAtItsTimeWithOne) {
  go([this]() -> awaitable<void> {
    cli::rollout_arguments stopped = ask(verb::pause);
    stopped.yes = true;
    (void)co_await say(std::move(stopped));
    cli::rollout_arguments a = ask(verb::set_image);
    a.yes = true;
    (void)co_await say(std::move(a));
    cli::rollout_arguments watching = ask(verb::status);
    watching.list.watch = watching.timeout_given = true;
    watching.timeout = 60s;
    const reactor::steady_time began = loop_.now();
    const said s = co_await say(std::move(watching));
    EXPECT_EQ(s.code, 1);
    EXPECT_NE(s.complaint.find("not every cluster has it after 1m0s (--timeout)"),
              std::string::npos)
        << s.complaint;
    EXPECT_LT(loop_.now() - began, 70s);
  });
}

TEST_F(RolloutVerbs, OfAPoolThatNobodyHasSayWhereTheyLooked) {
  go([this]() -> awaitable<void> {
    const said s = co_await say(verb::pause, "wrokers");
    EXPECT_EQ(s.code, 1);
    EXPECT_NE(s.complaint.find("none of 3 clusters has \"wrokers\""), std::string::npos)
        << s.complaint;
  });
}

TEST_F(RolloutVerbs, OnNoClusterThatMatchesSayHowManyWereLookedAt) {
  go([this]() -> awaitable<void> {
    cli::rollout_arguments a = ask(verb::pause);
    a.list.selector = "env=staging";
    const said s = co_await say(std::move(a));
    EXPECT_EQ(s.code, 1);
    EXPECT_NE(s.complaint.find("none of 0 clusters"), std::string::npos) << s.complaint;
  });
}

TEST_F(RolloutVerbs, OnAClusterThatNobodyKnowsWriteNowhere) {
  go([this]() -> awaitable<void> {
    cli::rollout_arguments a = ask(verb::set_image);
    a.yes = true;
    a.list.clusters = {"cluster-001", "cluster-00x"};
    const said s = co_await say(std::move(a));
    EXPECT_EQ(s.code, 1);
    EXPECT_NE(s.complaint.find("the fleet has no cluster \"cluster-00x\""), std::string::npos)
        << s.complaint;
    EXPECT_EQ(wishes(), "old old old");
  });
}

TEST_F(RolloutVerbs, WithWhatIsNoImageAreWrongUsage) {
  go([this]() -> awaitable<void> {
    cli::rollout_arguments a = ask(verb::set_image);
    a.image = "registry.demo.local/OS node";
    const said s = co_await say(std::move(a));
    EXPECT_EQ(s.code, 2);
    EXPECT_NE(s.complaint.find("registry.demo.local/OS node"), std::string::npos) << s.complaint;
  });
}

TEST_F(RolloutVerbs, NameTheClusterThatIsAwayAndWriteTheOthers) {
  go([this]() -> awaitable<void> {
    world_->clusters().at(1)->api().freeze(true);
    cli::rollout_arguments a = ask(verb::set_image);
    a.yes = true;
    a.timeout = 8s;
    const said s = co_await say(std::move(a));
    EXPECT_EQ(s.code, 1);
    EXPECT_NE(s.complaint.find("cluster-002 is "), std::string::npos) << s.complaint;
    EXPECT_EQ(wishes(), "new old new");
    world_->clusters().at(1)->api().freeze(false);
  });
}

TEST_F(RolloutVerbs, GoOnAfterAClusterThatRefusesHalfWay) {
  go([this]() -> awaitable<void> {
    world_->clusters().at(1)->api().access().authorize = [](const std::string&,
                                                            const k8s::sim::request& r) {
      return r.method != "PATCH" || r.path.find("/bootcnodepools/workers") == std::string::npos ||
             r.path.ends_with("/status");
    };
    cli::rollout_arguments a = ask(verb::set_image);
    a.yes = true;
    a.list.output.format = cli::output_format::json;
    const said s = co_await say(std::move(a));
    EXPECT_EQ(s.code, 1);
    EXPECT_EQ(wishes(), "new old new");
    const json::value document = json::parse(s.bytes);
    std::set<std::string> failed;
    for (const json::value& c : document.at("changes").as_array())
      if (!c.at("written").as_bool()) {
        failed.insert(std::string(c.at("cluster").as_string()));
        EXPECT_NE(std::string(c.at("error").as_string()).find("orbidden"), std::string::npos)
            << s.bytes;
      }
    EXPECT_EQ(failed, std::set<std::string>{"cluster-002"});
  });
}

TEST_F(RolloutVerbs, OverrideTheBrakeForOnePoolUntilItIsDone) {
  go([this]() -> awaitable<void> {
    const auto brake = [&](const char* state, const char* why) {
      world_->home_api().put(
          {{"apiVersion", "v1"},
           {"kind", "ConfigMap"},
           {"metadata", {{"name", units::brake_object}, {"namespace", "default"}}},
           {"data", {{"state", state}, {"why", why}}}});
    };
    const auto order_at = [&](std::size_t cluster) {
      const auto pool =
          world_->pools()[cluster]->api().get("node.bootc.dev", "bootcnodepools", "", "workers");
      const json::value* all = pool->at("metadata").as_object().if_contains("annotations");
      const json::value* order =
          all ? all->as_object().if_contains(units::override_annotation) : nullptr;
      return order ? std::string(order->as_string()) : std::string();
    };
    brake("on", "nodes come back without network");
    cli::rollout_arguments a = ask(verb::set_image);
    a.yes = true;
    a.list.selector = "env=prod";
    said s = co_await say(a);
    EXPECT_EQ(s.code, 0) << s.complaint;
    co_await loop_.sleep_for(5min);
    EXPECT_EQ(moved(), "") << "the brake is on";
    a.list.selector.clear();
    a.list.clusters = {"cluster-003"};
    a.override_brake = true;
    a.why = "hotfix";
    s = co_await say(a);
    EXPECT_EQ(s.code, 0) << s.complaint;
    EXPECT_NE(order_at(2).find("hotfix"), std::string::npos) << order_at(2);
    co_await loop_.sleep_for(20min);
    EXPECT_EQ(moved(), "3") << "the order is for this pool alone";
    EXPECT_EQ(order_at(2), "") << "it is done, and gone";
    EXPECT_EQ(wishes(), "old new new");
    // Given for one brake, it does not let the pool go on under the next one.
    units::override_order former;
    former.why = "hotfix";
    former.at = reactor::format_rfc3339(loop_.wall());
    former.target = std::string(simulation::new_image);
    former.brake = "1";
    world_->pools()[1]->api().edit(
        "node.bootc.dev", "bootcnodepools", "", "workers", [&](json::object& pool) {
          json::value& noted = pool["metadata"].as_object()["annotations"];
          if (!noted.is_object()) noted.emplace_object();
          noted.as_object()[units::override_annotation] = units::annotation_of(former);
        });
    co_await loop_.sleep_for(20min);
    EXPECT_EQ(moved(), "3");
    EXPECT_NE(order_at(1), "") << "what does nothing stays, and is told";
    brake("off", "");
    co_await loop_.sleep_for(20min);
    EXPECT_EQ(moved(), "2 3");
  });
}

}  // namespace
