// Longer than most files: one scenario per thing that can happen to machines, each readable alone.
#include "bootc/daemon/node_daemon.hpp"
#include "bootc/daemon/simulated_host.hpp"
#include "bootc/kinds/cluster_node.hpp"
#include "bootc/kinds/names.hpp"
#include "formats/yaml/yaml.hpp"
#include "reactor/system/files.hpp"
#include "tests/bootc/behaviour/stage.hpp"
#include "tests/bootc/builders.hpp"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <gtest/gtest.h>

#include <map>

namespace bootc::behaviour {
namespace {

using testing::digest_of;
using testing::image_of;

/// One node with its machine and daemon: the daemon ends with each reboot and comes back with the
/// machine.
class machine {
public:
  machine(stage& s, std::string name, simulated_host_settings settings = quick())
      : s_(s),
        name_(std::move(name)),
        host(s.loop(), image_of('a'), std::move(settings)),
        tasks_(s.loop()) {
    tasks_.start("machine " + name_, live());
  }
  static simulated_host_settings quick() {
    simulated_host_settings out;
    out.stage_time = 300ms;
    out.reboot_time = 500ms;
    return out;
  }
  awaitable<void> stop() {
    co_await tasks_.cancel_and_join();
    if (daemon_) co_await daemon_->stop();
  }
  bool away = false;
  /// How many have run on it.
  std::size_t daemons() const noexcept { return daemons_; }

private:
  awaitable<void> live() {
    for (;;) {
      daemon_ = std::make_unique<node_daemon>(s_.loop(), s_.api(), host,
                                              node_daemon_options{s_.named(name_)});
      daemon_->start();
      ++daemons_;
      (void)co_await host.going_down().wait();
      co_await s_.set_ready(name_, false);
      co_await daemon_->stop();
      daemon_.reset();
      away = true;
      co_await s_.loop().sleep_for(host.settings().reboot_time);
      const auto came = host.come_up();
      if (came == simulated_host::boot::lost) co_await s_.loop().sleep_for(24h);
      co_await s_.set_ready(name_, true);
      away = false;
    }
  }

