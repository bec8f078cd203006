#pragma once

#include "app/api/brake.hpp"
#include "app/api/condition_kind.hpp"
#include "app/api/plan_row.hpp"
#include "app/api/speed_limit.hpp"
#include "app/api/upgrade_gate.hpp"
#include "k8s/client/event_kind.hpp"
#include "k8s/client/resource.hpp"
#include "k8s/fleet/engagement.hpp"
#include "k8s/informer/watch_state.hpp"
#include "policies/host/hook.hpp"
#include "policies/signals.hpp"
#include "reactor/awaitable.hpp"
#include "reactor/foreign_work.hpp"
#include "reactor/log.hpp"
#include "reactor/metrics.hpp"
#include "reactor/plain/result.hpp"
#include "reactor/plain/time.hpp"

#include <boost/json/fwd.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace k8s {
class fleet;
}
namespace app {
class flags;
}
namespace policies {
class host;
}
namespace reactor {
class loop;
}  // namespace reactor

/// What every API of the service shares, and how one is plugged in: a function that returns a
/// units::api, named in one line of cli/service/apis.cpp. `--apis`, the clusters, home, Leases,
/// /clusters, metrics, `status`, `plan`, `explain` and the live view know an API by what is here
/// and by nothing else.
namespace units {

using reactor::awaitable;

/// look: plans are made and shown, nothing is written.
enum class mode { act, look };

/// Whose word counts for who only looks: that of the packs at hand, or, where it has published one
/// on the object, that of the service at work, whose packs may be others.
enum class verdicts { of_packs_at_hand, published };

class extra_leases;

/// What the process offers to an API; it outlives it.
struct api_environment {
  reactor::loop& loop;
  reactor::logger log;
  reactor::metrics& metrics;  // series with a label "cluster" go with their cluster
  policies::host& packs;
  k8s::fleet& fleet;
  mode does = mode::act;
  k8s::watch_limits limits = {};  // of its informers
  /// For what is only a part of the API and has a Lease of its own; null: it has none.
  units::extra_leases* extra_leases = nullptr;
  verdicts shows = verdicts::of_packs_at_hand;
  /// Ends the process with 1 and says why: what it was asked to do at its start cannot be
  /// done. Empty: the API goes on without.
  std::function<void(std::string why)> give_up = {};
  /// The image of this process's own pod, known before an API starts; empty outside of a pod, and
  /// where the pod cannot be read. May be empty itself.
  std::function<std::string()> own_image = {};
  /// The UID of that pod, by the same rules.
  std::function<std::string()> own_pod_uid = {};
  /// What is known now of the signals that the packs which answer for the subject declare; never
  /// waits. Empty: there are none.
  std::function<policies::signal_facts(const policies::subject& about, const std::string& cluster)>
      signals = {};
  /// Stops what the APIs would begin; null: nothing does. Asked by brake_on().
  const units::brake* brake = nullptr;
  /// How fast changes may begin, over all APIs; null: as fast as they come. Asked by brake_on().
  speed_limit* speed = nullptr;
  /// api::gates
  upgrade_gates gates = {};
};

/// An API on one cluster. It makes its engagement follow its informers, decides only while that is
/// Live, and attends to it while it acts.
class cluster_controller : public k8s::cluster_controller {
public:
  /// All views are complete. False when `deadline` came first.
  virtual awaitable<bool> synced(reactor::steady_time deadline) = 0;
  /// Why a view is known not to be the truth; empty when nothing is.
  virtual std::string sync_problem() const { return {}; }
  /// What the server said where it does not let the part begin: the cluster is Forbidden then, for
  /// this API. None: nothing is refused.
  virtual std::optional<k8s::fault> refusal() const { return std::nullopt; }
  /// Everything soon: a policy or the labels of the cluster changed.
  virtual void reconsider() {}
  /// The cluster answers again after it was down.
  virtual void recover() { reconsider(); }
  /// What is, what comes next and why each unit waits; in order of name. stop() waits for those
  /// under way.
  virtual awaitable<std::vector<plan_row>> overview();
  /// Another number whenever an overview may say something else. None: there is no count, so that a
  /// reader that follows must ask again.
  virtual std::optional<std::uint64_t> revision() const { return std::nullopt; }
  /// Adds to the cluster's entry of /clusters.
  virtual void describe(boost::json::object& entry) const;
};

/// An API at work in this process.
class running_api {
public:
  virtual ~running_api() = default;
  /// On a cluster of the fleet that serves its kinds: started, not yet complete.
  virtual std::unique_ptr<cluster_controller> on_cluster(k8s::engagement& on) = 0;
  /// The same at home, for an API that is there.
  virtual std::unique_ptr<cluster_controller> at_home(k8s::engagement& on);
  /// The operator asks the process to read its files again (SIGHUP). What cannot be read is
  /// said, and what was read before stays.
  virtual awaitable<void> reload();
};

struct api;
struct process_facts;  // app/api/setup.hpp
/// Gives an API what its flags and variables said, once, before the API starts.
/// Errors: one sentence that names the setting or the file.
using api_setup = std::function<reactor::result<void>(api& to, const process_facts& facts)>;

/// One API, as it is plugged in. `name` is for --apis, Leases, /clusters, metrics and logs.
struct api {
  std::string name;
  words says;
  /// What must be served; else the API, and it alone, is CRDMissing there.
  std::vector<k8s::resource> kinds = {}, home_kinds = {};
  /// What a unit is for kubectl; without a plural, units are of no one kind.
  k8s::resource unit_kind = {};
  std::string remedy = {};               // what a person does about a missing kind
  std::string watches = {}, loads = {};  // "node pools", "node pools and nodes": in messages
  enum class place { clusters, home, both } runs_on = place::clusters;
  /// Left out where home does not serve its home_kinds when the process starts, unless --apis
  /// names it: who has no use for it sees nothing of it.
  bool where_served = false;
  /// Whether it acts under one name where the fleet has a cluster under several.
  k8s::cluster_api::names acts_under = k8s::cluster_api::names::one;
  /// Its Lease, and the namespace of it where no flag names one.
  std::string lease, lease_ns;
  std::function<std::unique_ptr<running_api>(const api_environment&)> make;
  /// Starts what works beside the service on what strangers wrote; null: nothing. APIs that name
  /// the same function share one. The service stops it after them.
  std::unique_ptr<reactor::foreign_workers> (*workers)(reactor::loop&, reactor::metrics&,
                                                       const reactor::logger&) = nullptr;
  /// Declare its settings among the flags of every command about the fleet, and of the service
  /// alone. Empty: it has none. The second kind is set up once home is known.
  std::function<api_setup(app::flags&)> settings = {}, service_settings = {};
  /// Home must be a cluster of the fleet (windlass adds a Secret that says so). Set up, not listed.
  bool wants_home_in_fleet = false;
  /// What a person changes of a row (its object of `kind` and that name, by a merge patch) for
  /// `windlass rollout`.
  struct edits {
    k8s::resource kind;
    std::function<boost::json::object(bool paused)> pause;
    /// Errors: what is wrong with the target, as a sentence.
    std::function<reactor::result<boost::json::object>(const std::string& target)> retarget;
    /// Lets a row move to a target that is offered. Errors as above. May be empty.
    std::function<reactor::result<boost::json::object>(const std::string& target)> approve = {};
  };
  std::optional<edits> edit = {};
  /// The family of commands about its rows: with "chart", `windlass chart status ROW`. Its verbs
  /// are status, plan, diff, history, approve, pause, resume, undo and retry. Empty: it has none.
  std::string_view command = {};
  /// What it may say and count, beside what every API has: docs/reference is made from these
  /// tables, and dashboards and alerts are checked against them.
  std::vector<hold_kind> holds = {};
  std::vector<k8s::event_kind> events = {};
  std::vector<condition_kind> conditions = {};
  std::vector<reactor::metric_kind> metrics = {};
  /// What its packs may answer. A hook that names other APIs in `apis` is asked by those.
  std::vector<policies::hook> hooks = {};
  /// Asked before API servers get a newer minor of Kubernetes. Empty: nothing is.
  upgrade_gates gates = {};
  /// Of the metrics, the gauge that shows its state on a cluster (k8s::cluster_api::state_metric).
  const reactor::metric_kind* state_metric = nullptr;
};

/// The hooks of all of them, each once, with the names of the APIs that ask them.
policies::shared_hooks hooks_of(const std::vector<api>& all);

/// The one of that name, which must be there.
api& named(std::vector<api>& all, std::string_view name);

using part_maker = std::function<std::unique_ptr<cluster_controller>(k8s::engagement& on)>;

/// The API for k8s::cluster::engage: its kinds are looked for, its part is made once and waited
/// for.
k8s::cluster_api engaging(const api& what, std::vector<k8s::resource> kinds, part_maker make);

/// For an API on one cluster, by the labels that the cluster has when it is asked: the brake, then
/// the speed limit. Every writer of the API asks it before it begins anything. What the environment
/// points to and the engagement outlive it.
brake_question brake_on(const api_environment& h, std::string api, const k8s::engagement& on);

/// Null while the API has nothing there.
cluster_controller* part_of(const k8s::engagement& e) noexcept;

}  // namespace units
