#include "helm/placed/plan/drift.hpp"

#include "helm/objects/manifest_reader.hpp"

#include <algorithm>

namespace helm::placed {
namespace {

constexpr std::size_t most_named = 20;
constexpr double check_jitter = 0.1;

bool is_checked(std::string_view api_version, std::string_view kind) noexcept {
  using namespace std::string_view_literals;
  if (api_version == "v1")
    return kind == "ConfigMap"sv || kind == "Secret"sv || kind == "Service"sv ||
           kind == "ServiceAccount"sv;
  return api_version == "apps/v1" && (kind == "Deployment"sv || kind == "ReplicaSet"sv);
}

}  // namespace

std::vector<checked_object> checked_objects(std::span<const boost::json::object> documents,
                                            std::string_view workspace) {
  std::vector<checked_object> out;
  for (const boost::json::object& document : documents) {
    for (const boost::json::object& o : objects::flatten(document)) {
      checked_object one{objects::text_member(o, "apiVersion"), objects::text_member(o, "kind"),
                         objects::metadata_text(o, "namespace"), objects::metadata_text(o, "name")};
      if (!is_checked(one.api_version, one.kind) || one.name.empty()) continue;
      if (one.ns.empty()) one.ns = workspace;
      if (one.ns == workspace) out.push_back(std::move(one));
    }
  }
  return out;
}

std::string named(const std::vector<std::string>& missing) {
  std::string out;
  for (std::size_t i = 0; i < missing.size() && i < most_named; ++i)
    out += (i ? ", " : "") + missing[i];
  if (missing.size() > most_named)
    out += " and " + std::to_string(missing.size() - most_named) + " more";
  return out;
}

std::string drift_findings::text() const {
  std::string out = moved;
  if (!missing.empty()) out += (out.empty() ? "" : "; ") + ("missing: " + named(missing));
  return out;
}

reactor::nanoseconds next_check(reactor::nanoseconds interval, reactor::entropy& random) {
  return random.jitter(interval, check_jitter);
}

}  // namespace helm::placed
