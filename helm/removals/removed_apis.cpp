#include "helm/removals/removed_apis.hpp"

#include "helm/go.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace helm::removals {
namespace {

/// Kinds that a version of a group deprecates.
struct row {
  std::string_view api_version;
  int since;                   // 1.x
  int removed;                 // 1.x; 0: not planned
  std::string_view use;        // the group version that has them now, as the annotation says
  std::string_view kinds;      // "A+" is A and AList, "A:B" is replaced by B
  std::string_view instead{};  // where the annotation names none: the version that has them now
  origin from = origin::types;
};

constexpr row rows[] = {
    {"admissionregistration.k8s.io/v1alpha1", 35, 38, "",
     "MutatingAdmissionPolicyBinding+ MutatingAdmissionPolicy+", "admissionregistration.k8s.io/v1"},
    {"admissionregistration.k8s.io/v1alpha1", 29, 32, "",
     "ValidatingAdmissionPolicyBinding+ ValidatingAdmissionPolicy+",
     "admissionregistration.k8s.io/v1"},
    {"admissionregistration.k8s.io/v1beta1", 37, 40, "admissionregistration.k8s.io/v1",
     "MutatingAdmissionPolicyBinding+ MutatingAdmissionPolicy+"},
    {"admissionregistration.k8s.io/v1beta1", 16, 22, "admissionregistration.k8s.io/v1",
     "MutatingWebhookConfiguration+ ValidatingWebhookConfiguration+"},
    {"admissionregistration.k8s.io/v1beta1", 31, 34, "",
     "ValidatingAdmissionPolicyBinding+ ValidatingAdmissionPolicy+",
     "admissionregistration.k8s.io/v1"},
    {"apps/v1beta1", 8, 16, "apps/v1",
     "ControllerRevision+ DeploymentRollback Deployment+ StatefulSet+"},
    {"apps/v1beta1", 8, 16, "autoscaling/v1", "Scale"},
    {"apps/v1beta2", 9, 16, "apps/v1",
     "ControllerRevision+ DaemonSet+ Deployment+ ReplicaSet+ StatefulSet+"},
    {"apps/v1beta2", 9, 16, "autoscaling/v1", "Scale"},
    {"authentication.k8s.io/v1alpha1", 29, 32, "", "SelfSubjectReview", "authentication.k8s.io/v1"},
    {"authentication.k8s.io/v1beta1", 30, 33, "", "SelfSubjectReview", "authentication.k8s.io/v1"},
    {"authentication.k8s.io/v1beta1", 19, 22, "authentication.k8s.io/v1", "TokenReview"},
    {"authorization.k8s.io/v1beta1", 19, 22, "authorization.k8s.io/v1",
     "LocalSubjectAccessReview SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview"},
    {"batch/v1beta1", 21, 25, "batch/v1", "CronJob+"},
    {"certificates.k8s.io/v1alpha1", 34, 37, "", "ClusterTrustBundle+",
     "certificates.k8s.io/v1beta1"},
    {"certificates.k8s.io/v1beta1", 19, 22, "certificates.k8s.io/v1", "CertificateSigningRequest+"},
    {"certificates.k8s.io/v1beta1", 37, 40, "", "ClusterTrustBundle+"},
    {"certificates.k8s.io/v1beta1", 38, 41, "", "PodCertificateRequest+"},
    {"coordination.k8s.io/v1alpha2", 35, 38, "", "LeaseCandidate+", "coordination.k8s.io/v1beta1"},
    {"coordination.k8s.io/v1beta1", 36, 39, "", "LeaseCandidate+"},
    {"coordination.k8s.io/v1beta1", 19, 22, "coordination.k8s.io/v1", "Lease+"},
    {"discovery.k8s.io/v1beta1", 21, 25, "discovery.k8s.io/v1",
     "EndpointSliceList:EndpointSlice EndpointSlice"},
    {"events.k8s.io/v1beta1", 22, 25, "", "Event+", "events.k8s.io/v1"},
    {"extensions/v1beta1", 8, 16, "apps/v1", "DaemonSet+ Deployment+ ReplicaSet+"},
    {"extensions/v1beta1", 8, 16, "", "DeploymentRollback"},
    {"extensions/v1beta1", 14, 22, "networking.k8s.io/v1", "Ingress+"},
    {"extensions/v1beta1", 9, 16, "networking.k8s.io/v1", "NetworkPolicy+"},
    {"extensions/v1beta1", 2, 16, "", "Scale", "autoscaling/v1"},
    {"flowcontrol.apiserver.k8s.io/v1beta1", 23, 26, "flowcontrol.apiserver.k8s.io/v1beta3",
     "FlowSchema+ PriorityLevelConfiguration+"},
    {"flowcontrol.apiserver.k8s.io/v1beta2", 26, 29, "flowcontrol.apiserver.k8s.io/v1beta3",
     "FlowSchema+ PriorityLevelConfiguration+"},
    {"flowcontrol.apiserver.k8s.io/v1beta3", 29, 32, "flowcontrol.apiserver.k8s.io/v1",
     "FlowSchema+ PriorityLevelConfiguration+"},
    {"networking.k8s.io/v1beta1", 34, 37, "", "IPAddress+ ServiceCIDR+", "networking.k8s.io/v1"},
    {"networking.k8s.io/v1beta1", 19, 22, "networking.k8s.io/v1",
     "IngressClassList IngressClass:IngressClassList Ingress+"},
    {"node.k8s.io/v1beta1", 22, 25, "", "RuntimeClass+", "node.k8s.io/v1"},
    {"policy/v1beta1", 22, 25, "", "Eviction", "policy/v1"},
    {"policy/v1beta1", 21, 25, "policy/v1", "PodDisruptionBudget+"},
    {"rbac.authorization.k8s.io/v1beta1", 17, 22, "rbac.authorization.k8s.io/v1",
     "ClusterRoleBinding+ ClusterRole+ RoleBinding+ Role+"},
    {"resource.k8s.io/v1alpha3", 36, 39, "", "DeviceTaintRule+", "resource.k8s.io/v1beta2"},
    {"resource.k8s.io/v1alpha3", 39, 42, "", "ResourcePoolStatusRequest+"},
    {"resource.k8s.io/v1beta1", 35, 38, "",
     "DeviceClass+ ResourceClaimTemplate+ ResourceClaim+ ResourceSlice+", "resource.k8s.io/v1"},
    {"resource.k8s.io/v1beta2", 36, 39, "",
     "DeviceClass+ ResourceClaimTemplate+ ResourceClaim+ ResourceSlice+", "resource.k8s.io/v1"},
    {"resource.k8s.io/v1beta2", 39, 42, "", "DeviceTaintRule+"},
    {"scheduling.k8s.io/v1beta1", 14, 22, "scheduling.k8s.io/v1", "PriorityClass+"},
    {"storage.k8s.io/v1alpha1", 21, 24, "storage.k8s.io/v1beta1", "CSIStorageCapacity+"},
    {"storage.k8s.io/v1alpha1", 21, 24, "storage.k8s.io/v1", "VolumeAttachment+"},
    {"storage.k8s.io/v1alpha1", 32, 35, "storage.k8s.io/v1", "VolumeAttributesClass+"},
    {"storage.k8s.io/v1beta1", 19, 22, "storage.k8s.io/v1",
     "CSIDriver+ StorageClass+ VolumeAttachment+"},
    {"storage.k8s.io/v1beta1", 17, 22, "storage.k8s.io/v1", "CSINodeList:CSINode CSINode"},
    {"storage.k8s.io/v1beta1", 24, 27, "storage.k8s.io/v1", "CSIStorageCapacity+"},
    {"storage.k8s.io/v1beta1", 34, 37, "storage.k8s.io/v1", "VolumeAttributesClass+"},
    {"storagemigration.k8s.io/v1beta1", 38, 41, "", "StorageVersionMigration+"},
    {"v1", 19, 0, "", "ComponentStatus+"},
    {"v1", 33, 0, "discovery.k8s.io/v1", "EndpointsList:EndpointSliceList Endpoints:EndpointSlice"},
    // Types that k8s.io/api v0.36 no longer has.
    {"apiextensions.k8s.io/v1beta1",
     16,
     22,
     "apiextensions.k8s.io/v1",
     "CustomResourceDefinition+",
     {},
     origin::extensions},
    {"apiregistration.k8s.io/v1beta1",
     19,
     22,
     "apiregistration.k8s.io/v1",
     "APIService+",
     {},
     origin::guide},
    {"autoscaling/v2beta1",
     22,
     25,
     "autoscaling/v2",
     "HorizontalPodAutoscaler+",
     {},
     origin::guide},
    {"autoscaling/v2beta2",
     23,
     26,
     "autoscaling/v2",
     "HorizontalPodAutoscaler+",
     {},
     origin::guide},
    {"extensions/v1beta1", 10, 16, "policy/v1beta1", "PodSecurityPolicy+", {}, origin::guide},
    {"policy/v1beta1", 21, 25, "", "PodSecurityPolicy+", {}, origin::guide},
};

constexpr std::string_view namespaced_kinds[] = {"ControllerRevision",
                                                 "CronJob",
                                                 "CSIStorageCapacity",
                                                 "DaemonSet",
                                                 "Deployment",
                                                 "DeploymentRollback",
                                                 "EndpointSlice",
                                                 "Endpoints",
                                                 "Event",
                                                 "Eviction",
                                                 "HorizontalPodAutoscaler",
                                                 "Ingress",
                                                 "Lease",
                                                 "LeaseCandidate",
                                                 "LocalSubjectAccessReview",
                                                 "NetworkPolicy",
                                                 "PodCertificateRequest",
                                                 "PodDisruptionBudget",
                                                 "ReplicaSet",
                                                 "ResourceClaim",
                                                 "ResourceClaimTemplate",
                                                 "Role",
                                                 "RoleBinding",
                                                 "Scale",
                                                 "StatefulSet"};
constexpr std::string_view fleeting_kinds[] = {"ComponentStatus", "DeploymentRollback", "Event",
                                               "Eviction", "Scale"};

struct named_kind {
  std::string kind, announced;
  bool has_list = false;
};
/// "A+", "A:B" of a row.
named_kind read_kind(std::string entry) {
  named_kind out;
  if (const auto colon = entry.find(':'); colon != entry.npos) {
    out.announced = entry.substr(colon + 1);
    entry.resize(colon);
  }
  out.has_list = entry.ends_with('+');
  if (out.has_list) entry.pop_back();
  out.kind = std::move(entry);
  return out;
}

removed_api api_of(const row& r, const named_kind& k, std::string_view asked) {
  removed_api out;
  out.api_version = r.api_version;
  out.kind = asked;
  out.deprecated = r.since;
  out.removed = r.removed;
  out.announced = r.use;
  out.announced_kind = k.announced.empty() ? std::string(asked) : k.announced;
  out.successor = r.use.empty() ? r.instead : r.use;
  out.from = r.from;
  return out;
}

}  // namespace

