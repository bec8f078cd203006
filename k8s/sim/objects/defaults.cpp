#include "formats/base64.hpp"
#include "k8s/sim/objects/admission.hpp"

namespace k8s::sim {

namespace {

void default_container(json::object& c) {
  std::string_view image = text(c, {"image"});
  const std::size_t colon = image.rfind(':'), slash = image.rfind('/');
  const bool digest = image.find('@') != std::string_view::npos;
  const bool tagged =
      colon != std::string_view::npos && (slash == std::string_view::npos || colon > slash);
  const bool latest = !digest && (!tagged || image.substr(colon + 1) == "latest");
  set_default(c, "resources", json::object());
  set_default(c, "terminationMessagePath", "/dev/termination-log");
  set_default(c, "terminationMessagePolicy", "File");
  set_default(c, "imagePullPolicy", latest ? "Always" : "IfNotPresent");
  if (json::value* ports = c.if_contains("ports"); ports && ports->is_array()) {
    for (json::value& p : ports->get_array()) {
      if (p.is_object()) set_default(p.get_object(), "protocol", "TCP");
    }
  }
}

void default_pod_spec(json::object& spec, bool standalone) {
  set_default(spec, "restartPolicy", "Always");
  set_default(spec, "dnsPolicy", "ClusterFirst");
  set_default(spec, "schedulerName", "default-scheduler");
  set_default(spec, "terminationGracePeriodSeconds", 30);
  set_default(spec, "securityContext", json::object());
  if (standalone) {
    set_default(spec, "enableServiceLinks", true);
    set_default(spec, "priority", 0);
    set_default(spec, "preemptionPolicy", "PreemptLowerPriority");
  }
  for (const char* list : {"containers", "initContainers"}) {
    json::value* all = spec.if_contains(list);
    if (!all || !all->is_array()) continue;
    for (json::value& c : all->get_array()) {
      if (c.is_object()) default_container(c.get_object());
    }
  }
  if (json::value* volumes = spec.if_contains("volumes"); volumes && volumes->is_array()) {
    for (json::value& v : volumes->get_array()) {
      if (!v.is_object()) continue;
      for (const char* source : {"secret", "configMap", "downwardAPI", "projected"}) {
        if (json::value* s = v.get_object().if_contains(source); s && s->is_object()) {
          set_default(s->get_object(), "defaultMode", 420);
        }
      }
      if (json::value* s = v.get_object().if_contains("hostPath"); s && s->is_object()) {
        set_default(s->get_object(), "type", "");
      }
    }
  }
}

void fold_string_data(json::object& o) {
  json::value* plain = o.if_contains("stringData");
  if (!plain) return;
  if (plain->is_object() && !plain->get_object().empty()) {
    const json::object moved = plain->get_object();
    json::object& data = ensure_object(o, "data");
    for (const auto& [k, v] : moved) {
      if (v.is_string()) data[k] = formats::encode_base64(std::string_view(v.get_string()));
    }
  }
  erase(o, "stringData");
}

void default_workload(const kind_info& kind, json::object& o) {
  json::object& spec = ensure_object(o, "spec");
  json::object& pod = ensure_object(spec, "template");
  default_pod_spec(ensure_object(pod, "spec"), false);
  if (kind.kind == "DaemonSet") {
    json::object& strategy = ensure_object(spec, "updateStrategy");
    set_default(strategy, "type", "RollingUpdate");
    if (text(strategy, {"type"}) == "RollingUpdate") {
      json::object& rolling = ensure_object(strategy, "rollingUpdate");
      set_default(rolling, "maxUnavailable", 1);
      set_default(rolling, "maxSurge", 0);
    }
    set_default(spec, "revisionHistoryLimit", 10);
    set_default(ensure_object(ensure_object(o, "metadata"), "annotations"),
                "deprecated.daemonset.template.generation", "1");
    json::object& status = ensure_object(o, "status");
    for (const char* f : {"currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled",
                          "numberReady"}) {
      set_default(status, f, 0);
    }
  } else {
    set_default(spec, "replicas", 1);
    ensure_object(o, "status");
    if (kind.kind != "Deployment") set_default(ensure_object(o, "status"), "replicas", 0);
  }
  if (kind.kind == "Deployment") {
    json::object& strategy = ensure_object(spec, "strategy");
    set_default(strategy, "type", "RollingUpdate");
    if (text(strategy, {"type"}) == "RollingUpdate") {
      json::object& rolling = ensure_object(strategy, "rollingUpdate");
      set_default(rolling, "maxUnavailable", "25%");
      set_default(rolling, "maxSurge", "25%");
    }
    set_default(spec, "revisionHistoryLimit", 10);
    set_default(spec, "progressDeadlineSeconds", 600);
  }
}

void default_service(json::object& o) {
  json::object& spec = ensure_object(o, "spec");
  set_default(spec, "type", "ClusterIP");
  set_default(spec, "sessionAffinity", "None");
  const std::string type(text(spec, {"type"}));
  if (type != "ExternalName") set_default(spec, "internalTrafficPolicy", "Cluster");
  if (type == "NodePort" || type == "LoadBalancer")
    set_default(spec, "externalTrafficPolicy", "Cluster");
  if (type == "LoadBalancer") set_default(spec, "allocateLoadBalancerNodePorts", true);
  json::value* ports = spec.if_contains("ports");
  if (ports && ports->is_array()) {
    for (json::value& each : ports->get_array()) {
      if (!each.is_object()) continue;
      json::object& port = each.get_object();
      set_default(port, "protocol", "TCP");
      if (const json::value* number = port.if_contains("port"))
        set_default(port, "targetPort", *number);
    }
  }
  ensure_object(ensure_object(o, "status"), "loadBalancer");
}

/// The pod template's labels, where the object has none of its own.
void take_template_labels(json::object& o) {
  const json::object* labels = find_object(o, {"spec", "template", "metadata", "labels"});
  if (labels && !labels->empty()) {
    const json::object copy = *labels;
    set_default(ensure_object(o, "metadata"), "labels", copy);
  }
}

void default_job(json::object& o) {
  json::object& spec = ensure_object(o, "spec");
  default_pod_spec(ensure_object(ensure_object(spec, "template"), "spec"), false);
  if (!spec.contains("completions") && !spec.contains("parallelism")) spec["completions"] = 1;
  set_default(spec, "parallelism", 1);
  set_default(spec, "backoffLimit", 6);
  set_default(spec, "completionMode", "NonIndexed");
  set_default(spec, "suspend", false);
  set_default(spec, "manualSelector", false);
  set_default(spec, "podReplacementPolicy",
              spec.contains("podFailurePolicy") ? "Failed" : "TerminatingOrFailed");
  take_template_labels(o);
  ensure_object(o, "status");
}

void default_cron_job(json::object& o) {
  json::object& spec = ensure_object(o, "spec");
  set_default(spec, "concurrencyPolicy", "Allow");
  set_default(spec, "suspend", false);
  set_default(spec, "successfulJobsHistoryLimit", 3);
  set_default(spec, "failedJobsHistoryLimit", 1);
  json::object& job = ensure_object(ensure_object(spec, "jobTemplate"), "spec");
  default_pod_spec(ensure_object(ensure_object(job, "template"), "spec"), false);
  ensure_object(o, "status");
}

void default_replication_controller(json::object& o) {
  json::object& spec = ensure_object(o, "spec");
  set_default(spec, "replicas", 1);
  default_pod_spec(ensure_object(ensure_object(spec, "template"), "spec"), false);
  if (const json::object* labels = find_object(spec, {"template", "metadata", "labels"})) {
    const json::object copy = *labels;
    set_default(spec, "selector", copy);
  }
  take_template_labels(o);
  set_default(ensure_object(o, "status"), "replicas", 0);
}

void default_autoscaler(json::object& o) {
  json::object& spec = ensure_object(o, "spec");
  set_default(spec, "minReplicas", 1);
  const json::value* metrics = spec.if_contains("metrics");
  if (!metrics || !metrics->is_array() || metrics->get_array().empty()) {
    json::object target{{"type", "Utilization"}, {"averageUtilization", 80}};
    json::object resource{{"name", "cpu"}};
    resource["target"] = std::move(target);
    json::object metric{{"type", "Resource"}};
    metric["resource"] = std::move(resource);
    json::array all;
    all.push_back(std::move(metric));
    spec["metrics"] = std::move(all);
  }
  json::object& status = ensure_object(o, "status");
  set_default(status, "desiredReplicas", 0);
  set_default(status, "currentMetrics", nullptr);
}

void default_network_policy(json::object& o) {
  json::object& spec = ensure_object(o, "spec");
  if (spec.contains("policyTypes")) return;
  json::array types{"Ingress"};
  const json::array* out = find_array(spec, {"egress"});
  if (out && !out->empty()) types.push_back("Egress");
  spec["policyTypes"] = std::move(types);
}

void default_admission_policy(json::object& o) {
  json::object& spec = ensure_object(o, "spec");
  set_default(spec, "failurePolicy", "Fail");
  json::value* matched = spec.if_contains("matchConstraints");
  if (!matched || !matched->is_object()) return;
  json::object& constraints = matched->get_object();
  set_default(constraints, "matchPolicy", "Equivalent");
  set_default(constraints, "namespaceSelector", json::object());
  set_default(constraints, "objectSelector", json::object());
  json::value* rules = constraints.if_contains("resourceRules");
  if (!rules || !rules->is_array()) return;
  for (json::value& rule : rules->get_array())
    if (rule.is_object()) set_default(rule.get_object(), "scope", "*");
}

/// Its Go type leaves none of these off the wire.
void default_node_status(json::object& status) {
  json::object& kubelet =
      ensure_object(ensure_object(status, "daemonEndpoints"), "kubeletEndpoint");
  set_default(kubelet, "Port", 0);
  json::object& info = ensure_object(status, "nodeInfo");
  for (const char* f :
       {"machineID", "systemUUID", "bootID", "kernelVersion", "osImage", "containerRuntimeVersion",
        "kubeletVersion", "kubeProxyVersion", "operatingSystem", "architecture"})
    set_default(info, f, "");
}

}  // namespace

void set_defaults(const kind_info& kind, json::object& o) {
  if (kind.custom) return;
  if (kind.kind == "Pod") {
    default_pod_spec(ensure_object(o, "spec"), true);
    json::object& status = ensure_object(o, "status");
    set_default(status, "phase", "Pending");
    set_default(status, "qosClass", "BestEffort");
  } else if (kind.kind == "Namespace") {
    json::object& labels = ensure_object(ensure_object(o, "metadata"), "labels");
    labels["kubernetes.io/metadata.name"] = text(o, {"metadata", "name"});
    set_default(ensure_object(o, "status"), "phase", "Active");
  } else if (kind.kind == "Secret") {
    fold_string_data(o);
    set_default(o, "type", "Opaque");
  } else if (kind.group == "apps" && kind.kind != "ControllerRevision") {
    default_workload(kind, o);
  } else if (kind.kind == "Service") {
    default_service(o);
  } else if (kind.kind == "Job") {
    default_job(o);
  } else if (kind.kind == "CronJob") {
    default_cron_job(o);
  } else if (kind.kind == "ReplicationController") {
    default_replication_controller(o);
  } else if (kind.kind == "PersistentVolumeClaim") {
    set_default(ensure_object(o, "spec"), "volumeMode", "Filesystem");
    set_default(ensure_object(o, "status"), "phase", "Pending");
  } else if (kind.kind == "HorizontalPodAutoscaler") {
    default_autoscaler(o);
  } else if (kind.kind == "NetworkPolicy") {
    default_network_policy(o);
  } else if (kind.kind == "ValidatingAdmissionPolicy") {
    default_admission_policy(o);
  } else if (kind.kind == "Ingress") {
    ensure_object(ensure_object(o, "status"), "loadBalancer");
  } else if (kind.kind == "Node") {
    ensure_object(o, "spec");
    default_node_status(ensure_object(o, "status"));
  } else if (kind.kind == "PodDisruptionBudget") {
    json::object& status = ensure_object(o, "status");
    for (const char* f :
         {"disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"}) {
      set_default(status, f, 0);
    }
  }
}

void prepare_for_create(const kind_info& kind, json::object& o) {
  if (kind.kind == "Namespace" && !kind.custom) {
    o["status"] = json::object{{"phase", "Active"}};
    ensure_object(o, "spec")["finalizers"] = json::array{"kubernetes"};
    return;
  }
  // A Node brings its status along, as the kubelet registers it; everything else begins without
  // one.
  if (kind.status_subresource && !(kind.kind == "Node" && !kind.custom)) erase(o, "status");
}

}  // namespace k8s::sim
