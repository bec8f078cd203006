#pragma once

#include "reactor/awaitable.hpp"
#include "reactor/plain/time.hpp"

#include <map>
#include <string>
#include <vector>

namespace reactor {
class loop;
}
namespace k8s {
class client;
class discovery;
}  // namespace k8s

namespace k8s::skew {

/// What the API servers of one cluster say of their version. Behind a balancer each question may
/// meet another server, so an answer counts for a while beside the later ones.
/// Static   kubeadm runs API servers as static pods, whose version is that of their manifest on the
///          node and not that of the node's image. They are known by their pods in kube-system.
/// Pace     GET /version and a list of those pods at most once in `pause`, whatever comes of it.
/// Errors   a server that does not answer, or does not let us list pods, says nothing; what was
///          said before stays until it is old.
/// Lifetime loop, discovery and client outlive it.
class server_versions {
public:
  static constexpr reactor::nanoseconds pause = std::chrono::minutes(1),
                                        life = std::chrono::minutes(5);
  /// Answers that are kept; of more, as a hostile server may give, the oldest goes. Of the pods as
  /// many are looked at.
  static constexpr std::size_t most = 16;
  using by_node = std::map<std::string, std::string, std::less<>>;

  server_versions(reactor::loop& l, discovery& of, client& api) : loop_(l), of_(of), api_(api) {}
  server_versions(const server_versions&) = delete;
  server_versions& operator=(const server_versions&) = delete;

  /// Asks, unless it did so lately; for pods only where the cluster has a node of a control plane.
  reactor::awaitable<void> look(bool has_control_plane);
  /// Each version that was said within `life`, once, as it was written.
  std::vector<std::string> seen() const;
  /// The version of the API server that is a static pod of kubeadm's, by its node.
  by_node on_nodes() const;

private:
  reactor::awaitable<void> look_at_pods();

  reactor::loop& loop_;
  discovery& of_;
  client& api_;
  std::map<std::string, reactor::steady_time> said_;
  by_node on_nodes_;
  reactor::steady_time pods_seen_{}, not_before_{};
};

}  // namespace k8s::skew