  stage& s_;
  std::string name_;

public:
  simulated_host host;

private:
  std::unique_ptr<node_daemon> daemon_;
  std::size_t daemons_ = 0;
  reactor::task_group tasks_;
};

/// Four machines in a pool that is updated on image a; then the scenario.
void play_fleet(
    std::map<std::string, simulated_host_settings> special, std::string rollout,
    std::function<awaitable<void>(stage&, std::map<std::string, std::unique_ptr<machine>>&)>
        scenario) {
  play([special, rollout, scenario](stage& s) -> awaitable<void> {
    s.start_controller();
    std::map<std::string, std::unique_ptr<machine>> machines;
    for (const char* name : {"w1", "w2", "w3", "w4"}) {
      co_await s.node(name, "p");
      const auto known = special.find(name);
      machines[name] = std::make_unique<machine>(
          s, name, known == special.end() ? machine::quick() : known->second);
    }
    co_await s.pool("p", 'a', rollout);
    co_await s.until_pool("updated on a", "p",
                          [](const node_pool& p) { return p.status.updated_count == 4; });
    co_await scenario(s, machines);
    co_await s.stop_controller();
    for (auto& [name, m] : machines) co_await m->stop();
  });
}

awaitable<void> move_to(stage& s, char image) {  // borrowed
  std::string patch = R"({"spec":{"image":{"ref":")" + image_of(image) + R"("}}})";
  co_await s.patch_pool("p", std::move(patch));
}

/// The DaemonSet's nodeSelector, as it is shipped.
std::map<std::string, std::string> daemons_select() {
  const std::string path = std::string(WINDLASS_SOURCE_DIR) + "/deploy/daemon/daemon.yaml";
  std::map<std::string, std::string> out;
  auto text = reactor::load_file(path, 1u << 20);
  if (!text) return out;
  auto read = formats::parse_kubernetes_yaml(*text, path);
  if (!read) return out;
  for (const auto& [key, value] :
       read->at("spec").at("template").at("spec").at("nodeSelector").as_object())
    out.emplace(key, value.as_string());
  return out;
}

TEST(MachineBehaviour, T107_AWorkerOnItsOwnImageJoinsAndReportsIt) {
  play_fleet({}, "{}", [](stage& s, auto& machines) -> awaitable<void> {
    co_await s.node("stranger", "other");
    const std::string pool = s.named("p");
    for (const char* name : {"w1", "w2", "w3", "w4"}) {
      auto object = co_await s.see(name);
      EXPECT_TRUE(object && object->meta.owner.name == pool &&
                  object->meta.owner.kind == "BootcNodePool");
      if (!object) continue;
      EXPECT_TRUE(object->status.booted && object->status.booted->image == image_of('a') &&
                  object->status.booted->digest == digest_of('a'));
      const auto* idle = find_condition(object->status.conditions, "Idle");
      EXPECT_TRUE(idle && idle->is_true());
      EXPECT_EQ(machines[name]->daemons(), 1u) << "one daemon, which nothing has restarted";
    }
    // The label is what brings a daemon there, one by the nature of a DaemonSet, and nowhere else.
    const auto wanted = daemons_select();
    EXPECT_EQ(wanted.size(), 1u);
    for (const char* name : {"w1", "stranger"}) {
      auto node = co_await s.see_node(name);
      EXPECT_TRUE(node);
      if (!node) continue;
      bool selected = true;
      for (const auto& [key, value] : wanted)
        selected = selected && node->meta.labels.has(key) && node->meta.labels.get(key) == value;
      EXPECT_EQ(selected, std::string_view(name) == "w1") << name;
    }
  });
}

TEST(MachineBehaviour, T109_MovedBackItIsIdleOnTheOldDigest) {
  play_fleet({}, R"({"maxUnavailable":4})", [](stage& s, auto& machines) -> awaitable<void> {
    co_await move_to(s, 'b');
    co_await s.until_pool("updated on b", "p", [](const node_pool& p) {
      return p.status.updated_count == 4 && p.status.deployed_digest == digest_of('b');
    });
    co_await move_to(s, 'a');
    for (const char* name : {"w1", "w2", "w3", "w4"}) {
      co_await s.until("idle on a", name, [](const bootc_node& b) {
        const auto* idle = find_condition(b.status.conditions, "Idle");
        return idle && idle->is_true() && b.status.booted &&
               b.status.booted->digest == digest_of('a') && !b.in_slot();
      });
      co_await s.until_node("schedulable", name,
                            [](const k8s::node& n) { return !n.unschedulable; });
      EXPECT_EQ(machines[name]->host.booted(), image_of('a'));
      EXPECT_EQ(machines[name]->host.reboots(), 2u) << name;
    }
  });
}

TEST(MachineBehaviour, T115_AnImageBehindAPullSecretIsStaged) {
  auto settings = machine::quick();
  settings.closed = {digest_of('b')};
  settings.login = R"({"auths":{"quay.io":{"auth":"dTpw"}}})";
  play_fleet({{"w1", settings}, {"w2", settings}, {"w3", settings}, {"w4", settings}},
             R"({"maxUnavailable":2})", [](stage& s, auto& machines) -> awaitable<void> {
               co_await move_to(s, 'b');
               co_await s.until("without it nothing is fetched", "w1", [](const bootc_node& b) {
                 const auto* c = find_condition(b.status.conditions, "Degraded");
                 return c && c->is_true() &&
                        c->message.starts_with("bootc stage failed: unauthorized");
               });
               co_await s.pull_secret("login", machines["w1"]->host.settings().login);
               std::string named = R"({"spec":{"pullSecretRef":{"name":")" + s.named("login") +
                                   R"(","namespace":"default"}}})";
               co_await s.patch_pool("p", std::move(named));
               co_await s.until_pool("updated on b", "p", [](const node_pool& p) {
                 return p.status.updated_count == 4 && p.status.deployed_digest == digest_of('b');
               });
               for (auto& [name, m] : machines) EXPECT_EQ(m->host.reboots(), 1u) << name;
             });
}

