// Instances of Trustee on clusters of a simulated fleet: the judge sees each kind of violation, and
// whoever is judged keeps the rules while everything goes wrong.
#include "cli/apis.hpp"
#include "formats/base64.hpp"
#include "formats/yaml/yaml.hpp"
#include "k8s/sim/server.hpp"
#include "reactor/loop.hpp"
#include "simulation/commands/simulate/trial.hpp"
#include "simulation/manifests.hpp"
#include "simulation/trustee_invariants.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <string>

namespace {

using namespace std::chrono_literals;
using namespace simulation;
namespace json = boost::json;

constexpr const char *group = "confidentialcontainers.org",
                     *kbs = "ghcr.io/confidential-containers/key-broker-service:v0.21.0";

/// One cluster whose objects a test writes as a service would.
class TrusteeInvariants : public testing::Test {
protected:
  TrusteeInvariants() {
    for (const std::string& crd : trustee_manifests())
      api_.put(formats::parse_kubernetes_yaml(crd, "CRD").value().as_object());
    api_.put({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "default"}}}});
    api_.on_write = [this](const k8s::sim::written& w) { judge_.saw(0, w); };
    judge_.by_person([this] {
      put("TrusteeConfig", "t", {}, {{"spec", {{"version", "v0.21.0"}, {"instanceName", "t"}}}});
    });
    put("KbsConfig", "t-kbs-config", instance_, {{"spec", {{"kbsConfigMapName", "c"}}}});
  }
  ~TrusteeInvariants() override { api_.on_write = nullptr; }

  /// owner: its kind and name; empty: nobody.
  void put(const std::string& kind, const std::string& name, const std::string& owner,
           json::object rest) {
    const bool ours = kind.ends_with("Config");
    rest["apiVersion"] = ours                   ? std::string(group) + "/v1alpha1"
                         : kind == "Deployment" ? std::string("apps/v1")
                                                : std::string("v1");
    rest["kind"] = kind;
    json::object metadata{{"name", name}, {"namespace", "default"}};
    if (!owner.empty()) metadata["ownerReferences"] = json::array{reference(owner)};
    rest["metadata"] = std::move(metadata);
    api_.put(std::move(rest));
  }
  json::object reference(const std::string& owner) const {
    const std::size_t slash = owner.find('/');
    const std::string kind = owner.substr(0, slash), name = owner.substr(slash + 1);
    const auto there =
        api_.get(group, kind == "KbsConfig" ? "kbsconfigs" : "trusteeconfigs", "default", name);
    return {{"apiVersion", std::string(group) + "/v1alpha1"},
            {"kind", kind},
            {"name", name},
            {"uid", there ? there->at("metadata").at("uid") : json::value("nobody's")},
            {"controller", true}};
  }
  void put_keys(const std::string& secret) {
    put("Secret", "t-auth-secret", instance_,
        {{"data",
          {{"publicKey", formats::encode_base64("public")},
           {"privateKey", formats::encode_base64(secret)}}}});
  }
  void put_deployment(const std::string& owner, const std::string& image = kbs) {
    json::object volume{{"name", "v"}, {"configMap", {{"name", "c"}}}},
        container{{"name", "kbs"}, {"image", image}};
    json::object pod{{"containers", json::array{std::move(container)}},
                     {"volumes", json::array{std::move(volume)}}};
    json::object pods{{"metadata", {{"labels", {{"app", "kbs"}}}}}, {"spec", std::move(pod)}};
    put("Deployment", "trustee-deployment-t", owner,
        {{"spec",
          {{"replicas", 1},
           {"selector", {{"matchLabels", {{"app", "kbs"}}}}},
           {"template", std::move(pods)}}}});
  }
  std::string first() const {
    return judge_.violations().empty() ? "nothing" : judge_.violations().front();
  }

  reactor::loop loop_{reactor::loop::mode::simulated, 1};
  /// Nobody collects garbage there: what is wrong stays to be seen.
  static k8s::sim::api_options without_controllers(reactor::loop& l) {
    k8s::sim::api_options o = k8s::sim::options_on(l);
    o.controllers = false;
    return o;
  }
  k8s::sim::api_server api_{without_controllers(loop_)};
  trustee_invariants judge_{{"a"}, [this] { return loop_.now(); }};
  const std::string instance_ = "TrusteeConfig/t", config_ = "KbsConfig/t-kbs-config";
};

