#include "bootc/pool/event_filter.hpp"

#include "app/api/target_history.hpp"
#include "bootc/kinds/names.hpp"
#include "bootc/pool/events/hold_note.hpp"

#include <algorithm>
#include <array>

namespace bootc {
namespace {

bool is_note(std::string_view annotation) noexcept {
  constexpr std::array notes = {names::last_observed_state, names::hold,
                                names::hold_reason,         names::hold_since,
                                names::hold_released_by,    units::history_annotation};
  return std::ranges::find(notes, annotation) != notes.end();
}

}  // namespace

bool same_but_notes(const k8s::string_map& a, const k8s::string_map& b) {
  const auto next = [](const k8s::string_map::member* at, const k8s::string_map& of) {
    return std::find_if(at, of.end(), [](const auto& m) { return !is_note(m.first.view()); });
  };
  auto x = next(a.begin(), a);
  auto y = next(b.begin(), b);
  for (; x != a.end() && y != b.end(); x = next(x + 1, a), y = next(y + 1, b))
    if (*x != *y) return false;
  return x == a.end() && y == b.end();
}

namespace {

/// What a plan does not go on from.
node_pool_status without_what_is_shown(node_pool_status s) {
  s.deployed_digest.clear();
  s.update_available = false;
  s.node_count = s.updated_count = s.updating_count = s.degraded_count = 0;
  s.held.clear();
  s.next_tag_resolution_time.clear();
  s.conditions.clear();
  return s;
}

}  // namespace

bool is_news(const bootc_node& before, const bootc_node& now) {
  if (before.spec != now.spec || before.status != now.status) return true;
  k8s::object_meta meta = before.meta;
  meta.annotations = now.meta.annotations;
  return !(meta == now.meta) || !same_but_notes(before.meta.annotations, now.meta.annotations);
}

bool is_news(const k8s::node& before, const k8s::node& now) {
  return !(before.meta.labels == now.meta.labels) || before.ready != now.ready ||
         before.unschedulable != now.unschedulable || !(before.boot_id == now.boot_id) ||
         !(before.kubelet_version == now.kubelet_version) ||
         !(before.kube_proxy_version == now.kube_proxy_version) ||
         before.meta.deleting() != now.meta.deleting();
}

bool is_news(const node_pool& before, const node_pool& now, const node_pool_status& written) {
  k8s::object_meta meta = before.meta;
  meta.annotations = now.meta.annotations;
  return now.status != written || !(meta == now.meta) ||
         !same_but_notes(before.meta.annotations, now.meta.annotations) ||
         before.spec != now.spec ||
         without_what_is_shown(before.status) != without_what_is_shown(now.status);
}

}  // namespace bootc