TEST(MachineBehaviour, ASoftRebootIsEnoughWhereThePoolAllowsItAndTheImageCan) {
  auto capable = machine::quick();
  capable.soft_reboot_capable = true;
  play_fleet({{"w1", capable}, {"w2", capable}}, R"({"maxUnavailable":2})",
             [](stage& s, auto& machines) -> awaitable<void> {
               co_await s.patch_pool(
                   "p", R"({"spec":{"disruption":{"rebootPolicy":"AllowSoftReboot"}}})");
               std::map<std::string, std::string> boots;
               for (auto& [name, m] : machines) boots[name] = m->host.boot_id();
               co_await move_to(s, 'b');
               co_await s.until_pool("updated on b", "p", [](const node_pool& p) {
                 return p.status.updated_count == 4 && p.status.deployed_digest == digest_of('b');
               });
               for (auto& [name, m] : machines) {
                 EXPECT_EQ(m->host.booted(), image_of('b')) << name;
                 EXPECT_EQ(m->host.reboots(), 1u) << name;
                 EXPECT_EQ(m->host.boot_id() == boots[name], name < "w3")
                     << name << ": a soft reboot keeps the kernel's boot id";
                 co_await s.until("released", name, [](const bootc_node& b) {
                   return !b.in_slot() && b.spec.desired_state == image_state::staged;
                 });
               }
             });
}

/// A host below whose daemon the process dies, at the n-th thing that it does.
class deadly_host final : public host {
public:
  deadly_host(reactor::loop& l, simulated_host& of, std::size_t dies_at)
      : of_(of), dies_at_(dies_at), dying_(l), never_(l) {}

  awaitable<reactor::result<host_traits>> inspect() override {
    co_await step();
    auto out = co_await of_.inspect();
    co_await step();
    co_return out;
  }
  awaitable<reactor::result<std::string>> status() override {
    co_await step();
    auto out = co_await of_.status();
    co_await step();
    co_return out;
  }
  awaitable<reactor::result<void>> run(host_command command) override {
    co_await step();
    auto out = co_await of_.run(std::move(command));
    co_await step();
    co_return out;
  }
  awaitable<void> changed() override { co_await of_.changed(); }

  /// Also for what the daemon writes.
  bool counts_to_the_end() { return ++steps_ == dies_at_ && (dying_.set(), true); }
  bool is_dying() const { return dying_.is_set(); }
  void revive() { dying_.reset(); }
  bool has_died() const noexcept { return steps_ >= dies_at_; }

private:
  awaitable<void> step() {
    if (counts_to_the_end()) (void)co_await never_.wait();
  }

  simulated_host& of_;
  std::size_t steps_ = 0, dies_at_;
  reactor::event dying_, never_;
};

/// One node from image a to image b, its daemon killed at its n-th step. False: it has no n steps.
bool goes_once_although_killed_at(std::size_t n) {
  bool died = false;
  play([&, n](stage& s) -> awaitable<void> {
    co_await s.node("w1", "p");
    simulated_host below(s.loop(), image_of('a'), machine::quick());
    deadly_host host(s.loop(), below, n);
    s.embedded()->on_write = [&](const k8s::sim::written& w) {
      if (w.plural == "bootcnodes" && w.before && w.after &&
          w.before->at("spec") == w.after->at("spec"))
        (void)host.counts_to_the_end();
    };
    s.start_controller();
    std::unique_ptr<node_daemon> daemon;
    reactor::task_group tasks(s.loop());
    tasks.start("machine", [&]() -> awaitable<void> {
      for (;;) {
        daemon = std::make_unique<node_daemon>(s.loop(), s.api(), host,
                                               node_daemon_options{s.named("w1")});
        daemon->start();
        while (!host.is_dying() && !below.going_down().is_set()) co_await s.loop().sleep_for(5ms);
        co_await daemon->stop();
        host.revive();
        if (!below.going_down().is_set()) continue;
        co_await s.set_ready("w1", false);
        co_await s.loop().sleep_for(500ms);
        (void)below.come_up();
        co_await s.set_ready("w1", true);
      }
    });
    co_await s.pool("p", 'a');
    co_await s.until_pool("updated on a", "p",
                          [](const node_pool& p) { return p.status.updated_count == 1; });
    co_await move_to(s, 'b');
    co_await s.until_pool("updated on b", "p", [](const node_pool& p) {
      return p.status.updated_count == 1 && p.status.deployed_digest == digest_of('b');
    });
    co_await s.loop().sleep_for(30s);
    EXPECT_EQ(below.booted(), image_of('b'));
    EXPECT_EQ(below.reboots(), 1u) << "one reboot for one approval, killed at step " << n;
    died = host.has_died();
    s.embedded()->on_write = {};
    co_await tasks.cancel_and_join();
    co_await daemon->stop();
    co_await s.stop_controller();
  });
  return died;
}

