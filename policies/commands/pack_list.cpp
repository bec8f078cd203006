#include "policies/commands/pack_list.hpp"

#include "service/overview/pack_view.hpp"

#include <boost/json.hpp>
#include <unistd.h>

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
  if (auto chosen = rows.choose(a.list); !chosen) return complain(chosen.error());
  const bool wide = a.list.output == output_format::wide;
  if (!a.list.output.is_machine())
    return write_out(STDOUT_FILENO, rows.text(a.list, wide ? any_width : output_columns()))
               ? success
               : failure;
  boost::json::array packs;
  for (const listed_object& one : rows.objects()) packs.push_back(one.body);
  boost::json::object body{{"packs", std::move(packs)}};
  body["items"] = rows.items();
  return write_document(document("PolicyPackList", std::move(body)), a.list.output);
}

}  // namespace cli
