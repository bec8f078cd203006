#include "helm/placed/plan/availability.hpp"

#include "formats/plain/listed.hpp"
#include "helm/placed/plan/drift.hpp"

namespace helm::placed {

availability judge(const std::vector<workload_facts>& all) {
  std::vector<std::string> lacking;
  for (const workload_facts& w : all)
    if (w.available < w.wanted)
      lacking.push_back(w.kind + "/" + w.name + " (" + std::to_string(w.available) + "/" +
                        std::to_string(w.wanted) + " available)");
  return {lacking.empty(), formats::listed(lacking, most_named)};
}

availability not_listed(const std::string& cause) {
  return {false, "list-error:" + cause};
}

}  // namespace helm::placed