TEST(MachineBehaviour, ADaemonThatIsKilledAtAnyStepRebootsOnceForOneApproval) {
  if (stage::live()) return;
  std::size_t n = 1;
  while (n < 200 && goes_once_although_killed_at(n) && !::testing::Test::HasFailure()) ++n;
  EXPECT_GT(n, 15u) << "it has more steps than that";
  EXPECT_LT(n, 200u);
}

/// As the reference operator writes a BootcNode: nothing of ours on it.
json::object as_the_reference_writes(stage& s, const std::string& name, const node_pool& pool,
                                     bool in_its_slot) {
  json::object owner{{"apiVersion", names::api_version}, {"kind", "BootcNodePool"}};
  owner["name"] = pool.meta.name.str();
  owner["uid"] = pool.meta.uid.text();
  owner["controller"] = true;
  owner["blockOwnerDeletion"] = true;
  json::object metadata{{"name", s.named(name)}};
  metadata["ownerReferences"] = json::array{std::move(owner)};
  if (in_its_slot)
    metadata["annotations"] =
        json::object{{names::in_reboot_slot, ""}, {names::was_cordoned, "false"}};
  json::object body{{"apiVersion", names::api_version}, {"kind", "BootcNode"}};
  body["metadata"] = std::move(metadata);
  body["spec"] = json::object{{"desiredImage", image_of('b')},
                              {"desiredImageState", in_its_slot ? "Booted" : "Staged"}};
  return body;
}

TEST(MachineBehaviour, WhatTheReferenceHasBegunIsTakenOverInTheMiddle) {
  play([](stage& s) -> awaitable<void> {
    for (const char* name : {"w1", "w2", "w3"})
      co_await s.node(name, "p", R"({"bootc.dev/managed":""})");
    co_await s.pool("p", 'b', R"({"maxUnavailable":1})");
    auto pool = co_await s.see_pool("p");
    EXPECT_TRUE(pool);
    if (!pool) co_return;
    for (const char* name : {"w1", "w2", "w3"}) {
      json::object body = as_the_reference_writes(s, name, *pool, name == std::string_view("w1"));
      auto made = co_await s.api().create(bootc_nodes(), std::string(), std::move(body));
      EXPECT_TRUE(made) << name;
      co_await s.report(name, unit_state::staged, 'a', 'b');
    }
    co_await s.patch_node("w1", R"({"spec":{"unschedulable":true}})");
    std::size_t writes = 0;
    if (!stage::live())
      s.embedded()->on_write = [&](const k8s::sim::written& w) {
        if (w.plural == "bootcnodes" || w.plural == "bootcnodepools" || w.plural == "nodes")
          ++writes;
      };
    s.start_controller();
    co_await s.until_pool("taken over", "p", [](const node_pool& p) {
      return p.status.node_count == 3 && p.status.updating_count == 3;
    });
    co_await s.loop().sleep_for(5s);
    EXPECT_LE(writes, 8u) << "finalizer, status and a note on each node";
    writes = 0;
    if (!stage::live()) co_await s.loop().sleep_for(60s);
    EXPECT_EQ(writes, 0u) << "then it waits for the node that was told to boot";
    auto first = co_await s.see("w1"), second = co_await s.see("w2");
    EXPECT_TRUE(first && first->in_slot() && first->spec.desired_state == image_state::booted);
    EXPECT_TRUE(second && !second->in_slot());
    if (!stage::live()) s.embedded()->on_write = {};
    std::map<std::string, std::unique_ptr<machine>> machines;
    for (const char* name : {"w1", "w2", "w3"}) machines[name] = std::make_unique<machine>(s, name);
    co_await s.until_pool("updated on b", "p", [](const node_pool& p) {
      return p.status.updated_count == 3 && p.status.deployed_digest == digest_of('b');
    });
    for (auto& [name, m] : machines) {
      EXPECT_EQ(m->host.reboots(), 1u) << name;
      co_await s.until_node("schedulable", name,
                            [](const k8s::node& n) { return !n.unschedulable; });
    }
    co_await s.stop_controller();
    for (auto& [name, m] : machines) co_await m->stop();
  });
}

