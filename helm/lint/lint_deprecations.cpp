#include "helm/go.hpp"
#include "helm/lint/lint_rules.hpp"

namespace helm {
namespace {

/// Kinds that a version of a group deprecates, as the API's own types say (k8s.io/api v0.36).
struct deprecation {
  std::string_view api_version;
  int since;               // 1.x
  int removed;             // 1.x; 0: not planned
  std::string_view use;    // the group version that has them now
  std::string_view kinds;  // "A+" is A and AList, "A:B" is replaced by B
};

constexpr deprecation deprecations[] = {
    {"admissionregistration.k8s.io/v1alpha1", 35, 38, "",
     "MutatingAdmissionPolicyBinding+ MutatingAdmissionPolicy+"},
    {"admissionregistration.k8s.io/v1alpha1", 29, 32, "",
     "ValidatingAdmissionPolicyBinding+ ValidatingAdmissionPolicy+"},
    {"admissionregistration.k8s.io/v1beta1", 37, 40, "admissionregistration.k8s.io/v1",
     "MutatingAdmissionPolicyBinding+ MutatingAdmissionPolicy+"},
    {"admissionregistration.k8s.io/v1beta1", 16, 22, "admissionregistration.k8s.io/v1",
     "MutatingWebhookConfiguration+ ValidatingWebhookConfiguration+"},
    {"admissionregistration.k8s.io/v1beta1", 31, 34, "",
     "ValidatingAdmissionPolicyBinding+ ValidatingAdmissionPolicy+"},
    {"apps/v1beta1", 8, 16, "apps/v1",
     "ControllerRevision+ DeploymentRollback Deployment+ StatefulSet+"},
    {"apps/v1beta1", 8, 16, "autoscaling/v1", "Scale"},
    {"apps/v1beta2", 9, 16, "apps/v1",
     "ControllerRevision+ DaemonSet+ Deployment+ ReplicaSet+ StatefulSet+"},
    {"apps/v1beta2", 9, 16, "autoscaling/v1", "Scale"},
    {"authentication.k8s.io/v1alpha1", 29, 32, "", "SelfSubjectReview"},
    {"authentication.k8s.io/v1beta1", 30, 33, "", "SelfSubjectReview"},
    {"authentication.k8s.io/v1beta1", 19, 22, "authentication.k8s.io/v1", "TokenReview"},
    {"authorization.k8s.io/v1beta1", 19, 22, "authorization.k8s.io/v1",
     "LocalSubjectAccessReview SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview"},
    {"batch/v1beta1", 21, 25, "batch/v1", "CronJob+"},
    {"certificates.k8s.io/v1alpha1", 34, 37, "", "ClusterTrustBundle+"},
    {"certificates.k8s.io/v1beta1", 19, 22, "certificates.k8s.io/v1", "CertificateSigningRequest+"},
    {"certificates.k8s.io/v1beta1", 37, 40, "", "ClusterTrustBundle+"},
    {"certificates.k8s.io/v1beta1", 38, 41, "", "PodCertificateRequest+"},
    {"coordination.k8s.io/v1alpha2", 35, 38, "", "LeaseCandidate+"},
    {"coordination.k8s.io/v1beta1", 36, 39, "", "LeaseCandidate+"},
    {"coordination.k8s.io/v1beta1", 19, 22, "coordination.k8s.io/v1", "Lease+"},
    {"discovery.k8s.io/v1beta1", 21, 25, "discovery.k8s.io/v1",
     "EndpointSliceList:EndpointSlice EndpointSlice"},
    {"events.k8s.io/v1beta1", 22, 25, "", "Event+"},
    {"extensions/v1beta1", 8, 16, "apps/v1", "DaemonSet+ Deployment+ ReplicaSet+"},
    {"extensions/v1beta1", 8, 16, "", "DeploymentRollback"},
    {"extensions/v1beta1", 14, 22, "networking.k8s.io/v1", "Ingress+"},
    {"extensions/v1beta1", 9, 16, "networking.k8s.io/v1", "NetworkPolicy+"},
    {"extensions/v1beta1", 2, 16, "", "Scale"},
    {"flowcontrol.apiserver.k8s.io/v1beta1", 23, 26, "flowcontrol.apiserver.k8s.io/v1beta3",
     "FlowSchema+ PriorityLevelConfiguration+"},
    {"flowcontrol.apiserver.k8s.io/v1beta2", 26, 29, "flowcontrol.apiserver.k8s.io/v1beta3",
     "FlowSchema+ PriorityLevelConfiguration+"},
    {"flowcontrol.apiserver.k8s.io/v1beta3", 29, 32, "flowcontrol.apiserver.k8s.io/v1",
     "FlowSchema+ PriorityLevelConfiguration+"},
    {"networking.k8s.io/v1beta1", 34, 37, "", "IPAddress+ ServiceCIDR+"},
    {"networking.k8s.io/v1beta1", 19, 22, "networking.k8s.io/v1",
     "IngressClassList IngressClass:IngressClassList Ingress+"},
    {"node.k8s.io/v1beta1", 22, 25, "", "RuntimeClass+"},
    {"policy/v1beta1", 22, 25, "", "Eviction"},
    {"policy/v1beta1", 21, 25, "policy/v1", "PodDisruptionBudget+"},
    {"rbac.authorization.k8s.io/v1beta1", 17, 22, "rbac.authorization.k8s.io/v1",
     "ClusterRoleBinding+ ClusterRole+ RoleBinding+ Role+"},
    {"resource.k8s.io/v1alpha3", 36, 39, "", "DeviceTaintRule+"},
    {"resource.k8s.io/v1alpha3", 39, 42, "", "ResourcePoolStatusRequest+"},
    {"resource.k8s.io/v1beta1", 35, 38, "",
     "DeviceClass+ ResourceClaimTemplate+ ResourceClaim+ ResourceSlice+"},
    {"resource.k8s.io/v1beta2", 36, 39, "",
     "DeviceClass+ ResourceClaimTemplate+ ResourceClaim+ ResourceSlice+"},
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
};

}  // namespace

std::string deprecation_warning(const std::string& api_version, const std::string& kind,
                                int minor_version) {
  for (const auto& d : deprecations) {
    if (d.api_version != api_version || minor_version < d.since) continue;
    for (auto entry : split(d.kinds, " ")) {
      std::string instead;
      if (auto colon = entry.find(':'); colon != entry.npos) {
        instead = entry.substr(colon + 1);
        entry.resize(colon);
      }
      bool list = entry.ends_with('+');
      if (list) entry.pop_back();
      if (entry != kind && !(list && entry + "List" == kind)) continue;
      auto text =
          api_version + " " + kind + " is deprecated in v1." + std::to_string(d.since) + "+";
      if (d.removed != 0) text += ", unavailable in v1." + std::to_string(d.removed) + "+";
      if (!d.use.empty())
        text += "; use " + std::string(d.use) + " " + (instead.empty() ? kind : instead);
      return text;
    }
  }
  return {};
}

}  // namespace helm
