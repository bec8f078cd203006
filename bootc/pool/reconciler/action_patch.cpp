#include "bootc/pool/reconciler/action_patch.hpp"

#include "app/api/override_order.hpp"
#include "bootc/kinds/names.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

namespace bootc {
namespace {

namespace json = boost::json;

json::value write_secret(const std::optional<secret_ref>& ref) {
  if (!ref) return nullptr;
  return json::object{{"name", ref->name}, {"namespace", ref->ns}};
}

/// Nothing that was noted about drains and reboots of the former image.
void forget_attempts(json::object& annotations) {
  for (const auto key : {names::drain_retry_at, names::drain_timeouts, names::approved_at,
                         names::approved_boot_id, names::reboot_policy})
    annotations[key] = nullptr;
}

void leave_slot(json::object& annotations) {
  annotations[names::in_reboot_slot] = nullptr;
  annotations[names::was_cordoned] = nullptr;
  annotations[names::slot] = nullptr;
  annotations[names::owns_do_not_repair] = nullptr;
  annotations[names::owns_do_not_disrupt] = nullptr;
  annotations[names::drain_within] = nullptr;
}

/// How it stages, for a daemon that may not read pools; and since when it is to run this image.
void ask_for(json::object& annotations, const action& a) {
  annotations[names::stage] =
      a.staging == staging_mode::locked ? json::value(nullptr) : json::value(text(a.staging));
  if (a.retarget) annotations[names::desired_since] = reactor::format_rfc3339(a.at);
}

}  // namespace

json::object new_bootc_node(const node_pool& pool, const action& a) {
  json::object owner{{"apiVersion", names::api_version},
                     {"kind", "BootcNodePool"},
                     {"name", pool.meta.name.view()},
                     {"uid", pool.meta.uid.text()},
                     {"controller", true},
                     {"blockOwnerDeletion", true}};
  json::array owners;
  owners.push_back(std::move(owner));
  json::object spec{{"desiredImage", a.spec.desired_image},
                    {"desiredImageState", text(a.spec.desired_state)}};
  if (a.spec.pull_secret) spec["pullSecretRef"] = write_secret(a.spec.pull_secret);
  if (!a.spec.pull_secret_hash.empty()) spec["pullSecretHash"] = a.spec.pull_secret_hash;
  json::object annotations;
  ask_for(annotations, a);
  if (a.staging == staging_mode::locked) annotations.erase(names::stage);
  json::object metadata{{"name", a.node}};
  metadata["ownerReferences"] = std::move(owners);
  if (!annotations.empty()) metadata["annotations"] = std::move(annotations);
  json::object body{{"apiVersion", names::api_version}, {"kind", "BootcNode"}};
  body["metadata"] = std::move(metadata);
  body["spec"] = std::move(spec);
  return body;
}

json::object bootc_node_patch(const action& a) {
  json::object annotations, spec;
  switch (a.kind) {
    case action_kind::sync_spec:
      spec["desiredImage"] = a.spec.desired_image;
      spec["desiredImageState"] = text(a.spec.desired_state);
      spec["pullSecretRef"] = write_secret(a.spec.pull_secret);
      spec["pullSecretHash"] = a.spec.pull_secret_hash.empty()
                                   ? json::value(nullptr)
                                   : json::value(a.spec.pull_secret_hash);
      if (a.retarget) forget_attempts(annotations);
      ask_for(annotations, a);
      // An approval is withdrawn with it, whatever else changes.
      if (a.spec.desired_state == image_state::staged)
        annotations[names::slot] = a.slotted ? json::value("held") : json::value(nullptr);
      break;
    case action_kind::take_slot:
      annotations[names::in_reboot_slot] = "";
      annotations[names::was_cordoned] = a.was_cordoned ? "true" : "false";
      if (a.shield.do_not_repair) annotations[names::owns_do_not_repair] = "true";
      if (a.shield.do_not_disrupt) annotations[names::owns_do_not_disrupt] = "true";
      annotations[names::drain_retry_at] = nullptr;
      annotations[names::slot] = "held";
      annotations[names::drain_within] =
          a.timeout.count() > 0
              ? json::value(std::to_string(
                    std::chrono::duration_cast<std::chrono::seconds>(a.timeout).count()))
              : json::value(nullptr);
      break;
    case action_kind::free_slot:
      leave_slot(annotations);
      forget_attempts(annotations);
      spec["desiredImageState"] = "Staged";
      break;
    case action_kind::note_drain_timeout:
      leave_slot(annotations);
      annotations[names::drain_retry_at] = reactor::format_rfc3339(a.at);
      annotations[names::drain_timeouts] = std::to_string(a.timeouts);
      spec["desiredImageState"] = "Staged";
      break;
    case action_kind::approve:
      annotations[names::approved_at] = reactor::format_rfc3339(a.at);
      annotations[names::approved_boot_id] = a.boot_id;
      annotations[names::reboot_policy] =
          a.soft_reboot ? json::value("AllowSoftReboot") : json::value(nullptr);
      annotations[names::drain_timeouts] = nullptr;
      annotations[names::slot] = "booting";
      spec["desiredImageState"] = "Booted";
      break;
    case action_kind::note_approval:
      annotations[names::approved_at] = reactor::format_rfc3339(a.at);
      break;
    default: break;
  }
  json::object metadata{{"resourceVersion", a.resource_version}};
  if (!annotations.empty()) metadata["annotations"] = std::move(annotations);
  json::object patch;
  patch["metadata"] = std::move(metadata);
  if (!spec.empty()) patch["spec"] = std::move(spec);
  return patch;
}

json::object node_patch(const action& a) {
  json::object metadata{{"resourceVersion", a.resource_version}}, patch;
  if (a.kind == action_kind::label || a.kind == action_kind::unlabel) {
    json::object labels;
    labels[names::managed] = a.kind == action_kind::label ? json::value("") : json::value(nullptr);
    metadata["labels"] = std::move(labels);
  } else if (a.kind == action_kind::shield || a.kind == action_kind::unshield) {
    const json::value wanted = a.kind == action_kind::shield ? json::value("true") : json::value();
    json::object annotations;
    if (a.shield.do_not_repair) annotations[names::do_not_repair] = wanted;
    if (a.shield.do_not_disrupt) annotations[names::do_not_disrupt] = wanted;
    metadata["annotations"] = std::move(annotations);
  } else {
    json::object spec;
    spec["unschedulable"] =
        a.kind == action_kind::cordon ? json::value(true) : json::value(nullptr);
    patch["spec"] = std::move(spec);
  }
  patch["metadata"] = std::move(metadata);
  return patch;
}

namespace {

json::array finalizers_of_others(const node_pool& pool) {
  json::array out;
  for (const auto& f : pool.meta.finalizers)
    if (!(f == names::pool_cleanup)) out.emplace_back(f.view());
  return out;
}

json::object finalizers_patch(const node_pool& pool, json::array finalizers) {
  json::object metadata{{"resourceVersion", pool.meta.resource_version.text()}};
  metadata["finalizers"] = std::move(finalizers);
  json::object patch;
  patch["metadata"] = std::move(metadata);
  return patch;
}

}  // namespace

json::object add_finalizer_patch(const node_pool& pool) {
  json::array finalizers = finalizers_of_others(pool);
  finalizers.emplace_back(names::pool_cleanup);
  return finalizers_patch(pool, std::move(finalizers));
}

json::object remove_finalizer_patch(const node_pool& pool) {
  return finalizers_patch(pool, finalizers_of_others(pool));
}

json::object end_override_patch(const node_pool& pool) {
  json::object metadata{{"resourceVersion", pool.meta.resource_version.text()}};
  metadata["annotations"] = json::object{{units::override_annotation, nullptr}};
  json::object patch;
  patch["metadata"] = std::move(metadata);
  return patch;
}

}  // namespace bootc
