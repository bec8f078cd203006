// Records of releases that a user forges who may write Secrets in a Tenant's namespace and nothing
// elsewhere, each read by an upgrade, by a retry and by an uninstall.
#include "formats/base64.hpp"
#include "helm/release/record.hpp"
#include "tests/hostile/counted.hpp"
#include "tests/tenants/cluster/stage.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace helm::tenants::testing {
namespace {

using release::record;

/// What of a record is forged. `labels` are put over those of its Secret; `as` is another Secret's
/// name for it, else it is edited in place.
struct forged_record {
  const char* name;
  std::function<void(record&)> edit;
  std::map<std::string, std::string> labels = {};
  std::string as = {};
  bool may_fail = false;  // the upgrade, as it must: the object that it would take is another's
  bool arrives = true;    // false: Helm upgrades from no such state
  std::string text = {};  // in the place of the record, as data.release has it
  bool goes = true;       // false: the Tenant stays until a person has deleted the record
};

std::string config_map_text(const std::string& name, const std::string& ns) {
  return "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: " + name +
         "\n  namespace: " + ns + "\n";
}

void claim(record& r, const std::string& manifest) {
  r.manifest += manifest;
}

/// A hook that makes kube-system/planted.
void plant(record& r, const std::string& event, const std::string& object = "planted") {
  release::recorded_hook h;
  h.what.name = object;
  h.what.kind = "ConfigMap";
  h.what.path = "web/templates/h.yaml";
  h.what.content = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: " + object +
                   "\n  namespace: kube-system\n  annotations:\n    helm.sh/hook: " + event + "\n";
  h.what.events = {event};
  h.what.delete_policies = {"before-hook-creation", "hook-succeeded"};
  r.hooks.push_back(std::move(h));
}

const std::vector<forged_record>& forged_records() {
  static const std::vector<forged_record> all = [] {
    std::vector<forged_record> out;
    const auto add = [&](const char* name, std::function<void(record&)> edit) {
      out.push_back({name, std::move(edit)});
    };
    add("an object of kube-system",
        [](record& r) { claim(r, config_map_text("victim", "kube-system")); });
    add("a namespace", [](record& r) {
      claim(r, "---\napiVersion: v1\nkind: Namespace\nmetadata:\n  name: other-team\n");
    });
    add("its own namespace's owner", [](record& r) {
      claim(r,
            "---\napiVersion: mesh.openkcm.io/v1alpha1\nkind: Tenant\nmetadata:\n  name: other\n"
            "  namespace: default\n");
    });
    add("a cluster-wide object", [](record& r) {
      claim(r,
            "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n"
            "  name: victim\n");
    });
    add("an object of another release",
        [](record& r) { claim(r, config_map_text("theirs", "other-team")); });
    add("an object of a release of its name in another namespace",
        [](record& r) { claim(r, config_map_text("namesake", "other-team")); });
    add("a list of objects", [](record& r) {
      claim(r,
            "---\napiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n"
            "  metadata: {name: victim, namespace: kube-system}\n");
    });
    out.push_back({"an object that the next chart has and another release owns",
                   [](record& r) { claim(r, config_map_text("shared", "other-team")); }});
    out.back().may_fail = true;
    for (const char* event :
         {"pre-delete", "post-delete", "pre-upgrade", "post-upgrade", "pre-install", "post-install",
          "pre-rollback", "post-rollback", "test"})
      add(event, [event](record& r) { plant(r, event); });
    for (const char* event : {"pre-delete", "pre-upgrade"})
      add(event, [event](record& r) { plant(r, event, "victim"); });
    add("another namespace of its own", [](record& r) { r.ns = "kube-system"; });
    add("another name of its own", [](record& r) { r.name = "ced-shop"; });
    add("another revision of its own", [](record& r) { r.revision = 2'147'483'647; });
    add("another way to apply", [](record& r) {
      r.apply_method = "ssa";
      claim(r, config_map_text("victim", "kube-system"));
    });
    for (const char* state : {"failed", "superseded", "pending-upgrade", "uninstalling", "unknown",
                              "uninstalled", "pending-install"}) {
      out.push_back({state, [state](record& r) {
                       r.state = release::read_status(state);
                       claim(r, config_map_text("victim", "kube-system"));
                       plant(r, "pre-delete");
                     }});
      out.back().labels["status"] = state;
      out.back().arrives = std::string_view(state) != "unknown";
    }
    out.push_back({"a newer revision of its own making", [](record& r) {
                     r.revision = 2;
                     claim(r, config_map_text("victim", "kube-system"));
                     plant(r, "pre-delete");
                   }});
    out.back().labels["version"] = "2";
    out.back().as = "sh.helm.release.v1.tenant-acme-a.v2";
    out.push_back({"the last revision that there can be", [](record& r) {
                     r.revision = 2'147'483'647;
                     claim(r, config_map_text("victim", "kube-system"));
                   }});
    out.back().labels["version"] = "2147483647";
    out.back().as = "sh.helm.release.v1.tenant-acme-a.v2147483647";
    out.push_back({"labels of another revision", [](record&) {}});
    out.back().labels["version"] = "2147483647";
    out.push_back({"a Secret of any name with its labels", [](record& r) {
                     r.revision = 7;
                     claim(r, config_map_text("victim", "kube-system"));
                   }});
    out.back().labels["version"] = "7";
    out.back().as = "anything";
    out.push_back({"anchors that stand for a gigabyte", [](record& r) {
                     r.manifest += config_map_text("big", "acme") + "x: &a \"" +
                                   std::string(100'000, 'a') + "\"\ny:\n";
                     for (int i = 0; i < 10'000; ++i) r.manifest += "- *a\n";
                   }});
    out.back().arrives = out.back().goes = false;
    add("fields of its own object outside its namespace", [](record& r) {
      r.manifest =
          "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n"
          "  name: own-role\n  annotations: {others: word}\n" +
          r.manifest;
    });
    out.push_back({"a text that is no record", [](record&) {}});
    out.back().arrives = out.back().goes = false;
    out.back().text = "bm9uZQ==";
    out.push_back({"a newer revision that is no record", [](record&) {}});
    out.back().arrives = out.back().goes = false;
    out.back().text = "bm9uZQ==";
    out.back().as = "sh.helm.release.v1.tenant-acme-a.v7";
    out.push_back({"objects without number", [](record& r) {
                     for (int i = 0; i < 30'000; ++i)
                       r.manifest += config_map_text("a" + std::to_string(i), "acme");
                   }});
    out.back().arrives = out.back().goes = false;
    return out;
  }();
  return all;
}

/// The chart of these tests: it says where its release is, has a hook of its own, and from 1.3.0 on
/// an object that another release may have.
std::string chart_here(const std::string& version) {
  std::vector<chart_file> templates;
  templates.push_back({"templates/where.yaml",
                       "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: where\n  namespace: {{ "
                       ".Release.Namespace }}\ndata:\n  release: {{ .Release.Name }}\n"});
  templates.push_back(
      {"templates/hook.yaml",
       "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: own-hook\n  annotations:\n    "
       "helm.sh/hook: pre-upgrade,pre-delete\n"});
  templates.push_back({"templates/role.yaml",
                       "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  "
                       "name: own-role\n"});
  if (version == "1.4.0")
    templates.push_back({"templates/shared.yaml",
                         "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: shared\n  namespace: "
                         "other-team\ndata: {by: web}\n"});
  return archive_of(version, std::move(templates));
}

class ForgedRecords : public TenantStage {
protected:
  static json::object map_of(const std::string& name, const std::string& ns,
                             const std::string& release = {}, const std::string& of_ns = {}) {
    json::object annotations, labels, metadata, o;
    metadata["name"] = name;
    metadata["namespace"] = ns;
    if (!release.empty()) {
      annotations["meta.helm.sh/release-name"] = release;
      annotations["meta.helm.sh/release-namespace"] = of_ns;
      labels["app.kubernetes.io/managed-by"] = "Helm";
      metadata["annotations"] = std::move(annotations);
      metadata["labels"] = std::move(labels);
    }
    o["apiVersion"] = "v1";
    o["kind"] = "ConfigMap";
    o["metadata"] = std::move(metadata);
    return o;
  }

  /// What an attacker would like to reach.
  void furnish(member& a) {
    for (const char* version : {"1.2.0", "1.3.0", "1.4.0"})
      charts->offer(version, chart_here(version));
    a.put_namespace("other-team");
    a.api.put(map_of("victim", "kube-system"));
    a.api.put(map_of("theirs", "other-team", "web", "other-team"));
    a.api.put(map_of("namesake", "other-team", "tenant-acme-a", "other-team"));
    a.api.put(map_of("shared", "other-team", "web", "other-team"));
    json::object metadata, role;
    metadata["name"] = "victim";
    role["apiVersion"] = "rbac.authorization.k8s.io/v1";
    role["kind"] = "ClusterRole";
    role["metadata"] = std::move(metadata);
    a.api.put(std::move(role));
    a.put_tenant("other", "default", "elsewhere");
    a.put_tenant("acme");
  }

  /// Everything that is not the Tenant's own: by kind, namespace and name.
  static std::map<std::string, std::string> of_others(const member& a) {
    std::map<std::string, std::string> out;
    const auto take = [&](const char* group, const char* plural) {
      for (const json::object& o : a.api.list(group, plural)) {
        const json::object& meta = o.at("metadata").as_object();
        const auto text = [&](const char* key) {
          const json::value* v = meta.if_contains(key);
          return v ? std::string(v->as_string()) : std::string();
        };
        const std::string ns = text("namespace"), name = text("name");
        if (name == "own-role" || ns == "acme" || ns == "bootc-operator" || name == "acme" ||
            name == "bootc-operator")
          continue;
        out[std::string(plural) + " " + ns + "/" + name] = json::serialize(o);
      }
    };
    for (const char* plural : {"configmaps", "secrets", "namespaces", "serviceaccounts"})
      take("", plural);
    take("rbac.authorization.k8s.io", "clusterroles");
    take(names::group.data(), "tenants");
    return out;
  }

  static void forge(member& a, const forged_record& f) {
    const std::string name = "sh.helm.release.v1.tenant-acme-a.v1";
    json::object secret = *a.api.get("", "secrets", "acme", name);
    auto& data = secret["data"].as_object();
    auto bytes = formats::decode_base64(std::string(data["release"].as_string()));
    auto r = release::decode_record(*bytes);
    ASSERT_TRUE(r) << r.error().text;
    f.edit(*r);
    auto text = release::encode_record(*r);
    ASSERT_TRUE(text) << text.error().text;
    data["release"] = f.text.empty() ? formats::encode_base64(*text) : f.text;
    json::object& meta = secret["metadata"].as_object();
    for (const auto& [label, value] : f.labels) meta["labels"].as_object()[label] = value;
    if (!f.as.empty()) {
      meta["name"] = f.as;
      for (const char* of_the_server : {"uid", "resourceVersion", "creationTimestamp"})
        meta.erase(of_the_server);
    }
    a.api.put(std::move(secret));
  }

  /// Installs, forges, and lets `then` happen while a process is there.
  void meet(const forged_record& f, const std::string& next,
            std::function<awaitable<void>(member& a)> then) {
    SCOPED_TRACE(f.name);
    play([&]() -> awaitable<void> {
      member& a = cluster("a");
      furnish(a);
      auto first = start(of_version("1.2.0"));
      const bool came = co_await ready("a");
      EXPECT_TRUE(came);
      co_await l.sleep_for(5s);
      co_await first->stop();
      a.api.edit("rbac.authorization.k8s.io", "clusterroles", "", "own-role", [](json::object& o) {
        o["metadata"].as_object()["annotations"].as_object()["others"] = "word";
      });
      forge(a, f);
      const auto before = of_others(a);
      auto windlass = start(of_version(next));
      co_await then(a);
      co_await windlass->stop();
      EXPECT_EQ(of_others(a), before);
    });
  }
};

TEST_F(ForgedRecords, AnUpgradeChangesNothingOfOthersAndArrives) {
  counted_cases tried("forged records, upgrades");
  for (const forged_record& f : forged_records()) {
    if (f.may_fail) continue;
    tried([&] {
      meet(f, "1.3.0", [&](member& a) -> awaitable<void> {
        const bool came =
            co_await until([&] { return a.value("acme") == "standard 1.3.0"; }, 20min);
        EXPECT_EQ(came, f.arrives)
            << a.records("acme", "tenant-acme-a") << " " << a.conditions("acme", "a");
        co_await l.sleep_for(1min);
        EXPECT_EQ(a.phase("acme"), f.arrives ? "Ready" : "Error");
        const auto role = a.api.get("rbac.authorization.k8s.io", "clusterroles", "", "own-role");
        // That one is uninstalled to its end and then installed.
        if (f.labels.contains("status") && f.labels.at("status") == "uninstalling") co_return;
        EXPECT_THAT(role ? json::serialize(*role) : "",
                    ::testing::HasSubstr("\"others\":\"word\""));
      });
    });
  }
}

TEST_F(ForgedRecords, WhatAnotherReleaseOwnsIsNotTakenThoughTheRecordClaimsIt) {
  for (const forged_record& f : forged_records()) {
    if (!f.may_fail) continue;
    meet(f, "1.4.0", [&](member& a) -> awaitable<void> {
      const bool said = co_await until([&] { return a.phase("acme") == "Error"; }, 20min);
      EXPECT_TRUE(said);
      EXPECT_THAT(json::serialize(a.tenant("acme")),
                  ::testing::HasSubstr("cannot be imported into the current release"));
    });
  }
}

TEST_F(ForgedRecords, ARetryChangesNothingOfOthers) {
  counted_cases tried("forged records, retries");
  for (const forged_record& f : forged_records()) {
    forged_record failed = f;
    failed.edit = [&f](record& r) {
      f.edit(r);
      r.state = release::status::failed;
    };
    failed.labels["status"] = "failed";
    tried([&] {
      meet(failed, "1.2.0", [&](member&) -> awaitable<void> { co_await l.sleep_for(5min); });
    });
  }
}

TEST_F(ForgedRecords, AnUninstallTakesNothingOfOthersAndItsOwnObjects) {
  counted_cases tried("forged records, uninstalls");
  for (const forged_record& f : forged_records())
    tried([&] {
      meet(f, "1.2.0", [&](member& a) -> awaitable<void> {
        co_await l.sleep_for(1s);
        (void)a.api.handle(k8s::sim::make_request(
            "DELETE", "/apis/mesh.openkcm.io/v1alpha1/namespaces/default/tenants/acme"));
        const bool gone = co_await until([&] { return a.tenant("acme").empty(); }, 20min);
        EXPECT_EQ(gone, f.goes) << json::serialize(a.tenant("acme"));
        EXPECT_EQ(a.has("namespaces", "", "acme"), !f.goes);
        // What does not go is not said to be gone, and is tried again ever later.
        EXPECT_EQ(a.told("HelmUninstalled") == 0, !f.goes);
        EXPECT_LT(a.told("HelmUninstallFailed"), 10u);
      });
    });
}

TEST_F(ForgedRecords, AreToldOnTheObjectWithWhatWasLeft) {
  meet(forged_records().front(), "1.3.0", [&](member& a) -> awaitable<void> {
    const bool told = co_await until([&] { return a.told("ReleaseNotNoted") == 1; }, 5min);
    EXPECT_TRUE(told);
    std::string notes;
    for (const json::object& e : a.api.list("", "events"))
      notes += std::string(e.at("message").as_string()) + "\n";
    EXPECT_THAT(notes, ::testing::HasSubstr("revision 1 of tenant-acme-a is not as this service "
                                            "noted it"));
    EXPECT_THAT(notes, ::testing::HasSubstr("left: ConfigMap \"victim\" in namespace "
                                            "\"kube-system\""));
    // From now on it is ours again.
    co_await l.sleep_for(10min);
    EXPECT_EQ(a.told("ReleaseNotNoted"), 1u);
  });
}

/// A chart of ours, untouched: its hooks run, what it dropped goes, and nothing is said.
TEST_F(ForgedRecords, ARecordAsItWasNotedIsBelieved) {
  play([&]() -> awaitable<void> {
    member& a = cluster("a");
    charts->offer("1.2.0", chart_here("1.2.0"));
    charts->offer("1.3.0", archive_of("1.3.0"));
    a.put_tenant("acme");
    auto first = start(of_version("1.2.0"));
    const bool came = co_await ready("a");
    EXPECT_TRUE(came);
    co_await first->stop();
    EXPECT_TRUE(a.has("configmaps", "acme", "where"));
    // Its annotations are gone, and it is ours all the same: we noted what we placed.
    a.api.edit("", "configmaps", "acme", "where",
               [](json::object& o) { o["metadata"].as_object().erase("annotations"); });
    auto windlass = start(of_version("1.3.0"));
    const bool moved = co_await until([&] { return a.value("acme") == "standard 1.3.0"; });
    EXPECT_TRUE(moved);
    co_await l.sleep_for(1min);
    EXPECT_FALSE(a.has("configmaps", "acme", "where"));
    EXPECT_EQ(a.told("ReleaseNotNoted"), 0u);
    co_await windlass->stop();
  });
}

/// Before this version nothing was noted: the first operation looks at owners, the next ones need
/// not.
TEST_F(ForgedRecords, AReleaseWithoutNotesIsTakenOverByItsOwners) {
  play([&]() -> awaitable<void> {
    member& a = cluster("a");
    furnish(a);
    auto first = start(of_version("1.2.0"));
    const bool came = co_await ready("a");
    EXPECT_TRUE(came);
    co_await first->stop();
    (void)a.api.handle(k8s::sim::make_request("DELETE", "/api/v1/namespaces/bootc-operator"));
    for (const json::object& o : a.api.list("", "configmaps"))
      if (o.at("metadata").at("namespace").as_string() == "bootc-operator")
        (void)a.api.handle(k8s::sim::make_request(
            "DELETE", "/api/v1/namespaces/bootc-operator/configmaps/" +
                          std::string(o.at("metadata").at("name").as_string())));
    charts->offer("1.3.0", archive_of("1.3.0"));
    auto second = start(of_version("1.3.0"));
    const bool moved = co_await until([&] { return a.value("acme") == "standard 1.3.0"; });
    EXPECT_TRUE(moved);
    const bool told = co_await until([&] { return a.told("ReleaseNotNoted") == 1; });
    EXPECT_TRUE(told);
    EXPECT_FALSE(a.has("configmaps", "acme", "where")) << "it carries the release's annotations";
    co_await second->stop();
    auto third = start(of_version("1.2.0"));
    const bool back = co_await until([&] { return a.value("acme") == "standard 1.2.0"; });
    EXPECT_TRUE(back);
    co_await l.sleep_for(1min);
    EXPECT_EQ(a.told("ReleaseNotNoted"), 1u) << "noted since";
    co_await third->stop();
  });
}

/// Who may not keep notes there still works, believes nothing and says so.
TEST_F(ForgedRecords, WithoutTheRightToNotesNothingIsBelieved) {
  play([&]() -> awaitable<void> {
    member& a = cluster("a");
    furnish(a);
    a.forbids = [](const k8s::sim::request& r) {
      return r.path.find("/namespaces/bootc-operator/configmaps") != r.path.npos;
    };
    auto first = start(of_version("1.2.0"));
    const bool came = co_await ready("a");
    EXPECT_TRUE(came);
    co_await l.sleep_for(5s);
    co_await first->stop();
    EXPECT_EQ(a.told("ReleaseNotNoted"), 1u);
    forge(a, forged_records().front());
    const auto before = of_others(a);
    auto second = start(of_version("1.3.0"));
    const bool moved = co_await until([&] { return a.value("acme") == "standard 1.3.0"; });
    EXPECT_TRUE(moved);
    co_await l.sleep_for(10s);
    EXPECT_EQ(of_others(a), before);
    co_await second->stop();
  });
}

/// Records in a namespace of ours: nothing lies in the release's, and all of it works.
TEST_F(ForgedRecords, RecordsMayBeKeptInANamespaceOfOurs) {
  play([&]() -> awaitable<void> {
    member& a = cluster("a");
    furnish(a);
    settings s = of_version("1.2.0");
    s.records_ns = "records";
    auto first = start(s);
    const bool came = co_await ready("a");
    EXPECT_TRUE(came);
    co_await first->stop();
    EXPECT_EQ(a.records("records", "tenant-acme-a"), "1:deployed");
    EXPECT_EQ(a.records("acme", "tenant-acme-a"), "");
    // The admission policy of deploy/chart lets the service make no other.
    const auto made = a.api.get("", "namespaces", "", "records");
    for (const char* mark : {R"("app.kubernetes.io/managed-by":"krypton-operator")",
                             R"("mesh.openkcm.io/owner":"Service/records/windlass")"})
      EXPECT_THAT(made ? json::serialize(*made) : "", ::testing::HasSubstr(mark));
    s.chart.version = "1.3.0";
    auto second = start(s);
    const bool moved = co_await until([&] { return a.value("acme") == "standard 1.3.0"; });
    EXPECT_TRUE(moved);
    co_await l.sleep_for(1min);
    EXPECT_EQ(a.records("records", "tenant-acme-a"), "1:superseded 2:deployed");
    EXPECT_EQ(a.told("ReleaseNotNoted"), 0u);
    (void)a.api.handle(k8s::sim::make_request(
        "DELETE", "/apis/mesh.openkcm.io/v1alpha1/namespaces/default/tenants/acme"));
    const bool gone = co_await until([&] { return a.tenant("acme").empty(); }, 5min);
    EXPECT_TRUE(gone);
    EXPECT_EQ(a.records("records", "tenant-acme-a"), "");
    co_await second->stop();
  });
}

}  // namespace
}  // namespace helm::tenants::testing
