#pragma once

#include "app/api/brake.hpp"
#include "bootc/daemons/wave_plan.hpp"
#include "k8s/client/events.hpp"
#include "k8s/client/fault.hpp"
#include "k8s/client/resource.hpp"
#include "reactor/awaitable.hpp"
#include "reactor/log.hpp"
#include "reactor/metrics.hpp"

#include <boost/json/object.hpp>

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace reactor {
class loop;
}
namespace k8s {
class client;
}

namespace bootc {

/// Replaces the pods of a cluster's daemon when its DaemonSet has another template, in waves
/// (plan_wave). Those of deploy/ are marked with `daemon_mark` and have the strategy OnDelete; with
/// another strategy their own controller replaces them.
/// Pace     at rest the DaemonSet is asked for every five minutes; every ten seconds while pods are
///          of different revisions.
/// Errors   are logged, each once. A DaemonSet in a namespace where we have no rights is left alone
///          for an hour, whatever its marks.
/// Lifetime loop, client and recorder outlive it, and what runs it is cancelled and joined before.
class daemon_waves {
public:
  struct options {
    std::function<bool()> may_act;               // what is seen may be acted upon
    std::function<void(wave_facts&)> say_nodes;  // which are busy, and which silent
    units::brake_question brake;
    k8s::event_recorder* events = nullptr;  // none: nothing is told
    reactor::gauge older;
    reactor::logger log;
  };
  daemon_waves(reactor::loop& l, k8s::client& api, options o);

  static constexpr std::string_view daemon_mark = "windlass.dev/daemon";
  static constexpr reactor::nanoseconds at_rest = std::chrono::minutes(5),
                                        under_way = std::chrono::seconds(10),
                                        refused_for = std::chrono::hours(1);

  /// Until it is cancelled.
  reactor::awaitable<void> run();

private:
  /// Those whose pods are of more than one revision.
  reactor::awaitable<k8s::result<std::vector<boost::json::object>>> due();
  /// When to look again.
  reactor::awaitable<reactor::nanoseconds> look();
  reactor::awaitable<k8s::result<wave_plan>> plan_for(boost::json::object daemon_set);
  /// Fills in for how long each pod of the DaemonSet has been seen, and seen ready.
  void note_ages(const std::string& daemon_set, std::vector<daemon_pod>& pods);
  reactor::awaitable<void> replace(k8s::object_key daemon_set, wave_plan plan);
  void say(const boost::json::object& daemon_set, const wave_plan& plan);
  void say_fault(const k8s::fault& why);

  reactor::loop& loop_;
  k8s::client& api_;
  options options_;
  std::map<std::string, std::string> told_;  // by DaemonSet, what was said last
  std::string fault_;                        // what was logged last
  struct sighting {
    reactor::steady_time first{};
    std::optional<reactor::steady_time> ready;
    reactor::wall_time ready_since{};
  };
  std::map<std::string, std::map<std::string, sighting>> sightings_;  // by DaemonSet, and pod's uid
  std::set<std::string> refused_;  // DaemonSets whose pods we may not see
  reactor::steady_time ask_refused_again_{};
};

/// What the API server says of a DaemonSet's pods.
std::string newest_revision(const boost::json::object& list, std::string_view daemon_set_uid);
std::vector<daemon_pod> pods_in(const boost::json::object& list, std::string_view daemon_set_uid);

}  // namespace bootc
