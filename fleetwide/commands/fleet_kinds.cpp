// What commands know of FleetPools, and of FleetCharts.
#include "fleetwide/commands/fleet_kinds.hpp"

#include "fleetwide/api.hpp"
#include "fleetwide/charts/api.hpp"
#include "fleetwide/charts/chart_home.hpp"
#include "fleetwide/kinds/fleet_chart.hpp"
#include "fleetwide/kinds/fleet_pool.hpp"
#include "k8s/informer/view.hpp"

#include <boost/json.hpp>

namespace cli {
namespace {

namespace json = boost::json;

template <class Object>
k8s::result<fleetwide::fleet_object> read_as(const std::string& text) {
  auto read = k8s::parse_view<Object>(text);
  if (!read) return read.error();
  return fleetwide::fleet_object(std::move(*read));
}

json::object undo_pool(const fleetwide::fleet_object& now, const fleetwide::revision_content& back,
                       const std::string& image_digest) {
  json::object made = json::parse(back.template_json).as_object();
  json::value& metadata = made["metadata"];
  if (!metadata.is_object()) metadata.emplace_object();
  metadata.get_object()["name"] = now.claim;
  json::object spec;
  spec["template"] = std::move(made);
  std::string ref = back.ref;
  if (back.is_by_tag() && !image_digest.empty()) ref += "@" + image_digest;
  spec["image"] = json::object{{"ref", ref}, {"updates", now.follows_tag ? "Auto" : "Manual"}};
  return spec;
}

/// With the version that a range was found to be.
json::object undo_chart(const fleetwide::fleet_object&, const fleetwide::revision_content& back,
                        const std::string&) {
  json::object spec = json::parse(back.template_json).as_object();
  spec.erase("configMaps");
  spec.erase("secrets");
  spec.erase("provenanceKeys");
  const std::string version = back.image_digest.substr(0, back.image_digest.find('@'));
  if (!version.empty()) spec["chart"].as_object()["version"] = version;
  return spec;
}

}  // namespace

const fleet_kind& pools_for_commands() {
  static const fleet_kind kind{
      .command = fleetwide::pools_command,
      .kind = "FleetPool",
      .one = "fleetPool",
      .all = "fleetPools",
      .ref_key = "image",
      .column = "IMAGE",
      .ref_path = "spec.image.ref",
      .has = "pool",
      .removed = "deleted",
      .example = "workers",
      .api = fleetwide::pools_api,
      .resource = fleetwide::fleet_pools,
      .read = read_as<fleetwide::fleet_pool>,
      .at_home = [](k8s::cluster& home) { return fleetwide::at_home(home); },
      .undo = undo_pool,
      .replaced = {"template"}};
  return kind;
}

const fleet_kind& charts_for_commands() {
  static const fleet_kind kind{.command = fleetwide::charts_command,
                               .kind = "FleetChart",
                               .one = "fleetChart",
                               .all = "fleetCharts",
                               .ref_key = "chart",
                               .column = "CHART",
                               .ref_path = "spec.chart",
                               .has = "release",
                               .removed = "uninstalled",
                               .example = "ingress",
                               .api = fleetwide::charts_api,
                               .resource = fleetwide::fleet_charts,
                               .read = read_as<fleetwide::fleet_chart>,
                               .at_home = [](k8s::cluster& home) -> fleetwide::fleet_home* {
                                 return fleetwide::charts_at_home(home);
                               },
                               .undo = undo_chart,
                               .replaced = {"chart", "values", "valuesFrom", "valuesByPolicy"}};
  return kind;
}

}  // namespace cli
