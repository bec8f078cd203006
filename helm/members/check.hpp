#pragma once

#include "app/output.hpp"
#include "helm/members/ends.hpp"
#include "helm/members/rights.hpp"

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

/// Whose eyes look: the service's, with the token of its Secret, or somebody's who might make it a
/// member.
enum class check_as { service, furnisher };

/// `cluster check`: everything that a cluster must have to be moved, each looked at though another
/// one is missing.
reactor::awaitable<cluster_check> check_cluster(reactor::loop& l, std::string name,  // borrowed
                                                k8s::connection to, check_as who,
                                                k8s::object_key account,
                                                std::optional<k8s::member_token> token);

page check_text(const cluster_check& c, std::size_t columns);
/// ClusterCheck.
boost::json::object check_document(const cluster_check& c);

}  // namespace cli
