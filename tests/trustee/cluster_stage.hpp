#pragma once

#include "tests/compose/cluster_fixture.hpp"

#include <algorithm>
#include <map>

namespace trustee_test {

using namespace compose_test;

inline constexpr const char* group = "confidentialcontainers.org";

/// An embedded cluster with the kinds, and the pack on it by the controller as it ships, in virtual
/// time.
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
    auto documents = formats::parse_kubernetes_documents(file(path), path);
    ASSERT_TRUE(documents.has_value());
    for (json::value& one : *documents) {
      one.at("metadata").as_object()["namespace"] = "default";
      server().put(std::move(one.as_object()));
    }
  }
  /// An instance with all that the reference operator makes for it. Returns uids by "Kind/name".
  std::map<std::string, std::string> put_what_the_reference_operator_made() {
    const std::string path = "tests/trustee/reference_operator.yaml";
    auto documents = formats::parse_kubernetes_documents(file(path), path);
    std::map<std::string, std::string> uids;
    for (json::value& one : documents.value()) {
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
    return uids;
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
  std::unique_ptr<windlass> a_trustee(units::mode does = units::mode::act) {
    windlass_options o;
    o.does = does;
    o.packs_are_tested = true;  // by their own tests
    o.policies = {std::string(WINDLASS_SOURCE_DIR) + "/" + policies_};
    // Nothing is set that an installation does not set: the image is that of the service's own pod.
    o.own_image = [] { return std::string("registry.example.com/windlass:1"); };
    o.variable = [this](const std::string& name) {
      return name == "TRUSTEE_TEMPLATES_DIR" ? templates_ : std::string();
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

/// Of an object: all but what may be added to it when it is taken over.
inline json::value content_of(json::object o) {
  o.erase("status");
  json::object& metadata = o["metadata"].as_object();
  for (const char* key :
       {"resourceVersion", "generation", "managedFields", "labels", "annotations"})
    metadata.erase(key);
  return o;
}

}  // namespace trustee_test
