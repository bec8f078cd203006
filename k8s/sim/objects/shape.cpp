#include "k8s/sim/objects/shape.hpp"

#include <cctype>
#include <stdexcept>

namespace k8s::sim {

namespace {

using shape_ptr = std::shared_ptr<const shape>;

/// Reads the small language the tables below are written in:
///   name            a granular object                  name!           an atomic object
///   name=other      a shape defined before             name%           a map whose keys are data
///   name[k,k]       a list keyed by k; [set] = scalars
///   {...}           fields, of the elements where it follows a list
class shape_reader {
public:
  shape_reader(std::string_view text, const std::map<std::string, shape_ptr, std::less<>>& known)
      : rest_(text), known_(known) {}

  shape_ptr fields() {
    auto s = std::make_shared<shape>();
    read_fields(*s);
    return s;
  }

private:
  void skip() {
    while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_[0])))
      rest_.remove_prefix(1);
  }
  bool take(char c) {
    skip();
    if (rest_.empty() || rest_[0] != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::string word() {
    skip();
    std::size_t n = 0;
    while (n < rest_.size() &&
           (std::isalnum(static_cast<unsigned char>(rest_[n])) || rest_[n] == '.'))
      ++n;
    if (n == 0)
      throw std::logic_error("shape table: a name expected at " + std::string(rest_.substr(0, 20)));
    std::string w(rest_.substr(0, n));
    rest_.remove_prefix(n);
    return w;
  }
  void read_list(shape& s) {
    for (;;) {
      if (take(']')) return;
      std::string key = word();
      if (key == "set") {
        s.list = shape::list_kind::set;
      } else {
        s.list = shape::list_kind::map;
        s.keys.push_back(key);
        if (key == "protocol") s.key_defaults["protocol"] = "TCP";
      }
      take(',');
    }
  }
  void read_fields(shape& into) {
    while (skip(), !rest_.empty() && rest_[0] != '}') {
      std::string name = word();
      auto s = std::make_shared<shape>();
      shape* body = s.get();
      if (take('!')) s->atomic = true;
      if (take('%')) s->is_map = true;
      std::shared_ptr<shape> element;
      if (take('[')) {
        read_list(*s);
        element = std::make_shared<shape>();
        body = element.get();
      }
      if (take('=')) *body = *known_.find(word())->second;
      if (take('{')) {
        read_fields(*body);
        take('}');
      }
      if (element) s->element = element;
      into.fields[name] = s;
    }
  }

  std::string_view rest_;
  const std::map<std::string, shape_ptr, std::less<>>& known_;
};

constexpr std::string_view kMetadata =
    "labels% annotations% finalizers[set] ownerReferences[uid]{} managedFields[]";

constexpr std::string_view kContainer = R"(
  command[] args[] envFrom[] env[name]{valueFrom{configMapKeyRef! secretKeyRef! fieldRef! resourceFieldRef!}}
  ports[containerPort,protocol]{} volumeMounts[mountPath]{} volumeDevices[devicePath]{}
  resources{limits% requests% claims[name]{}} resizePolicy[])";

constexpr std::string_view kPodSpec = R"(
  nodeSelector! containers[name]=container initContainers[name]=container ephemeralContainers[name]=container
  volumes[name]{} imagePullSecrets[name]{} hostAliases[ip]{} tolerations[]
  topologySpreadConstraints[topologyKey,whenUnsatisfiable]{labelSelector!}
  schedulingGates[name]{} resourceClaims[name]{} readinessGates[] overhead%)";

constexpr std::string_view kConditions = "conditions[type]{}";

const std::map<std::string, shape_ptr, std::less<>>& built_in_shapes() {
  static const auto shapes = [] {
    std::map<std::string, shape_ptr, std::less<>> m;
    auto define = [&m](std::string name, std::string_view text) {
      shape_reader reader(text, m);
      m[name] = reader.fields();
    };
    define("metadata", kMetadata);
    define("container", kContainer);
    define("podspec", kPodSpec);
    define("conditions", kConditions);
    define("template", "metadata=metadata spec=podspec");
    define("", "metadata=metadata");
    define("Pod",
           "metadata=metadata spec=podspec status{conditions[type]{} podIPs[ip]{} hostIPs[]{} "
           "containerStatuses[] initContainerStatuses[] ephemeralContainerStatuses[]}");
    define("Node",
           "metadata=metadata spec{taints[]{} podCIDRs[set]} status{conditions[type]{} "
           "addresses[type]{} images[] "
           "capacity% allocatable% volumesInUse[] volumesAttached[]}");
    define("Namespace", "metadata=metadata spec{finalizers[]} status{conditions[type]{}}");
    define("Secret", "metadata=metadata data% stringData%");
    define("ConfigMap", "metadata=metadata data% binaryData%");
    define("Service",
           "metadata=metadata spec{ports[port,protocol]{} selector! externalIPs[] clusterIPs[]} "
           "status{conditions[type]{} loadBalancer{ingress[]}}");
    define("ServiceAccount", "metadata=metadata secrets[name]{} imagePullSecrets[]");
    define("Lease", "metadata=metadata spec{}");
    define("Event", "metadata=metadata involvedObject! regarding! related!");
    for (const char* kind : {"DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"}) {
      define(kind,
             "metadata=metadata spec{selector! template=template} status{conditions[type]{}}");
    }
    define("ReplicationController",
           "metadata=metadata spec{selector! template=template} status{conditions[type]{}}");
    define("Job", "metadata=metadata spec{selector! template=template} status{conditions[type]{}}");
    define("CronJob",
           "metadata=metadata spec{jobTemplate{metadata=metadata spec{selector! "
           "template=template}}} status{active[]}");
    define("PersistentVolumeClaim",
           "metadata=metadata spec{selector! dataSource! resources{limits% requests%}} "
           "status{conditions[type]{} capacity%}");
    define("NetworkPolicy", "metadata=metadata spec{podSelector!}");
    for (const char* kind : {"RoleBinding", "ClusterRoleBinding"})
      define(kind, "metadata=metadata roleRef! subjects[]");
    define("ControllerRevision", "metadata=metadata data!");
    define("ValidatingAdmissionPolicy",
           "metadata=metadata spec{paramKind! matchConstraints{namespaceSelector! objectSelector! "
           "resourceRules[] excludeResourceRules[]} validations[] auditAnnotations[] "
           "matchConditions[name]{} variables[name]{}} status{conditions[type]{}}");
    define("ValidatingAdmissionPolicyBinding",
           "metadata=metadata spec{paramRef! matchResources{namespaceSelector! objectSelector! "
           "resourceRules[] excludeResourceRules[]} validationActions[set]}");
    define("PodDisruptionBudget",
           "metadata=metadata spec{selector!} status{conditions[type]{} disruptedPods%}");
    define("CustomResourceDefinition",
           "metadata=metadata spec{versions[] names{shortNames[] categories[]}} "
           "status{conditions[type]{} storedVersions[] acceptedNames{shortNames[] categories[]}}");
    return m;
  }();
  return shapes;
}

}  // namespace

const shape* shape::field(std::string_view name) const noexcept {
  if (auto at = fields.find(name); at != fields.end()) return at->second.get();
  return is_map ? element.get() : nullptr;
}

const std::shared_ptr<const shape>& built_in_shape(std::string_view kind) {
  const auto& all = built_in_shapes();
  auto at = all.find(kind);
  return at != all.end() ? at->second : all.find("")->second;
}

const std::shared_ptr<const shape>& metadata_shape() {
  return built_in_shapes().find("metadata")->second;
}

}  // namespace k8s::sim
