#pragma once

#include "helm/apart/ask.hpp"
#include "helm/go.hpp"
#include "helm/objects/object.hpp"
#include "helm/render/render_context.hpp"
#include "reactor/awaitable.hpp"
#include "reactor/plain/time.hpp"

#include <boost/json/object.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace reactor {
class loop;
}
namespace k8s {
class client;
class discovery;
}  // namespace k8s

namespace helm::objects {

using reactor::awaitable;

struct update_options {
  bool force = false;                       // replace instead of patching
  bool server_side = false;                 // apply with field manager windlass-helm
  bool force_conflicts = false;             // of server_side: take fields from their other managers
  bool three_way_for_unstructured = false;  // what an install that takes ownership does
  /// What `current` says is not to be believed: only objects that are there and carry the
  /// annotations of this release are changed or deleted.
  std::optional<release_name> only_of;
};
/// How much of a container's log is shown: its beginning, as the server counts.
inline constexpr std::size_t log_bytes_limit = 4u << 20;

/// It worked and there is nothing more to say.
struct done {};

/// What an update did, as far as it came.
struct update_result {
  object_list created, updated, deleted;
  object_list left;  // of update_options::only_of: not deleted: they lack its annotations
};
struct remove_result {
  std::vector<std::string> errors;  // one per object that could not be deleted
  object_list removed;              // gone already counts
  object_list left;                 // as of an update
};

/// Helm's work on the objects of one cluster: manifests become objects, objects are created,
/// patched, deleted and waited for. Knows nothing of releases. Problems are Helm's own texts
/// without the prefix of the action.
/// Shape    one call at a time. Asks the cluster's discovery what there is, and makes it forget
///          that when a change of ours brings kinds or takes them away.
/// Lifetime loop and client outlive it; every wait is bounded by its deadline or the client's own.
class cluster_objects {
public:
  /// With a discovery of its own, or the one that others on this cluster use, which outlives it.
  cluster_objects(reactor::loop& l, k8s::client& api);
  cluster_objects(reactor::loop& l, k8s::client& api, k8s::discovery& known);
  ~cluster_objects();
  cluster_objects(const cluster_objects&) = delete;
  cluster_objects& operator=(const cluster_objects&) = delete;

  /// Lines that Helm prints with --debug: "CRD x is already present. Skipping.". May stay unset.
  void on_line(std::function<void(std::string)> line);

  /// The manifests and definitions that are built come from strangers: they are read apart
  /// (objects_apart), within these limits. Else they are read as stock Helm reads them. What is
  /// read of the cluster is within `share` as well; it outlives this, and may be null.
  void of_strangers(chart_limits limits, apart::memory_share* share);
  apart::memory_share* share() const noexcept;
  /// Objects that are built may be in that namespace alone: the manifest of a release whose author
  /// has no right to more.
  void confine_to(std::string ns);

  /// What templates see of the cluster: its version, group versions and kinds ("apps/v1",
  /// "apps/v1/Deployment"). Problems "Kubernetes cluster unreachable: …"
  awaitable<outcome<helm::capabilities>> capabilities();
  k8s::discovery& discovery() noexcept;

  /// A manifest's documents as objects in their order; lists are flattened, a missing namespace is
  /// filled in. Problems of all objects, joined; the caller puts "unable to build kubernetes
  ///          objects from release manifest: " before.
  awaitable<outcome<object_list>> build(std::string manifest, std::string default_namespace);
  /// The object as the cluster has it; nothing when it is not there.
  awaitable<outcome<std::optional<boost::json::object>>> live(object o);

  /// Creates all; neighbours of one kind at the same time. Problems of all objects: "1 error
  /// occurred:\n\t* …\n\n". `made`, when wanted, becomes the list with the names that the server
  /// generated; it outlives the call.
  awaitable<outcome<done>> create(object_list list, object_list* made = nullptr);
  /// Makes the cluster's objects of `current` those of `target`: creates, patches, then deletes
  /// what is no longer there. `out` may be null, else outlives the call and is filled on failure
  /// too.
  awaitable<outcome<done>> update(object_list current, object_list target, update_options options,
                                  update_result* out);
  /// Deletes all; neighbours of one kind at the same time. `propagation` is Background, Foreground
  /// or Orphan. With `only_of` as an update with it.
  awaitable<remove_result> remove(object_list list, std::string propagation,
                                  std::optional<release_name> only_of = {});

  /// Until every object is ready. Problems "context deadline exceeded", "job is failed: ns/name".
  awaitable<outcome<done>> wait_ready(object_list list, bool jobs, reactor::steady_time deadline);
  /// Until none of the objects is there.
  awaitable<outcome<done>> wait_gone(object_list list, reactor::steady_time deadline);
  /// What a hook's objects are waited for: a Job completes, a Pod succeeds, any other kind exists
  /// at once; neighbours of one kind at the same time, each kind for `timeout`.
  /// Problems of all objects, as in create(): "job x failed: BackoffLimitExceeded", "pod x failed",
  /// "timed out waiting for the condition".
  awaitable<outcome<done>> wait_hook(object_list list, reactor::nanoseconds timeout);

  /// What the containers of pods printed, at most log_bytes_limit of each and about twice that in
  /// all; `selector` is of labels, `field_selector` of fields. Problems "Failed to stream pod logs
  /// for pod: p, container: c"; what came before is in `into`, which outlives the call.
  awaitable<outcome<done>> pod_logs(std::string ns, std::string selector,
                                    std::string field_selector, std::string* into);
  /// The log of a pod with one container. Problems the server's.
  awaitable<outcome<std::string>> pod_log(std::string ns, std::string pod);

  /// Files of crds/ (name, text): created unless there, then waited for until established and
  /// discovered again. Problems "failed to install CRD <file>: …"
  awaitable<outcome<done>> install_crds(std::vector<std::pair<std::string, std::string>> files,
                                        reactor::steady_time deadline);

private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace helm::objects
