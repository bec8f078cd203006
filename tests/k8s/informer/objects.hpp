#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// JSON of objects and events as a server writes them, for tests of what reads them.
namespace k8s::objects {

struct pod_spec {
  std::string ns = "default", name = "web-1", uid;  // no uid: one made from the name
  std::uint64_t version = 1;
  std::string node = "w1", phase = "Running", labels = R"("app":"web")";
  bool owned = true, deleting = false;
};

inline std::string uid_of(std::string_view name) {
  std::string digits = "00000000-0000-4000-8000-000000000000";
  std::uint64_t h = 1469598103934665603u;
  for (const char c : name) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211u;
  for (std::size_t i = 0; i < 12; ++i) digits[24 + i] = "0123456789abcdef"[h >> (4 * i) & 15];
  return digits;
}

inline std::string pod_json(const pod_spec& p) {
  std::string json = R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":")" + p.name +
                     R"(","namespace":")" + p.ns + R"(","uid":")" +
                     (p.uid.empty() ? uid_of(p.ns + "/" + p.name) : p.uid) +
                     R"(","resourceVersion":")" + std::to_string(p.version) +
                     R"(","creationTimestamp":"2026-11-21T10:00:00Z","labels":{)" + p.labels + "}";
  if (p.deleting)
    json += R"(,"deletionTimestamp":"2026-11-21T10:05:00Z","deletionGracePeriodSeconds":30)";
  if (p.owned)
    json +=
        R"(,"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web",)"
        R"("uid":"11111111-1111-4111-8111-111111111111","controller":true,"blockOwnerDeletion":true}])";
  json +=
      R"(,"managedFields":[{"manager":"kubelet","operation":"Update","fieldsType":"FieldsV1","fieldsV1":{"f:status":{}}}]},)"
      R"("spec":{"nodeName":")" +
      p.node +
      R"(","volumes":[{"name":"tmp","emptyDir":{}}],"containers":[{"name":"c","image":"i:1"}]},)"
      R"("status":{"phase":")" +
      p.phase + R"(","conditions":[{"type":"Ready","status":"True"}],"hostIP":"10.0.0.1"}})";
  return json;
}

inline std::string list_json(std::uint64_t version, const std::vector<std::string>& objects,
                             std::string_view token = {}) {
  std::string json = R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":")" +
                     std::to_string(version) + "\"";
  if (!token.empty()) json += R"(,"continue":")" + std::string(token) + "\"";
  json += R"(},"items":[)";
  for (const std::string& o : objects) json += (&o == &objects.front() ? "" : ",") + o;
  return json + "]}\n";
}

inline std::string event_line(std::string_view type, const std::string& object) {
  return R"({"type":")" + std::string(type) + R"(","object":)" + object + "}\n";
}

inline std::string bookmark_line(std::uint64_t version, bool ends_initial = false) {
  std::string meta =
      R"("resourceVersion":")" + std::to_string(version) + R"(","creationTimestamp":null)";
  if (ends_initial) meta += R"(,"annotations":{"k8s.io/initial-events-end":"true"})";
  return event_line("BOOKMARK", R"({"kind":"Pod","apiVersion":"v1","metadata":{)" + meta +
                                    R"(},"spec":{"containers":null},"status":{}})");
}

inline std::string error_line(int code, std::string_view reason, std::string_view message) {
  return event_line(
      "ERROR",
      R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":")" +
          std::string(message) + R"(","reason":")" + std::string(reason) + R"(","code":)" +
          std::to_string(code) + "}");
}

}  // namespace k8s::objects
