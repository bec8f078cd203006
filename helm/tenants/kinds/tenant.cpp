#include "helm/tenants/kinds/tenant.hpp"

#include "helm/tenants/kinds/names.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

namespace helm::tenants {
namespace {

namespace json = boost::json;
using k8s::wire_kind;

const k8s::annotation_filter annotations_of_a_tenant{false, {"mesh.openkcm.io/", "windlass.dev/"}};

std::string_view word_for(wire_kind kind) noexcept {
  switch (kind) {
    case wire_kind::absent: return "absent";
    case wire_kind::null: return "null";
    case wire_kind::object: return "an object";
    case wire_kind::array: return "a list";
    case wire_kind::text: return "a text";
    case wire_kind::number: return "a number";
    case wire_kind::boolean: return "a boolean";
  }
  return "";
}

void note(std::string& problem, std::string_view path, std::string_view wanted, wire_kind is) {
  if (!problem.empty()) return;
  problem =
      std::string(path) + ": must be " + std::string(wanted) + ", is " + std::string(word_for(is));
}

}  // namespace

const k8s::resource& tenant_resource() {
  static const k8s::resource r{std::string(names::group), std::string(names::version), "tenants",
                               std::string(names::tenant_kind), true};
  return r;
}

std::string text_at(k8s::wire_value of, std::string_view key, std::string_view path,
                    std::string& problem) {
  if (of.kind() != wire_kind::object) return {};
  const k8s::wire_value v = of[key];
  if (!v.present()) return {};
  if (v.kind() == wire_kind::text) return std::string(v.text());
  note(problem, path, "a text", v.kind());
  return {};
}

k8s::wire_value object_at(k8s::wire_value of, std::string_view key, std::string_view path,
                          std::string& problem) {
  if (of.kind() != wire_kind::object) return {};
  const k8s::wire_value v = of[key];
  if (!v.present()) return {};
  if (v.kind() == wire_kind::object) return v;
  note(problem, path, "an object", v.kind());
  return {};
}

tenant_status parse_tenant_status(k8s::wire_value status) {
  tenant_status s;
  std::string ignored;  // nonsense there is written again
  s.phase = text_at(status, "phase", {}, ignored);
  s.last_message = text_at(status, "lastMessage", {}, ignored);
  s.last_applied_chart = text_at(status, "lastAppliedChart", {}, ignored);
  if (status.kind() != wire_kind::object) return s;
  if (const k8s::wire_value g = status["observedGeneration"]; g.kind() == wire_kind::number)
    s.observed_generation = g.integer();
  if (const k8s::wire_value c = status["conditions"]; c.kind() == wire_kind::array)
    s.conditions = k8s::parse_conditions(c);
  return s;
}

json::object status_patch(const tenant_status& from, const tenant_status& to,
                          std::string_view resource_version) {
  json::object status;
  const auto put = [&](const char* key, const std::string& before, const std::string& after) {
    if (before != after) status[key] = after.empty() ? json::value(nullptr) : json::value(after);
  };
  put("phase", from.phase, to.phase);
  put("lastMessage", from.last_message, to.last_message);
  put("lastAppliedChart", from.last_applied_chart, to.last_applied_chart);
  if (from.observed_generation != to.observed_generation)
    status["observedGeneration"] = to.observed_generation;
  if (from.conditions != to.conditions)
    status["conditions"] = k8s::conditions_to_json(to.conditions);
  if (status.empty()) return {};
  json::object meta, patch;
  meta["resourceVersion"] = resource_version;
  patch["metadata"] = std::move(meta);
  patch["status"] = std::move(status);
  return patch;
}

tenant tenant::parse(k8s::wire_value object) {
  tenant out;
  out.meta = k8s::parse_meta(object, annotations_of_a_tenant);
  std::string ignored;
  const std::string created =
      text_at(object["metadata"], "creationTimestamp", "metadata.creationTimestamp", ignored);
  if (auto at = reactor::parse_rfc3339(created)) out.created = *at;
  const auto spec = object_at(object, "spec", "spec", out.problem);
  const auto ref = object_at(spec, "clusterRef", "spec.clusterRef", out.problem);
  out.target.secret_name = text_at(ref, "secretName", "spec.clusterRef.secretName", out.problem);
  out.target.secret_ns =
      text_at(ref, "secretNamespace", "spec.clusterRef.secretNamespace", out.problem);
  out.workspace = text_at(spec, "workspace", "spec.workspace", out.problem);
  out.status = parse_tenant_status(object["status"]);
  return out;
}

std::string_view tenant::fingerprint(std::string_view cluster) const {
  return meta.annotations.get(names::fingerprint_annotation(cluster));
}

bool tenant::wants_no_uninstall() const {
  return meta.annotations.get(names::skip_uninstall) == "true";
}

std::string tenant::workload_namespace() const {
  const bool moves = !workspace.empty() && workspace != meta.name.view();
  const std::string_view chosen = meta.annotations.get(names::workspace);
  const bool there = chosen == workspace || (meta.deleting() && chosen.empty());
  return moves && there ? workspace : meta.name.str();
}

bool tenant::is_workspace_open() const {
  const std::string_view chosen = meta.annotations.get(names::workspace);
  return !workspace.empty() && workspace != meta.name.view() && chosen != workspace &&
         chosen != meta.name.view();
}

std::size_t tenant::heap_bytes() const noexcept {
  std::size_t total = meta.heap_bytes() + target.secret_name.capacity() +
                      target.secret_ns.capacity() + workspace.capacity() + problem.capacity() +
                      status.phase.capacity() + status.last_message.capacity() +
                      status.last_applied_chart.capacity() +
                      status.conditions.capacity() * sizeof(k8s::condition);
  for (const k8s::condition& c : status.conditions)
    total += c.type.capacity() + c.reason.capacity() + c.message.capacity() +
             c.last_transition_time.capacity();
  return total;
}

bool wakes(const tenant& before, const tenant& after) {
  return before.meta.uid != after.meta.uid || before.meta.generation != after.meta.generation ||
         before.meta.deletion_timestamp != after.meta.deletion_timestamp ||
         before.meta.annotations != after.meta.annotations ||
         before.meta.finalizers != after.meta.finalizers || before.target != after.target ||
         before.problem != after.problem;
}

}  // namespace helm::tenants