std::string_view text(origin o) noexcept {
  switch (o) {
    case origin::types: return "k8s.io/api v0.36";
    case origin::extensions: return "k8s.io/apiextensions-apiserver v0.36";
    case origin::guide: break;
  }
  return "Deprecated API Migration Guide";
}

std::optional<removed_api> find(std::string_view api_version, std::string_view kind) {
  for (const row& r : rows) {
    if (r.api_version != api_version) continue;
    for (const std::string& entry : split(r.kinds, " ")) {
      const named_kind k = read_kind(entry);
      if (k.kind == kind || (k.has_list && k.kind + "List" == kind)) return api_of(r, k, kind);
    }
  }
  return std::nullopt;
}

std::vector<removed_api> removed_by(int minor) {
  std::vector<removed_api> out;
  for (const row& r : rows) {
    if (r.removed == 0 || r.removed > minor) continue;
    for (const std::string& entry : split(r.kinds, " ")) {
      const named_kind k = read_kind(entry);
      if (!k.kind.ends_with("List")) out.push_back(api_of(r, k, k.kind));
    }
  }
  return out;
}

std::string replacement(const removed_api& of, int minor) {
  std::string version = of.successor;
  for (std::size_t steps = 0; !version.empty() && steps < std::size(rows); ++steps) {
    const auto next = find(version, of.announced_kind);
    if (!next || !next->is_gone_in(minor)) return version;
    version = next->successor;
  }
  return {};
}

