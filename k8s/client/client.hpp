#pragma once

#include "k8s/client/fault.hpp"
#include "k8s/client/newest_version.hpp"
#include "k8s/client/resource.hpp"
#include "reactor/awaitable.hpp"
#include "reactor/http/client.hpp"

#include <boost/json/fwd.hpp>

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace reactor {
class loop;
class limiter;
}  // namespace reactor

namespace k8s {

class apart;
struct connection;  // k8s/client/kubeconfig.hpp: where the server is and who we are there

struct list_options {
  std::string ns;  // empty = all namespaces
  std::string label_selector, field_selector;
  std::uint32_t limit = 500;  // objects per page
  std::string continue_token;
  std::string resource_version;  // with resource_version_match
  std::string resource_version_match;
  bool metadata_only = false;  // items are PartialObjectMetadata
  // Who manages which field comes along: up to 60 % of an object, which few ask about.
  bool managed_fields = false;
  // of a page, at most 16 MiB
  std::uint64_t most_bytes = std::numeric_limits<std::uint64_t>::max();
};

struct watch_options {
  std::string ns, label_selector, field_selector;
  std::string resource_version;
  bool bookmarks = true;
  bool send_initial_events = false;  // watch-list
  bool metadata_only = false;        // objects are PartialObjectMetadata
  reactor::nanoseconds timeout{};    // asked of the server; 0 = the server's choice
};

struct delete_options {
  std::string uid, resource_version;  // preconditions; empty = none
  std::optional<std::int64_t> grace_period_seconds;
  std::string propagation;  // "", Background, Foreground, Orphan
};

/// How long a whole request may take where the caller says nothing else (tenants.md §3.5).
inline constexpr reactor::nanoseconds request_deadline = std::chrono::seconds(30);

/// Of a server-side apply that would change fields of another manager.
enum class apply_conflicts { fail, force };

/// What a request may say beside the object, each by its name:
/// `request_options().at("status").by(manager)`.
/// No aggregate: GCC 12 destroys a temporary one twice in a co_await expression.
class request_options {
public:
  request_options() {}
  /// The subresource that is read or written; without one it is the object.
  request_options&& at(std::string subresource) && {
    this->subresource = std::move(subresource);
    return std::move(*this);
  }
  /// The field manager; without one that of the client.
  request_options&& by(std::string field_manager) && {
    this->field_manager = std::move(field_manager);
    return std::move(*this);
  }
  /// The deadline of the whole request.
  request_options&& within(reactor::nanoseconds deadline) && {
    this->deadline = deadline;
    return std::move(*this);
  }
  request_options&& on_conflict(apply_conflicts what) && {
    conflicts = what;
    return std::move(*this);
  }

  std::string subresource, field_manager;
  reactor::nanoseconds deadline = request_deadline;
  apply_conflicts conflicts = apply_conflicts::force;
};

/// Strategic patches (k8s/merge/strategic_merge.hpp) are taken for built-in kinds only.
enum class patch_kind { merge, strategic };

/// Typed access to one API server: every failure is a k8s::fault that names what was being done.
/// Bodies and answers are whole JSON documents (boost::json); lists and watches on the hot path are
/// read by informer.hpp from the raw exchange instead. Writes carry the field manager given with
/// them, else the one of construction.
/// Objects in lists, watches and answers of writes come without metadata.managedFields where the
/// server can leave them out (KEP-5958); get() asks for whole objects.
/// Lifetime  co_await stop() before destruction.
class client {
public:
  client(reactor::loop& l, connection to, std::string field_manager = "windlass");
  ~client();
  client(const client&) = delete;
  client& operator=(const client&) = delete;

