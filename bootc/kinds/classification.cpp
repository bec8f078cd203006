#include "bootc/kinds/classification.hpp"

#include "registry/image_ref.hpp"

namespace bootc {

using registry::parse_image_ref;

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
  return classify(node.status, node.spec);
}

unit_state classify(const bootc_node_status& status, const bootc_node_spec& spec) {
  const auto desired = parse_image_ref(spec.desired_image);
  return classify(status, desired ? std::string_view(desired->digest) : std::string_view());
}

unit_state classify(const bootc_node_status& status, std::string_view desired_digest) {
  const condition* degraded = find_condition(status.conditions, node_condition::degraded);
  if (degraded && degraded->is_true()) return unit_state::degraded;
  if (!status.booted) return unit_state::pending;
  if (desired_digest.empty()) return unit_state::unclassified;
  if (is_image(*status.booted, desired_digest)) return unit_state::up_to_date;
  const condition* idle = find_condition(status.conditions, node_condition::idle);
  if (idle && idle->status == "False") {
    if (idle->reason == node_reason::staging) return unit_state::staging;
    if (idle->reason == node_reason::staged)
      return status.staged && is_image(*status.staged, desired_digest) ? unit_state::staged
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

std::map<std::string, std::size_t> by_state(const census& c) {
  std::map<std::string, std::size_t> out;
  const auto put = [&](unit_state s, std::size_t n) {
    if (n > 0 || s == unit_state::up_to_date) out.emplace(text(s), n);
  };
  put(unit_state::up_to_date, c.up_to_date);
  put(unit_state::pending, c.pending);
  put(unit_state::staging, c.staging);
  put(unit_state::staged, c.staged);
  put(unit_state::rebooting, c.rebooting);
  put(unit_state::degraded, c.degraded);
  put(unit_state::unclassified, c.unclassified);
  return out;
}

std::size_t census::node_count() const noexcept {
  return up_to_date + pending + staging + staged + rebooting + degraded + unclassified;
}

}  // namespace bootc