TEST(MachineBehaviour, HostsThatCannotLockStageInTheirSlotWhereThePoolWantsIt) {
  auto settings = machine::quick();
  settings.can_lock = false;
  play_fleet({{"w1", settings}, {"w2", settings}, {"w3", settings}}, R"({"maxUnavailable":1})",
             [](stage& s, auto& machines) -> awaitable<void> {
               co_await s.patch_pool(
                   "p", R"({"metadata":{"annotations":{"windlass.dev/stage":"in-slot"}}})");
               reactor::task_group watch(s.loop());
               std::size_t most = 0;
               watch.start("count", [&]() -> awaitable<void> {
                 for (;;) {
                   std::size_t armed = 0;  // any reboot would boot them
                   for (auto& [name, m] : machines)
                     armed += !m->host.settings().can_lock && m->host.staged().has_value();
                   most = std::max(most, armed);
                   co_await s.loop().sleep_for(10ms);
                 }
               });
               co_await move_to(s, 'b');
               co_await s.until_pool("updated on b", "p", [](const node_pool& p) {
                 return p.status.updated_count == 4 && p.status.deployed_digest == digest_of('b');
               });
               co_await watch.cancel_and_join();
               EXPECT_EQ(most, 1u) << "never more than have a slot";
               for (auto& [name, m] : machines) EXPECT_EQ(m->host.reboots(), 1u) << name;
             });
}

TEST(MachineBehaviour, NoMoreNodesFetchAtOnceThanThePoolSays) {
  play_fleet({}, R"({"maxUnavailable":4})", [](stage& s, auto& machines) -> awaitable<void> {
    co_await s.patch_pool("p",
                          R"({"metadata":{"annotations":{"windlass.dev/stages-at-once":"1"}}})");
    reactor::task_group watch(s.loop());
    std::size_t most = 0;
    watch.start("count", [&]() -> awaitable<void> {
      for (;;) {
        std::size_t fetching = 0;
        for (auto& [name, m] : machines) {
          k8s::object_key key{"", s.named(name)};
          auto read = co_await s.api().get(bootc_nodes(), std::move(key));
          if (!read) continue;
          auto b = k8s::parse_view<bootc_node>(json::serialize(*read));
          fetching += b && classify(*b) == unit_state::staging ? 1 : 0;
        }
        most = std::max(most, fetching);
        co_await s.loop().sleep_for(10ms);
      }
    });
    co_await move_to(s, 'b');
    co_await s.until_pool("updated on b", "p", [](const node_pool& p) {
      return p.status.updated_count == 4 && p.status.deployed_digest == digest_of('b');
    });
    co_await watch.cancel_and_join();
    EXPECT_EQ(most, 1u);
    for (auto& [name, m] : machines) EXPECT_EQ(m->host.reboots(), 1u) << name;
  });
}

TEST(MachineBehaviour, AFleetReachesTheNewImageNeverMoreAtOnceThanAllowed) {
  play_fleet({}, R"({"maxUnavailable":2})", [](stage& s, auto& machines) -> awaitable<void> {
    reactor::task_group watch(s.loop());
    std::size_t most = 0;
    watch.start("count", [&]() -> awaitable<void> {
      for (;;) {
        std::size_t away = 0;
        for (auto& [name, m] : machines) away += m->away;
        most = std::max(most, away);
        co_await s.loop().sleep_for(10ms);
      }
    });
    co_await move_to(s, 'b');
    co_await s.until_pool("updated on b", "p", [](const node_pool& p) {
      return p.status.updated_count == 4 && p.status.deployed_digest == digest_of('b');
    });
    co_await watch.cancel_and_join();
    EXPECT_LE(most, 2u);
    for (auto& [name, m] : machines) {
      EXPECT_EQ(m->host.booted(), image_of('b'));
      EXPECT_EQ(m->host.reboots(), 1u) << name;
      co_await s.until_node("schedulable", name,
                            [](const k8s::node& n) { return !n.unschedulable; });
    }
    co_await move_to(s, 'a');
    co_await s.until_pool("back on a", "p", [](const node_pool& p) {
      return p.status.updated_count == 4 && p.status.deployed_digest == digest_of('a');
    });
  });
}

