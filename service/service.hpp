#pragma once

#include "app/api/api.hpp"
#include "app/api/brake.hpp"
#include "app/api/extra_leases.hpp"
#include "k8s/client/client.hpp"
#include "k8s/fleet/cluster.hpp"
#include "k8s/fleet/fleet.hpp"
#include "k8s/fleet/self_cluster.hpp"
#include "k8s/lease/lease.hpp"
#include "policies/host/host.hpp"
#include "reactor/http/server.hpp"
#include "reactor/log.hpp"
#include "reactor/metrics.hpp"
#include "reactor/task_group.hpp"
#include "reactor/waiters.hpp"
#include "service/config_map_packs.hpp"
#include "service/own_memory.hpp"
#include "service/page/wrong_tokens.hpp"
#include "service/policy_refusals.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace signals {
class keeper;
}

namespace cli {

class home_brake;
class own_metrics;

/// A cluster that was named by hand rather than found in a Secret, or why it cannot be reached.
struct named_connection {
  std::string name;
  reactor::result<k8s::connection> to;
};

struct service_options {
  /// What it moves; no other file of this folder knows what that is.
  std::vector<units::api> apis = {};
  /// What packs may answer, also to APIs that do not run.
  policies::shared_hooks hooks = {};
  /// Names of all APIs of the program: the brake may name any of them. Empty: those of `apis`.
  std::vector<std::string> known_apis = {};
  /// The home cluster; its Secrets name the fleet when `discover` is set.
  k8s::connection home;
  bool discover = true;
  /// Without a single kubeconfig Secret at home, or the right to look for them, home itself is the
  /// fleet.
  bool home_alone_is_a_fleet = true;
  /// Home is a member of its own fleet, by a Secret that is kept there; without the right to write
  /// it, or while nothing may be written, under the same name where it has no such Secret.
  std::optional<k8s::self_cluster_options> self_cluster = {};
  std::string home_name = "home";
  std::vector<named_connection> clusters;
  std::vector<k8s::allowed_program> programs = {};  // --allow-exec
  std::string ns = "default", label = "sigs.k8s.io/multicluster-runtime-kubeconfig",
              key = "kubeconfig";
  /// Where packs come from that come before the stock ones, the first first: folders, and
  /// "configmap:[NAMESPACE/]NAME" of the home cluster, in the fleet's namespace unless one is said.
  std::vector<std::string> policies;
  /// The packs' own tests have run already, and the packs are not edited: a simulation starts
  /// thousands of times.
  bool packs_are_tested = false;
  /// Packs that a service before this one has loaded.
  std::shared_ptr<policies::pack_shelf> shelf = {};
  reactor::file_watch_settings policy_watch = {};  // of its folders
  std::vector<std::string> signal_origins = {};    // --allow-signal-host; signals are fetched there
  std::string signal_ca_file;  // that they are verified with; empty: the system's
  std::string record;          // --record: a file for every question to policies; empty: none
  std::optional<reactor::endpoint> metrics_at, health_at;
  std::string metrics_token_file;  // what readers of /metrics and /clusters show, or empty
  /// Names beside addresses and those of the cluster (web::is_inner_host) under which /metrics and
  /// /clusters are asked for.
  std::vector<std::string> hosts;
  /// Each API acts only while this process holds its Lease, in this namespace or, where none is
  /// named, the API's own.
  bool leader_elect = false;
  std::string lease_ns;
  std::string identity = "windlass";
  /// The pod of this process at home; without a name it runs in none.
  k8s::object_key pod = {};
  std::string reporter = "windlass";  // who reports in events
  /// look: plans are made and shown, nothing is written.
  units::mode does = units::mode::act;
  units::verdicts shows = units::verdicts::of_packs_at_hand;
  k8s::watch_limits limits;
  /// How fast its APIs may begin changes.
  units::change_limits max_changes = {};
  /// What its memory limit allows and what it holds. Empty: the process does not look.
  std::function<std::optional<reactor::memory_use>()> memory = {};
};

/// The running product: policies, home, the fleet, the APIs on all of them, and what people and
/// Prometheus ask. `run`, `status`, `plan`, `explain`, the demo and the simulation all are this.
/// Members  more than twenty: the parts of the process, made in this order and stopped backwards.
/// APIs     each runs while it holds its Lease, on every cluster and at home as it wishes. One that
///          loses its Lease is stopped everywhere, the others go on; it starts again with its
///          Lease.
/// Lifetime: the loop outlives it; co_await stop() before destruction.
class service {
public:
  service(reactor::loop& l, service_options options, reactor::logger log);
  ~service();
  service(const service&) = delete;
  service& operator=(const service&) = delete;

  /// Policies are loaded, ports bound, home has answered; the clusters are engaged afterwards, each
  /// in its own time.
  /// Errors: one sentence for a person: the policy's file and line, the address in use, the home
  /// server and why not.
  reactor::awaitable<reactor::result<void>> start();
  reactor::awaitable<void> stop();
  /// Looks at the policies again, and at the files of the APIs, as on SIGHUP.
  void reload();

