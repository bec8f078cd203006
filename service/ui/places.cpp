#include "service/ui/places.hpp"

#include "reactor/http/message.hpp"
#include "reactor/plain/printable.hpp"

#include <algorithm>

namespace cli {
namespace {

constexpr std::size_t longest_name = 300;

std::string quoted(const std::string& name) {
  return "\"" + reactor::printable(name, longest_name) + "\"";
}

}  // namespace

place place_of(std::string_view path) {
  constexpr std::string_view begin = "/cluster/";
  if (path.starts_with(begin)) path.remove_prefix(begin.size());
  place out;
  for (std::string* part : {&out.cluster, &out.api, &out.row}) {
    const std::size_t end = std::min(path.find('/'), path.size());
    *part = reactor::http::decode_component(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  out.unit = reactor::http::decode_component(path);
  return out;
}

std::string no_cluster(const place& at) {
  return "the fleet has no cluster " + quoted(at.cluster);
}

std::string missing_in(const cluster_overview& c, const place& at) {
  if (at.api.empty()) return {};
  const std::string where = "cluster " + quoted(c.name) + " has no ";
  const auto api = std::ranges::find(c.apis, at.api, &api_overview::name);
  if (api == c.apis.end()) return where + "API " + quoted(at.api);
  if (at.row.empty()) return {};
  const auto row = std::ranges::find(api->rows, at.row, &units::plan_row::name);
  if (row == api->rows.end()) return where + api->says.row + " " + quoted(at.row);
  if (at.unit.empty() ||
      std::ranges::find(row->units, at.unit, &units::unit::name) != row->units.end())
    return {};
  return where + api->says.unit + " " + quoted(at.unit) + " in " + api->says.row + " " +
         quoted(at.row);
}

std::string route_of(const place& at) {
  std::string out = "#/cluster";
  for (const std::string* part : {&at.cluster, &at.api, &at.row, &at.unit})
    if (!part->empty()) out += "/" + reactor::http::encode_component(*part);
  return out;
}

}  // namespace cli
