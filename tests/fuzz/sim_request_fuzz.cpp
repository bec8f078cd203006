#include "k8s/sim/api_server.hpp"
#include "reactor/plain/entropy.hpp"

#include <boost/json.hpp>

#include <array>
#include <cstdint>
#include <string>

namespace {

constexpr std::string_view kCrd =
    R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
"metadata":{"name":"gadgets.conf.example"},"spec":{"group":"conf.example","scope":"Namespaced","names":{"plural":"gadgets","kind":"Gadget"},
"versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},
"additionalPrinterColumns":[{"name":"R","type":"string","jsonPath":".status.c[?(@.t==\"Ready\")].s"}],
"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","required":["size"],"properties":{
"size":{"type":"integer","minimum":1},"code":{"type":"string","pattern":"^[a-z]*$"},"limit":{"x-kubernetes-int-or-string":true},
"parts":{"type":"array","items":{"type":"object","properties":{"id":{"type":"string"},"n":{"type":"integer","default":7}}},"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["id"]},
"free":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}},"status":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}}]}})";
constexpr std::string_view kPod =
    R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","labels":{"app":"web"}},"spec":{"nodeName":"n","containers":[{"name":"c","image":"i"}]}})";
constexpr std::string_view kGadget =
    R"({"apiVersion":"conf.example/v1","kind":"Gadget","metadata":{"name":"g"},"spec":{"size":1,"parts":[{"id":"a"}]}})";
constexpr std::string_view kBudget =
    R"({"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"b"},"spec":{"minAvailable":1,"selector":{"matchLabels":{"app":"web"}}}})";

struct shot {
  const char *method, *target, *type;
};
constexpr const char *kCore = "application/json", *kMerge = "application/merge-patch+json",
                     *kJson = "application/json-patch+json",
                     *kStrategic = "application/strategic-merge-patch+json",
                     *kApply = "application/apply-patch+yaml",
                     *kProto = "application/vnd.kubernetes.protobuf";
#define NS "/namespaces/default/"
constexpr std::array kShots{
    shot{"POST", "/api/v1" NS "configmaps", kCore},
    shot{"POST", "/api/v1" NS "pods", kCore},
    shot{"POST", "/api/v1" NS "secrets", kProto},
    shot{"POST", "/api/v1" NS "events", kCore},
    shot{"POST", "/apis/events.k8s.io/v1" NS "events", kCore},
    shot{"POST", "/apis/conf.example/v1" NS "gadgets?fieldValidation=Strict", kCore},
    shot{"POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", kCore},
    shot{"POST", "/apis/policy/v1" NS "poddisruptionbudgets", kCore},
    shot{"POST", "/apis/apps/v1" NS "daemonsets", kCore},
    shot{"POST", "/api/v1" NS "pods/p/eviction", kCore},
    shot{"POST", "/api/v1" NS "pods/p/binding", kCore},
    shot{"PUT", "/api/v1" NS "pods/p", kCore},
    shot{"PUT", "/apis/conf.example/v1" NS "gadgets/g", kCore},
    shot{"PATCH", "/api/v1" NS "pods/p", kMerge},
    shot{"PATCH", "/api/v1" NS "pods/p", kJson},
    shot{"PATCH", "/api/v1" NS "pods/p", kStrategic},
    shot{"PATCH", "/api/v1" NS "pods/p?fieldManager=f&force=true", kApply},
    shot{"PATCH", "/api/v1" NS "pods/p/status", kStrategic},
    shot{"PATCH", "/api/v1" NS "pods/p/status?fieldManager=f", kApply},
    shot{"PATCH", "/apis/conf.example/v1" NS "gadgets/g", kMerge},
    shot{"PATCH", "/apis/conf.example/v1" NS "gadgets/g", kJson},
    shot{"PATCH", "/apis/conf.example/v1" NS "gadgets/g?fieldManager=f", kApply},
    shot{"PATCH", "/apis/conf.example/v1" NS "gadgets/new?fieldManager=f", kApply},
    shot{"PATCH", "/apis/policy/v1" NS "poddisruptionbudgets/b", kMerge},
    shot{"PATCH", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gadgets.conf.example",
         kJson},
    shot{"DELETE", "/api/v1" NS "pods/p", kCore},
    shot{"DELETE", "/api/v1/namespaces/default", kCore},
};

}  // namespace

/// Any bytes as the body of any write: it is done or refused, and what is stored can be listed,
/// shown and watched. The first byte chooses the request; with its top bit set the rest is a path
/// and query instead of a body.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  reactor::seeded_entropy rng(1);
  k8s::sim::api_options o;
  o.now = [] { return reactor::steady_time{}; };
  o.wall = [] { return reactor::wall_time{std::chrono::seconds(1'800'000'000)}; };
  o.entropy = &rng;
  k8s::sim::api_server api(std::move(o));
  auto send = [&](const char* method, std::string target, std::string body, const char* type,
                  const char* accept = "") {
    k8s::sim::request r = k8s::sim::make_request(method, target, std::move(body), type);
    if (*accept) r.fields.set("Accept", accept);
    return api.handle(r);
  };
  send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", std::string(kCrd), kCore);
  send("POST", "/api/v1" NS "pods", std::string(kPod), kCore);
  send("POST", "/apis/conf.example/v1" NS "gadgets", std::string(kGadget), kCore);
  send("POST", "/apis/policy/v1" NS "poddisruptionbudgets", std::string(kBudget), kCore);
  if (data[0] & 0x80u) {
    send("GET", rest, {}, kCore);
    send("DELETE", rest, {}, kCore);
    return 0;
  }
  const shot& s = kShots[data[0] % kShots.size()];
  send(s.method, s.target, rest, s.type);
  for (const char* list :
       {"/api/v1/pods", "/api/v1/configmaps", "/api/v1/secrets", "/apis/events.k8s.io/v1/events",
        "/apis/conf.example/v1/gadgets", "/apis/policy/v1/poddisruptionbudgets",
        "/apis/apps/v1/daemonsets", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"}) {
    const auto answered = send("GET", list, {}, kCore);
    boost::json::parse_options deep;
    deep.max_depth = 300;
    if (answered.status == 200) static_cast<void>(boost::json::parse(answered.body, {}, deep));
    send("GET", list, {}, kCore, "application/json;as=Table;g=meta.k8s.io;v=v1");
    send("GET", std::string(list) + "?watch=1", {}, kCore);
  }
  return 0;
}
