#include "k8s/views/daemon_set.hpp"

namespace k8s {

daemon_set daemon_set::parse(wire_value object) {
  daemon_set d;
  d.meta = parse_meta(object);
  const wire_value status = object["status"];
  d.observed_generation = status["observedGeneration"].integer();
  d.desired = static_cast<std::int32_t>(status["desiredNumberScheduled"].integer());
  d.ready = static_cast<std::int32_t>(status["numberReady"].integer());
  d.updated = static_cast<std::int32_t>(status["updatedNumberScheduled"].integer());
  d.available = static_cast<std::int32_t>(status["numberAvailable"].integer());
  return d;
}

}  // namespace k8s
