// Which rows and clusters of an overview are asked for.
#include "service/overview/overview.hpp"

#include <algorithm>
#include <set>

namespace cli {

listing all_rows(const fleet_overview& f) {
  listing out({});
  for (const auto& [name, t] : f.apis) {
    const listing some = rows_listing(f, name, t.says, extent::usual, colours::none);
    for (const listed_object& one : some.objects()) out.add(one);
  }
  return out;
}

namespace {

/// A name that is a unit's stands for its row.
void names_as_rows(const fleet_overview& f, std::vector<std::string>& names) {
  std::vector<std::string> out;
  for (const std::string& name : names) {
    std::set<std::string> rows;
    for (const cluster_overview& c : f.clusters)
      for (const api_overview& a : c.apis)
        for (const units::plan_row& r : a.rows)
          for (const units::unit& u : r.units)
            if (listed_object{a.says.unit, c.name, {}, u.name}.is_called(name))
              rows.insert(a.says.row + "/" + c.name + "/" + r.name);
    if (rows.empty())
      out.push_back(name);
    else
      out.insert(out.end(), rows.begin(), rows.end());
  }
  names = std::move(out);
}

std::string key_of(const std::string& api, const std::string& cluster, const std::string& row) {
  return api + "\n" + cluster + "\n" + row;
}

}  // namespace

reactor::result<void, std::string> choose(fleet_overview& f, const list_request& asked) {
  if (asked.names.empty() && asked.clusters.empty() && asked.selector.empty() &&
      asked.field_selector.empty() && asked.ns.empty() && asked.sort_by.empty())
    return {};
  list_request by = asked;
  names_as_rows(f, by.names);
  listing all = all_rows(f);
  if (auto chosen = all.choose(by); !chosen) return chosen;
  std::set<std::string> kept;
  for (const listed_object& o : all.objects()) {
    const std::string api(o.body.at("api").as_string());
    kept.insert(o.cluster.empty() ? key_of(api, o.name, {}) : key_of(api, o.cluster, o.name));
  }
  for (cluster_overview& c : f.clusters) {
    std::erase_if(c.apis, [&](api_overview& a) {
      const bool had_none = a.rows.empty();
      std::erase_if(a.rows, [&](const units::plan_row& r) {
        return !kept.contains(key_of(a.name, c.name, r.name));
      });
      return had_none ? !kept.contains(key_of(a.name, c.name, {})) : a.rows.empty();
    });
  }
  std::erase_if(f.clusters, [](const cluster_overview& c) { return c.apis.empty(); });
  sum_up(f);
  return {};
}

}  // namespace cli
