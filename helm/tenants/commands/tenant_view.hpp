#pragma once

#include "app/api/hold.hpp"
#include "app/output.hpp"
#include "helm/tenants/cluster/tenant_cluster.hpp"
#include "service/overview/overview.hpp"

#include <boost/json/fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cli {

using namespace app;

/// One Tenant on one cluster.
struct tenant_row {
  std::string cluster;
  std::string tenant;  // "default/acme"
  std::string phase, action, from, to, release, message;
  std::optional<units::hold> hold;
  std::string fingerprint;  // as noted on the object, empty: not noted
  std::string applied;      // status.lastAppliedChart
  std::vector<k8s::condition> conditions;
};

/// What one cluster has of them, or why that is not known.
struct tenants_of_cluster {
  std::string name, state, last_error;
  std::vector<tenant_row> rows;
  std::vector<std::pair<std::string, std::string>> labels = {};
};

/// "cluster-001 is Unreachable: connection refused".
std::string why_away(const tenants_of_cluster& c);

/// Keeps those that are asked for. Errors: a sentence about a selector or a path.
reactor::result<void, std::string> choose_tenants(std::vector<tenants_of_cluster>& all,
                                                  const list_request& asked);

page tenant_list_text(const std::vector<tenants_of_cluster>& all, extent how, colours tint,
                      std::size_t columns, const list_request& asked = {});
boost::json::object tenant_list_document(const std::vector<tenants_of_cluster>& all,
                                         const list_request& asked = {});

/// What `tenant list` shows of those that `asked` chooses. Returns the exit code: failure where a
/// cluster is not Live.
int show_tenant_list(std::vector<tenants_of_cluster> all, const list_request& asked, colours tint);

page tenant_status_text(const std::vector<tenants_of_cluster>& all, colours tint,
                        std::size_t columns);
boost::json::object tenant_status_document(const std::vector<tenants_of_cluster>& all,
                                           const list_request& asked = {});

/// What an operation would change, or why that cannot be said.
struct tenant_difference {
  tenant_row of;
  std::string error;
  std::vector<helm::tenants::object_change> changes;
};
page tenant_diff_text(const std::vector<tenant_difference>& all, colours tint, std::size_t columns);
boost::json::object tenant_diff_document(const std::vector<tenant_difference>& all);

/// Whether it was only shown what a retry would write.
enum class retried : std::uint8_t { shown, asked_for };
/// What was written to try again, or would be.
struct tenant_retry {
  tenant_row of;
  bool written = false;
  std::string error;
};
page tenant_retry_text(const std::vector<tenant_retry>& all, retried how, colours tint,
                       std::size_t columns);
boost::json::object tenant_retry_document(const std::vector<tenant_retry>& all, retried how);

}  // namespace cli
