#pragma once

#include "app/api/brake.hpp"
#include "app/listing.hpp"
#include "service/commands/looking.hpp"
#include "service/connect.hpp"
#include "service/overview/overview.hpp"

#include <boost/json/object.hpp>

#include <optional>
#include <string>
#include <vector>

namespace k8s {
class client;
}

namespace cli {

using namespace app;

/// brake on|off|status: the ConfigMap at home that stops everything.
struct brake_arguments {
  enum class command { on, off, status } what = command::on;
  fleet_arguments fleet;
  std::string why, selector;      // on
  std::vector<std::string> only;  // on: names of APIs
  list_request list;
  reactor::nanoseconds timeout = std::chrono::seconds(15);
};

/// What is written: the object as it was, if it was there, becomes on or off. `by` is who asks.
/// Nothing where it is off already and is to be.
struct brake_edit {
  bool creates = false;
  boost::json::object body;  // of the new object, or a merge patch with the version that was seen
};
std::optional<brake_edit> edit_of(const brake_arguments& a, const boost::json::object* before,
                                  const std::string& by, const std::string& now);

/// `windlass brake on` and `off` at home. Returns the exit code; another writer that was faster is
/// told of, and the code is 1.
reactor::awaitable<int> set_brake(reactor::loop& l, k8s::client& home,  // borrowed
                                  brake_arguments a, std::vector<std::string> apis,
                                  command_output& out);

/// What goes on although the brake is on: units that move and wait for no turn.
listing under_way(const fleet_overview& f, const std::vector<units::api>& apis, colours tint);

/// A row that goes on by a person's order (`rollout … --override-brake`).
struct overriding_row {
  std::string cluster, api, row, sentence;
};
std::vector<overriding_row> overriding(const fleet_overview& f);

std::vector<app::command> brake_commands();

}  // namespace cli
