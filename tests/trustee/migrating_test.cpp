// docs/migrating/trustee-operator.md: what it says of each object of the original is what happens.
#include "tests/trustee/cluster_stage.hpp"

#include <sstream>

namespace trustee_test {
namespace {

/// The rows of the page's table of objects: what lies there, and what becomes of it.
std::map<std::string, std::string> rows_of_the_page() {
  std::istringstream page(file("docs/migrating/trustee-operator.md"));
  std::map<std::string, std::string> rows;
  bool here = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("## ")) here = line == "## What becomes of its objects";
    if (!here || !line.starts_with("| ") || line.starts_with("| ---")) continue;
    const std::size_t bar = line.find(" | ", 2);
    rows[line.substr(2, bar - 2)] = line.substr(bar + 3, line.size() - bar - 5);
  }
  rows.erase("object, as the original leaves it");
  return rows;
}

class Migrating : public TrusteeCluster {
protected:
  /// Notes what was seen of a row, which has to be what the page says.
  void seen(const std::string& row, const std::string& what) {
    const auto rows = rows_of_the_page();
    const auto there = rows.find(row);
    ASSERT_NE(there, rows.end()) << "no row: " << row;
    EXPECT_EQ(there->second, what) << row;
  }
  std::string taken(const char* plural, const char* name) {
    const std::string composed = is(plural, name, "Composed");
    return composed == "True/AsAsked" ? "taken: `Composed=True`" : composed;
  }
  void put_sample(const std::string& name) {
    const std::string path = "tests/trustee/samples/" + name + ".yaml";
    auto documents = formats::parse_kubernetes_documents(file(path), path);
    for (json::value& one : documents.value()) {
      one.at("metadata").as_object()["namespace"] = "default";
      server().put(std::move(one.as_object()));
    }
    server().put({{"apiVersion", "v1"},
                  {"kind", "Secret"},
                  {"metadata", {{"name", "kbs-auth-public-key"}, {"namespace", "default"}}},
                  {"data", {{"publicKey", "a2V5"}}}});
  }
  std::string image() {
    return field("deployments", "trustee-deployment", "/spec/template/spec/containers/0/image");
  }
};

TEST_F(Migrating, ASampleOfAnInstance) {
  put_sample("trusteeconfig");
  go([this]() -> awaitable<void> {
    co_await serving([this](windlass&) -> awaitable<void> {
      seen("the sample `TrusteeConfig` with `httpsSpec: null`",
           taken("trusteeconfigs", "trusteeconfig-sample"));
      const std::string noted =
          field("kbsconfigs", "trusteeconfig-sample-kbs-config",
                "/metadata/annotations/trustee-operator.confidentialcontainers.org~1kbs-image");
      seen("image of an instance (`TrusteeConfig`)",
           image() == noted ? "that of its release: `latest` without `spec.version`" : image());
      co_return;
    });
  });
}

TEST_F(Migrating, AKbsConfigOfOneServer) {
  put_sample("all-in-one");
  const std::string before = "ghcr.io/confidential-containers/staged-images/kbs:b2442c2";
  json::object pod = json::parse(R"({"metadata": {"labels": {"app": "kbs"}}, "spec":
      {"containers": [{"name": "kbs"}]}})")
                         .as_object();
  pod["spec"].at("containers").at(0).as_object()["image"] = before;
  const std::string uid = field("kbsconfigs", "kbsconfig-sample", "/metadata/uid");
  server().put({{"apiVersion", "apps/v1"},
                {"kind", "Deployment"},
                {"metadata",
                 {{"name", "trustee-deployment"},
                  {"namespace", "default"},
                  {"ownerReferences",
                   {{{"apiVersion", "confidentialcontainers.org/v1alpha1"},
                     {"kind", "KbsConfig"},
                     {"name", "kbsconfig-sample"},
                     {"uid", uid},
                     {"controller", true}}}}}},
                {"spec",
                 {{"replicas", 1},
                  {"selector", {{"matchLabels", {{"app", "kbs"}}}}},
                  {"template", std::move(pod)}}}});
  go([&, this]() -> awaitable<void> {
    co_await serving([&, this](windlass&) -> awaitable<void> {
      seen("the sample `KbsConfig`, all-in-one", taken("kbsconfigs", "kbsconfig-sample"));
      const std::string said = is("kbsconfigs", "kbsconfig-sample", "ImagesResolved");
      seen("image of a `KbsConfig` made by hand, `KBS_IMAGE_NAME` unset",
           image() == before && said == "True/Kept" ? "stays; `ImagesResolved=True`, reason `Kept`"
                                                    : image() + " " + said);
      server().edit(group, "kbsconfigs", "default", "kbsconfig-sample", [](json::object& o) {
        o["metadata"].as_object()["annotations"] =
            json::object{{"trustee-operator.confidentialcontainers.org/version", "v0.21.0"}};
      });
      co_await loop_->sleep_for(10s);
      seen("its image once `trustee-operator.confidentialcontainers.org/version: v0.21.0` is set",
           image().find("v0.21.0") != std::string::npos ? "that of the release" : image());
    });
  });
}

