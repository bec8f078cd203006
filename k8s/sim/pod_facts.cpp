#include "k8s/sim/pod_facts.hpp"

#include <algorithm>

namespace k8s::sim {

bool is_terminal(const json::object& pod) {
  std::string_view phase = text(pod, {"status", "phase"});
  return phase == "Succeeded" || phase == "Failed";
}

bool is_ready(const json::object& pod) {
  const json::array* conditions = find_array(pod, {"status", "conditions"});
  if (!conditions) return false;
  return std::any_of(conditions->begin(), conditions->end(), [](const json::value& c) {
    return c.is_object() && text(c.get_object(), {"type"}) == "Ready" &&
           text(c.get_object(), {"status"}) == "True";
  });
}

const std::shared_ptr<const pod_facts>& facts_of(const version& pod) {
  if (pod.pod) return pod.pod;
  const auto seen = pod.look();
  const json::object& o = *seen;
  auto facts = std::make_shared<pod_facts>();
  facts->is_terminal = is_terminal(o);
  facts->is_ready = is_ready(o);
  facts->is_ending = pod.is_ending;
  facts->name = text(o, {"metadata", "name"});
  if (const json::object* labels = find_object(o, {"metadata", "labels"})) facts->labels = *labels;
  if (const json::array* owners = find_array(o, {"metadata", "ownerReferences"})) {
    for (const json::value& r : *owners) {
      if (!r.is_object() || !flag(r.get_object(), {"controller"})) continue;
      const json::object& ref = r.get_object();
      facts->controllers.push_back({std::string(text(ref, {"apiVersion"})),
                                    std::string(text(ref, {"kind"})),
                                    std::string(text(ref, {"name"}))});
    }
  }
  pod.pod = std::move(facts);
  return pod.pod;
}

}  // namespace k8s::sim
