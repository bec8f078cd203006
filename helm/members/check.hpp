#pragma once

#include "app/output.hpp"
#include "helm/members/ends.hpp"
#include "helm/members/rights.hpp"

#include <boost/json/fwd.hpp>

#include <optional>
#include <string>
#include <vector>

namespace reactor {
class loop;
}

namespace cli {

using namespace app;

/// One thing that was looked at.
struct check_result {
  std::string name;  // "server", "rights", "kinds", "daemon", "clock", "token"
  bool passed = false;
  std::string says;
};

struct cluster_check {
  std::string cluster, server;
  std::vector<check_result> results;
  std::vector<right> missing;
  bool passed() const noexcept;
};

/// Whose eyes look: the service's, with the token of its Secret, or those of a person: who might
/// make it a member, who is about to install Windlass there as its home, or who has done so.
enum class check_as { service, member_admin, installer, owner };

/// Of a cluster: server, clock, kinds, daemon and rights, each looked at though another one is
/// missing. `account` is the service's there. An owner's rights are those of that account.
/// Lifetime: `api` outlives it.
reactor::awaitable<cluster_check> check_by(reactor::loop& l, k8s::client& api,  // borrowed
                                           check_as who, k8s::object_key account);

/// `cluster check`: everything that a cluster must have to be moved, each looked at though another
/// one is missing.
reactor::awaitable<cluster_check> check_cluster(reactor::loop& l, std::string name,  // borrowed
                                                k8s::connection to, check_as who,
                                                k8s::object_key account,
                                                std::optional<k8s::member_token> token);

page check_text(const cluster_check& c, std::size_t columns);
/// The missing rights as a table and as JSON; no text where none is missing.
page rights_text(const std::vector<right>& missing, std::size_t columns);
boost::json::array rights_json(const std::vector<right>& missing);
/// ClusterCheck.
boost::json::object check_document(const cluster_check& c);

}  // namespace cli
