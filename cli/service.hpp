#pragma once

#include "bootc/bootc_cluster.hpp"
#include "bootc/pack_rollout_policy.hpp"
#include "k8s/client.hpp"
#include "k8s/events.hpp"
#include "k8s/fleet.hpp"
#include "k8s/lease.hpp"
#include "policies/host/host.hpp"
#include "reactor/http/server.hpp"
#include "reactor/log.hpp"
#include "reactor/metrics.hpp"
#include "reactor/task_group.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cli {

/// A cluster that was named by hand rather than found in a Secret.
struct named_connection {
  std::string name;
  k8s::connection to;
};

struct service_options {
  /// The home cluster; its Secrets name the fleet when `discover` is set.
  k8s::connection home;
  bool discover = true;
  /// Without a single kubeconfig Secret at home, home itself is the fleet.
  bool home_alone_is_a_fleet = true;
  std::string home_name = "home";
  std::vector<named_connection> clusters;
  std::string ns = "default", label = "sigs.k8s.io/multicluster-runtime-kubeconfig",
              key = "kubeconfig";
  std::string policies;  // folder, or empty
  std::optional<reactor::endpoint> metrics_at, health_at;
  /// Set: only the holder of the Lease acts.
  std::optional<k8s::object_key> lease;
  std::string identity = "windlass";
  /// look: plans are made and shown, nothing is written.
  bootc::bootc_cluster::options::mode does = bootc::bootc_cluster::options::mode::act;
  k8s::watch_limits limits;
};

/// The running product: policies, the home connection, the fleet, what runs on each cluster, and what people and
/// Prometheus ask. `run`, `status`, `plan`, `explain`, the demo and the simulation all are this.
/// Lifetime: the loop outlives it; co_await stop() before destruction.
class service {
public:
  service(reactor::loop& l, service_options options, reactor::logger log);
  ~service();
  service(const service&) = delete;
  service& operator=(const service&) = delete;

  /// Policies are loaded, ports bound, home has answered; the clusters are engaged afterwards, each in its own time.
  /// Errors: one sentence for a person: the policy's file and line, the address in use, the home server and why not.
  reactor::awaitable<reactor::result<void>> start();
  reactor::awaitable<void> stop();
  /// Looks at the policies again, as on SIGHUP.
  void reload();

  k8s::fleet& fleet() noexcept { return *fleet_; }
  policies::host& packs() noexcept { return packs_; }
  reactor::metrics& metrics() noexcept { return metrics_; }
  /// Called when the Lease was lost: the process must end.
  std::function<void()> on_leadership_lost;
  std::function<void(const policies::pack_event&)> on_pack_event;

private:
  reactor::result<void> listen(const reactor::endpoint& at, reactor::http::handler h,
                               const char* purpose);
  reactor::awaitable<reactor::result<bool>> secrets_exist();
  reactor::awaitable<reactor::result<void>> reach_home();
  reactor::awaitable<reactor::result<void>> start_fleet();
  void pack_changed(const policies::pack_event& e);
  void reconsider_all();
  k8s::string_map labels_of(const std::string& cluster) const;
  const std::vector<policies::rollout_cluster>& what_clusters_do(const std::string& pool);
  reactor::awaitable<void> answer_metrics(reactor::http::responder& to);  // borrowed
  reactor::awaitable<void> answer_health(reactor::http::request r, reactor::http::responder& to);

  reactor::loop& loop_;
  service_options options_;
  reactor::logger log_;
  reactor::metrics metrics_;
  policies::host packs_;
  bootc::pack_rollout_policy policy_;
  std::unique_ptr<k8s::client> home_;
  std::unique_ptr<k8s::event_recorder> events_;
  std::unique_ptr<k8s::leader_election> election_;
  std::unique_ptr<k8s::fleet> fleet_;
  std::vector<std::unique_ptr<reactor::http::server>> servers_;
  std::map<std::string, std::vector<policies::rollout_cluster>> pool_summaries_;
  reactor::steady_time summarised_at_{};
  bool fleet_started_ = false, packs_started_ = false;
  reactor::task_group tasks_;
};

}  // namespace cli
