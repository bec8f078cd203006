// What the reference operator has made becomes the pack's, with one rollout.
#include "tests/trustee/cluster_stage.hpp"

#include <set>

namespace trustee_test {
namespace {

TEST_F(TrusteeCluster, WhatTheReferenceOperatorHasMadeIsTakenOverWithOneRollout) {
  std::map<std::string, std::string> uids = put_what_the_reference_operator_made();
  roll_out("trustee-deployment");
  go([&, this]() -> awaitable<void> {
    writes_ = 0;
    // What a plan says of it, by the objects that it would write.
    std::string planned;
    {
      const auto looking = a_trustee(units::mode::look);
      co_await looking->start(there());
      co_await loop_->sleep_for(30s);
      planned = co_await looking->said();
      co_await looking->stop();
    }
    EXPECT_EQ(writes_, 0u) << "a plan writes nothing";
    std::map<std::string, json::value> before;
    for (const auto& [plural, of] : plurals)
      for (const json::object& o : server().list(of, plural))
        before[plural + "/" + std::string(o.at("metadata").at("name").as_string())] = content_of(o);
    std::map<std::string, int> changed;  // what is more than labels, marks and status
    std::set<std::string> written;
    server().on_write = [&](const k8s::sim::written& w) {
      if (!plurals.contains(w.plural)) return;
      const std::string name = std::string(w.plural) + "/" + std::string(w.name);
      EXPECT_EQ(w.type, k8s::sim::write_type::modified) << name;
      written.insert(name);
      if (content_of(*w.before) != content_of(*w.after)) ++changed[name];
    };
    co_await serving([&, this](windlass& one) -> awaitable<void> {
      const std::string said = co_await one.said();
      EXPECT_EQ(is("trusteeconfigs", "trusteeconfig-sample", "Composed"), "True/AsAsked") << said;
      EXPECT_EQ(field("services", "kbs-service", "/spec/selector"), R"({"app":"kbs"})")
          << "no moment has a Service that selects nothing";
      roll_out("trustee-deployment");
      co_await loop_->sleep_for(30s);
      EXPECT_EQ(is("trusteeconfigs", "trusteeconfig-sample", "Ready"), "True/Ready");
      EXPECT_THAT(written, testing::SizeIs(testing::Gt(7u)));
      const std::map<std::string, int> once{{"deployments/trustee-deployment", 1},
                                            {"services/kbs-service", 1}};
      EXPECT_EQ(changed, once) << "one rollout, and then the Service knows its own pods";
      EXPECT_EQ(field("deployments", "trustee-deployment", "/spec/selector"),
                R"({"matchLabels":{"app":"kbs"}})");
      EXPECT_EQ(field("deployments", "trustee-deployment", "/metadata/uid"),
                uids["Deployment/trustee-deployment"]);
      EXPECT_EQ(field("services", "kbs-service", "/spec/clusterIP"), "10.96.7.7");
      EXPECT_EQ(field("secrets", "trusteeconfig-sample-auth-secret", "/data/privateKey"),
                "dGhlIHByaXZhdGUgaGFsZg==");
      for (const auto& [name, content] : before) {
        if (once.contains(name)) continue;
        const std::size_t slash = name.find('/');
        const auto now = object(name.substr(0, slash), name.substr(slash + 1));
        EXPECT_TRUE(now && content_of(*now) == content) << name;
      }
      // "ConfigMap x", "Deployment y": what was written is what the plan had named.
      const std::map<std::string, std::string> kinds{
          {"configmaps", "ConfigMap"},   {"secrets", "Secret"},   {"kbsconfigs", "KbsConfig"},
          {"deployments", "Deployment"}, {"services", "Service"}, {"trusteeconfigs", ""}};
      for (const std::string& name : written) {
        const std::size_t slash = name.find('/');
        const std::string& kind = kinds.at(name.substr(0, slash));
        if (kind.empty()) continue;
        EXPECT_THAT(planned, HasSubstr("change " + kind + " " + name.substr(slash + 1)));
      }
      EXPECT_THAT(planned, HasSubstr("spec.template.spec.containers[kbs].image"));
      written.clear();
      co_await loop_->sleep_for(20min);
      EXPECT_THAT(written, testing::IsEmpty());
    });
    server().on_write = nullptr;
  });
}

}  // namespace
}  // namespace trustee_test
