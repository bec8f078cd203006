#pragma once

#include "app/api/api.hpp"
#include "app/output.hpp"
#include "helm/members/check.hpp"
#include "helm/members/list.hpp"

#include <string>
#include <vector>

namespace cli {

using namespace app;

/// One thing that was looked at at home: a warning is no reason against an install, and no reason
/// to think that Windlass does not work.
struct home_finding {
  enum class level { ok, warning, failure };
  std::string name;  // "server", "rights", "namespace", "lease", …
  level is = level::ok;
  std::string says;
  std::string todo;  // what a person does about it; empty where nothing is to be done
};
std::string_view text(home_finding::level l) noexcept;

struct home_check {
  std::string server;
  enum class stage { before_install, after_install } at = stage::after_install;
  std::vector<home_finding> findings;
  std::vector<right> missing;
  bool failed() const noexcept;
};

/// What the cluster must have before the chart is installed into `ns`: a version, rights, a
/// namespace, admission policies, and no other installation that does the same.
/// Lifetime: `api` outlives it.
reactor::awaitable<home_check> check_before(reactor::loop& l, k8s::client& api,  // borrowed
                                            std::string ns);
/// What must be there after it: kinds of this version, the rollout of the Deployment, Leases that a
/// living process holds, daemons, what is served, policies that are accepted.
reactor::awaitable<home_check> check_after(reactor::loop& l, k8s::client& api,  // borrowed
                                           std::string ns, std::vector<units::api> apis);
/// Adds what the fleet's clusters say.
void add_members(home_check& to, const std::vector<listed_cluster>& all);

page check_text(const home_check& c, colours tint, std::size_t columns);
/// HomeCheck.
boost::json::object check_document(const home_check& c);

}  // namespace cli
