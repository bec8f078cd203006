#include "bench/watched/corpus.hpp"

#include "bench/pods.hpp"
#include "bootc/kinds/bootc_node.hpp"
#include "formats/base64.hpp"
#include "helm/tenants/kinds/tenant.hpp"
#include "k8s/client/resource.hpp"

#include <boost/json.hpp>

#include <cstdio>
#include <stdexcept>

namespace bench {
namespace {

namespace json = boost::json;

constexpr std::size_t pod_bytes = 8'192;
constexpr std::size_t images_of_a_node = 50;  // kubelet's --node-status-max-images

/// 64 digits that differ with the seed.
std::string digest(std::uint64_t seed) {
  std::string text = "sha256:";
  for (int word = 0; word < 4; ++word) {
    seed = (seed ^ (seed >> 31)) * 0x9e3779b97f4a7c15 + 0x7f4a7c15;
    char hex[17];
    std::snprintf(hex, sizeof hex, "%016llx", static_cast<unsigned long long>(seed));
    text += hex;
  }
  return text;
}

json::object managed_by(const char* manager, const char* subresource, json::object fields) {
  json::object o{{"manager", manager},       {"operation", "Update"},
                 {"apiVersion", "v1"},       {"time", "2026-01-01T00:00:00Z"},
                 {"fieldsType", "FieldsV1"}, {"fieldsV1", std::move(fields)}};
  if (*subresource) o["subresource"] = subresource;
  return o;
}

json::object metadata(const std::string& name, const char* ns, std::size_t index,
                      json::array managed) {
  json::object o{{"name", name}};
  if (*ns) o["namespace"] = ns;
  const std::string number = std::to_string(index);
  std::string uid = "00000000-0000-4000-a000-000000000000";
  o["uid"] = uid.replace(uid.size() - number.size(), number.size(), number);
  o["resourceVersion"] = std::to_string(corpus_version);
  o["generation"] = 1;
  o["creationTimestamp"] = "2026-01-01T00:00:00Z";
  o["labels"] = json::object{{"tier", corpus_tier}, {"app.kubernetes.io/name", name}};
  o["managedFields"] = std::move(managed);
  return o;
}

json::object condition(const char* type, const char* status, const char* reason) {
  return {{"type", type},
          {"status", status},
          {"reason", reason},
          {"message", "as the last look found it"},
          {"lastTransitionTime", "2026-01-01T00:00:03Z"}};
}

std::string node_object(std::size_t index) {
  const std::string name = "node-" + std::to_string(100'000 + index);
  json::object labels_of;
  for (const char* key : {"f:beta.kubernetes.io/arch", "f:beta.kubernetes.io/os",
                          "f:kubernetes.io/arch", "f:kubernetes.io/hostname", "f:kubernetes.io/os",
                          "f:topology.kubernetes.io/region", "f:topology.kubernetes.io/zone"})
    labels_of[key] = json::object{};
  json::array managed;
  managed.push_back(managed_by("kubelet", "",
                               {{"f:metadata", json::object{{"f:labels", std::move(labels_of)}}}}));
  managed.push_back(managed_by(
      "kubelet", "status",
      {{"f:status", json::object{{"f:allocatable", json::object{{"f:memory", json::object{}}}},
                                 {"f:conditions", json::object{}},
                                 {"f:images", json::object{}}}}}));
  json::object meta = metadata(name, "", index, std::move(managed));
  json::object& labels = meta["labels"].get_object();
  labels["kubernetes.io/hostname"] = name;
  labels["kubernetes.io/arch"] = "amd64";
  labels["kubernetes.io/os"] = "linux";
  labels["topology.kubernetes.io/region"] = "north";
  labels["topology.kubernetes.io/zone"] = "north-" + std::to_string(index % 3);
  json::array images;
  for (std::size_t i = 0; i < images_of_a_node; ++i) {
    const std::string image = "registry.example.com/team/app-" + std::to_string(i);
    json::array names;
    names.emplace_back(image + "@" + digest(i + 1));
    names.emplace_back(image + ":v1.2." + std::to_string(i));
    images.push_back(json::object{{"names", std::move(names)}, {"sizeBytes", 10'000'000 + i}});
  }
  json::array conditions;
  for (const char* type : {"MemoryPressure", "DiskPressure", "PIDPressure"}) {
    json::object c = condition(type, "False", "KubeletHasSufficient");
    c["lastHeartbeatTime"] = "2026-01-01T00:05:00Z";
    conditions.push_back(std::move(c));
  }
  conditions.push_back(condition("Ready", "True", "KubeletReady"));
  json::object amounts{{"cpu", "16"},
                       {"ephemeral-storage", "101430960Ki"},
                       {"hugepages-2Mi", "0"},
                       {"memory", "65673624Ki"},
                       {"pods", "110"}};
  json::array addresses;
  addresses.push_back(json::object{{"type", "InternalIP"}, {"address", "10.0.0.1"}});
  addresses.push_back(json::object{{"type", "Hostname"}, {"address", name}});
  json::object info{{"architecture", "amd64"},
                    {"bootID", digest(index).substr(7, 36)},
                    {"containerRuntimeVersion", "cri-o://1.36.0"},
                    {"kernelVersion", "6.12.0"},
                    {"kubeProxyVersion", ""},
                    {"kubeletVersion", "v1.36.0"},
                    {"machineID", digest(index + 7).substr(7, 32)},
                    {"operatingSystem", "linux"},
                    {"osImage", "Bootc Linux 42"},
                    {"systemUUID", digest(index + 9).substr(7, 36)}};
  json::object status{{"addresses", std::move(addresses)},
                      {"allocatable", amounts},
                      {"capacity", amounts},
                      {"conditions", std::move(conditions)},
                      {"images", std::move(images)},
                      {"nodeInfo", std::move(info)}};
  return json::serialize(json::object{{"apiVersion", "v1"},
                                      {"kind", "Node"},
                                      {"metadata", std::move(meta)},
                                      {"spec", json::object{{"podCIDR", "10.1.0.0/24"}}},
                                      {"status", std::move(status)}});
}

std::string bootc_node_object(std::size_t index) {
  json::array managed;
  managed.push_back(
      managed_by("windlass", "",
                 {{"f:spec", json::object{{"f:desiredImage", json::object{}},
                                          {"f:desiredImageState", json::object{}}}}}));
  managed.push_back(managed_by("bootc-daemon", "status",
                               {{"f:status", json::object{{"f:booted", json::object{}},
                                                          {"f:rollback", json::object{}},
                                                          {"f:conditions", json::object{}}}}}));
  const std::string image = "registry.example.com/os/bootc";
  const auto slot = [&](std::uint64_t seed) {
    return json::object{{"image", image + "@" + digest(seed)},
                        {"imageDigest", digest(seed)},
                        {"version", "42." + std::to_string(seed)},
                        {"timestamp", "2026-01-01T00:00:00Z"},
                        {"architecture", "amd64"}};
  };
  json::array conditions;
  conditions.push_back(condition("Idle", "True", "Idle"));
  conditions.push_back(condition("Degraded", "False", "OK"));
  const k8s::resource& of = bootc::bootc_nodes();
  return json::serialize(json::object{
      {"apiVersion", of.api_version()},
      {"kind", of.kind},
      {"metadata",
       metadata("node-" + std::to_string(100'000 + index), "", index, std::move(managed))},
      {"spec",
       json::object{{"desiredImage", image + "@" + digest(2)}, {"desiredImageState", "Booted"}}},
      {"status", json::object{{"observedGeneration", 1},
                              {"booted", slot(2)},
                              {"rollback", slot(1)},
                              {"conditions", std::move(conditions)}}}});
}

/// A kubeconfig with certificates, as a cluster's Secret has it.
std::string secret_object(std::size_t index) {
  json::array managed;
  managed.push_back(
      managed_by("cluster-api", "", {{"f:data", json::object{{"f:value", json::object{}}}}}));
  std::string kubeconfig = "apiVersion: v1\nkind: Config\nclusters:\n- name: c\n  cluster:\n";
  for (std::uint64_t i = 0; i < 40; ++i) kubeconfig += digest(index * 40 + i) + "\n";
  return json::serialize(
      json::object{{"apiVersion", "v1"},
                   {"kind", "Secret"},
                   {"metadata", metadata("cluster-" + std::to_string(index) + "-kubeconfig",
                                         "fleet", index, std::move(managed))},
                   {"type", "cluster.x-k8s.io/secret"},
                   {"data", json::object{{"value", formats::encode_base64(kubeconfig)}}}});
}

std::string tenant_object(std::size_t index) {
  json::array managed;
  managed.push_back(managed_by(
      "kubectl", "",
      {{"f:spec", json::object{{"f:chart", json::object{}}, {"f:clusterRef", json::object{}}}}}));
  managed.push_back(managed_by(
      "windlass", "status",
      {{"f:status", json::object{{"f:phase", json::object{}}, {"f:conditions", json::object{}}}}}));
  json::array conditions;
  conditions.push_back(condition("Ready", "True", "Applied"));
  const std::string name = "tenant-" + std::to_string(index);
  const k8s::resource& of = helm::tenants::tenant_resource();
  json::object chart{{"repo", "https://charts.example.com"},
                     {"name", "service"},
                     {"version", "1.2.3"},
                     {"values", json::object{{"replicas", 3}, {"host", name + ".example.com"}}}};
  json::object spec{{"workspace", name},
                    {"clusterRef", json::object{{"secretName", "cluster-1-kubeconfig"},
                                                {"secretNamespace", "fleet"}}},
                    {"chart", std::move(chart)}};
  return json::serialize(
      json::object{{"apiVersion", of.api_version()},
                   {"kind", of.kind},
                   {"metadata", metadata(name, "default", index, std::move(managed))},
                   {"spec", std::move(spec)},
                   {"status", json::object{{"phase", "Ready"},
                                           {"lastMessage", "installed"},
                                           {"lastAppliedChart", "service-1.2.3"},
                                           {"observedGeneration", 1},
                                           {"conditions", std::move(conditions)}}}});
}

std::string pod_object(std::size_t index) {
  return pod_json(index, corpus_version, pod_bytes);
}

}  // namespace

const std::vector<collection>& collections() {
  static const std::vector<collection> all{
      {"pods", k8s::resources::pods, pod_object},
      {"nodes", k8s::resources::nodes, node_object},
      {"bootcnodes", bootc::bootc_nodes, bootc_node_object},
      {"secrets", k8s::resources::secrets, secret_object},
      {"tenants", helm::tenants::tenant_resource, tenant_object}};
  return all;
}

const collection& collection_called(std::string_view name) {
  for (const collection& c : collections())
    if (name == c.name) return c;
  throw std::runtime_error(std::string(name) + ": no such collection");
}

}  // namespace bench
