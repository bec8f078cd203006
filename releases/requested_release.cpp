#include "releases/requested_release.hpp"

namespace releases {

requested_release requested_release_of(const k8s::string_map& labels, const cluster_labels& read,
                                       const library& books) {
  requested_release w;
  const std::string value(labels.get(read.release));
  w.provider = labels.get(read.provider);
  if (const auto named = books.find(value); named && !named->provider.empty()) {
    if (!w.provider.empty() && w.provider != named->provider)
      w.problem = "label " + read.release + " says " + value + ", and label " + read.provider +
                  " says " + w.provider;
    w.provider = named->provider;
    w.version = named->version;
    return w;
  }
  if (value.empty()) return w;
  const bool has_v =
      value.starts_with('v') && value.size() > 1 && value[1] >= '0' && value[1] <= '9';
  w.version = has_v ? value.substr(1) : value;
  if (!w.provider.empty()) {
    const std::string before = w.provider + "-";
    if (w.version.starts_with(before)) w.version = w.version.substr(before.size());
    return w;
  }
  const std::vector<std::string> providers = books.providers_of(w.version);
  if (providers.size() == 1) {
    w.provider = providers.front();
  } else if (providers.empty()) {
    w.problem =
        "no Release at home is " + value + ", as label " + read.release + " of the cluster says";
  } else {
    w.problem = value + " is a Release of " + providers[0] + " and of " + providers[1] +
                "; label " + read.provider + " of the cluster would say which";
  }
  return w;
}

}  // namespace releases
