#pragma once

#include "k8s/client/events.hpp"
#include "k8s/fleet/cluster.hpp"
#include "k8s/fleet/member_token.hpp"
#include "k8s/informer/informer.hpp"
#include "k8s/views/secret.hpp"
#include "reactor/log.hpp"
#include "reactor/task_group.hpp"
#include "reactor/waiters.hpp"

#include <boost/json/fwd.hpp>

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s {

/// Who renews the tokens of members that `cluster add` made: this process, while it discovers, or
/// another one.
enum class token_care : bool { others, ours };

struct fleet_options {
  std::string ns = "default";                                         // of the discovery Secrets
  std::string label = "sigs.k8s.io/multicluster-runtime-kubeconfig";  // must be "true"
  std::string key = "kubeconfig";
  std::string field_manager = "windlass";
  std::string identity = "windlass";  // who reports in events
  std::function<void(cluster& c)> on_engaged;
  /// It is leaving, engaged or not: start nothing more there. Its parts are stopped next.
  std::function<void(cluster& c)> on_disengaged;
  std::function<void(cluster& c, cluster_state before)> on_state;
  std::function<void(cluster& c)> on_recovered;
  /// The labels of its Secret changed; nothing was reconnected.
  std::function<void(cluster& c)> on_labels;
  /// Other names of its server came or went.
  std::function<void(cluster& c)> on_names;
  /// Adds what the apis know ("tenants") to a cluster's entry of reading.
  std::function<void(const cluster& c, boost::json::object& entry)> describe;
  /// Each Event about an object of a cluster, as it is recorded.
  std::function<void(const std::string& cluster, const event_note& e)> on_event = {};
  /// Programs that the kubeconfigs in Secrets may name (--allow-exec).
  std::vector<allowed_program> programs = {};
  reactor::metrics* metrics = nullptr;
  token_care tokens = token_care::others;
  /// The process's connection to home. The cluster `self-cluster` uses it where the Secret of that
  /// name has no credentials. None: it is a cluster like any other.
  std::optional<connection> home = {};
};

/// Whether two connections lead to one API server. A UID is what a server says of itself, so it
/// is proven: a random text that is written through one of them is read through the
/// other, in both directions. Until that is over neither begins anything that the other does.
enum class sameness : std::uint8_t { asked, same, other };

/// The names of one API server, and which of them acts where no object names one.
struct server_names {
  std::vector<std::string> all;  // in order
  std::string primary;
};

/// One of them. It cannot act while its server refuses its credentials or it was never reached.
struct server_name {
  std::string name;
  bool can_act = true;
  std::optional<reactor::steady_time> refused_at = {};  // what the API in question does
};
/// The first by name of those that can act and are not refused; "self-cluster" only where there is
/// no other. Where each is refused, that whose refusal is the oldest, so that each is tried in
/// turn. Of those that cannot act, likewise, where none can.
std::string primary_name(const std::vector<server_name>& names);

/// All clusters: those that labelled kubeconfig Secrets name on the home cluster, and those added
/// by hand.
/// Change     SHA-256 of the bytes under the key reconnects; labels are handed on; nothing else of
///            a Secret counts.
/// Isolation  each cluster has its own tasks, connections and parts; none waits for another.
/// Tokens     of a member that `cluster add` made, and whose Secret still holds what was written,
///            are renewed after 60 to 80 % of their life: asked for there, written here. What a
///            person wrote is his.
/// Home lost  the clusters stay; discovery goes on when home is back.
/// Lifetime   loop, home client, events and metrics outlive it; co_await stop() before destruction.
/// Source     docs/adr/0002.
class fleet {
public:
  fleet(reactor::loop& l, fleet_options options, reactor::logger log = {});
  ~fleet();
  fleet(const fleet&) = delete;
  fleet& operator=(const fleet&) = delete;

  /// A cluster without a Secret; a fleet of one has only this. An existing name is replaced. With a
  /// fault instead of a connection it is a name that cannot be used, and the fault says why.
  void add(std::string name, reactor::result<connection> to);
  /// Follows the Secrets of home. Once. `events` may be null.
  void discover(client& home, event_recorder* events);
  /// The first list of Secrets was processed (or there is no discovery). False when `deadline` came
  /// first.
  awaitable<bool> discovered(reactor::steady_time deadline = reactor::never);
  /// False once it stops: clusters that go then have not left the fleet.
  bool is_discovered() const noexcept { return discovered_.is_set(); }

  /// Puts an API on every cluster, now and later. Its name is not taken.
  void engage(cluster_api api);
  /// Takes it off all of them; comes back when nothing of it runs there any more.
  awaitable<void> withdraw(std::string api);

  /// An Event of an API about a cluster, on the Secret that it is known by; nothing where it has
  /// none.
  void tell(std::string_view name, const event_kind& what, std::string note);

  /// Null when there is no usable connection of that name.
  cluster* find(std::string_view name) const noexcept;
  /// In order of name; not those with an invalid kubeconfig.
  std::vector<cluster*> clusters() const;
  /// A name without a usable connection, and why.
  struct unusable {
    std::string name, why;
    reactor::wall_time since{};
  };
  /// In order of name.
  std::vector<unusable> without_connection() const;
  /// Names with and without a usable connection.
  std::size_t size() const noexcept { return entries_.size(); }
  /// One API server may be in the fleet under several names: its address says so, or its UID and
  /// the proof of it. `least` asked: with those that are still being asked. The primary is that of
  /// an API where `api` names one.
  server_names names_of(const cluster& c, sameness least = sameness::asked,
                        std::string_view api = {}) const;
  sameness compare(const cluster& a, const cluster& b) const;
  /// False while its credentials are refused, it failed before it was ever used, or its server has
  /// not answered for `outage`: another name of the same server acts then.
  bool can_act(const cluster& c) const;
  /// The same of an API; false also while its server refuses what the API does.
  bool can_act(const cluster& c, std::string_view api) const;
  static constexpr reactor::nanoseconds outage = 5min;
  /// What the API says of itself will not change by waiting a moment: it is settled, and where it
  /// stands by, the name that acts was reached.
  bool is_known(const engagement& api) const;
  /// Asks those that say they have the UID of this one to prove it. Of a cluster of the fleet that
  /// is done by itself.
  void recognise(cluster& c);
  /// Why an API does not act on a cluster under this name: the name that acts, or one that has not
  /// ended doing so. Empty: it acts. One cluster is acted upon under its primary name alone.
  std::string acts_elsewhere(const cluster& c, const engagement& api) const;
  /// Home, which is told with `home: true` while APIs are on it: together with the first of the
  /// clusters that is the same API server, else after all. It outlives the readings.
  void also_tell_of(cluster& home) noexcept { home_ = &home; }
  /// What GET /clusters answers: an array of one object for each name, in their order, as printable
  /// JSON text. A fleet's is a megabyte, so it is made in pieces; clusters may come and go between
  /// two.
  class reading {
  public:
    explicit reading(const fleet& of) noexcept : of_(of) {}
    /// Some more of it; none at the end.
    std::optional<std::string> next();

  private:
    const fleet& of_;
    std::optional<std::string> last_;  // the name that was written last
    bool home_is_told_ = false;        // as one of the fleet's clusters
    bool ended_ = false;
  };

  awaitable<void> stop();

  // A token that cannot be renewed is tried again until a person mends what is wrong.
  static constexpr reactor::backoff_settings renewal_retry{60s, 1h, 2, 0.2};

private:
  struct entry {
    std::string hash;
    std::string primary;                    // of its names, as it was told last
    bool could_act = true;                  // as it was told last
    std::vector<std::string> refused = {};  // APIs, as it was told last
    std::string invalid;                    // why there is no cluster
    reactor::wall_time since{};
    object_reference secret;             // kind empty = added by hand
    std::optional<member_token> member;  // its token is known, and ours to renew
    std::string token_problem;           // why it was not
    reactor::steady_time next_renewal = reactor::never;
    reactor::backoff renewal_backoff{renewal_retry};
    std::unique_ptr<cluster> running;
  };
  boost::json::object to_json(const std::string& name, const entry& e) const;
  /// The same API server as home, where APIs run.
  bool is_home(const entry& e) const;
  boost::json::object home_as_json() const;
  awaitable<void> supervise();
  void touch(const std::string& name);
  awaitable<void> consider(std::string name);
  void engage(const std::string& name, entry& e, connection to, string_map labels = {});
  void relabel(entry& e, const string_map& labels);
  void disengage(const std::string& name, entry& e);
  awaitable<void> close(std::unique_ptr<cluster> leaving, std::string identity);
  /// An event on the cluster's Secret at home; nothing without discovery.
  void tell(const object_reference& secret, const event_kind& what, std::string note);
  void tell(const object_reference& secret, event_severity type, std::string reason,
            std::string note);
  // fleet_tokens.cpp
  void note_member(const std::string& name, entry& e, const secret& of);
  void show_token(const entry& e);
  awaitable<void> keep_tokens();
  void renew(const std::string& name, entry& e);
  void renewed(const std::string& name, const std::string& hash, result<issued_token> got);
  awaitable<void> write_token(std::string name, std::string hash, issued_token token);
  void not_renewed(const std::string& name, const std::string& hash, std::string why);
  /// The member whose kubeconfig still is the one that `hash` names.
  entry* member_with(const std::string& name, const std::string& hash);

  void count_reload(const std::string& name, const char* outcome);
  void note_state(cluster& c, cluster_state before);
  // fleet_twins.cpp
  std::string primary_of(const std::vector<std::string>& names, std::string_view api = {}) const;
  /// Another name of the fleet, or home, is the same API server. Ends at the first that is.
  bool has_other_name(const cluster& c, sameness least) const;
  /// Calls `visit` with each other name of the same API server until it says false.
  template <class Visit>
  void each_other_name(const cluster& c, sameness least, Visit visit) const;
  void note_address(const cluster& added);
  void note_uid(const std::string& name, const std::string& before);
  using pair_of_clusters = std::pair<const cluster*, const cluster*>;
  static pair_of_clusters pair_of(const cluster& a, const cluster& b);
  awaitable<void> prove(pair_of_clusters both);
  /// One direction; none: it cannot be said.
  awaitable<std::optional<bool>> reads_what_is_written(const cluster* through, const cluster* by);
  awaitable<std::optional<std::string>> exchange(const cluster* with, std::string event,
                                                 std::optional<std::string> text);
  void conclude(pair_of_clusters both, sameness is);
  /// As long as it is one of the fleet or home.
  cluster* present(const cluster* c) const noexcept;
  void forget_proofs(const cluster& leaving);
  awaitable<void> seat_all();
  reactor::steady_time seat(cluster& c);

  reactor::loop& loop_;
  fleet_options options_;
  std::vector<cluster_api> apis_;
  reactor::logger log_;
  event_recorder* events_ = nullptr;
  cluster* home_ = nullptr;
  client* home_api_ = nullptr;  // where the Secrets are
  std::unique_ptr<informer<secret>> secrets_;
  std::map<std::string, entry, std::less<>> entries_;
  /// Names by UID and "address " of their server; none when it is to be made again.
  mutable std::optional<std::map<std::string, std::vector<std::string>>> servers_;
  std::set<std::string> touched_;
  std::map<pair_of_clusters, sameness> proofs_;
  /// What is stopping, and may still write: by server, and the API ("" = all) and name of each.
  struct stopping {
    std::string identity, server, api, name;
  };
  std::list<stopping> stopping_;
  reactor::event names_changed_;
  bool seats_ = false;
  reactor::waiters changed_;
  reactor::waiters tokens_changed_;
  reactor::event discovered_;
  reactor::task_group closing_;  // joined, never cancelled: what leaves must leave in order
  reactor::task_group tasks_;
};

}  // namespace k8s