TEST(MachineBehaviour, AnImageThatDoesNotBootStopsAtOneNodeAndIsNotTriedAgain) {
  auto settings = machine::quick();
  settings.unbootable = {digest_of('b')};
  play_fleet({{"w1", settings}}, "{}", [](stage& s, auto& machines) -> awaitable<void> {
    co_await move_to(s, 'b');
    co_await s.until("degraded", "w1", [](const bootc_node& b) {
      const auto* c = find_condition(b.status.conditions, "Degraded");
      return c && c->status == "True" && c->message.starts_with("rebooted but not on target");
    });
    co_await s.loop().sleep_for(3s);
    EXPECT_EQ(machines["w1"]->host.reboots(), 1u);
    EXPECT_EQ(machines["w2"]->host.reboots(), 0u) << "the only slot is held";
    EXPECT_FALSE(machines["w1"]->host.rollback_queued()) << "the next reboot would try it again";
    // A good image cures it.
    co_await move_to(s, 'c');
    co_await s.until_pool("updated on c", "p", [](const node_pool& p) {
      return p.status.updated_count == 4 && p.status.deployed_digest == digest_of('c');
    });
  });
}

TEST(MachineBehaviour, AnImageThatBootsNowhereStopsAtTwoNodes) {
  auto settings = machine::quick();
  settings.unbootable = {digest_of('b')};
  const char* rollout = R"({"maxUnavailable":2,"onFailure":"Return"})";
  std::map<std::string, simulated_host_settings> all;
  for (const char* name : {"w1", "w2", "w3", "w4"}) all[name] = settings;
  play_fleet(std::move(all), rollout, [](stage& s, auto& machines) -> awaitable<void> {
    co_await s.until_pool("deployed", "p", [](const node_pool& p) {
      return p.status.deployed_digest == digest_of('a');
    });
    co_await move_to(s, 'b');
    co_await s.until_pool("back on a", "p", [](const node_pool& p) {
      return degraded(p).starts_with("True/RolloutReturned/") && p.status.updated_count == 4 &&
             p.status.failed_digest == digest_of('b');
    });
    std::size_t reboots = 0;
    for (const char* name : {"w1", "w2", "w3", "w4"}) {
      co_await s.until("released", name, [](const bootc_node& b) {
        return !b.in_slot() && b.spec.desired_state == image_state::staged;
      });
      reboots += machines[name]->host.reboots();
    }
    EXPECT_EQ(reboots, 2u) << "two have tried it, and went nowhere to go back";
  });
}

/// The other three are updated, and the pool says whose trouble it is.
awaitable<void> until_all_but_one(stage& s, const std::string& troubled) {  // borrowed
  const std::string message = "True/NodeDegraded/Degraded nodes: " + s.named(troubled);
  std::function<bool(const node_pool&)> holds = [message](const node_pool& p) {
    return p.status.updated_count == 3 && degraded(p) == message;
  };
  co_await s.until_pool("the others updated", "p", std::move(holds));
}

TEST(MachineBehaviour, AnImageThatCannotBeFetchedDisturbsNobody) {
  auto settings = machine::quick();
  settings.unpullable = {digest_of('b')};
  play_fleet({{"w1", settings}}, "{}", [](stage& s, auto& machines) -> awaitable<void> {
    co_await move_to(s, 'b');
    co_await until_all_but_one(s, "w1");
    EXPECT_EQ(machines["w1"]->host.reboots(), 0u);
    machines["w1"]->host.settings().unpullable.clear();
    co_await s.until_pool("all updated", "p",
                          [](const node_pool& p) { return p.status.updated_count == 4; });
  });
}

TEST(MachineBehaviour, AFullDiskIsReportedInBootcsWordsAndTheOthersGoOn) {
  auto settings = machine::quick();
  settings.too_large = {digest_of('b')};
  play_fleet({{"w1", settings}}, "{}", [](stage& s, auto& machines) -> awaitable<void> {
    co_await move_to(s, 'b');
    co_await until_all_but_one(s, "w1");
    const auto full = co_await s.see("w1");
    const condition* wrong =
        full ? find_condition(full->status.conditions, node_condition::degraded) : nullptr;
    EXPECT_TRUE(wrong && wrong->is_true());
    EXPECT_EQ(wrong ? wrong->message : std::string(),
              "bootc stage failed: Writing content object: write: No space left on device");
    EXPECT_EQ(machines["w1"]->host.reboots(), 0u);
    machines["w1"]->host.settings().too_large.clear();
    co_await s.until_pool("all updated", "p",
                          [](const node_pool& p) { return p.status.updated_count == 4; });
  });
}

