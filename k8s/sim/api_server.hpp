#pragma once

#include "reactor/http/message.hpp"
#include "reactor/plain/time.hpp"

#include <boost/json/fwd.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace reactor {
class entropy;
}

namespace k8s::sim {

class subscription;
struct core;

struct request {
  std::string method = "GET";
  std::string path = "/";                                  // without query
  std::vector<std::pair<std::string, std::string>> query;  // decoded
  reactor::http::headers fields;
  std::string body;
  std::string user;  // common name of the client's certificate
};
/// "GET", "/api/v1/pods?limit=1" → a request.
request make_request(std::string method, std::string_view target, std::string body = {},
                     std::string content_type = "application/json");

/// Whether it carries a bearer token, whosever.
bool presents_token(const request& r);

/// What to answer, and how the transport should behave while it does.
struct answer {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> fields;  // Retry-After, Warning
  std::shared_ptr<subscription> watch;  // set: stream its lines instead of `body`
  reactor::nanoseconds delay{0};        // wait before answering
  bool drop = false;                    // close the connection without an answer
};

enum class write_type { added, modified, deleted };
/// One committed write, shown to the observer before the answer leaves.
struct written {
  write_type type;
  std::string_view group, plural, ns, name;
  std::uint64_t revision;
  const boost::json::object* before;  // null when added
  const boost::json::object* after;   // of a deletion the last state
};

/// How a server decides what a user may do.
enum class authorization {
  always_allow,
  rbac,  // the server's Roles, ClusterRoles and bindings
};

/// Who may come in. Without tokens and with `anonymous` every request is accepted.
struct access_rules {
  std::map<std::string, std::string> tokens;  // bearer token → user
  /// Of users by name, beside those that their name gives: "admin" → system:masters.
  std::map<std::string, std::vector<std::string>> groups = {};
  authorization judge = authorization::always_allow;  // fixed when the server is made
  bool anonymous = true;                              // requests without credentials are accepted
  /// Answers false for 403. May be empty.
  std::function<bool(const std::string& user, const request& r)> authorize;
};

struct api_options {
  std::string name = "sim";         // for messages
  std::string version = "v1.36.0";  // what /version says
  std::function<reactor::wall_time()> wall;
  std::function<reactor::steady_time()> now;
  reactor::entropy* entropy = nullptr;
  std::size_t history_changes = 1000;  // how far back a watch may start
  reactor::nanoseconds history_age = std::chrono::minutes(5);
  reactor::nanoseconds bookmark_every = std::chrono::seconds(60);
  std::size_t watch_pending_limit = 10'000;  // lines a slow watch may leave waiting; 0 = any
  bool controllers = true;                   // garbage collection, namespaces, budgets' status
  /// What was read of an object stays beside its bytes: half the time and four times the memory.
  /// For small servers that many watch, as in a simulation.
  bool keep_parsed = false;
  bool managed_fields = true;  // track who owns which field (apply needs it)
  /// Heeds `drop=metadata.managedFields` in Accept (KEP-5958); a server without it ignores that.
  bool drops_managed_fields = true;
  /// How long a deleted pod on a node takes to end; none = until finish_termination().
  std::optional<reactor::nanoseconds> pod_termination;
  access_rules access;
  /// What the kubelet would say of a container; without it every pod is one that no node runs.
  std::function<std::optional<std::string>(std::string_view ns, std::string_view pod,
                                           std::string_view container)>
      pod_log;
};

/// An API server without I/O: a request goes in, an answer or a watch comes out. What the real
/// kube-apiserver (with the parts of the controller manager that clean up) would say for the kinds
/// it knows.
/// Lifetime: subscriptions it gave out may outlive it; they end with it.
class api_server {
public:
  explicit api_server(api_options options);
  ~api_server();
  api_server(const api_server&) = delete;
  api_server& operator=(const api_server&) = delete;

  answer handle(const request& r);

  // The simulation's door: the same pipeline, without a transport.
  /// Creates the object or replaces it with status and all; kinds are found by apiVersion and kind.
  /// Returns it as stored.
  boost::json::object put(boost::json::object o);
  /// Null when absent. `plural` is enough for built-in kinds of different names.
  std::optional<boost::json::object> get(std::string_view group, std::string_view plural,
                                         std::string_view ns, std::string_view name) const;
  std::vector<boost::json::object> list(std::string_view group, std::string_view plural) const;
  /// Changes an object in place, status included; false when it is not there.
  bool edit(std::string_view group, std::string_view plural, std::string_view ns,
            std::string_view name, const std::function<void(boost::json::object&)>& change);
  /// Deletes at once whatever grace and finalizers say.
  bool erase(std::string_view group, std::string_view plural, std::string_view ns,
             std::string_view name);
  /// What the kubelet does once the containers of a terminating pod have ended.
  bool finish_termination(std::string_view ns, std::string_view pod);

  /// Does what is due by now (pods whose termination time passed); next_due says when to call
  /// again.
  void advance();
  reactor::steady_time next_due() const;

  // Faults.
  /// Asked first for every request: an answer here is given instead.
  std::function<std::optional<answer>(const request&)> before;
  /// May change what was decided.
  std::function<void(const request&, answer&)> after;
  /// Sees each committed write.
  std::function<void(const written&)> on_write;
  /// Called when next_due() may have become earlier.
  std::function<void()> on_due_changed;
  /// Forgets history: watches and page tokens from before answer 410.
  void compact();
  /// A frozen server takes requests and says nothing; watches stall. The transport waits for the
  /// thaw.
  void freeze(bool frozen);
  bool frozen() const noexcept;
  /// GET and list with resourceVersion=0, and all reads when `all`, are answered from this many
  /// versions ago.
  void serve_stale(std::uint64_t versions_behind, bool all = false);
  /// What its storage holds at this moment.
  struct backup;
  std::shared_ptr<const backup> save() const;
  /// Puts back what was saved, versions included, and restarts, as when etcd is restored under it:
  /// a watch from a version that was taken back waits without a word until the versions pass it.
  void restore(const backup& saved);
  enum class memory { kept, lost };
  /// Ends every watch as a restart does; with memory::lost history is gone too.
  void restart(memory history = memory::kept);
  access_rules& access() noexcept;

  const std::string& name() const noexcept;
  /// What /version says: the server was replaced by one of this version, or one behind the same
  /// balancer answers.
  void be(std::string version);
  const std::string& version() const noexcept;
  std::uint64_t revision() const noexcept;
  std::size_t object_count() const;
  std::size_t watch_count() const;
  reactor::steady_time now() const;

private:
  std::unique_ptr<core> core_;
};

}  // namespace k8s::sim
