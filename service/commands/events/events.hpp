#pragma once

#include "app/api/api.hpp"
#include "app/listing.hpp"
#include "service/commands/looking.hpp"
#include "service/connect.hpp"

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace cli {

using namespace app;

struct events_arguments {
  fleet_arguments fleet;
  list_request list;
  std::string about;  // [KIND/]NAME of what the Events are about; empty: anything
  reactor::nanoseconds timeout = std::chrono::seconds(15);
};

/// Reason and kind of each Event that Windlass may write: of the fleet and its policies, of these
/// APIs, and of the stock packs.
using known_events = std::set<std::pair<std::string, std::string>>;
known_events events_of(const std::vector<units::api>& apis);

/// One Event as a row, from its form in events.k8s.io/v1. None: it is not one of `known`, or not
/// about `about`.
std::optional<listed_object> event_row(const std::string& cluster, const boost::json::object& event,
                                       const known_events& known, const std::string& about,
                                       reactor::wall_time now, colours tint);

/// `windlass events` on a service that was started in look mode, until it is done or `stop` is set.
/// Returns the exit code: 1 where a cluster could not be asked, which is named.
reactor::awaitable<int> show_events(reactor::loop& l, service& s, events_arguments a,  // borrowed
                                    known_events known, reactor::event& stop, command_output& out);

std::vector<app::command> events_commands();

}  // namespace cli