TEST(MachineBehaviour, AControllerThatIsStoppedAgainAndAgainGetsThereAllTheSame) {
  play_fleet({}, R"({"maxUnavailable":1})", [](stage& s, auto& machines) -> awaitable<void> {
    co_await move_to(s, 'b');
    for (int i = 0; i < 40; ++i) {
      co_await s.loop().sleep_for(150ms);
      co_await s.stop_controller();
      s.start_controller();
    }
    co_await s.until_pool("updated on b", "p", [](const node_pool& p) {
      return p.status.updated_count == 4 && p.status.deployed_digest == digest_of('b');
    });
    for (auto& [name, m] : machines) EXPECT_EQ(m->host.reboots(), 1u) << name;
    for (const char* name : {"w1", "w2", "w3", "w4"})
      co_await s.until("released", name, [](const bootc_node& b) {
        return !b.in_slot() && b.spec.desired_state == image_state::staged;
      });
  });
}

TEST(MachineBehaviour, ATargetThatChangesMidwayIsReachedByAll) {
  play_fleet({}, R"({"maxUnavailable":1})", [](stage& s, auto& machines) -> awaitable<void> {
    co_await move_to(s, 'b');
    co_await s.until("rebooting", "w1", [](const bootc_node& b) {
      return b.spec.desired_state == image_state::booted;
    });
    co_await move_to(s, 'c');
    co_await s.until_pool("updated on c", "p", [](const node_pool& p) {
      return p.status.updated_count == 4 && p.status.deployed_digest == digest_of('c');
    });
    EXPECT_EQ(machines["w4"]->host.reboots(), 1u) << "straight to the last one";
  });
}

TEST(MachineBehaviour, AServerThatFreezesVanishesAndForgetsOnlyDelaysIt) {
  play_fleet({}, R"({"maxUnavailable":1})", [](stage& s, auto& machines) -> awaitable<void> {
    co_await move_to(s, 'b');
    if (auto* server = s.embedded()) {  // a real one is not ours to stop
      for (int i = 0; i < 6; ++i) {
        co_await s.loop().sleep_for(400ms);
        server->freeze(true);
        co_await s.loop().sleep_for(i % 2 == 0 ? reactor::nanoseconds(3s)
                                               : reactor::nanoseconds(90s));
        server->freeze(false);
        co_await s.loop().sleep_for(200ms);
        server->restart(i % 3 == 0 ? k8s::sim::api_server::memory::lost
                                   : k8s::sim::api_server::memory::kept);
      }
    }
    co_await s.until_pool("updated on b", "p", [](const node_pool& p) {
      return p.status.updated_count == 4 && p.status.deployed_digest == digest_of('b');
    });
    for (auto& [name, m] : machines) EXPECT_EQ(m->host.reboots(), 1u) << name;
  });
}

TEST(MachineBehaviour, ANodeThatNeverComesBackKeepsItsSlotAndTheOthersGoOnBesideIt) {
  auto settings = machine::quick();
  settings.never_returns = {digest_of('b')};
  play_fleet({{"w1", settings}}, R"({"maxUnavailable":2,"rebootTimeoutSeconds":3})",
             [](stage& s, auto& machines) -> awaitable<void> {
               co_await move_to(s, 'b');
               const std::string message = "True/NodeDegraded/Degraded nodes: " + s.named("w1") +
                                           " (not back from its reboot)";
               std::function<bool(const node_pool&)> holds = [message](const node_pool& p) {
                 return p.status.updated_count == 3 && degraded(p) == message;
               };
               co_await s.until_pool("the others updated", "p", std::move(holds));
               auto lost = co_await s.see("w1");
               EXPECT_TRUE(lost && lost->in_slot());
               EXPECT_EQ(machines["w2"]->host.booted(), image_of('b'));
             });
}

}  // namespace
}  // namespace bootc::behaviour
