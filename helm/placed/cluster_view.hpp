#pragma once

#include "helm/placed/cluster_reads.hpp"
#include "helm/placed/stored_release.hpp"
#include "k8s/informer/informer.hpp"
#include "reactor/awaitable.hpp"
#include "reactor/log.hpp"
#include "reactor/task_group.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace helm::placed {

using reactor::awaitable;

/// The metadata of a namespace: which object it was made for, and whether it is being deleted.
struct seen_namespace {
  k8s::object_meta meta;
  static seen_namespace parse(k8s::wire_value object);
  friend bool operator==(const seen_namespace&, const seen_namespace&) = default;
};
/// The metadata of one of Helm's records.
struct seen_record {
  k8s::object_meta meta;
  k8s::interned status;  // as its label says
  static seen_record parse(k8s::wire_value object);
  friend bool operator==(const seen_record&, const seen_record&) = default;
};
/// The metadata of an object that releases own. Its version counts as content, so that handlers
/// hear of every change.
struct seen_object {
  k8s::object_meta meta;
  k8s::resource_version at;
  static seen_object parse(k8s::wire_value object);
  friend bool operator==(const seen_object&, const seen_object&) = default;
};

/// What releases are made of on one API server, by watches of metadata: namespaces, Helm's records
/// and, as soon as a release has objects of a kind, that kind. So nothing is asked for a release
/// that rests. It says when something changed and what is there; before a step is taken the server
/// itself is asked.
/// Shape    start() once. A kind that may not be listed is not watched and tried again after ten
///          minutes; its objects count as there. A kind that may be listed and not watched is
///          listed at every check instead.
/// Trust    an informer that is not complete, or that is_old(),
///          answers nothing.
/// Lifetime loop and client outlive it; co_await stop() before destruction.
class cluster_view {
public:
  struct options {
    record_place records;
    k8s::watch_limits limits;
    reactor::logger log;
    reactor::nanoseconds check_interval = std::chrono::seconds(60);
    /// A namespace, or an object in it, came, changed or went.
    std::function<void(std::string_view ns)> namespace_changed;
    /// An object in it of a kind that releases own went. May be empty.
    std::function<void(std::string_view ns)> object_gone;
    /// A record of that release did; its namespace is not known where records are kept apart.
    std::function<void(std::string_view ns, std::string_view release)> release_changed;
    /// Called every check_interval while what is watched cannot be trusted: ask the server.
    std::function<void()> untrusted;
  };
  cluster_view(reactor::loop& l, k8s::client& api, options o);
  ~cluster_view();

  void start();
  /// When namespaces and records are complete, or the deadline has come.
  awaitable<void> synced(reactor::steady_time deadline);
  awaitable<void> stop();

  /// What the namespace is, and its version; none: ask the server.
  std::optional<workspace_facts> workspace(const std::string& name) const;
  /// The newest record of the release, without a name where there is none; none: ask the server.
  std::optional<listed_record> newest(const std::string& ns, const std::string& release) const;
  /// From now on objects of that one's kind are watched, too.
  void follow(const checked_object& o) { (void)watch(collection_of(o)); }
  /// Those of the objects that are not seen; none where a kind of them is not watched (yet).
  std::optional<std::vector<checked_object>> unseen(const std::vector<checked_object>& objects);
  /// Changes whenever a workload in that namespace does; empty: it is not known.
  std::string workloads_at(const std::string& ns);

private:
  template <class View>
  using informer = k8s::informer<View>;
  /// One kind that releases own.
  struct watched_kind {
    k8s::resource resource;
    std::unique_ptr<informer<seen_object>> view;  // null: it is looked whether it may be listed
    reactor::steady_time look_again{};
    bool refused = false;
  };
  k8s::informer_options watch_of(k8s::resource kind, std::string ns, std::string labels) const;
  watched_kind& watch(const k8s::resource& kind);
  awaitable<void> begin(k8s::resource kind);
  awaitable<void> look_after();

  reactor::loop& loop_;
  k8s::client& api_;
  options options_;
  informer<seen_namespace> namespaces_;
  informer<seen_record> records_;
  std::map<std::string, watched_kind> kinds_;  // by plural
  bool stopped_ = false;
  reactor::task_group tasks_;
};

}  // namespace helm::placed
