#include "service/overview/pack_view.hpp"

#include "reactor/plain/time.hpp"

#include <boost/json.hpp>

namespace cli {
namespace {

namespace json = boost::json;

std::string note_of(const policies::pack_status& p) {
  std::string out;
  const auto say = [&](const std::string& text) { out += (out.empty() ? "" : "; ") + text; };
  if (p.fault)
    say(p.fault->hook + " fails since " + reactor::format_rfc3339(p.fault->since) + ": " +
        p.fault->last.message());
  if (!p.refused.empty())
    say((p.digest.empty() ? "not loaded: " : "newer content is refused: ") + p.refused);
  if (p.hidden) say("hidden by the one before it");
  return out;
}

}  // namespace

json::object pack_json(const policies::pack_status& p) {
  json::array hooks;
  for (const std::string& h : p.hooks) hooks.emplace_back(h);
  json::object o{{"name", p.name},     {"version", p.version}, {"digest", p.digest},
                 {"folder", p.folder}, {"stock", p.stock},     {"order", p.order}};
  o["hooks"] = std::move(hooks);
  if (!p.from.empty()) o["from"] = p.from;
  if (p.hidden) o["hidden"] = true;
  if (!p.digest.empty()) o["loadedAt"] = reactor::format_rfc3339(p.loaded_at);
  if (!p.refused.empty()) o["refused"] = p.refused;
  if (p.fault)
    o["fault"] = json::object{{"hook", p.fault->hook},
                              {"since", reactor::format_rfc3339(p.fault->since)},
                              {"count", p.fault->count},
                              {"reason", p.fault->last.message()}};
  return o;
}

json::array packs_json(const std::vector<policies::pack_status>& all) {
  json::array out;
  for (const policies::pack_status& p : all) out.push_back(pack_json(p));
  return out;
}

std::string origin_of(const policies::pack_status& p) {
  if (p.stock) return "stock";
  return p.from + ": " + p.folder;
}

page packs_text(const std::vector<policies::pack_status>& all, packs_shown which,
                std::size_t columns) {
  table rows({"POLICY", "VERSION", "DIGEST", "FROM", "NOTE"});
  bool some = false;
  for (const policies::pack_status& p : all) {
    const std::string note = note_of(p);
    if (which == packs_shown::noteworthy && p.stock && !p.fault) continue;
    some = true;
    rows.row({p.name.empty() ? page("-") : page(p.name), p.version, with_short_digests(p.digest),
              origin_of(p), note});
  }
  return some ? rows.text({}, columns) : page();
}

}  // namespace cli
