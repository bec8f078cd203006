#include "k8s/sim/objects/cells.hpp"

namespace k8s::sim {

namespace {

constexpr std::string_view kName =
    "Name must be unique within a namespace. Is required when creating resources, although some "
    "resources may allow a "
    "client to request the generation of an appropriate name automatically.";
constexpr std::string_view kAge =
    "CreationTimestamp is a timestamp representing the server time when this object was created.";

column text_column(std::string name, std::string description, int priority = 0) {
  return {std::move(name), "string", "", std::move(description), priority, ""};
}
column number_column(std::string name, std::string description) {
  return {std::move(name), "integer", "", std::move(description), 0, ""};
}
column name_column() {
  return {"Name", "string", "name", std::string(kName), 0, ""};
}
column age_column() {
  return text_column("Age", std::string(kAge));
}

}  // namespace

std::vector<column> columns_of(std::string_view group, std::string_view kind) {
  if (kind == "Node") {
    return {
        name_column(),
        text_column("Status", "The status of the node"),
        text_column("Roles", "The roles of the node"),
        age_column(),
        text_column("Version", "Kubelet Version reported by the node."),
        text_column("Internal-IP", "List of addresses reachable to the node.", 1),
        text_column("External-IP", "List of addresses reachable to the node.", 1),
        text_column("OS-Image", "OS Image reported by the node from /etc/os-release.", 1),
        text_column("Kernel-Version", "Kernel Version reported by the node from 'uname -r'.", 1),
        text_column("Container-Runtime", "ContainerRuntime Version reported by the node.", 1)};
  }
  if (kind == "Pod") {
    return {
        name_column(),
        text_column("Ready", "The aggregate readiness state of this pod for accepting traffic."),
        text_column("Status", "The aggregate status of the containers in this pod."),
        text_column("Restarts",
                    "The number of times the containers in this pod have been restarted."),
        age_column(),
        text_column("IP", "podIP address allocated to the pod.", 1),
        text_column("Node", "NodeName indicates in which node this pod is scheduled.", 1),
        text_column("Nominated Node",
                    "nominatedNodeName is set only when this pod preempts other pods.", 1),
        text_column("Readiness Gates",
                    "If specified, all readiness gates will be evaluated for pod readiness.", 1)};
  }
  if (kind == "Namespace")
    return {name_column(), text_column("Status", "The status of the namespace"), age_column()};
  if (kind == "Secret") {
    return {name_column(),
            text_column("Type", "Used to facilitate programmatic handling of secret data."),
            text_column("Data", "Data contains the secret data."), age_column()};
  }
  if (kind == "ConfigMap")
    return {name_column(), text_column("Data", "Data contains the configuration data."),
            age_column()};
  if (kind == "Event") {
    return {
        text_column("Last Seen",
                    "The time at which the most recent occurrence of this event was recorded."),
        text_column("Type",
                    "Type of this event (Normal, Warning), new types could be added in the future"),
        text_column("Reason",
                    "This should be a short, machine understandable string that gives the reason."),
        text_column("Object", "The object that this event is about."),
        text_column("Subobject",
                    "If referring to a piece of an object instead of an entire object.", 1),
        text_column("Source", "The component reporting this event.", 1),
        text_column("Message", "A human-readable description of the status of this operation."),
        text_column("First Seen", "The time at which the event was first recorded.", 1),
        text_column("Count", "The number of times this event has occurred.", 1),
        {"Name", "string", "name", std::string(kName), 1, ""}};
  }
  if (kind == "Lease") {
    return {name_column(),
            text_column("Holder",
                        "holderIdentity contains the identity of the holder of a current lease."),
            age_column()};
  }
  if (kind == "DaemonSet") {
    return {
        name_column(),
        number_column("Desired",
                      "The total number of nodes that should be running the daemon pod."),
        number_column("Current", "The number of nodes that are running at least 1 daemon pod."),
        number_column("Ready", "The number of nodes that run a ready daemon pod."),
        number_column("Up-to-date",
                      "The total number of nodes that are running updated daemon pods."),
        number_column("Available", "The number of nodes that have an available daemon pod."),
        text_column("Node Selector",
                    "NodeSelector is a selector which must be true for the pod to fit on a node."),
        age_column(),
        text_column("Containers", "Names of each container in the template.", 1),
        text_column("Images", "Images referenced by each container in the template.", 1),
        text_column("Selector", "A label query over pods that are managed by the daemon set.", 1)};
  }
  if (kind == "Deployment") {
    return {name_column(),
            text_column("Ready", "Number of the pod with ready state"),
            text_column("Up-to-date",
                        "Total number of non-terminating pods that have the desired template."),
            text_column("Available", "Total number of available non-terminating pods."),
            age_column(),
            text_column("Containers", "Names of each container in the template.", 1),
            text_column("Images", "Images referenced by each container in the template.", 1),
            text_column("Selector", "Label selector for pods.", 1)};
  }
  if (kind == "ReplicaSet") {
    return {
        name_column(),
        number_column("Desired", "Replicas is the number of desired pods."),
        number_column("Current",
                      "Replicas is the most recently observed number of non-terminating pods."),
        number_column("Ready", "The number of non-terminating pods with a Ready condition."),
        age_column(),
        text_column("Containers", "Names of each container in the template.", 1),
        text_column("Images", "Images referenced by each container in the template.", 1),
        text_column("Selector",
                    "Selector is a label query over pods that should match the replica count.", 1)};
  }
  if (kind == "StatefulSet") {
    return {name_column(), text_column("Ready", "Number of the pod with ready state"), age_column(),
            text_column("Containers", "Names of each container in the template.", 1),
            text_column("Images", "Images referenced by each container in the template.", 1)};
  }
  if (kind == "ControllerRevision") {
    return {name_column(), text_column("Controller", "Controller of the object"),
            text_column("Revision",
                        "Revision indicates the revision of the state represented by Data."),
            age_column()};
  }
  if (kind == "Service") {
    return {
        name_column(),
        text_column("Type", "type determines how the Service is exposed."),
        text_column("Cluster-IP", "clusterIP is the IP address of the service."),
        text_column("External-IP",
                    "externalIPs is a list of IP addresses for which nodes also accept traffic."),
        text_column("Port(s)", "The list of ports that are exposed by this service."),
        age_column(),
        text_column("Selector", "Route service traffic to pods with matching labels.", 1)};
  }
  if (kind == "PodDisruptionBudget") {
    return {name_column(),
            text_column("Min Available", "The minimum number of pods that must be available."),
            text_column("Max Unavailable", "The maximum number of pods that may be unavailable."),
            number_column("Allowed Disruptions",
                          "Calculated number of pods that may be disrupted at this time."),
            age_column()};
  }
  if (kind == "CustomResourceDefinition" && group == "apiextensions.k8s.io") {
    return {name_column(), {"Created At", "date", "", std::string(kAge), 0, ""}};
  }
  return {name_column(), age_column()};
}

}  // namespace k8s::sim
