// The pack on an embedded cluster, by the controller as it ships, in virtual time: the samples of
// deploy/ become servers.
#include "cli/trustee/instance_preview.hpp"
#include "tests/compose/cluster_fixture.hpp"
#include "tests/reactor/temporary_folder.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <stdexcept>

namespace {

using namespace compose_test;

constexpr const char* group = "confidentialcontainers.org";

class TrusteeCluster : public compose_cluster {
protected:
  TrusteeCluster() {
    policies_ = "policies/trustee";
    for (const char* kind : {"trusteeconfigs", "kbsconfigs"})
      server().put(manifest(std::string("deploy/crds/trustee/") + kind + ".yaml"));
    server().on_write = [this](const k8s::sim::written& w) {
      if (plurals.contains(w.plural)) ++writes_;
    };
  }
  /// The objects of a sample, in this namespace.
  void apply(const std::string& sample) {
    const std::string path = "deploy/examples/trustee/" + sample + ".yaml";
    auto documents = formats::parse_yaml_documents(file(path), path);
    ASSERT_TRUE(documents.has_value());
    for (json::value& one : *documents) {
      one.at("metadata").as_object()["namespace"] = "default";
      server().put(std::move(one.as_object()));
    }
  }
  void put_config_map(const char* name) {
    server().put({{"apiVersion", "v1"},
                  {"kind", "ConfigMap"},
                  {"metadata", {{"name", name}, {"namespace", "default"}}},
                  {"data", {{"kbs-config.toml", "[http_server]\ninsecure_http = true\n"}}}});
  }
  /// A KbsConfig that a person made: "mine", of ConfigMap "config" and Secret "auth".
  void put_kbs_config(const char* reference_values) {
    server().put({{"apiVersion", "confidentialcontainers.org/v1alpha1"},
                  {"kind", "KbsConfig"},
                  {"metadata", {{"name", "mine"}, {"namespace", "default"}}},
                  {"spec",
                   {{"kbsConfigMapName", "config"},
                    {"kbsAuthSecretName", "auth"},
                    {"kbsRvpsRefValuesConfigMapName", reference_values}}}});
  }
  std::unique_ptr<windlass> a_trustee() {
    windlass_options o;
    o.packs_are_tested = true;  // by their own tests
    o.policies = {std::string(WINDLASS_SOURCE_DIR) + "/" + policies_};
    o.variable = [this](const std::string& name) {
      return name == "OPERATOR_IMAGE_NAME"     ? std::string("registry.example.com/windlass:1")
             : name == "TRUSTEE_TEMPLATES_DIR" ? templates_
                                               : std::string();
    };
    return std::make_unique<windlass>(*loop_, std::move(o), log_);
  }
  awaitable<void> serving(std::function<awaitable<void>(windlass&)> between) {
    auto service = a_trustee();
    co_await service->start(there());
    co_await loop_->sleep_for(30s);
    co_await between(*service);
    co_await service->stop();
  }
  std::optional<json::object> object(const std::string& plural, const std::string& name) {
    return server().get(plurals.find(plural)->second, plural, "default", name);
  }
  std::string field(const std::string& plural, const std::string& name,
                    const std::string& pointer) {
    const auto o = object(plural, name);
    if (!o) return "absent";
    boost::system::error_code none;
    const json::value all(*o);
    const json::value* v = all.find_pointer(pointer, none);
    return !v ? "nothing" : v->is_string() ? std::string(v->get_string()) : json::serialize(*v);
  }
  std::string is(const std::string& plural, const std::string& name, const std::string& type) {
    const auto o = object(plural, name);
    if (!o || !o->contains("status") || !o->at("status").as_object().contains("conditions"))
      return "nothing";
    for (const json::value& c : o->at("status").at("conditions").as_array())
      if (c.at("type").as_string() == type)
        return std::string(c.at("status").as_string()) + "/" +
               std::string(c.at("reason").as_string());
    return "nothing";
  }
  /// Versions of all that was made for the instance and its KbsConfig, by kind and name.
  std::map<std::string, std::string> versions_of(const std::string& instance) {
    std::map<std::string, std::string> out;
    std::vector<std::string> owners{field("trusteeconfigs", instance, "/metadata/uid"),
                                    field("kbsconfigs", instance + "-kbs-config", "/metadata/uid")};
    for (const auto& [plural, of] : plurals) {
      const json::object all = list(of, plural);
      for (const json::value& o : all.at("items").as_array()) {
        const json::object& metadata = o.at("metadata").as_object();
        const json::value* refs = metadata.if_contains("ownerReferences");
        if (!refs || refs->get_array().empty()) continue;
        const std::string uid(refs->at(0).at("uid").as_string());
        if (std::ranges::find(owners, uid) == owners.end()) continue;
        out.emplace(plural + "/" + std::string(metadata.at("name").as_string()),
                    metadata.at("resourceVersion").as_string());
      }
    }
    return out;
  }
  json::object list(const std::string& of, const std::string& plural) {
    const std::string path =
        of.empty() ? "/api/v1" : "/apis/" + of + (of == group ? "/v1alpha1" : "/v1");
    const auto answer =
        server().handle(k8s::sim::make_request("GET", path + "/namespaces/default/" + plural));
    return json::parse(answer.body).as_object();
  }