  /// Takes from `options` the subresource and the deadline, as replace() does.
  awaitable<result<boost::json::object>> get(resource r, object_key key,
                                             request_options options = {});
  /// Errors   also errc::over_budget: the object has more than `most_bytes`, up to those of get().
  awaitable<result<boost::json::object>> get_within(resource r, object_key key,
                                                    std::uint64_t most_bytes);
  /// One page, as the server sent it (items, metadata.continue, metadata.resourceVersion).
  awaitable<result<boost::json::object>> list(resource r, list_options options);
  /// Takes from `options` the field manager and the deadline.
  awaitable<result<boost::json::object>> create(resource r, std::string ns,
                                                boost::json::object body,
                                                request_options options = {});
  /// POST to a subresource of an object, which has a kind of its own ("token").
  awaitable<result<boost::json::object>> create_subresource(resource r, object_key key,
                                                            std::string subresource,
                                                            boost::json::object body);
  /// Server-side apply of the fields in `body` (apiVersion and kind are filled in). Takes from
  /// `options` the subresource, the field manager and what a conflict does.
  awaitable<result<boost::json::object>> apply(resource r, object_key key, boost::json::object body,
                                               request_options options = {});
  /// What that apply would give; nothing is written.
  awaitable<result<boost::json::object>> rehearse(resource r, object_key key,
                                                  boost::json::object body);
  /// JSON merge patch (RFC 7386). Patches take from `options` the subresource and the field
  /// manager.
  awaitable<result<boost::json::object>> merge_patch(resource r, object_key key,
                                                     boost::json::object patch,
                                                     request_options options = {});
  /// Create and merge_patch; the answer comes as its text, for who reads a view of it (parse_view)
  /// or nothing.
  awaitable<result<std::string>> create_text(resource r, std::string ns, boost::json::object body,
                                             request_options options = {});
  awaitable<result<std::string>> merge_patch_text(resource r, object_key key,
                                                  boost::json::object patch,
                                                  request_options options = {});
  awaitable<result<boost::json::object>> patch(resource r, object_key key, patch_kind kind,
                                               boost::json::object patch,
                                               request_options options = {});
  awaitable<result<boost::json::object>> replace(resource r, object_key key,
                                                 boost::json::object body,
                                                 request_options options = {});
  awaitable<result<void>> remove(resource r, object_key key);
  awaitable<result<void>> remove(resource r, object_key key, delete_options options);
  /// policy/v1 Eviction without a grace period of our own. 429 = a budget forbids it now
  /// (errc::throttled).
  awaitable<result<void>> evict(object_key pod, std::string uid = {});
  /// An object, or with an empty name those of a namespace that a label selector takes, as the
  /// server prints them: columnDefinitions and rows of cells. A server that makes no tables answers
  /// with the object or list itself.
  awaitable<result<boost::json::object>> get_table(resource r, object_key key,
                                                   std::string label_selector = {});
  /// Any GET of this server, whole ("/version", "/apis"); the body is parsed as JSON.
  awaitable<result<boost::json::value>> get_path(std::string target,
                                                 reactor::nanoseconds within = request_deadline);
  /// The same of an answer that is text ("/metrics"). Errors: errc::malformed past `limit_bytes`.
  awaitable<result<std::string>> get_text(std::string target, std::size_t limit_bytes);

  /// The beginning of what a container printed; `container` may be empty for a pod that has one. A
  /// pod on no node printed nothing.
  awaitable<result<std::string>> pod_log(object_key pod, std::string container,
                                         std::size_t limit_bytes);

  /// A list page or a watch as a stream of bytes for a caller that parses it itself. The head has
  /// been checked: 200.
  awaitable<result<std::unique_ptr<reactor::http::exchange>>> open_list(resource r,
                                                                        list_options options);
  awaitable<result<std::unique_ptr<reactor::http::exchange>>> open_watch(resource r,
                                                                         watch_options options);

  reactor::loop& loop() const noexcept;
  /// Where what is long to compute about this server's answers is done, one at a time.
  apart& off_loop() noexcept;
  /// What the server last said its version is; shared by the informers of this client.
  newest_version& newest() noexcept;
  /// "https://10.0.0.1:6443", for messages and metrics.
  std::string server() const;
  /// The namespace that the connection's context names; may be empty.
  std::string default_namespace() const;
  const std::string& field_manager() const noexcept;
  /// Takes this connection's credentials out of a fault that was read from a stream; every other
  /// fault comes without them.
  void hide_credentials(fault& f) const;
  /// A sentence when the client certificate is expired or not valid yet, else empty.
  std::string certificate_problem() const;
  /// Called after each answer (null: a success) and each failure to get one, but not for
  /// cancellation.
  void on_outcome(std::function<void(const fault*)> seen);
  /// Called with each warning of an answer that is no list or watch: a deprecated kind, a field
  /// that the server ignores.
  void on_warning(std::function<void(const std::string&)> seen);
  /// Requests per second that the server's throttling allows now.
  double rate() const noexcept;
  /// Until when the server asked for a pause (429 with Retry-After); in the past when it did not.
  reactor::steady_time paused_until() const noexcept;
  /// How far the server's clock was ahead of ours at its last answer, to a second or two; none
  /// before it said.
  std::optional<reactor::nanoseconds> clock_ahead() const noexcept;
  /// Open connections to this server.
  std::size_t connections() const noexcept;
  awaitable<void> stop();

private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace k8s