TEST_F(TrusteeInvariants, WhatIsRightIsNoViolation) {
  put_keys("secret");
  put("ConfigMap", "c", instance_, {{"data", {{"kbs-config.toml", "a = 1\n"}}}});
  put_deployment(config_);
  EXPECT_EQ(judge_.unfinished(), "a t is not Ready ()");
  api_.edit(group, "trusteeconfigs", "default", "t",
            [](json::object& o) { o["status"] = json::object{{"isReady", true}}; });
  EXPECT_EQ(judge_.unfinished(), "");
  EXPECT_EQ(judge_.arrived(), 1u);
  judge_.check_at_rest();
  EXPECT_EQ(first(), "nothing");
  judge_.ask_for_registry("mirror.example.com");
  EXPECT_EQ(judge_.unfinished(), "a t has the image " + std::string(kbs));
}

TEST_F(TrusteeInvariants, AKeyPairThatIsMadeAgainIsSeen) {
  put_keys("secret");
  put_keys("other");
  EXPECT_EQ(first(), "a: secrets t-auth-secret has another privateKey");
}

TEST_F(TrusteeInvariants, HalfAKeyPairIsSeen) {
  put("Secret", "t-auth-secret", instance_,
      {{"data", {{"publicKey", formats::encode_base64("public")}}}});
  EXPECT_EQ(first(), "a: secrets t-auth-secret lacks its privateKey");
}

TEST_F(TrusteeInvariants, LostContentIsSeen) {
  put("ConfigMap", "c", instance_, {{"data", {{"kbs-config.toml", "a = 1\n"}}}});
  judge_.by_person([this] {
    put("ConfigMap", "c", instance_, {{"data", {{"kbs-config.toml", "a = 1\n# mine 1\n"}}}});
  });
  judge_.wrote(0, "configmaps", "c", "# mine 1");
  put("ConfigMap", "c", instance_, {{"data", {{"kbs-config.toml", "tls = 1\na = 1\n# mine 1\n"}}}});
  EXPECT_EQ(first(), "nothing") << "what was added around it";
  put("ConfigMap", "c", instance_,
      {{"data", {{"kbs-config.toml", "a = 2\n"}, {"kbs-config.toml.previous", "# mine 1\n"}}}});
  EXPECT_EQ(first(), "a: configmaps c has lost what a person has written");
}

TEST_F(TrusteeInvariants, ADeletionOfContentIsSeenUnlessAPersonDoesIt) {
  for (const bool person : {true, false}) {
    put("ConfigMap", "c", instance_, {{"data", {{"a", "# mine 1"}}}});
    judge_.wrote(0, "configmaps", "c", "# mine 1");
    const auto erase = [this] { api_.erase("", "configmaps", "default", "c"); };
    if (person)
      judge_.by_person(erase);
    else
      erase();
    EXPECT_EQ(judge_.violation_count(), person ? 0u : 1u);
  }
  EXPECT_EQ(first(), "a: configmaps c is deleted, and what a person has written with it");
}

TEST_F(TrusteeInvariants, ADeploymentWithoutItsInputsIsSeen) {
  put_deployment(config_);
  EXPECT_EQ(first(),
            "a: deployments trustee-deployment-t gets pods that need configmaps c, which is not "
            "there");
}

