#include "k8s/views/pod_disruption_budget.hpp"

namespace k8s {

pod_disruption_budget pod_disruption_budget::parse(wire_value object) {
  pod_disruption_budget b;
  b.meta = parse_meta(object);
  auto selector = label_selector::parse(object["spec"]["selector"]);
  if (selector)
    b.selector = std::move(*selector);
  else
    object.refuse("selector of budget " + b.meta.name.str() + ": " + selector.error());
  const wire_value status = object["status"];
  b.observed_generation = status["observedGeneration"].integer();
  b.disruptions_allowed = static_cast<std::int32_t>(status["disruptionsAllowed"].integer());
  b.current_healthy = static_cast<std::int32_t>(status["currentHealthy"].integer());
  b.desired_healthy = static_cast<std::int32_t>(status["desiredHealthy"].integer());
  b.expected_pods = static_cast<std::int32_t>(status["expectedPods"].integer());
  return b;
}

}  // namespace k8s