TEST_F(Migrating, AKbsConfigOfThreeServers) {
  put_sample("microservices");
  go([this]() -> awaitable<void> {
    co_await serving([this](windlass&) -> awaitable<void> {
      seen("the sample `KbsConfig` of microservices", taken("kbsconfigs", "kbsconfig-sample"));
      co_return;
    });
  });
}

TEST_F(Migrating, WhatAnInstanceHas) {
  put_what_the_reference_operator_made();
  roll_out("trustee-deployment");
  const auto keys = [this] {
    return field("secrets", "trusteeconfig-sample-auth-secret", "/data");
  };
  const auto text = [this] {
    return field("configmaps", "trusteeconfig-sample-kbs-config", "/data");
  };
  const std::string had_keys = keys(), had_text = text();
  go([&, this]() -> awaitable<void> {
    co_await serving([&, this](windlass&) -> awaitable<void> {
      const std::string first = field("services", "kbs-service", "/spec/selector");
      roll_out("trustee-deployment");
      co_await loop_->sleep_for(30s);
      const std::string then = field("services", "kbs-service", "/spec/selector");
      seen("selector of `trustee-deployment`",
           field("deployments", "trustee-deployment", "/spec/selector/matchLabels") ==
                   R"({"app":"kbs"})"
               ? "stays `app=kbs`"
               : "changes");
      seen("selector of `kbs-service`",
           first == R"({"app":"kbs"})" && then.find("instance") != std::string::npos
               ? "gets the label of its instance once pods have it"
               : first + " " + then);
      seen("keys of `<name>-auth-secret`", keys() == had_keys ? "stay" : "change");
      seen("text of the ConfigMaps", text() == had_text ? "stays" : text());
    });
  });
}

TEST_F(Migrating, AnOriginalThatStillRuns) {
  put_what_the_reference_operator_made();
  server().put({{"apiVersion", "v1"},
                {"kind", "Namespace"},
                {"metadata", {{"name", "trustee-operator-system"}}}});
  const auto renew = [this] {
    server().put({{"apiVersion", "coordination.k8s.io/v1"},
                  {"kind", "Lease"},
                  {"metadata",
                   {{"name", "178dc119.confidentialcontainers.org"},
                    {"namespace", "trustee-operator-system"}}},
                  {"spec",
                   {{"holderIdentity", "trustee-operator-controller-manager-1_2"},
                    {"leaseDurationSeconds", 15},
                    {"renewTime", reactor::format_rfc3339_micro(loop_->wall())}}}});
  };
  renew();
  go([&, this]() -> awaitable<void> {
    writes_ = 0;
    auto service = a_trustee();
    co_await service->start(there());
    for (int i = 0; i < 8; ++i) {
      renew();
      co_await loop_->sleep_for(5s);
    }
    const std::string said = co_await service->said();
    seen("an instance while the original holds its Lease in another namespace",
         said.find("trusteeconfig-sample [other-operator]") != std::string::npos && writes_ == 0
             ? "held: `other-operator`; nothing is written"
             : said);
    co_await service->stop();
  });
}

TEST_F(Migrating, AKbsConfigInTheWay) {
  put_sample("trusteeconfig");
  server().put(
      {{"apiVersion", "confidentialcontainers.org/v1alpha1"},
       {"kind", "KbsConfig"},
       {"metadata", {{"name", "trusteeconfig-sample-kbs-config"}, {"namespace", "default"}}},
       {"spec", {{"KbsDeploymentSpec", {{"replicas", 3}}}}}});
  go([this]() -> awaitable<void> {
    co_await serving([this](windlass&) -> awaitable<void> {
      const std::string before = is("trusteeconfigs", "trusteeconfig-sample", "Composed");
      server().edit(
          group, "kbsconfigs", "default", "trusteeconfig-sample-kbs-config", [](json::object& o) {
            o["metadata"].as_object()["annotations"] =
                json::object{{"windlass.dev/adopt", "TrusteeConfig/trusteeconfig-sample"}};
          });
      co_await loop_->sleep_for(20s);
      const std::string after = is("trusteeconfigs", "trusteeconfig-sample", "Composed");
      seen("a `KbsConfig` called `<name>-kbs-config` that no instance owns",
           before == "False/Conflict" && after == "True/AsAsked"
               ? "`Conflict`, until `windlass.dev/adopt` gives it away"
               : before + " " + after);
      EXPECT_EQ(field("deployments", "trustee-deployment", "/spec/replicas"), "3");
    });
  });
}

TEST(MigratingPage, HasNoRowThatIsNotTriedHere) {
  const std::string tests = file("tests/trustee/migrating_test.cpp");
  const auto rows = rows_of_the_page();
  EXPECT_GE(rows.size(), 12u);
  for (const auto& [row, what] : rows)
    EXPECT_THAT(tests, HasSubstr("seen(\"" + row + "\"")) << "no test has seen what becomes of it";
}

}  // namespace
}  // namespace trustee_test
