#pragma once

#include "k8s/client/kubeconfig.hpp"
#include "k8s/client/resource.hpp"
#include "k8s/client/tokens.hpp"
#include "reactor/plain/secret.hpp"
#include "reactor/plain/time.hpp"

#include <boost/json/fwd.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace k8s {

class string_map;

/// What `windlass cluster add` notes on the Secret of a member, in annotations: whose token its
/// kubeconfig holds and until when. The token is renewed by the process that follows the Secret;
/// what a person wrote is never touched.
struct member_token {
  object_key account;           // on the member, who may renew its own token
  std::string cluster_uid;      // of the member's kube-system
  std::chrono::seconds life{};  // as asked for
  reactor::wall_time issued{}, expires{};
  // SHA-256 of the kubeconfig that was written; another one is not ours
  std::string kubeconfig_hash;
  friend bool operator==(const member_token&, const member_token&) = default;
};

/// None where an annotation is missing or means nothing: then there is no note.
std::optional<member_token> read_member_token(const string_map& annotations);
boost::json::object annotations_of(const member_token& m);

/// A token may live that long: the contract of `cluster add`, and what the reading of annotations
/// believes.
inline constexpr std::chrono::seconds shortest_token_life = std::chrono::minutes(10),
                                      longest_token_life = std::chrono::hours(24 * 366);

/// After 60 to 80 % of the token's life: those that were made together are not renewed together.
reactor::wall_time renewal_due(const member_token& m, std::string_view name);
/// It was due for long and not renewed: for commands that only look.
bool is_overdue(const member_token& m, reactor::wall_time now) noexcept;

/// A kubeconfig in JSON with this server, its authority and this token, and nothing else of `to`.
reactor::secret member_kubeconfig(const connection& to, std::string_view name,
                                  const reactor::secret& token);
/// The same kubeconfig with another token; none for one that member_kubeconfig did not write.
std::optional<reactor::secret> with_token(const reactor::secret& kubeconfig,
                                          const reactor::secret& token);

}  // namespace k8s
