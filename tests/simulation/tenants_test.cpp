// One chart on clusters of a simulated fleet: the judge sees each kind of violation, and whoever is
// judged keeps the rules while everything goes wrong.
#include "cli/apis.hpp"
#include "formats/base64.hpp"
#include "formats/gzip.hpp"
#include "formats/yaml/yaml.hpp"
#include "helm/tenants/cluster/tenant_crd.hpp"
#include "k8s/sim/server.hpp"
#include "reactor/loop.hpp"
#include "simulation/commands/simulate/trial.hpp"
#include "simulation/tenant_invariants.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;
using namespace simulation;
namespace json = boost::json;
using simulation::trouble;

/// Two clusters whose objects a test writes as a service would.
class TenantInvariants : public testing::Test {
protected:
  TenantInvariants() {
    for (const char* name : {"a", "b"}) {
      auto& api = servers_.emplace_back(
          std::make_unique<k8s::sim::api_server>(k8s::sim::options_on(loop_)));
      for (const std::string& crd : helm::tenants::crd_manifests())
        api->put(formats::parse_kubernetes_yaml(crd, "CRD").value().as_object());
      for (const char* ns : {"default", "t"})
        api->put({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", ns}}}});
      api->on_write = [this, at = servers_.size() - 1](const k8s::sim::written& w) {
        judge_.saw(at, w);
      };
      put_tenant(name);
    }
    judge_.ask_for("2.0.0");
  }
  ~TenantInvariants() override {
    for (const auto& s : servers_) s->on_write = nullptr;
  }

  k8s::sim::api_server& on(const std::string& cluster) { return *servers_[cluster == "b"]; }
  void put_tenant(const std::string& cluster, const std::string& target = {},
                  const std::string& name = "t") {
    json::object o{{"apiVersion", "mesh.openkcm.io/v1alpha1"}, {"kind", "Tenant"}}, spec;
    o["metadata"] = json::object{{"name", name}, {"namespace", "default"}};
    if (!target.empty()) spec["clusterRef"] = json::object{{"secretName", target}};
    o["spec"] = std::move(spec);
    on(cluster).put(std::move(o));
  }
  void put_record(const std::string& cluster, int revision, const std::string& status,
                  const std::string& version = "2.0.0", const std::string& of = {}) {
    const std::string release = of.empty() ? "tenant-t-" + cluster : of,
                      number = std::to_string(revision);
    const json::object text{
        {"chart", json::object{{"metadata", json::object{{"version", version}}}}}};
    on(cluster).put(
        {{"apiVersion", "v1"},
         {"kind", "Secret"},
         {"metadata",
          {{"name", "sh.helm.release.v1." + release + ".v" + number},
           {"namespace", "t"},
           {"labels",
            {{"owner", "helm"}, {"name", release}, {"status", status}, {"version", number}}}}},
         {"data",
          {{"release", formats::encode_base64(
                           formats::encode_base64(formats::gzip(json::serialize(text))))}}}});
  }
  void note(const std::string& cluster, const std::string& fingerprint) {
    on(cluster).edit("mesh.openkcm.io", "tenants", "default", "t", [&](json::object& o) {
      o["metadata"].as_object()["annotations"] =
          json::object{{"mesh.openkcm.io/fingerprint-" + cluster, fingerprint}};
    });
  }
  void say_ready(const std::string& cluster, const std::string& name = "t") {
    on(cluster).edit("mesh.openkcm.io", "tenants", "default", name, [&](json::object& o) {
      json::object ready{{"type", "ClusterReady/" + cluster}, {"status", "True"}};
      ready["reason"] = "Installed";
      o["status"] = json::object{{"phase", "Ready"}, {"conditions", json::array{ready}}};
    });
  }
  void put_config(const std::string& cluster, const std::string& version) {
    on(cluster).put({{"apiVersion", "v1"},
                     {"kind", "ConfigMap"},
                     {"metadata", {{"name", "app"}, {"namespace", "t"}}},
                     {"data", {{"version", version}}}});
  }
  void arrive(const std::string& cluster, int revision = 1) {
    put_record(cluster, revision, "deployed");
    put_config(cluster, "2.0.0");
    note(cluster, "two");
    say_ready(cluster);
  }
  std::string first() const {
    return judge_.violations().empty() ? "none" : judge_.violations().front();
  }

  reactor::loop loop_{reactor::loop::mode::simulated, 1};
  tenant_invariants judge_{{{"a", 0}, {"b", 1}}};
  std::vector<std::unique_ptr<k8s::sim::api_server>> servers_;
};

TEST_F(TenantInvariants, AnOrderlyInstallAndUpgradeBreakNothing) {
  EXPECT_EQ(judge_.unfinished(), "a t has no release; b t has no release");
  for (const char* cluster : {"a", "b"}) {
    put_record(cluster, 1, "pending-install", "1.0.0");
    put_record(cluster, 1, "deployed", "1.0.0");
    note(cluster, "one");
    say_ready(cluster);
  }
  EXPECT_EQ(judge_.unfinished(), "a t has version 1.0.0; b t has version 1.0.0");
  for (const char* cluster : {"a", "b"}) {
    put_record(cluster, 2, "pending-upgrade");
    put_record(cluster, 1, "superseded", "1.0.0");
    put_record(cluster, 2, "deployed");
    put_config(cluster, "2.0.0");
    note(cluster, "two");
  }
  judge_.check_at_rest();
  EXPECT_EQ(first(), "none");
  EXPECT_EQ(judge_.unfinished(), "");
  EXPECT_EQ(judge_.arrived(), 2u);
}

TEST_F(TenantInvariants, AFingerprintWithoutADeployedReleaseIsSeen) {
  put_record("a", 1, "pending-install");
  note("a", "two");
  EXPECT_EQ(first(), "a: Tenant t has a new fingerprint while its release is pending-install");
}

TEST_F(TenantInvariants, AFingerprintOfWhatIsNotDeployedIsSeen) {
  arrive("a");
  put_record("b", 1, "deployed", "1.0.0");
  note("b", "two");
  EXPECT_EQ(first(), "b: Tenant t has the fingerprint of version 2.0.0 while 1.0.0 is deployed");
}

TEST_F(TenantInvariants, SuccessAfterAFailureIsSeen) {
  put_record("a", 1, "failed");
  say_ready("a");
  EXPECT_EQ(first(), "a: Tenant t turns Ready while its release is failed");
}

TEST_F(TenantInvariants, TwoAtOnceAreSeen) {
  put_record("a", 1, "pending-install");
  put_record("a", 2, "pending-upgrade");
  EXPECT_EQ(first(), "a: Tenant t has two pending records");
  put_record("b", 1, "deployed");
  put_record("b", 2, "deployed");
  EXPECT_EQ(judge_.violations().back(), "b: Tenant t has two deployed records");
}

TEST_F(TenantInvariants, AReleaseOfAnotherNameOrOfNobodyIsSeen) {
  put_record("a", 1, "deployed", "2.0.0", "tenant-t-b");
  EXPECT_EQ(first(), "a: Tenant t has a release tenant-t-b");
  on("b").erase("mesh.openkcm.io", "tenants", "default", "t");
  put_record("b", 1, "deployed");
  EXPECT_EQ(judge_.violations().back(), "b: Tenant t has a release and is not there");
}

TEST_F(TenantInvariants, AReleaseForAnotherClustersTenantIsSeen) {
  put_tenant("a", "b");
  put_record("a", 1, "pending-install");
  EXPECT_EQ(first(), "a: Tenant t names cluster b and has a release here");
  say_ready("a");
  EXPECT_EQ(judge_.violations().back(), "a: Tenant t names cluster b and has a status from here");
}

TEST_F(TenantInvariants, AWaveThatBeginsEarlyIsSeenUnlessTheEarlierOneCannotBeReached) {
  put_record("b", 1, "deployed", "1.0.0");
  note("b", "one");
  put_record("b", 2, "pending-upgrade");
  EXPECT_EQ(first(), "b: Tenant t of wave 1 moves to 2.0.0, which t on a of wave 0 has never had");
  judge_.ask_for("3.0.0");
  judge_.out_of_reach(0);
  put_record("b", 2, "failed");
  put_record("b", 3, "pending-upgrade", "3.0.0");
  EXPECT_EQ(judge_.violation_count(), 1u);
}

TEST_F(TenantInvariants, WhoeverHasLetGoMustNotWrite) {
  judge_.let_go(0);
  put_record("a", 1, "pending-install");
  EXPECT_EQ(first(), "a: Tenant t has a record from a service that has let go of it");
  judge_.let_go(1);
  say_ready("b");
  EXPECT_EQ(judge_.violations()[1],
            "b: Tenant t has a status from a service that has let go of it");
}

TEST_F(TenantInvariants, WhatAnOrderlyEndLeavesPendingIsSeen) {
  put_record("a", 1, "pending-install");
  judge_.saw_start();
  judge_.saw_stop();
  EXPECT_EQ(first(), "none") << "it was so when it began";
  put_record("a", 2, "pending-upgrade");
  judge_.saw_stop();
  EXPECT_EQ(judge_.violations().back(),
            "a: Tenant t is left pending-upgrade by a service that ended in good order");
}

TEST_F(TenantInvariants, ADeletionThatLeavesTheReleaseIsSeen) {
  arrive("a");
  on("a").erase("mesh.openkcm.io", "tenants", "default", "t");
  EXPECT_EQ(first(), "a: Tenant t is gone before its release, which is deployed");
  judge_.check_at_rest();
  EXPECT_EQ(judge_.violations().back(), "a: Tenant t is gone, and records of it are left");
}

cli::simulate::trial of_tenants(std::uint64_t seed) {
  cli::simulate::trial t;
  t.apis = cli::apis();
  t.fleet = usual_fleet(3, 3, {.tenants = 3});
  t.fleet.faults = all_troubles();
  t.fleet.faults.erase(trouble::policy_swaps);
  t.seed = seed;
  return t;
}

class TenantFleet : public testing::TestWithParam<std::uint64_t> {};

TEST_P(TenantFleet, MovesToTheNextVersionWhileEverythingGoesWrong) {
  const cli::simulate::trial_outcome o = run(of_tenants(GetParam()));
  EXPECT_TRUE(o.is_good()) << o.findings().front() << "\n" << o.tail;
  EXPECT_GE(o.tenants.all, 3u);
  EXPECT_EQ(o.tenants.arrived, o.tenants.all);
}

INSTANTIATE_TEST_SUITE_P(Seeds, TenantFleet, testing::Range<std::uint64_t>(1, 6));

TEST(TenantFleetRuns, AreTheSameForTheSameSeed) {
  const cli::simulate::trial_outcome first = run(of_tenants(11)), again = run(of_tenants(11));
  EXPECT_EQ(first.trace, again.trace);
  EXPECT_EQ(first.writes, again.writes);
  EXPECT_NE(first.trace, run(of_tenants(12)).trace);
}

TEST(TenantFleetRuns, WavesComeOneAfterTheOtherWithoutFaults) {
  cli::simulate::trial t = of_tenants(1);
  t.fleet = usual_fleet(5, 3, {.tenants = 2});
  t.fleet.faults.clear();
  const cli::simulate::trial_outcome o = run(std::move(t));
  EXPECT_TRUE(o.is_good()) << o.findings().front() << "\n" << o.tail;
  EXPECT_EQ(o.tenants.all, 10u);
  EXPECT_EQ(o.tenants.arrived, 10u);
}

}  // namespace