std::string resource_of(std::string_view kind) {
  std::string name(kind);
  std::ranges::transform(name, name.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  if (name.empty() || name == "endpoints") return name;
  if (name.back() == 's') return name + "es";
  if (name.back() != 'y') return name + "s";
  name.pop_back();
  return name + "ies";
}

bool is_namespaced(std::string_view kind) {
  return std::ranges::find(namespaced_kinds, kind) != std::end(namespaced_kinds);
}

bool is_kept(std::string_view kind) {
  return !kind.ends_with("Review") &&
         std::ranges::find(fleeting_kinds, kind) == std::end(fleeting_kinds);
}

std::optional<int> minor_of(std::string_view version) {
  if (version.starts_with('v')) version.remove_prefix(1);
  if (!version.starts_with("1.")) return std::nullopt;
  version.remove_prefix(2);
  int minor = 0;
  const auto [end, wrong] = std::from_chars(version.data(), version.data() + version.size(), minor);
  constexpr int most = 999;
  if (wrong != std::errc() || minor < 0 || minor > most || version.front() == '-')
    return std::nullopt;
  std::string_view rest(end, static_cast<std::size_t>(version.data() + version.size() - end));
  if (rest.empty()) return minor;
  if (!rest.starts_with('.') || rest.size() < 2 ||
      rest.find_first_not_of("0123456789", 1) != rest.npos)
    return std::nullopt;
  return minor;
}

}  // namespace helm::removals
