#include "fleetwide/kinds/choice.hpp"

#include <algorithm>

namespace fleetwide {

cluster_choice cluster_choice::parse(k8s::wire_value v) {
  cluster_choice out;
  const auto [selector, names] = v.fields("selector", "names");
  if (auto read = k8s::label_selector::parse(selector))
    out.selector = std::move(*read);
  else
    out.problem = "spec.clusters.selector: " + read.error();
  names.elements([&](k8s::wire_value name) { out.names.emplace_back(name.text()); });
  std::ranges::sort(out.names);
  if (!selector.present() && out.names.empty())
    out.problem =
        "spec.clusters has neither a selector nor names; {selector: {}} selects every cluster";
  return out;
}

bool cluster_choice::has_name(std::string_view cluster) const {
  return std::ranges::binary_search(names, cluster);
}

bool cluster_choice::chooses(std::string_view cluster, const k8s::string_map& labels) const {
  return has_name(cluster) || selector.matches(labels);
}

}  // namespace fleetwide
