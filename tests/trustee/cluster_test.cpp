// The pack on an embedded cluster, by the controller as it ships, in virtual time: the samples of
// deploy/ become servers.
#include "compose/commands/instance_preview.hpp"
#include "tests/trustee/cluster_stage.hpp"

namespace trustee_test {
namespace {

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
                                           "v0.19.0", "v0.20.0", "v0.21.0", "v0.22.0", "latest"};

/// From one release to each of the others.
class TrusteeChange : public TrusteeCluster, public testing::WithParamInterface<std::string> {};

TEST_P(TrusteeChange, IsWhatDiffSays) {
  const std::string from = GetParam();
  go([&, this]() -> awaitable<void> {
    co_await serving([&, this](windlass& one) -> awaitable<void> {
      std::size_t pairs = 0, restarts = 0, other_images = 0, replaced = 0;
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
        other_images += std::any_of(said.images.begin(), said.images.end(), [](const auto& i) {
          return i.second.first != i.second.second;
        });
        for (const auto& c : said.conditions)
          EXPECT_EQ(is("trusteeconfigs", name, c.type), c.status + "/" + c.reason) << c.type;
        const auto asked = k8s::sim::make_request(
            "DELETE",
            "/apis/confidentialcontainers.org/v1alpha1/namespaces/default/trusteeconfigs/" + name);
        server().handle(asked);
        co_await loop_->sleep_for(2s);
      }
      EXPECT_EQ(pairs, releases.size() - 1);
      EXPECT_EQ(restarts, other_images) << "latest runs the images of the newest release";
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
}  // namespace trustee_test