TEST_F(TrusteeInvariants, ADeploymentWhoseInputHasJustGoneIsForgiven) {
  put("ConfigMap", "c", instance_, {{"data", {{"a", "b"}}}});
  judge_.by_person([this] { api_.erase("", "configmaps", "default", "c"); });
  put_deployment(config_);
  EXPECT_EQ(first(), "nothing");
}

TEST_F(TrusteeInvariants, TwoControllersAreSeen) {
  put("ConfigMap", "c", instance_, {{"data", {{"a", "b"}}}});
  api_.edit("", "configmaps", "default", "c", [this](json::object& o) {
    o["metadata"].as_object()["ownerReferences"] =
        json::array{reference(instance_), reference(config_)};
  });
  EXPECT_EQ(first(), "a: configmaps c has two controllers");
}

TEST_F(TrusteeInvariants, WhatGoesToAYoungerOneIsSeen) {
  put("ConfigMap", "c", config_, {{"data", {{"a", "b"}}}});
  const std::string younger = "KbsConfig/z-kbs-config";
  put("KbsConfig", "z-kbs-config", instance_, {{"spec", json::object()}});
  put("ConfigMap", "c", younger, {{"data", {{"a", "b"}}}});
  EXPECT_EQ(first(), "a: configmaps c goes from t-kbs-config, which is there, to z-kbs-config");
  put("ConfigMap", "c", config_, {{"data", {{"a", "b"}}}});
  EXPECT_EQ(judge_.violation_count(), 1u) << "back to the older one";
}

TEST_F(TrusteeInvariants, AnImageThatNoCatalogueNamesIsSeen) {
  put("ConfigMap", "c", instance_, {{"data", {{"a", "b"}}}});
  put_deployment(config_, "latest");
  EXPECT_EQ(first(), "a: deployments trustee-deployment-t gets the image 'latest'");
}

TEST_F(TrusteeInvariants, WhatIsLeftOfAnInstanceIsSeen) {
  put("ConfigMap", "c", "KbsConfig/gone", {{"data", {{"a", "b"}}}});
  judge_.check_at_rest();
  EXPECT_EQ(first(), "a: configmaps c is left by an instance that is gone");
}

cli::simulate::trial small_trustees(std::uint64_t seed) {
  cli::simulate::trial t;
  t.apis = cli::apis();
  t.fleet = usual_fleet(2, 3, {.trustees = 3});
  t.fleet.faults = all_troubles();
  t.fleet.faults.erase(trouble::policy_swaps);
  t.seed = seed;
  return t;
}

class TrusteeFleet : public testing::TestWithParam<std::uint64_t> {};

TEST_P(TrusteeFleet, MovesToTheNextReleaseWhileEverythingGoesWrong) {
  const cli::simulate::trial_outcome o = run(small_trustees(GetParam()));
  EXPECT_TRUE(o.is_good()) << o.findings().front() << "\n" << o.tail;
  EXPECT_GE(o.trustees.all, 4u);
  EXPECT_EQ(o.trustees.arrived, o.trustees.all);
}

INSTANTIATE_TEST_SUITE_P(Seeds, TrusteeFleet, testing::Range<std::uint64_t>(1, 6));

TEST(TrusteeFleetRuns, AreTheSameForTheSameSeed) {
  const cli::simulate::trial_outcome first = run(small_trustees(11)),
                                     again = run(small_trustees(11));
  EXPECT_EQ(first.trace, again.trace);
  EXPECT_EQ(first.writes, again.writes);
  EXPECT_NE(first.trace, run(small_trustees(12)).trace);
}

TEST(TrusteeFleetRuns, EverybodyArrivesWithoutFaults) {
  cli::simulate::trial t = small_trustees(1);
  t.fleet.faults.clear();
  const cli::simulate::trial_outcome o = run(std::move(t));
  EXPECT_TRUE(o.is_good()) << o.findings().front() << "\n" << o.tail;
  EXPECT_EQ(o.trustees.all, 8u) << "three and the one that wants the first one's name, twice";
}

}  // namespace
