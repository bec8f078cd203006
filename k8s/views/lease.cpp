#include "k8s/views/lease.hpp"

namespace k8s {

static reactor::wall_time parse_time(wire_value object, std::string_view name) {
  const std::string_view text = object["spec"][name].text();
  if (text.empty()) return {};
  const auto when = reactor::parse_rfc3339(text);
  if (when) return *when;
  object.refuse(std::string(name) + " of a lease is not a time");
  return {};
}

lease lease::parse(wire_value object) {
  lease l;
  l.meta = parse_meta(object);
  const wire_value spec = object["spec"];
  l.holder = spec["holderIdentity"].text();
  l.duration_seconds = static_cast<std::int32_t>(spec["leaseDurationSeconds"].integer());
  l.transitions = static_cast<std::int32_t>(spec["leaseTransitions"].integer());
  l.acquired = parse_time(object, "acquireTime");
  l.renewed = parse_time(object, "renewTime");
  return l;
}

}  // namespace k8s
