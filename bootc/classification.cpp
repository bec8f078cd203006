#include "bootc/classification.hpp"

#include "bootc/image_ref.hpp"

namespace bootc {

std::string_view text(unit_state s) noexcept {
  switch (s) {
    case unit_state::up_to_date: return "UpToDate";
    case unit_state::pending: return "Pending";
    case unit_state::staging: return "Staging";
    case unit_state::staged: return "Staged";
    case unit_state::rebooting: return "Rebooting";
    case unit_state::degraded: return "Degraded";
    case unit_state::unclassified: break;
  }
  return "Unclassified";
}

unit_state classify(const bootc_node& node) {
  const auto& status = node.status;
  const condition* degraded = find_condition(status.conditions, node_condition::degraded);
  if (degraded && degraded->is_true()) return unit_state::degraded;
  if (!status.booted) return unit_state::pending;
  const auto desired = parse_image_ref(node.spec.desired_image);
  if (!desired || desired->digest.empty()) return unit_state::unclassified;
  if (is_image(*status.booted, desired->digest)) return unit_state::up_to_date;
  const condition* idle = find_condition(status.conditions, node_condition::idle);
  if (idle && idle->status == "False") {
    if (idle->reason == node_reason::staging) return unit_state::staging;
    if (idle->reason == node_reason::staged)
      return status.staged && is_image(*status.staged, desired->digest) ? unit_state::staged
                                                                        : unit_state::staging;
    if (idle->reason == node_reason::rebooting) return unit_state::rebooting;
  }
  return unit_state::pending;
}

void census::add(unit_state s) noexcept {
  switch (s) {
    case unit_state::up_to_date: ++up_to_date; break;
    case unit_state::pending: ++pending; break;
    case unit_state::staging: ++staging; break;
    case unit_state::staged: ++staged; break;
    case unit_state::rebooting: ++rebooting; break;
    case unit_state::degraded: ++degraded; break;
    case unit_state::unclassified: ++unclassified; break;
  }
}

std::size_t census::node_count() const noexcept {
  return up_to_date + pending + staging + staged + rebooting + degraded + unclassified;
}

}  // namespace bootc
