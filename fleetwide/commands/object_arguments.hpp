#pragma once

#include "app/listing.hpp"
#include "fleetwide/fleet_home.hpp"
#include "service/connect.hpp"

#include <boost/json/object.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

using namespace app;

/// How commands speak of one kind of fleet object, and where it is.
struct fleet_kind {
  std::string_view command, kind;    // "pool", "FleetPool"
  std::string_view one, all;         // "fleetPool", "fleetPools": in documents
  std::string_view ref_key, column;  // "image", "IMAGE"
  std::string_view ref_path;         // "spec.image.ref"
  std::string_view has;              // what a cluster has by it: "pool"
  std::string_view removed;          // "deleted"
  std::string_view example;          // a name
  std::string_view api;
  const k8s::resource& (*resource)();
  /// Errors: of an object that cannot be read.
  k8s::result<fleetwide::fleet_object> (*read)(const std::string& json);
  /// Null while there is none.
  fleetwide::fleet_home* (*at_home)(k8s::cluster& home);
  /// The spec that asks for a former revision again.
  boost::json::object (*undo)(const fleetwide::fleet_object& now,
                              const fleetwide::revision_content& back,
                              const std::string& image_digest);
  /// Members of spec that undo replaces as a whole.
  std::vector<std::string_view> replaced;
};

/// pool|chart list|status|plan|diff|history|undo|pause|resume|approve|retry, and values of a chart:
/// what is said once at home.
struct object_arguments {
  enum class command {
    list,
    status,
    plan,
    diff,
    history,
    undo,
    pause,
    resume,
    approve,
    retry,
    values
  } what = command::list;
  const fleet_kind* kind = nullptr;
  fleet_arguments fleet;
  std::string name;             // [NAMESPACE/]NAME; list, plan: empty = all
  std::string file;             // plan, diff: objects as if they were at home
  std::size_t to_revision = 0;  // undo: 0 = the newest other one that was complete
  bool adopt = false;           // approve: what is there is taken over
  bool yes = false;
  reactor::nanoseconds timeout = std::chrono::seconds(15);
  list_request list;
};

std::vector<app::command> pool_commands();
std::vector<app::command> chart_commands();

}  // namespace cli
