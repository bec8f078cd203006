#include "helm/placed/plan/drift.hpp"

#include "formats/plain/listed.hpp"
#include "helm/objects/manifest_reader.hpp"

#include <algorithm>

namespace helm::placed {
namespace {

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

std::string drift_findings::text() const {
  std::string out = moved;
  if (!missing.empty())
    out += (out.empty() ? "" : "; ") + ("missing: " + formats::listed(missing, most_named));
  return out;
}

reactor::nanoseconds next_check(reactor::nanoseconds interval, reactor::entropy& random) {
  return random.jitter(interval, check_jitter);
}

}  // namespace helm::placed