  std::string templates_;  // in place of the pack's own

  inline static const std::map<std::string, std::string, std::less<>> plurals{
      {"trusteeconfigs", group},      {"kbsconfigs", group},   {"configmaps", ""}, {"secrets", ""},
      {"persistentvolumeclaims", ""}, {"deployments", "apps"}, {"services", ""}};
};

TEST_F(TrusteeCluster, AnInstanceOfTheSamplesBecomesServersAndThenNothingIsWritten) {
  go([this]() -> awaitable<void> {
    apply("permissive");
    co_await serving([this](windlass& one) -> awaitable<void> {
      const std::string said = co_await one.said();
      EXPECT_EQ(is("trusteeconfigs", "trusteeconfig-sample", "Ready"), "False/RollingOut") << said;
      EXPECT_EQ(is("trusteeconfigs", "trusteeconfig-sample", "VersionResolved"),
                "True/DefaultUsed");
      EXPECT_EQ(is("trusteeconfigs", "trusteeconfig-sample", "Composed"), "True/AsAsked") << said;
      EXPECT_EQ(
          field("deployments", "trustee-deployment", "/spec/template/spec/initContainers/0/image"),
          "registry.example.com/windlass:1");
      EXPECT_EQ(field("services", "kbs-service", "/spec/ports/0/targetPort"), "8080");
      const std::string key =
          field("secrets", "trusteeconfig-sample-auth-secret", "/data/privateKey");
      EXPECT_GT(key.size(), 100u);
      roll_out("trustee-deployment");
      co_await loop_->sleep_for(10s);
      EXPECT_EQ(is("trusteeconfigs", "trusteeconfig-sample", "Ready"), "True/Ready");
      EXPECT_EQ(field("trusteeconfigs", "trusteeconfig-sample", "/status/isReady"), "true");
      writes_ = 0;
      co_await loop_->sleep_for(20min);
      EXPECT_EQ(writes_, 0u) << "a settled instance is left alone";
      // What is deleted is made anew, and what is not keeps its bytes.
      server().erase("apps", "deployments", "default", "trustee-deployment");
      server().erase("", "configmaps", "default", "trusteeconfig-sample-resource-policy");
      co_await loop_->sleep_for(10s);
      EXPECT_EQ(field("deployments", "trustee-deployment", "/spec/replicas"), "1");
      EXPECT_NE(object("configmaps", "trusteeconfig-sample-resource-policy"), std::nullopt);
      EXPECT_EQ(field("secrets", "trusteeconfig-sample-auth-secret", "/data/privateKey"), key);
    });
  });
}

TEST_F(TrusteeCluster, TwoReleasesLiveSideBySideAndOneIsNoConcernOfTheOther) {
  go([this]() -> awaitable<void> {
    apply("two-releases");
    co_await serving([this](windlass&) -> awaitable<void> {
      for (const char* name : {"old", "new"}) {
        EXPECT_EQ(is("trusteeconfigs", name, "Composed"), "True/AsAsked") << name;
        roll_out(std::string("trustee-deployment-") + name);
      }
      co_await loop_->sleep_for(10s);
      for (const char* name : {"old", "new"})
        EXPECT_EQ(is("trusteeconfigs", name, "Ready"), "True/Ready") << name;
      EXPECT_THAT(
          field("deployments", "trustee-deployment-old", "/spec/template/spec/containers/0/image"),
          HasSubstr("v0.18.0"));
      EXPECT_THAT(
          field("deployments", "trustee-deployment-new", "/spec/template/spec/containers/0/image"),
          HasSubstr("v0.21.0"));
      EXPECT_EQ(field("services", "kbs-service-old", "/spec/selector/app.kubernetes.io~1instance"),
                "old-kbs-config");
      const auto before = versions_of("new");
      EXPECT_GT(before.size(), 7u);
      server().edit(group, "trusteeconfigs", "default", "old",
                    [](json::object& o) { o["spec"].as_object()["version"] = "v0.19.0"; });
      co_await loop_->sleep_for(30s);
      EXPECT_THAT(
          field("deployments", "trustee-deployment-old", "/spec/template/spec/containers/0/image"),
          HasSubstr("v0.19.0"));
      EXPECT_EQ(versions_of("new"), before) << "patching one writes no object of the other";
      const auto asked = k8s::sim::make_request(
          "DELETE",
          "/apis/confidentialcontainers.org/v1alpha1/namespaces/default/trusteeconfigs/old");
      server().handle(asked);
      co_await loop_->sleep_for(1min);
      EXPECT_EQ(field("deployments", "trustee-deployment-old", ""), "absent");
      EXPECT_EQ(field("services", "kbs-service-old", ""), "absent");
      auto after = versions_of("new");
      // What both share is made anew by the one that stays.
      after.erase("secrets/attestation-status");
      auto kept = before;
      kept.erase("secrets/attestation-status");
      EXPECT_EQ(after, kept);
      EXPECT_NE(object("secrets", "attestation-status"), std::nullopt);
      EXPECT_EQ(is("trusteeconfigs", "new", "Ready"), "True/Ready");
    });
  });
}

/// What `windlass trustee diff` says of a change, asked of what is on the server now.
awaitable<cli::trustee_change> foreseen(reactor::loop& l, windlass& one,
                                        const std::vector<json::object>& objects, std::string name,
                                        std::string to) {
  policies::subject anyone;
  auto pack = one.packs.select("compose.sync", anyone);
  auto about = policies::compose::read_declaration((*pack)->about());
  auto files = policies::compose::own_files(**pack, *about);
  files.environment["OPERATOR_IMAGE_NAME"] = "registry.example.com/windlass:1";
  cli::instance_preview preview(
      l, *pack, std::make_shared<const policies::compose::declaration>(*about),
      std::make_shared<const policies::compose::data_files>(std::move(files)));
  for (const json::object& o : objects) preview.put(o);
  policies::compose::object_name id{
      {"confidentialcontainers.org/v1alpha1", "TrusteeConfig"}, "default", std::move(name)};
  auto change = co_await preview.change(std::move(id), std::move(to));
  EXPECT_TRUE(change) << (change ? "" : change.error().message());
  co_return change ? std::move(*change) : cli::trustee_change();
}

const std::vector<std::string> releases = {"v0.10.0", "v0.10.1", "v0.11.0", "v0.12.0", "v0.13.0",
                                           "v0.14.0", "v0.15.0", "v0.16.0", "v0.17.0", "v0.18.0",
                                           "v0.19.0", "v0.20.0", "v0.21.0", "latest"};

/// From one release to each of the others.
class TrusteeChange : public TrusteeCluster, public testing::WithParamInterface<std::string> {};

TEST_P(TrusteeChange, IsWhatDiffSays) {
  const std::string from = GetParam();
  go([&, this]() -> awaitable<void> {
    co_await serving([&, this](windlass& one) -> awaitable<void> {
      std::size_t pairs = 0, restarts = 0, replaced = 0;
      for (const std::string& to : releases) {
        if (from == to) continue;
        const std::string name = "p" + std::to_string(pairs++);
        const char* policy = pairs % 2 == 0 ? "Preserve" : "ReplaceIfUnmodified";
        SCOPED_TRACE(from + " to " + to + " with " + policy);
        server().put(
            {{"apiVersion", "confidentialcontainers.org/v1alpha1"},
             {"kind", "TrusteeConfig"},
             {"metadata", {{"name", name}, {"namespace", "default"}}},
             {"spec",
              {{"version", from}, {"instanceName", name}, {"configUpdatePolicy", policy}}}});
        co_await loop_->sleep_for(3s);
        for (int i = 0; i < 20 && !object("deployments", "trustee-deployment-" + name); ++i)
          co_await loop_->sleep_for(3s);
        std::vector<json::object> objects;
        for (const auto& [plural, of] : plurals) {
          json::object all = list(of, plural);
          for (json::value& o : all.at("items").as_array()) {
            // Of its own kinds a server does not say it in a list.
            o.as_object()["apiVersion"] = all.at("apiVersion");
            const std::string kind(all.at("kind").as_string());
            o.as_object()["kind"] = kind.substr(0, kind.size() - 4);  // ConfigMapList
            objects.push_back(o.as_object());
          }
        }
        const std::string deployment = "trustee-deployment-" + name;
        std::string from_now = from, to_now = to, name_now = name;
        const cli::trustee_change said =
            co_await foreseen(*loop_, one, objects, std::move(name_now), std::move(to_now));
        std::map<std::string, json::object> maps;
        for (const cli::trustee_file& f : said.files) {
          auto there = object("configmaps", f.name);
          maps[f.name] = there ? there->at("data").as_object() : json::object();
        }
        const std::string pods = field("deployments", deployment, "/spec/template");
        server().edit(group, "trusteeconfigs", "default", name,
                      [&](json::object& o) { o["spec"].as_object()["version"] = to; });
        co_await loop_->sleep_for(3s);

        EXPECT_EQ(said.from, from);
        EXPECT_EQ(said.to, to);
        EXPECT_EQ(field("trusteeconfigs", name, "/status/effectiveVersion"), said.to);
        for (const auto& [container, both] : said.images)
          EXPECT_EQ(field("trusteeconfigs", name, "/status/images/" + container), both.second);
        for (const cli::trustee_file& f : said.files) {
          auto there = object("configmaps", f.name);
          const json::object is = there ? there->at("data").as_object() : json::object();
          std::vector<std::string> keys;
          for (const auto& [key, text] : is)
            if (!maps[f.name].contains(key) || maps[f.name].at(key) != text) keys.emplace_back(key);
          for (const auto& [key, text] : maps[f.name])
            if (!is.contains(key)) keys.emplace_back(key);
          std::sort(keys.begin(), keys.end());
          EXPECT_EQ(f.keys, keys) << f.name << " " << f.action;
          replaced += f.action == "replace";
        }
        EXPECT_EQ(field("deployments", deployment, "/spec/template") != pods,
                  !said.restarts.empty());
        restarts += said.restarts.size();
        for (const auto& c : said.conditions)
          EXPECT_EQ(is("trusteeconfigs", name, c.type), c.status + "/" + c.reason) << c.type;
        const auto asked = k8s::sim::make_request(
            "DELETE",
            "/apis/confidentialcontainers.org/v1alpha1/namespaces/default/trusteeconfigs/" + name);
        server().handle(asked);
        co_await loop_->sleep_for(2s);
      }
      EXPECT_EQ(pairs, releases.size() - 1);
      EXPECT_EQ(restarts, pairs);
      EXPECT_GT(replaced, 5u);
    });
  });
}

INSTANTIATE_TEST_SUITE_P(Release, TrusteeChange, testing::ValuesIn(releases),
                         [](const testing::TestParamInfo<std::string>& one) {
                           std::string name = one.param;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

TEST_F(TrusteeCluster, AKbsConfigByHandIsServedToo) {
  go([this]() -> awaitable<void> {
    for (const char* name : {"config", "refs"}) put_config_map(name);
    put_kbs_config("refs");
    co_await serving([this](windlass&) -> awaitable<void> {
      EXPECT_EQ(is("kbsconfigs", "mine", "Ready"), "False/InputMissing");
      EXPECT_EQ(object("deployments", "trustee-deployment"), std::nullopt);
      server().put({{"apiVersion", "v1"},
                    {"kind", "Secret"},
                    {"metadata", {{"name", "auth"}, {"namespace", "default"}}},
                    {"data", {{"publicKey", "eA=="}}}});
      co_await loop_->sleep_for(10s);
      roll_out("trustee-deployment");
      co_await loop_->sleep_for(10s);
      EXPECT_EQ(is("kbsconfigs", "mine", "Ready"), "True/Ready");
      // A mounted file restarts the pods, a label of it does not.
      const std::string inputs = field("deployments", "trustee-deployment", "/spec/template");
      server().edit("", "configmaps", "default", "config", [](json::object& o) {
        o["metadata"].as_object()["labels"] = json::object{{"a", "b"}};
      });
      co_await loop_->sleep_for(10s);
      EXPECT_EQ(field("deployments", "trustee-deployment", "/spec/template"), inputs);
      server().edit("", "configmaps", "default", "config", [](json::object& o) {
        o["data"].as_object()["kbs-config.toml"] = "[http_server]\ninsecure_http = true # new\n";
      });
      co_await loop_->sleep_for(10s);
      EXPECT_NE(field("deployments", "trustee-deployment", "/spec/template"), inputs);
    });
  });
}

TEST_F(TrusteeCluster, AKbsConfigByHandWithACacheOfCertificatesAndTwoReplicasThenHttps) {
  go([this]() -> awaitable<void> {
    put_config_map("config");
    for (const char* name : {"auth", "ek", "https-key", "https-cert"})
      server().put({{"apiVersion", "v1"},
                    {"kind", "Secret"},
                    {"metadata", {{"name", name}, {"namespace", "default"}}},
                    {"data", {{"file", "eA=="}}}});
    put_kbs_config("config");
    server().edit(group, "kbsconfigs", "default", "mine", [](json::object& o) {
      json::object& spec = o["spec"].as_object();
      spec["KbsDeploymentSpec"] = json::object{{"replicas", 2}};
      spec["kbsLocalCertCacheSpec"] = json::object{
          {"secrets", json::array{{{"secretName", "ek"}, {"mountPath", "/etc/kbs/snp/ek"}}}}};
    });
    const auto pod = [this] {
      return field("deployments", "trustee-deployment", "/spec/template");
    };
    co_await serving([&, this](windlass&) -> awaitable<void> {
      EXPECT_EQ(field("deployments", "trustee-deployment", "/spec/replicas"), "2");
      EXPECT_THAT(pod(), HasSubstr(R"("mountPath":"/etc/kbs/snp/ek","name":"ek"})"));
      EXPECT_THAT(pod(), HasSubstr(R"("secretName":"ek")"));
      EXPECT_THAT(pod(), HasSubstr(R"("scheme":"HTTP")"));
      roll_out("trustee-deployment");
      co_await loop_->sleep_for(10s);
      EXPECT_EQ(is("kbsconfigs", "mine", "Ready"), "True/Ready");
      EXPECT_THAT(field("kbsconfigs", "mine", "/status/conditions"), HasSubstr("2 of 2 replicas"));

      server().edit("", "configmaps", "default", "config", [](json::object& o) {
        o["data"].as_object()["kbs-config.toml"] = "[http_server]\ninsecure_http = false\n";
      });
      server().edit(group, "kbsconfigs", "default", "mine", [](json::object& o) {
        o["spec"].as_object()["kbsHttpsKeySecretName"] = "https-key";
        o["spec"].as_object()["kbsHttpsCertSecretName"] = "https-cert";
      });
      co_await loop_->sleep_for(10s);
      EXPECT_THAT(pod(), HasSubstr(R"("scheme":"HTTPS")"));
      EXPECT_THAT(pod(), Not(HasSubstr(R"("scheme":"HTTP")")));
      for (const char* mount : {"/etc/https-key", "/etc/https-cert"})
        EXPECT_THAT(pod(), HasSubstr(std::string("\"mountPath\":\"") + mount));
      EXPECT_EQ(field("services", "kbs-service", "/spec/ports/0/port"), "8080");
      EXPECT_EQ(field("services", "kbs-service", "/spec/ports/0/targetPort"), "8080");
      EXPECT_EQ(is("kbsconfigs", "mine", "Ready"), "False/RollingOut");
      roll_out("trustee-deployment");
      co_await loop_->sleep_for(10s);
      EXPECT_EQ(is("kbsconfigs", "mine", "Ready"), "True/Ready");
    });
  });
}

TEST_F(TrusteeCluster, TwoNamespacesHaveTheSameNamesAndNothingInCommon) {
  go([this]() -> awaitable<void> {
    const std::vector<std::string> both{"first", "second"};
    for (const std::string& ns : both) {
      server().put({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", ns}}}});
      server().put({{"apiVersion", "confidentialcontainers.org/v1alpha1"},
                    {"kind", "TrusteeConfig"},
                    {"metadata", {{"name", "same"}, {"namespace", ns}}},
                    {"spec", {{"version", ns == "first" ? "v0.18.0" : "v0.21.0"}}}});
    }
    co_await serving([&, this](windlass& one) -> awaitable<void> {
      const std::string said = co_await one.said();
      for (const std::string& ns : both) {
        for (const auto& [plural, name] :
             std::map<std::string, std::string>{{"configmaps", "same-kbs-config"},
                                                {"secrets", "same-auth-secret"},
                                                {"kbsconfigs", "same-kbs-config"},
                                                {"services", "kbs-service"}})
          EXPECT_TRUE(server().get(plurals.find(plural)->second, plural, ns, name))
              << ns << " " << plural << "\n"
              << said;
        const auto deployment = server().get("apps", "deployments", ns, "trustee-deployment");
        EXPECT_THAT(deployment ? json::serialize(*deployment) : "absent",
                    HasSubstr(ns == "first" ? "v0.18.0" : "v0.21.0"));
      }
      const auto key = [this](const std::string& ns) {
        const auto secret = server().get("", "secrets", ns, "same-auth-secret");
        return secret ? json::serialize(secret->at("data")) : ns + " has none";
      };
      EXPECT_NE(key("first"), key("second"));
    });
  });
}

TEST_F(TrusteeCluster, AServerThatWasAwayFindsTheSameKeysAndNothingTwice) {
  go([this]() -> awaitable<void> {
    apply("two-releases");
    co_await serving([this](windlass&) -> awaitable<void> {
      for (const char* name : {"old", "new"}) roll_out(std::string("trustee-deployment-") + name);
      co_await loop_->sleep_for(10s);
      const auto names = [this] {
        std::vector<std::string> out;
        for (const char* plural : {"configmaps", "secrets", "deployments", "services"})
          for (const json::object& o : server().list(plurals.find(plural)->second, plural))
            out.push_back(plural + ("/" + std::string(o.at("metadata").at("name").as_string())));
        return out;
      };
      const auto before = names();
      const std::string key = field("secrets", "new-auth-secret", "/data");
      const std::string deployment =
          field("deployments", "trustee-deployment-new", "/metadata/uid");
      std::size_t turned_away = 0;
      server().before = [&](const k8s::sim::request&) -> std::optional<k8s::sim::answer> {
        ++turned_away;
        k8s::sim::answer a;
        a.status = 503;
        return a;
      };
      server().restart(k8s::sim::api_server::memory::lost);
      // Meanwhile somebody takes a part away, so that there is something to make.
      server().erase("", "configmaps", "default", "new-resource-policy");
      co_await loop_->sleep_for(60s);
      EXPECT_GT(turned_away, 0u);
      EXPECT_EQ(object("configmaps", "new-resource-policy"), std::nullopt);
      server().before = nullptr;
      co_await loop_->sleep_for(2min);
      EXPECT_EQ(names(), before);
      EXPECT_EQ(field("secrets", "new-auth-secret", "/data"), key);
      EXPECT_EQ(field("deployments", "trustee-deployment-new", "/metadata/uid"), deployment);
      EXPECT_EQ(is("trusteeconfigs", "new", "Ready"), "True/Ready");
      writes_ = 0;
      co_await loop_->sleep_for(10min);
      EXPECT_EQ(writes_, 0u);
    });
  });
}

/// Of an object: all but what may be added to it when it is taken over.
json::value content_of(json::object o) {
  o.erase("status");
  json::object& metadata = o["metadata"].as_object();
  for (const char* key :
       {"resourceVersion", "generation", "managedFields", "labels", "annotations"})
    metadata.erase(key);
  return o;
}

TEST_F(TrusteeCluster, WhatTheReferenceOperatorHasMadeIsTakenOverWithOneRollout) {
  const std::string path = "tests/trustee/reference_operator.yaml";
  auto documents = formats::parse_yaml_documents(file(path), path);
  ASSERT_TRUE(documents.has_value());
  std::map<std::string, std::string> uids;
  for (json::value& one : *documents) {
    json::object o = one.as_object();
    json::object& metadata = o["metadata"].as_object();
    if (json::value* annotations = metadata.if_contains("annotations")) {
      const std::string owner(annotations->at("owner").as_string());
      annotations->as_object().erase("owner");
      const std::size_t slash = owner.find('/');
      metadata["ownerReferences"] =
          json::array{{{"apiVersion", "confidentialcontainers.org/v1alpha1"},
                       {"kind", owner.substr(0, slash)},
                       {"name", owner.substr(slash + 1)},
                       {"uid", uids.at(owner)},
                       {"controller", true},
                       {"blockOwnerDeletion", true}}};
    }
    const json::object stored = server().put(std::move(o));
    const json::object& its = stored.at("metadata").as_object();
    uids[std::string(stored.at("kind").as_string()) + "/" +
         std::string(its.at("name").as_string())] = its.at("uid").as_string();
  }
  roll_out("trustee-deployment");
  go([&, this]() -> awaitable<void> {
    writes_ = 0;
    // What a plan says of it, by the objects that it would write.
    std::string planned;
    {
      windlass_options o;
      o.packs_are_tested = true;
      o.does = units::mode::look;
      o.policies = std::string(WINDLASS_SOURCE_DIR) + "/" + policies_;
      o.variable = [](const std::string& name) {
        return name == "OPERATOR_IMAGE_NAME" ? std::string("registry.example.com/windlass:1")
                                             : std::string();
      };
      windlass looking(*loop_, std::move(o), log_);
      co_await looking.start(there());
      co_await loop_->sleep_for(30s);
      planned = co_await looking.said();
      co_await looking.stop();
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

/// A folder as the kubelet mounts a ConfigMap: what is read are links into the folder that `..data`
/// points to, and that link is swapped.
class mounted_config_map {
public:
  explicit mounted_config_map(const std::filesystem::path& at) : at_(at) {}
  void show(const std::function<void(std::string& catalogue)>& edit) {
    namespace fs = std::filesystem;
    const std::string next = "..2026_" + std::to_string(++count_);
    fs::copy(std::string(WINDLASS_SOURCE_DIR) + "/policies/trustee/data", at_ / next,
             fs::copy_options::recursive);
    std::string text = file((at_ / next / "versions.json").string());
    edit(text);
    std::ofstream(at_ / next / "versions.json") << text;
    fs::create_directory_symlink(next, at_ / "..data_tmp");
    fs::rename(at_ / "..data_tmp", at_ / "..data");
    for (const auto& one : fs::directory_iterator(at_ / next)) {
      const fs::path name = one.path().filename();
      if (!fs::is_symlink(at_ / name)) fs::create_symlink(fs::path("..data") / name, at_ / name);
    }
    if (count_ > 1) fs::remove_all(at_ / ("..2026_" + std::to_string(count_ - 1)));
  }

private:
  std::filesystem::path at_;
  int count_ = 0;
};

void swap_text(std::string& in, std::string_view what, std::string_view with) {
  const std::size_t at = in.find(what);
  if (at == in.npos) throw std::runtime_error("no " + std::string(what));
  in.replace(at, what.size(), with);
}

TEST_F(TrusteeCluster, AMountedCatalogueIsFollowedAndABrokenOneLeavesTheLastGoodInForce) {
  reactor::temporary_folder folder;
  templates_ = folder.path();
  mounted_config_map mounted(folder.path());
  const auto with_a_newer = [](std::string& text) {
    swap_text(text, "\"latest\"\n  ],", "\"latest\", \"v0.99.0\"\n  ],");
    swap_text(text, "\"version_mappings\": {",
              "\"version_mappings\": {\n    \"v0.99.0\": {\"kbs_image\": "
              "\"registry.example.com/kbs:v0.99.0\", \"extends\": \"v0.21.0\"},");
  };
  mounted.show([](std::string&) {});
  const auto put = [this](const std::string& name, const char* version) {
    server().put({{"apiVersion", "confidentialcontainers.org/v1alpha1"},
                  {"kind", "TrusteeConfig"},
                  {"metadata", {{"name", name}, {"namespace", "default"}}},
                  {"spec", {{"version", version}, {"instanceName", name}}}});
  };
  const auto image = [this](const std::string& name) {
    return field("deployments", "trustee-deployment-" + name,
                 "/spec/template/spec/containers/0/image");
  };
  put("a", "v0.21.0");
  go([&, this]() -> awaitable<void> {
    co_await serving([&, this](windlass&) -> awaitable<void> {
      roll_out("trustee-deployment-a");
      co_await loop_->sleep_for(10s);
      EXPECT_EQ(is("trusteeconfigs", "a", "CatalogueLoaded"), "True/Loaded");
      mounted.show(with_a_newer);
      co_await loop_->sleep_for(16s);
      put("b", "v0.99.0");
      co_await loop_->sleep_for(14s);
      EXPECT_EQ(image("b"), "registry.example.com/kbs:v0.99.0") << "within 30 s, no restart";
      roll_out("trustee-deployment-b");
      co_await loop_->sleep_for(10s);

      auto before = versions_of("a");
      std::size_t others = 0;
      server().on_write = [&](const k8s::sim::written& w) {
        // Each parent says DataLoaded in its status; nothing else of them changes.
        const bool of_parent = w.plural == "trusteeconfigs" || w.plural == "kbsconfigs";
        others += plurals.contains(w.plural) &&
                  (!of_parent || content_of(*w.before) != content_of(*w.after));
      };
      mounted.show([&](std::string& text) {
        with_a_newer(text);
        swap_text(text, "\"schema_version\": 1", "\"schema_version\": 7");
      });
      co_await loop_->sleep_for(30s);
      for (const char* name : {"a", "b"}) {
        EXPECT_EQ(is("trusteeconfigs", name, "CatalogueLoaded"), "False/CatalogueInvalid");
        EXPECT_THAT(field("trusteeconfigs", name, "/status/conditions"),
                    HasSubstr("versions.json: line 2: schema_version: 7 is newer than 1"));
        EXPECT_EQ(is("trusteeconfigs", name, "Ready"), "True/Ready");
      }
      EXPECT_EQ(others, 0u);
      auto after = versions_of("a");
      for (auto* versions : {&before, &after}) versions->erase("kbsconfigs/a-kbs-config");
      EXPECT_EQ(after, before);
      server().on_write = nullptr;
      // The last good one is in force, for who comes and for who changes its mind.
      put("c", "v0.99.0");
      server().edit(group, "trusteeconfigs", "default", "a",
                    [](json::object& o) { o["spec"].as_object()["version"] = "v0.20.0"; });
      co_await loop_->sleep_for(10s);
      EXPECT_EQ(image("c"), "registry.example.com/kbs:v0.99.0");
      EXPECT_THAT(image("a"), HasSubstr("v0.20.0"));
      std::string told;
      for (const json::object& e : server().list("", "events")) told += json::serialize(e) + "\n";
      EXPECT_THAT(told, HasSubstr("CatalogueInvalid"));

      mounted.show(with_a_newer);
      co_await loop_->sleep_for(30s);
      EXPECT_EQ(is("trusteeconfigs", "a", "CatalogueLoaded"), "True/Loaded");
    });
  });
}

TEST_F(TrusteeCluster, AKbsConfigWhoseDeploymentIsGoneGoesToo) {
  go([this]() -> awaitable<void> {
    put_config_map("config");
    server().put({{"apiVersion", "v1"},
                  {"kind", "Secret"},
                  {"metadata", {{"name", "auth"}, {"namespace", "default"}}},
                  {"data", {{"publicKey", "eA=="}}}});
    put_kbs_config("config");
    co_await serving([this](windlass&) -> awaitable<void> {
      EXPECT_NE(object("deployments", "trustee-deployment"), std::nullopt);
      EXPECT_EQ(field("kbsconfigs", "mine", "/metadata/finalizers"),
                "[\"kbsconfig.confidentialcontainers.org/finalizer\"]")
          << "as the reference operator leaves one: whoever takes it over lets it go";
      server().erase("apps", "deployments", "default", "trustee-deployment");
      server().handle(k8s::sim::make_request(
          "DELETE",
          "/apis/confidentialcontainers.org/v1alpha1/namespaces/default/kbsconfigs/mine"));
      co_await loop_->sleep_for(2min);
      EXPECT_EQ(object("kbsconfigs", "mine"), std::nullopt);
      EXPECT_EQ(object("deployments", "trustee-deployment"), std::nullopt) << "nobody's again";
      EXPECT_EQ(object("services", "kbs-service"), std::nullopt);
    });
  });
}

}  // namespace
