#include "policies/commands/pack_list.hpp"

#include "service/overview/pack_view.hpp"

#include <boost/json.hpp>

#include <cstdio>
#include <utility>

namespace cli {

std::string joined_hooks(const policies::pack_status& p) {
  std::string out;
  for (const std::string& h : p.hooks) out += (out.empty() ? "" : ", ") + h;
  return out;
}

int show_packs(const std::vector<policies::pack_status>& all, const policy_arguments& a) {
  listing rows({{"NAME"}, {"VERSION"}, {"ORDER", 1}, {"HOOKS"}, {"FOLDER", 2}});
  for (const policies::pack_status& p : all) {
    char order[32];
    std::snprintf(order, sizeof order, "%g", p.order);
    listed_object one{.kind = "pack", .cluster = {}, .ns = {}, .name = p.name};
    one.cells = {p.name, p.version, std::string(order), joined_hooks(p),
                 p.stock ? page("stock") : page(p.folder)};
    one.body = pack_json(p);
    rows.add(std::move(one));
  }
  return show_list(std::move(rows), a.list, "packs", document("PolicyPackList", {}));
}

}  // namespace cli
