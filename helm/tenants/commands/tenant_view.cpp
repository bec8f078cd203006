#include "helm/tenants/commands/tenant_view.hpp"

#include "app/exit_code.hpp"
#include "helm/tenants/kinds/conditions.hpp"

#include <boost/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>

namespace cli {
namespace {

namespace json = boost::json;

constexpr std::size_t digits_shown = 12;

tone tone_of_phase(const std::string& phase) {
  if (phase == "Ready") return tone::good;
  return phase == "Error" ? tone::bad : tone::busy;
}

std::string either(const std::string& text) {
  return text.empty() ? "-" : text;
}

/// "ClusterReady" of "ClusterReady/cluster-001".
std::string type_alone(const std::string& type) {
  return type.substr(0, type.find('/'));
}

bool is_of(const k8s::condition& c, const std::string& cluster) {
  return c.type.ends_with("/" + cluster);
}

json::object json_of(const tenant_row& r) {
  json::object o{{"cluster", r.cluster}, {"tenant", r.tenant},   {"phase", r.phase},
                 {"action", r.action},   {"from", r.from},       {"to", r.to},
                 {"release", r.release}, {"message", r.message}, {"appliedChart", r.applied}};
  o["hold"] = nullptr;
  if (r.hold)
    o["hold"] = json::object{
        {"code", r.hold->code}, {"reason", r.hold->sentence}, {"releasedBy", r.hold->released_by}};
  return o;
}

json::object json_of(const tenants_of_cluster& c) {
  json::object o{{"name", c.name}, {"state", c.state}};
  if (!c.last_error.empty()) o["lastError"] = c.last_error;
  return o;
}

json::array clusters_json(const std::vector<tenants_of_cluster>& all) {
  json::array out;
  for (const tenants_of_cluster& c : all) out.push_back(json_of(c));
  return out;
}

page heading_of(const std::vector<tenants_of_cluster>& all) {
  std::map<std::string, std::size_t> phases;
  std::size_t rows = 0;
  for (const tenants_of_cluster& c : all)
    for (const tenant_row& r : c.rows) {
      ++phases[r.phase];
      ++rows;
    }
  page text = std::to_string(rows) + (rows == 1 ? " release" : " releases") + " on " +
              std::to_string(all.size()) + (all.size() == 1 ? " cluster" : " clusters");
  bool first = true;
  for (const auto& [phase, n] : phases) {
    text += page(first ? std::string(": ") : std::string(", ")) + std::to_string(n) + " " + phase;
    first = false;
  }
  return text + "\n";
}

page away(const std::vector<tenants_of_cluster>& all, colours tint, std::size_t columns) {
  page text;
  for (const tenants_of_cluster& c : all)
    if (c.state != "Live")
      text += folded(page(c.name) + " is " + toned(c.state, tone::bad, tint) +
                         (c.last_error.empty() ? page() : page(": ") + c.last_error) + "\n",
                     columns);
  return text;
}

/// "upgrade web 1.2.0 → https://…/web:1.3.0"
page what_becomes(const tenant_row& r) {
  page text = r.action;
  if (r.action != "install" && r.action != "upgrade" && r.action != "held") return text;
  if (!r.from.empty()) text += page(" ") + r.from;
  return r.to.empty() ? text : text + " → " + r.to;
}

page title_of(const tenant_row& r, colours tint) {
  return page(r.cluster) + "  " + r.tenant + "  " + toned(r.phase, tone_of_phase(r.phase), tint) +
         "\n";
}

}  // namespace

std::string why_away(const tenants_of_cluster& c) {
  return c.name + " is " + c.state + (c.last_error.empty() ? "" : ": " + c.last_error);
}

namespace {

listing list_of(const std::vector<tenants_of_cluster>& all, extent how, colours tint) {
  // What is left out first where the screen is narrow: the action, what it has.
  std::vector<list_column> head = {{"CLUSTER"}, {"TENANT"}, {"PHASE"}, {"HAS", 2}, {"ACTION", 1}};
  const bool wide = how == extent::wide;
  if (wide) head.insert(head.end(), {{"TO"}, {"RELEASE"}});
  head.push_back({"NOTE"});
  listing t(std::move(head));
  for (const tenants_of_cluster& c : all)
    for (const tenant_row& r : c.rows) {
      const std::size_t slash = std::min(r.tenant.find('/'), r.tenant.size());
      const bool has_namespace = slash < r.tenant.size();
      listed_object one{"tenant", r.cluster,
                        has_namespace ? r.tenant.substr(0, slash) : std::string(),
                        has_namespace ? r.tenant.substr(slash + 1) : r.tenant, c.labels};
      one.cells = {r.cluster, r.tenant, toned(r.phase, tone_of_phase(r.phase), tint),
                   either(r.from), r.action};
      if (wide) one.cells.insert(one.cells.end(), {r.to, r.release});
      one.cells.emplace_back(r.hold               ? toned(r.hold->code, tone::busy, tint)
                             : r.phase == "Error" ? page(r.message)
                                                  : page());
      one.body = json_of(r);
      one.trouble = r.phase == "Error" ? 2 : r.hold ? 1 : 0;
      t.add(std::move(one));
    }
  return t;
}

json::array items_of(const std::vector<tenants_of_cluster>& all, const list_request& asked) {
  listing list = list_of(all, extent::wide, colours::none);
  list.arrange(asked);
  return list.items();
}

}  // namespace

reactor::result<void, std::string> choose_tenants(std::vector<tenants_of_cluster>& all,
                                                  const list_request& asked) {
  listing chosen = list_of(all, extent::usual, colours::none);
  if (auto kept = chosen.choose(asked); !kept) return kept;
  std::set<std::pair<std::string, std::string>> names;
  for (const listed_object& o : chosen.objects())
    names.emplace(o.cluster, (o.ns.empty() ? "" : o.ns + "/") + o.name);
  for (tenants_of_cluster& c : all)
    std::erase_if(c.rows,
                  [&](const tenant_row& r) { return !names.contains({r.cluster, r.tenant}); });
  return {};
}

page tenant_list_text(const std::vector<tenants_of_cluster>& all, extent how, colours tint,
                      std::size_t columns, const list_request& asked) {
  listing list = list_of(all, how, tint);
  list.arrange(asked);
  const page rows = list.text(asked, columns);
  if (asked.output.no_headers) return rows;
  return folded(heading_of(all), columns) + rows + away(all, tint, columns);
}

json::object tenant_list_document(const std::vector<tenants_of_cluster>& all,
                                  const list_request& asked) {
  json::array rows;
  for (const tenants_of_cluster& c : all)
    for (const tenant_row& r : c.rows) rows.push_back(json_of(r));
  json::object o{{"tenants", std::move(rows)}};
  o["items"] = items_of(all, asked);
  o["clusters"] = clusters_json(all);
  return document("TenantList", std::move(o));
}

int show_tenant_list(std::vector<tenants_of_cluster> all, const list_request& asked, colours tint) {
  if (auto kept = choose_tenants(all, asked); !kept) return complain(kept.error());
  const bool wide = asked.output == output_format::wide;
  const bool written =
      asked.output.is_machine()
          ? write_document(tenant_list_document(all, asked), asked.output) == success
          : write_out(STDOUT_FILENO,
                      tenant_list_text(all, wide ? extent::wide : extent::usual, tint,
                                       wide ? any_width : output_columns(), asked));
  const bool all_live = std::ranges::all_of(all, [](const auto& c) { return c.state == "Live"; });
  return written && all_live ? success : failure;
}

page tenant_status_text(const std::vector<tenants_of_cluster>& all, colours tint,
                        std::size_t columns) {
  page text;
  for (const tenants_of_cluster& c : all)
    for (const tenant_row& r : c.rows) {
      if (!text.empty()) text += "\n";
      text += title_of(r, tint);
      page body = page("  release   ") + r.release + "\n  has       " + either(r.from) +
                  "\n  wanted    " + r.to + "\n  next      " + what_becomes(r) + "\n";
      if (r.hold)
        body += page("  waits     ") + r.hold->sentence + " [" + r.hold->code + "]\n  released  " +
                r.hold->released_by + "\n";
      body +=
          page("  noted     ") +
          (r.fingerprint.empty() ? page("nothing") : page(r.fingerprint.substr(0, digits_shown))) +
          "\n";
      text += folded(body, columns, 10);
      table conditions({"CONDITION", "", "REASON", "MESSAGE"});
      bool some = false;
      for (const k8s::condition& one : r.conditions) {
        if (!is_of(one, r.cluster)) continue;
        some = true;
        conditions.row({type_alone(one.type), one.status, one.reason, one.message});
      }
      if (some) text += conditions.text("  ", columns);
    }
  return text + away(all, tint, columns);
}

json::object tenant_status_document(const std::vector<tenants_of_cluster>& all,
                                    const list_request& asked) {
  json::array rows;
  for (const tenants_of_cluster& c : all)
    for (const tenant_row& r : c.rows) {
      json::object one = json_of(r);
      one["fingerprint"] = r.fingerprint;
      json::array conditions;
      for (const k8s::condition& is : r.conditions)
        if (is_of(is, r.cluster))
          conditions.push_back(json::object{{"type", is.type},
                                            {"status", is.status},
                                            {"reason", is.reason},
                                            {"message", is.message},
                                            {"lastTransitionTime", is.last_transition_time}});
      one["conditions"] = std::move(conditions);
      rows.push_back(std::move(one));
    }
  json::object o{{"tenants", std::move(rows)}};
  o["items"] = items_of(all, asked);
  o["clusters"] = clusters_json(all);
  return document("TenantStatus", std::move(o));
}

page tenant_diff_text(const std::vector<tenant_difference>& all, colours tint,
                      std::size_t columns) {
  page text;
  for (const tenant_difference& d : all) {
    if (!text.empty()) text += "\n";
    text +=
        folded(page(d.of.cluster) + "  " + d.of.tenant + "  " + what_becomes(d.of) + "\n", columns);
    if (d.of.hold)
      text += folded(page("  waits  ") + d.of.hold->sentence + " [" + d.of.hold->code + "]\n",
                     columns, 7);
    if (!d.error.empty()) {
      text += folded(page("  ") + toned(d.error, tone::bad, tint) + "\n", columns);
      continue;
    }
    if (d.changes.empty()) text += "  no object would change\n";
    for (const helm::tenants::object_change& c : d.changes) {
      std::string action = c.action;
      action.resize(8, ' ');
      const tone t = c.action == "create"   ? tone::good
                     : c.action == "delete" ? tone::bad
                                            : tone::busy;
      text += page("  ") + toned(action, t, tint) + c.kind + " " +
              (c.ns.empty() ? c.name : c.ns + "/" + c.name) + "\n";
      for (const std::string& line : c.lines)
        text += folded(page("    ") + line + "\n", columns, 4);
    }
  }
  return text;
}

json::object tenant_diff_document(const std::vector<tenant_difference>& all) {
  json::array out;
  for (const tenant_difference& d : all) {
    json::object one = json_of(d.of);
    if (!d.error.empty()) one["error"] = d.error;
    json::array changes;
    for (const helm::tenants::object_change& c : d.changes) {
      json::object change{{"action", c.action},
                          {"apiVersion", c.api_version},
                          {"kind", c.kind},
                          {"namespace", c.ns},
                          {"name", c.name}};
      json::array lines;
      for (const std::string& line : c.lines) lines.push_back(json::string(line));
      change["lines"] = std::move(lines);
      changes.push_back(std::move(change));
    }
    one["changes"] = std::move(changes);
    out.push_back(std::move(one));
  }
  return document("TenantDiff", json::object{{"tenants", std::move(out)}});
}

page tenant_retry_text(const std::vector<tenant_retry>& all, retried how, colours tint,
                       std::size_t columns) {
  table t({"CLUSTER", "TENANT", "PHASE", "RESULT", "WHY IT WAITS"});
  for (const tenant_retry& r : all)
    t.row({r.of.cluster, r.of.tenant, toned(r.of.phase, tone_of_phase(r.of.phase), tint),
           r.written         ? toned("written", tone::good, tint)
           : r.error.empty() ? toned("not written", tone::faint, tint)
                             : toned(r.error, tone::bad, tint),
           r.of.hold ? page(r.of.hold->sentence) : page(r.of.message)});
  page text = t.text({}, columns);
  if (how == retried::shown) text += "Nothing was written; --yes does it.\n";
  return text;
}

json::object tenant_retry_document(const std::vector<tenant_retry>& all, retried how) {
  json::array out;
  for (const tenant_retry& r : all) {
    json::object one = json_of(r.of);
    one["written"] = r.written;
    if (!r.error.empty()) one["error"] = r.error;
    out.push_back(std::move(one));
  }
  return document("TenantRetry",
                  json::object{{"dryRun", how == retried::shown}, {"tenants", std::move(out)}});
}

}  // namespace cli