  k8s::fleet& fleet() noexcept { return *fleet_; }
  const k8s::fleet& fleet() const noexcept { return *fleet_; }
  /// Null without a home.
  k8s::cluster* home() noexcept { return home_.get(); }
  /// The fleet's clusters, and home where an API is.
  std::vector<k8s::cluster*> clusters() const;
  /// Their names, each once: home alone in its fleet is there twice.
  std::vector<std::string> cluster_names() const;
  /// The first of them with that name; null when there is none.
  k8s::cluster* cluster_named(std::string_view name) const;
  const std::vector<units::api>& apis() const noexcept { return options_.apis; }
  policies::host& packs() noexcept { return packs_; }
  /// What stops its APIs: off without a home.
  const units::brake& brake() const noexcept { return brake_; }
  /// One for each stream and one for requests, of each cluster that is known now.
  std::size_t connections_wanted() const;
  /// "holds 112 of the 128 MiB …" while its memory is near its limit; else empty.
  const std::string& memory_problem() const noexcept { return memory_problem_; }
  /// How fast this process lets changes begin.
  const units::change_limits& max_changes() const noexcept { return speed_.limits(); }
  /// Others hold the Leases of all its APIs: it waits, and knows no cluster before its first Lease.
  bool stands_by() const noexcept { return options_.leader_elect && !leads_anything(); }
  reactor::metrics& metrics() noexcept { return metrics_; }
  /// The clusters cannot be found, although an API has its Lease, or an API cannot do what it was
  /// asked to do at its start, or the memory limit is reached: the process must end.
  std::function<void()> on_failure;
  std::function<void(const policies::pack_event&)> on_pack_event;
  /// Each Event that this process writes about an object of a cluster of the fleet or of home.
  std::function<void(const std::string& cluster, const k8s::event_note& e)> on_event;

private:
  reactor::result<void> listen(const reactor::endpoint& at, reactor::http::handler h,
                               const char* purpose);
  reactor::awaitable<k8s::result<bool>> secrets_exist();
  reactor::awaitable<void> leave_out_unserved();
  void make_home();
  reactor::awaitable<reactor::result<void>> reach_home();
  reactor::awaitable<void> read_own_pod();
  reactor::awaitable<void> read_brake();
  void brake_changed();
  reactor::awaitable<reactor::result<reactor::secret>> metrics_token();
  // borrowed
  reactor::awaitable<bool> refuse_without_token(std::string shown, reactor::http::responder& to);
  // borrowed
  reactor::awaitable<bool> may_see_fleet(const reactor::http::request& r,
                                         reactor::http::responder& to);
  reactor::awaitable<reactor::result<void>> load_packs();
  reactor::awaitable<reactor::result<void>> start_fleet();
  reactor::awaitable<void> keep_self_cluster();
  void pack_changed(const policies::pack_event& e);
  void tell_refusals(const std::string& from);
  reactor::awaitable<void> tell_refusals_again();
  void show_packs();
  reactor::awaitable<void> watch_memory();
  void tell_memory(const k8s::event_kind& what, const std::string& words);
  policies::signal_facts signals_for(const policies::subject& about, const std::string& cluster);
  reactor::awaitable<reactor::result<boost::json::object>> signal_secret(std::string name);
  void reconsider_all();
  /// One API of this process, and whether it is on the clusters.
  struct running {
    const units::api* what = nullptr;
    std::unique_ptr<units::extra_leases> turns;  // where Leases are taken
    std::unique_ptr<units::running_api> works;
    std::unique_ptr<k8s::leader_election> election;
    reactor::gauge leads;
    bool wanted = false, on = false;
  };
  void fail(const std::string& why);
  void start_api(running& a);
  reactor::awaitable<void> stop_api(running& a);  // borrowed
  reactor::awaitable<void> leave_home(std::string api);
  k8s::object_key lease_of(const units::api& a) const;
  void elect(running& a);
  void want(running& a, bool lead);
  reactor::awaitable<void> follow_lease(running& a);  // borrowed
  bool leads_anything() const noexcept;
  // borrowed
  reactor::awaitable<bool> refuse_foreign_host(std::string host,
                                               reactor::http::responder& to);  // borrowed
  reactor::awaitable<void> answer_metrics(reactor::http::request r, reactor::http::responder& to);
  reactor::awaitable<void> answer_health(reactor::http::request r, reactor::http::responder& to);

  reactor::loop& loop_;
  service_options options_;
  reactor::logger log_;
  web::wrong_tokens wrong_tokens_;
  reactor::metrics metrics_;
  std::string own_image_, own_pod_uid_, memory_problem_;
  units::brake brake_;
  units::speed_limit speed_;
  reactor::gauge braked_;
  // By what stands in `policies`.
  std::map<std::string, std::shared_ptr<config_map_packs>> config_maps_;
  refusal_teller refusals_;
  policies::host packs_;
  std::unique_ptr<signals::keeper> signals_;                        // null where nothing is written
  std::map<std::vector<std::string>, reactor::gauge> pack_series_;  // by name, version and digest
  std::unique_ptr<k8s::cluster> home_;
  std::unique_ptr<home_brake> home_brake_;  // null without a home
  std::unique_ptr<k8s::fleet> fleet_;
  std::vector<std::unique_ptr<running>> apis_;
  reactor::waiters leases_moved_;
  std::unique_ptr<own_metrics> own_;  // where metrics are served
  std::vector<std::unique_ptr<reactor::http::server>> servers_;
  bool fleet_asked_ = false, fleet_started_ = false, packs_started_ = false, home_started_ = false;
  reactor::task_group tasks_;
};

}  // namespace cli
