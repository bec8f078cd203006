#include "bench/pods.hpp"

#include <array>
#include <cstdio>

namespace bench {
namespace {

std::string hex(std::uint64_t seed, std::size_t digits) {
  std::string text;
  while (text.size() < digits) {
    seed = (seed ^ (seed >> 31)) * 0x9e3779b97f4a7c15 + 0x7f4a7c15;
    std::array<char, 17> word;
    std::snprintf(word.data(), word.size(), "%016llx", static_cast<unsigned long long>(seed));
    text += word.data();
  }
  return text.substr(0, digits);
}

std::string uid(std::uint64_t seed) {
  const std::string h = hex(seed, 32);
  return h.substr(0, 8) + "-" + h.substr(8, 4) + "-4" + h.substr(13, 3) + "-a" + h.substr(17, 3) +
         "-" + h.substr(20, 12);
}

}  // namespace

std::string pod_json(std::size_t index, std::uint64_t resource_version, std::size_t bytes) {
  const std::size_t set = index / 5;  // five pods of each ReplicaSet
  const std::string app = "app-" + std::to_string(set % 400);
  const std::string hash = hex(set * 7919 + 13, 10);
  const std::string rv = std::to_string(resource_version);
  std::string o =
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + app + "-" + hash + "-" +
      hex(index + 77, 5) + R"(","generateName":")" + app + "-" + hash + R"(-","namespace":"team-)" +
      std::to_string(set % 40) + R"(","uid":")" + uid(index + 1) + R"(","resourceVersion":")" + rv +
      R"(","generation":1,"creationTimestamp":"2026-01-01T00:00:00Z","labels":{"app":")" + app +
      R"(","app.kubernetes.io/instance":")" + app + R"(","pod-template-hash":")" + hash +
      R"(","tier":"backend"},"annotations":{"checksum/config":")" + hex(set, 64) +
      R"("},"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":")" + app + "-" +
      hash + R"(","uid":")" + uid(set + 1'000'003) +
      R"(","controller":true,"blockOwnerDeletion":true}],"managedFields":[)";
  const std::string managed =
      R"({"manager":"kube-controller-manager","operation":"Update","apiVersion":"v1","time":"2026-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:generateName":{},"f:labels":{".":{},"f:app":{},"f:pod-template-hash":{}},"f:ownerReferences":{".":{},"k:{\"uid\":\"x\"}":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"main\"}":{".":{},"f:env":{},"f:image":{},"f:name":{},"f:resources":{}}},"f:dnsPolicy":{},"f:nodeName":{}}}})";
  o +=
      managed + R"(]},"spec":{"nodeName":"node-)" + std::to_string(index % 500) +
      R"(","serviceAccountName":"default","restartPolicy":"Always","volumes":[{"name":"cache","emptyDir":{}},{"name":"config","configMap":{"name":"config","defaultMode":420}}],"containers":[{"name":"main","image":"registry.example.com/team/)" +
      app +
      R"(:v1.2.3","resources":{"requests":{"cpu":"100m","memory":"128Mi"},"limits":{"memory":"256Mi"}},"env":[)";
  const std::string tail =
      R"(]}]},"status":{"phase":"Running","podIP":"10.1.2.3","hostIP":"10.0.0.1","startTime":"2026-01-01T00:00:01Z","qosClass":"Burstable","conditions":[{"type":"Initialized","status":"True","lastProbeTime":null,"lastTransitionTime":"2026-01-01T00:00:01Z"},{"type":"Ready","status":"True","lastProbeTime":null,"lastTransitionTime":"2026-01-01T00:00:03Z"},{"type":"ContainersReady","status":"True","lastProbeTime":null,"lastTransitionTime":"2026-01-01T00:00:03Z"},{"type":"PodScheduled","status":"True","lastProbeTime":null,"lastTransitionTime":"2026-01-01T00:00:01Z"}],"containerStatuses":[{"name":"main","ready":true,"restartCount":0,"started":true,"image":"registry.example.com/team/app:v1.2.3","imageID":"sha256:)" +
      hex(set + 5, 64) + R"(","state":{"running":{"startedAt":"2026-01-01T00:00:02Z"}}}]}})";
  for (std::size_t n = 0; n == 0 || o.size() + tail.size() + 70 < bytes; ++n)
    o += (n ? "," : "") + (R"({"name":"SETTING_)" + std::to_string(n)) +
         R"(","value":"value-of-setting-)" + hex(index + n, 12) + R"("})";
  return o + tail;
}

std::string pod_event(std::size_t index, std::uint64_t resource_version, std::size_t bytes) {
  return R"({"type":"MODIFIED","object":)" + pod_json(index, resource_version, bytes) + "}\n";
}

}  // namespace bench
