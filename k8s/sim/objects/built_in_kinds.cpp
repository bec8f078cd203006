#include "k8s/sim/objects/cells.hpp"
#include "k8s/sim/objects/kind.hpp"
#include "k8s/skew/skew_policy.hpp"

namespace k8s::sim {

namespace {

kind_info core(std::string plural, std::string singular, std::string kind,
               std::vector<std::string> short_names = {}) {
  kind_info k;
  k.version = "v1";
  k.plural = std::move(plural);
  k.singular = std::move(singular);
  k.kind = std::move(kind);
  k.list_kind = k.kind + "List";
  k.short_names = std::move(short_names);
  k.shape = built_in_shape(k.kind);
  return k;
}

kind_info in_group(std::string group, kind_info k) {
  k.group = std::move(group);
  return k;
}

std::vector<kind_ptr> make_kinds() {
  std::vector<kind_ptr> all;
  auto add = [&all](kind_info k) {
    k.columns = columns_of(k.group, k.kind);
    k.cells = cells_of(k.group, k.kind);
    k.type = object_type_of(k.api_version(), k.kind);
    all.push_back(std::make_shared<const kind_info>(std::move(k)));
  };
  add(core("configmaps", "configmap", "ConfigMap", {"cm"}));
  {
    kind_info k = core("events", "event", "Event", {"ev"});
    k.create_on_update = true;
    k.field_labels = {"involvedObject.kind",
                      "involvedObject.namespace",
                      "involvedObject.name",
                      "involvedObject.uid",
                      "involvedObject.apiVersion",
                      "involvedObject.resourceVersion",
                      "involvedObject.fieldPath",
                      "reason",
                      "reportingComponent",
                      "source",
                      "type"};
    add(std::move(k));
  }
  {
    kind_info k = core("namespaces", "namespace", "Namespace", {"ns"});
    k.namespaced = false;
    k.status_subresource = true;
    k.other_subresources = {"finalize"};
    k.field_labels = {"name", "status.phase"};
    add(std::move(k));
  }
  {
    kind_info k = core("nodes", "node", "Node", {"no"});
    k.namespaced = false;
    k.status_subresource = true;
    k.field_labels = {"spec.unschedulable"};
    add(std::move(k));
  }
  {
    kind_info k = core("persistentvolumes", "persistentvolume", "PersistentVolume", {"pv"});
    k.namespaced = false;
    k.status_subresource = true;
    add(std::move(k));
  }
  {
    kind_info k =
        core("persistentvolumeclaims", "persistentvolumeclaim", "PersistentVolumeClaim", {"pvc"});
    k.status_subresource = true;
    add(std::move(k));
  }
  {
    kind_info k = core("pods", "pod", "Pod", {"po"});
    k.categories = {"all"};
    k.status_subresource = true;
    k.other_subresources = {"binding", "eviction", "log"};
    k.graceful = true;
    k.generation = true;
    k.field_labels = {"spec.nodeName",
                      "spec.restartPolicy",
                      "spec.schedulerName",
                      "spec.serviceAccountName",
                      "spec.hostNetwork",
                      "status.phase",
                      "status.podIP",
                      "status.podIPs",
                      "status.nominatedNodeName"};
    add(std::move(k));
  }
  {
    kind_info k =
        core("replicationcontrollers", "replicationcontroller", "ReplicationController", {"rc"});
    k.categories = {"all"};
    k.status_subresource = true;
    k.generation = true;
    k.field_labels = {"status.replicas"};
    add(std::move(k));
  }
  {
    kind_info k = core("secrets", "secret", "Secret");
    k.field_labels = {"type"};
    add(std::move(k));
  }
  {
    kind_info k = core("serviceaccounts", "serviceaccount", "ServiceAccount", {"sa"});
    k.other_subresources = {"token"};
    add(std::move(k));
  }
  {
    kind_info k = core("services", "service", "Service", {"svc"});
    k.categories = {"all"};
    k.status_subresource = true;
    k.field_labels = {"spec.clusterIP", "spec.type"};
    add(std::move(k));
  }
  for (auto [plural, singular, kind] :
       {std::tuple{"validatingadmissionpolicies", "validatingadmissionpolicy",
                   "ValidatingAdmissionPolicy"},
        std::tuple{"validatingadmissionpolicybindings", "validatingadmissionpolicybinding",
                   "ValidatingAdmissionPolicyBinding"}}) {
    kind_info k = in_group("admissionregistration.k8s.io", core(plural, singular, kind));
    k.categories = {"api-extensions"};
    k.namespaced = false;
    k.status_subresource = k.kind == "ValidatingAdmissionPolicy";
    k.generation = true;
    add(std::move(k));
  }
  {
    kind_info k = in_group("apiextensions.k8s.io",
                           core("customresourcedefinitions", "customresourcedefinition",
                                "CustomResourceDefinition", {"crd", "crds"}));
    k.categories = {"api-extensions"};
    k.namespaced = false;
    k.status_subresource = true;
    k.generation = true;
    k.unconditional_update = false;
    add(std::move(k));
  }
  add(in_group("apps", core("controllerrevisions", "controllerrevision", "ControllerRevision")));
  for (auto [plural, singular, kind, name] :
       {std::tuple{"daemonsets", "daemonset", "DaemonSet", "ds"},
        std::tuple{"deployments", "deployment", "Deployment", "deploy"},
        std::tuple{"replicasets", "replicaset", "ReplicaSet", "rs"},
        std::tuple{"statefulsets", "statefulset", "StatefulSet", "sts"}}) {
    kind_info k = in_group("apps", core(plural, singular, kind, {name}));
    k.categories = {"all"};
    k.status_subresource = true;
    k.generation = true;
    if (k.kind == "ReplicaSet") k.field_labels = {"status.replicas"};
    if (k.kind == "StatefulSet") k.field_labels = {"status.successful"};
    add(std::move(k));
  }
  {
    kind_info k = in_group(
        "authorization.k8s.io",
        core("selfsubjectaccessreviews", "selfsubjectaccessreview", "SelfSubjectAccessReview"));
    k.namespaced = false;
    k.answers_only = true;
    add(std::move(k));
  }
  {
    kind_info k =
        in_group("autoscaling", core("horizontalpodautoscalers", "horizontalpodautoscaler",
                                     "HorizontalPodAutoscaler", {"hpa"}));
    k.version = "v2";
    k.categories = {"all"};
    k.status_subresource = true;
    add(std::move(k));
  }
  {
    kind_info k = in_group("batch", core("cronjobs", "cronjob", "CronJob", {"cj"}));
    k.categories = {"all"};
    k.status_subresource = true;
    k.generation = true;
    add(std::move(k));
  }
  {
    kind_info k = in_group("batch", core("jobs", "job", "Job"));
    k.categories = {"all"};
    k.status_subresource = true;
    k.generation = true;
    k.field_labels = {"status.successful"};
    add(std::move(k));
  }
  {
    kind_info k = in_group("coordination.k8s.io", core("leases", "lease", "Lease"));
    k.unconditional_update = false;
    k.create_on_update = true;
    add(std::move(k));
  }
  {
    kind_info k = in_group("events.k8s.io", core("events", "event", "Event", {"ev"}));
    k.create_on_update = true;
    k.storage_elsewhere = true;
    k.storage_version = "v1";
    k.field_labels = {"reason",
                      "regarding.kind",
                      "regarding.namespace",
                      "regarding.name",
                      "regarding.uid",
                      "regarding.apiVersion",
                      "regarding.resourceVersion",
                      "regarding.fieldPath",
                      "reportingController",
                      "type"};
    add(std::move(k));
  }
  {
    kind_info k = in_group("networking.k8s.io", core("ingresses", "ingress", "Ingress", {"ing"}));
    k.status_subresource = true;
    k.generation = true;
    add(std::move(k));
  }
  {
    kind_info k = in_group("networking.k8s.io",
                           core("networkpolicies", "networkpolicy", "NetworkPolicy", {"netpol"}));
    k.generation = true;
    add(std::move(k));
  }
  {
    kind_info k = in_group("policy", core("poddisruptionbudgets", "poddisruptionbudget",
                                          "PodDisruptionBudget", {"pdb"}));
    k.status_subresource = true;
    k.generation = true;
    k.unconditional_update = false;
    add(std::move(k));
  }
  for (auto [plural, singular, kind, namespaced] :
       {std::tuple{"clusterrolebindings", "clusterrolebinding", "ClusterRoleBinding", false},
        std::tuple{"clusterroles", "clusterrole", "ClusterRole", false},
        std::tuple{"rolebindings", "rolebinding", "RoleBinding", true},
        std::tuple{"roles", "role", "Role", true}}) {
    kind_info k = in_group("rbac.authorization.k8s.io", core(plural, singular, kind));
    k.namespaced = namespaced;
    add(std::move(k));
  }
  return all;
}

kind_ptr pod_security_policies() {
  kind_info k = in_group(
      "policy", core("podsecuritypolicies", "podsecuritypolicy", "PodSecurityPolicy", {"psp"}));
  k.version = "v1beta1";
  k.namespaced = false;
  return std::make_shared<const kind_info>(std::move(k));
}

}  // namespace

std::string kind_info::storage_api_version() const {
  const std::string& v = storage_version.empty() ? version : storage_version;
  const std::string& g = storage_elsewhere ? storage_group : group;
  return g.empty() ? v : g + "/" + v;
}

const std::vector<kind_ptr>& built_in_kinds() {
  static const std::vector<kind_ptr> all = make_kinds();
  return all;
}

const std::vector<kind_ptr>& built_in_kinds_of(std::string_view version) {
  static const std::vector<kind_ptr> before_25 = [] {
    std::vector<kind_ptr> all = built_in_kinds();
    all.push_back(pod_security_policies());
    return all;
  }();
  const auto is = skew::parse_version(version);
  return is && is->minor < 25 ? before_25 : built_in_kinds();
}

}  // namespace k8s::sim
