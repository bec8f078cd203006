#pragma once

#include "k8s/sim/api_server.hpp"
#include "k8s/sim/objects/catalogue.hpp"
#include "k8s/sim/objects/failure.hpp"
#include "k8s/sim/pod_facts.hpp"
#include "k8s/sim/rbac.hpp"
#include "k8s/sim/representation.hpp"
#include "k8s/sim/store.hpp"
#include "k8s/sim/subscription.hpp"
#include "reactor/plain/entropy.hpp"

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace k8s::sim {

enum class strictness { ignore, warn, strict };

/// One request to a resource, taken apart.
struct call {
  const request* in = nullptr;
  kind_ptr kind;
  std::string ns, name, subresource;
  representation as;
  identity who;
  bool dry_run = false;
  std::string manager;  // field manager, from the parameter or the user agent
  strictness validation = strictness::warn;
  std::vector<std::string> warnings;

  std::string key() const { return object_path(ns, name); }
  std::string query(std::string_view name) const;
  bool has_query(std::string_view name) const;
  bool query_flag(std::string_view name) const;
};

/// How an update came about.
struct update_plan {
  std::optional<json::array> managed;  // set by apply: the managers as they must be
};

struct deletion {
  std::optional<std::int64_t> grace;
  std::string uid, resource_version, propagation;
};

/// The state of an api_server and its verbs, one group of them per source file.
struct core {
  core(api_server& face, api_options o);

  api_server& outside;
  api_options options;
  store objects;
  catalogue kinds;
  struct watcher {
    std::string collection;  // looked at before anything else, at each write
    std::weak_ptr<subscription> by;
  };
  std::vector<watcher> watches;
  bool frozen = false;
  std::uint64_t stale_by = 0;
  bool stale_all = false;
  std::multimap<reactor::steady_time, std::pair<std::string, std::string>>
      terminations;              // when → pod key, uid
  std::deque<change> reactions;  // writes the controllers have yet to see
  bool reacting = false;
  /// Tokens of service accounts that were asked for.
  struct issued_token {
    std::string ns, name, uid;  // of the account
    reactor::wall_time expires;
  };
  std::map<std::string, issued_token, std::less<>> issued_tokens;

  reactor::wall_time wall() const { return options.wall(); }
  reactor::steady_time now() const { return options.now(); }
  std::string timestamp() const { return reactor::format_rfc3339(wall()); }

  // routes.cpp
  answer handle(const request& r);
  answer route(const request& r, identity who);
  outcome<answer> serve(call& c);

  // reads.cpp
  outcome<answer> get(call& c);
  outcome<answer> list(call& c);
  outcome<answer> watch(call& c);
  outcome<std::uint64_t> parse_revision(std::string_view text, std::string_view field) const;
  version_ptr find(const kind_info& kind, std::string_view key) const {
    return objects.get(kind.collection(), key);
  }

  /// An object as it is stored, its version included; of a dry run as it would be.
  using stored = std::shared_ptr<const json::object>;

  // writes.cpp
  outcome<answer> create(call& c);
  outcome<answer> replace(call& c);
  outcome<answer> remove(call& c);
  outcome<answer> remove_collection(call& c);
  /// `status`, if any, becomes part of what is stored, as if a client had written it at once.
  outcome<stored> create_object(call& c, json::object o, const json::object* status = nullptr);
  /// `o` replaces what is stored under c.key(); it is in stored form.
  outcome<stored> update_object(call& c, const version& old, json::object o, update_plan plan = {});
  outcome<deletion> read_deletion(const call& c, const json::object* options) const;
  /// What a DELETE says in its query and body; a dryRun in the body makes the call a dry run.
  outcome<deletion> asked_deletion(call& c) const;
  /// Returns the object as it stands, and whether it is gone.
  outcome<std::pair<stored, bool>> delete_object(const kind_info& kind, std::string_view key,
                                                 const deletion& how, bool dry_run);
  outcome<json::object> body_object(const call& c) const;
  /// How an object came in, which decides what a wrong one is answered with.
  enum class arrival { body, patched, applied };
  outcome<void> check_body(call& c, json::object& o, arrival how = arrival::body) const;
  /// The fields of a built-in kind: unknown ones are taken out and named.
  outcome<std::vector<std::string>> check_fields(const call& c, json::object& o, arrival how) const;
  answer object_answer(const call& c, int status, const json::object& o) const;

  // patch_requests.cpp
  outcome<answer> patch(call& c);

  // commits.cpp
  stored commit_put(const kind_info& kind, std::string_view key, json::object&& o);
  stored commit_remove(const kind_info& kind, std::string_view key, json::object&& o);
  stored publish(change c, const kind_info& kind, stored object);
  void end_watches();

  // reactions.cpp: what the controllers do after a write
  void react();
  void collect_garbage(const change& c);
  void settle_namespace(const std::string& name);
  /// Pods that were written in one namespace, before and after; none: any may have been.
  using written_pods = std::optional<std::vector<version_ptr>>;
  void refresh_budgets(std::string_view ns, const written_pods& pods);
  std::optional<std::int64_t> replicas_of(const pod_facts::controller& owner,
                                          std::string_view ns) const;
  bool namespace_is_empty(std::string_view ns) const;
  void terminate_pod(std::string_view key, std::string_view uid);

  // crds.cpp
  void install_crd(const json::object& crd);
  void uninstall_crd(const json::object& crd);
  void settle_crd(json::object& crd);
  void drop_unknown_managers(const kind_info& kind, json::object& meta) const;

  // reads.cpp
  outcome<answer> log(call& c);
  // eviction.cpp
  outcome<answer> evict(call& c);
  outcome<answer> bind(call& c);

  // access.cpp
  rbac judge() const;
  bool uses_rbac() const noexcept { return options.access.judge == authorization::rbac; }
  /// The user of a request, impersonation included. Errors: an unknown credential (401), or
  /// impersonation without the right to it (403).
  outcome<identity> identify(const request& r);
  /// Returns the answer to a request that RBAC does not allow; nothing if it is allowed.
  std::optional<failure> refuses(const identity& who, const attributes& what) const;
  /// The same for a Role or binding that gives more than its author has.
  std::optional<failure> refuses_grant(const call& c, const json::object& o) const;
  outcome<answer> issue_token(call& c);
  outcome<answer> review_access(call& c);
  /// Whose token it is; empty when it has ended, none when we gave out no such token.
  std::optional<std::string> user_of_token(std::string_view token);

  // discovery.cpp
  std::optional<answer> discover(const request& r);
};

/// Joins an object's metadata to its key.
std::string key_of(const json::object& o);

}  // namespace k8s::sim
