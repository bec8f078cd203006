#pragma once

#include "app/listing.hpp"
#include "app/output.hpp"
#include "service/overview/overview.hpp"
#include "service/service.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cli {

using namespace app;

/// One cluster of the fleet, as `cluster list` shows it.
struct listed_cluster {
  cluster_overview seen;
  std::string version;
  std::map<std::string, std::string> labels;  // but the one of kubeconfig Secrets
  std::optional<reactor::wall_time> token_expires;
  std::string token_problem;
};

/// The fleet as a service in look mode knows it by `deadline`.
reactor::awaitable<std::vector<listed_cluster>> list_clusters(service& s,
                                                              reactor::loop& l,  // borrowed
                                                              std::string secret_label,
                                                              reactor::steady_time deadline);
listing list_of_clusters(const std::vector<listed_cluster>& all);
/// Keeps those that are asked for. Errors: a sentence about a selector, a path or a name.
reactor::result<void, std::string> choose_clusters(std::vector<listed_cluster>& all,
                                                   const list_request& asked);
page list_text(const std::vector<listed_cluster>& all, std::size_t columns,
               const list_request& asked = {});
/// ClusterList.
boost::json::object list_document(const std::vector<listed_cluster>& all);

}  // namespace cli
