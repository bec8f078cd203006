#!/usr/bin/env python3
"""Writes k8s/types/type_table.cpp: the fields of the built-in kinds that the embedded API server serves and packs
compose, with their types, from api/openapi-spec/v3 of a checkout of Kubernetes.

    k8s/types/make_table.py KUBERNETES > k8s/types/type_table.cpp
"""
import json
import pathlib
import sys
import textwrap

KINDS = {
    "v1": "ConfigMap Event Namespace Node PersistentVolume PersistentVolumeClaim Pod ReplicationController Secret "
          "ServiceAccount Service",
    "admissionregistration.k8s.io/v1": "ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding",
    "apiextensions.k8s.io/v1": "CustomResourceDefinition",
    "apps/v1": "ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet",
    "authorization.k8s.io/v1": "SelfSubjectAccessReview",
    "autoscaling/v2": "HorizontalPodAutoscaler",
    "batch/v1": "CronJob Job",
    "coordination.k8s.io/v1": "Lease",
    "events.k8s.io/v1": "Event",
    "networking.k8s.io/v1": "Ingress NetworkPolicy",
    "policy/v1": "PodDisruptionBudget",
    "rbac.authorization.k8s.io/v1": "ClusterRole ClusterRoleBinding Role RoleBinding",
}
# Types that read their JSON themselves.
OWN = {"Quantity": "q", "IntOrString": "x", "Time": "t", "MicroTime": "u", "FieldsV1": "a", "RawExtension": "a"}
# What validation takes for a text: no type says so.
WORDS = {
    "ServiceSpec.type": "ClusterIP ExternalName LoadBalancer NodePort",
    "ServiceSpec.sessionAffinity": "ClientIP None",
    "ServicePort.protocol": "SCTP TCP UDP",
    "ContainerPort.protocol": "SCTP TCP UDP",
    "NetworkPolicyPort.protocol": "SCTP TCP UDP",
    "NetworkPolicySpec.policyTypes": "Egress Ingress",
    "Container.imagePullPolicy": "Always IfNotPresent Never",
    "HTTPGetAction.scheme": "HTTP HTTPS",
    "DeploymentStrategy.type": "Recreate RollingUpdate",
    "PersistentVolumeClaimSpec.accessModes": "ReadOnlyMany ReadWriteMany ReadWriteOnce ReadWriteOncePod",
    "PodDisruptionBudgetSpec.unhealthyPodEvictionPolicy": "AlwaysAllow IfHealthyBudget",
    "CronJobSpec.concurrencyPolicy": "Allow Forbid Replace",
}


def main(source):
    schemas, kinds = {}, {}
    for path in sorted((pathlib.Path(source) / "api/openapi-spec/v3").glob("*.json")):
        for name, schema in json.loads(path.read_text()).get("components", {}).get("schemas", {}).items():
            schemas[name] = schema
            for gvk in schema.get("x-kubernetes-group-version-kind", []):
                group = gvk["group"] + "/" if gvk["group"] else ""
                kinds.setdefault((group + gvk["version"], gvk["kind"]), name)

    names, taken, todo, lines = {}, set(), [], {}

    def short(full):
        if full in names:
            return names[full]
        version, name = full.split(".")[-2:]
        made = name if version == "v1" else name + "@" + version
        while made in taken:
            made += "'"
        taken.add(made)
        names[full] = made
        todo.append(full)
        return made

    def of(p):
        ref = p.get("$ref") or next((a["$ref"] for a in p.get("allOf", []) if "$ref" in a), None)
        if ref:
            full = ref.split("/")[-1]
            own = OWN.get(full.split(".")[-1])
            if own:
                return own
            target = schemas[full]
            return short(full) if "properties" in target else of(target)
        kind, form = p.get("type"), p.get("format")
        if form == "int-or-string":
            return "x"
        if kind == "array":
            keys = p.get("x-kubernetes-list-map-keys")
            return "[" + of(p["items"]) + ("(" + ",".join(keys) + ")" if keys else "")
        if kind == "object":
            extra = p.get("additionalProperties")
            return "%" + of(extra) if isinstance(extra, dict) else "a"
        if kind == "string":
            return "y" if form == "byte" else "t" if form == "date-time" else "s"
        if kind == "integer":
            return "l" if form == "int64" else "i"
        return {"number": "f", "boolean": "b"}.get(kind, "a")

    served = []
    for version, words in KINDS.items():
        served.append(version + " " + " ".join(
            k if (made := short(kinds[(version, k)])) == k else k + "=" + made for k in words.split()))
    while todo:
        full = todo.pop(0)
        fields = []
        for name, p in sorted(schemas[full]["properties"].items()):
            made = name + ":" + of(p)
            words = WORDS.get(full.split(".")[-1] + "." + name)
            fields.append(made + ("{" + "|".join(words.split()) + "}" if words else ""))
        lines[names[full]] = names[full] + " " + " ".join(fields)

    def wrapped(all_lines):
        return "\n".join(textwrap.fill(line, 100, subsequent_indent="  ", break_long_words=False,
                                       break_on_hyphens=False) for line in all_lines)

    print(f'''// Longer than other files because it is a table, made by make_table.py beside it from the OpenAPI
// of Kubernetes: nothing in it is decided here.
#include "k8s/types/object_type.hpp"

namespace k8s::type_tables {{

// Per group version its kinds; "=" where the type has another name.
const std::string_view kinds = R"table(
{wrapped(served)}
)table";

// Per type its fields: s text, i int32, l int64, f number, b flag, y bytes, t time, u time with
// microseconds, q quantity, x integer or text, a anything, [ a list of (with its keys), % a map of,
// else a type; in braces the words that validation takes.
const std::string_view types = R"table(
{wrapped(lines[name] for name in sorted(lines))}
)table";

}}  // namespace k8s::type_tables''')


main(sys.argv[1])
