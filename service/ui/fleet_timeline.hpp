#pragma once

#include "policies/host/host.hpp"
#include "reactor/http/message.hpp"
#include "service/page/site.hpp"
#include "service/page/timeline.hpp"
#include "service/service.hpp"

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace cli {

/// What happened in the fleet of a service while it ran, and who asked for it: Events as they are
/// recorded, states of clusters, policies, and the targets of rows with the field manager that
/// wrote them.
/// Cost      memory as web::timeline says. The object of a row is read when its target or pause
///           changed and once at the beginning: `most_reads` at once, `most_waiting` in line.
/// Lifetime  the service outlives it.
class fleet_timeline {
public:
  static constexpr std::size_t most_reads = 4, most_waiting = 1'000, most_found = 200,
                               looked_a_turn = 64;

  fleet_timeline(reactor::loop& l, service& of);
  ~fleet_timeline();
  fleet_timeline(const fleet_timeline&) = delete;
  fleet_timeline& operator=(const fleet_timeline&) = delete;

  void cluster_is(const std::string& name, const std::string& before, const std::string& now,
                  const std::string& why);
  /// What may have changed in a row since it was looked at before.
  struct row_change {
    std::string cluster, api, row;
    std::string target;  // where it is another one
    enum class pause { same, begun, ended } paused = pause::same;
    bool is_first = false;  // nothing was known of it
  };
  void row_is(row_change c);
  void policies_are(const std::vector<policies::pack_status>& all);

  const web::timeline& all() const noexcept { return all_; }
  /// FleetTimeline of ?q=, ?cluster=, ?before= and ?limit=. Errors: errc::not_found for a cluster
  /// that the fleet does not have, or a place that is none.
  reactor::awaitable<reactor::result<web::site::text>> document(reactor::http::target_parts asked);

private:
  void heard(const std::string& cluster, const k8s::event_note& e);
  void read_next();
  void read_row(row_change c);
  void tell_row(const row_change& c, const units::api& api, const boost::json::object& object);

  reactor::loop& loop_;
  service& service_;
  web::timeline all_;
  std::deque<row_change> waiting_;
  std::size_t reads_ = 0;
  struct known_pack {
    std::string digest, refused, fault;
  };
  std::map<std::string, known_pack> packs_;  // by where they come from
  bool packs_known_ = false;
  std::shared_ptr<fleet_timeline*> alive_;  // null in it: answers come too late
};

}  // namespace cli
