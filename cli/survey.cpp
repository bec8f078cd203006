#include "cli/survey.hpp"

#include "cli/output.hpp"
#include "reactor/loop.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <map>

namespace cli {
namespace {

namespace json = boost::json;

/// Who goes next by this plan, in order: those that hold a slot, then those that take one.
std::vector<std::string> starters(const bootc::rollout_plan& plan) {
  std::vector<std::string> names;
  for (const bootc::unit& u : plan.units)
    if (u.slotted && !u.starting && u.state != bootc::unit_state::up_to_date)
      names.push_back(u.name);
  for (const bootc::action& a : plan.actions)
    if (a.kind == bootc::action_kind::take_slot) names.push_back(a.node);
  return names;
}

const bootc::hold* hold_of(const bootc::rollout_plan& plan, const std::string& node) {
  const auto found = std::find_if(plan.holds.begin(), plan.holds.end(),
                                  [&](const bootc::hold& h) { return h.node == node; });
  return found == plan.holds.end() ? nullptr : &*found;
}

json::object hold_json(const bootc::hold& h) {
  return {
      {"unit", h.node}, {"code", h.code}, {"reason", h.sentence}, {"released_by", h.released_by}};
}

json::object cluster_head(const cluster_survey& c) {
  json::object o{{"name", c.name}, {"state", c.state}, {"server", c.server}};
  if (!c.last_error.empty()) o["last_error"] = c.last_error;
  return o;
}

json::object pool_head(const pool_survey& p) {
  const bootc::node_pool_status& s = p.now.status;
  return {{"name", p.name},
          {"target_digest", p.target_digest},
          {"nodes", p.now.units.size()},
          {"updated", s.updated_count},
          {"updating", s.updating_count},
          {"degraded", s.degraded_count},
          {"capacity", p.now.capacity},
          {"occupied", p.now.occupied},
          {"halted", p.now.halted}};
}

json::object totals(const fleet_survey& f) {
  return {{"nodes", f.nodes},
          {"updated", f.updated},
          {"updating", f.updating},
          {"degraded", f.degraded},
          {"held", f.held}};
}

json::object unit_json(const bootc::unit& u) {
  json::object o{{"name", u.name},
                 {"state", bootc::text(u.state)},
                 {"slotted", u.slotted},
                 {"approved", u.approved},
                 {"ready", u.ready},
                 {"booted_digest", u.booted_digest},
                 {"desired_image", u.desired_image}};
  if (!u.message.empty()) o["message"] = u.message;
  if (!u.trouble.empty()) o["trouble"] = u.trouble;
  return o;
}

json::array holds_json(const bootc::rollout_plan& plan) {
  json::array holds;
  for (const bootc::hold& h : plan.holds) holds.push_back(hold_json(h));
  return holds;
}

/// Totals, clusters and pools; `fill(pool_survey, pool)` adds what the command is about.
template <class Fill>
json::object fleet_json(const fleet_survey& f, Fill fill) {
  json::object o = totals(f);
  json::array clusters;
  for (const cluster_survey& c : f.clusters) {
    json::object cluster = cluster_head(c);
    json::array pools;
    for (const pool_survey& p : c.pools) {
      json::object pool = pool_head(p);
      fill(p, pool);
      pools.push_back(std::move(pool));
    }
    cluster["pools"] = std::move(pools);
    clusters.push_back(std::move(cluster));
  }
  o["clusters"] = std::move(clusters);
  return o;
}

tone tone_of(std::string_view state) {
  if (state == "Live" || state == "UpToDate") return tone::good;
  if (state == "Degraded" || state == "Unreachable" || state == "Unauthorized" ||
      state == "Forbidden" || state == "Invalid" || state == "CRDMissing")
    return tone::bad;
  return tone::busy;
}

page heading(const fleet_survey& f) {
  std::map<std::string, std::size_t> states;
  for (const cluster_survey& c : f.clusters) ++states[c.state];
  page text =
      std::to_string(f.clusters.size()) + (f.clusters.size() == 1 ? " cluster" : " clusters");
  bool first = true;
  for (const auto& [state, n] : states) {
    text += (first ? ": " : ", ") + std::to_string(n) + " " + state;
    first = false;
  }
  return text + "    " + std::to_string(f.nodes) + " nodes: " + std::to_string(f.updated) +
         " updated, " + std::to_string(f.updating) + " updating, " + std::to_string(f.degraded) +
         " degraded\n";
}

page joined(const std::vector<std::string>& names, std::size_t most) {
  page text;
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i) text += (i ? ", " : "") + names[i];
  if (names.size() > most) text += " and " + std::to_string(names.size() - most) + " more";
  return text;
}

/// One line per reason with the nodes that share it, so that a big pool stays readable.
page grouped_holds(const std::vector<bootc::hold>& holds, bool wide, bool lively,
                   const page& indent) {
  std::vector<std::pair<const bootc::hold*, std::vector<std::string>>> groups;
  for (const bootc::hold& h : holds) {
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const auto& g) {
      return g.first->code == h.code && g.first->sentence == h.sentence;
    });
    if (same == groups.end()) {
      groups.push_back({&h, {h.node}});
    } else {
      same->second.push_back(h.node);
    }
  }
  table t({"HELD", "CODE", "WHY", "RELEASED BY"});
  for (const auto& [h, names] : groups)
    t.row({joined(names, wide ? names.size() : 4), toned(h->code, tone::busy, lively),
           with_short_digests(h->sentence), toned(h->released_by, tone::faint, lively)});
  return groups.empty() ? page() : t.text(indent);
}

struct place {
  const cluster_survey* cluster;
  const pool_survey* pool;
  const bootc::unit* unit;
};
std::vector<place> find_unit(const fleet_survey& f, const std::string& name) {
  const auto slash = name.rfind('/');
  const std::string cluster = slash == std::string::npos ? std::string() : name.substr(0, slash);
  const std::string node = slash == std::string::npos ? name : name.substr(slash + 1);
  std::vector<place> found;
  for (const cluster_survey& c : f.clusters)
    if (cluster.empty() || c.name == cluster)
      for (const pool_survey& p : c.pools)
        for (const bootc::unit& u : p.now.units)
          if (u.name == node) found.push_back({&c, &p, &u});
  return found;
}

}  // namespace

reactor::awaitable<fleet_survey> look_at(service& s, reactor::loop& l, std::string only_cluster,
                                         reactor::steady_time deadline) {
  (void)co_await s.fleet().discovered(deadline);
  std::vector<std::string> names;
  for (k8s::cluster* c : s.fleet().clusters())
    if (only_cluster.empty() || c->name() == only_cluster) names.push_back(c->name());
  fleet_survey f;
  for (const std::string& name : names) {
    if (k8s::cluster* c = s.fleet().find(name)) (void)co_await c->engaged(deadline);
    cluster_survey one;
    one.name = name;
    k8s::cluster* c = s.fleet().find(name);
    bootc::bootc_cluster* part = c ? bootc::bootc_part(*c) : nullptr;
    if (part) (void)co_await part->synced(deadline);
    c = s.fleet().find(name);
    part = c ? bootc::bootc_part(*c) : nullptr;
    if (!c) continue;
    one.server = c->api().server();
    one.state = std::string(k8s::name_of(c->state()));
    one.last_error = c->health().last_error();
    const std::vector<std::string> pools = part ? part->pools() : std::vector<std::string>();
    for (const std::string& pool : pools) {
      auto now = co_await part->preview(pool);
      auto forecast =
          co_await part->preview(pool, bootc::node_pool_reconciler::view::everybody_staged);
      if (!now || !forecast) continue;
      pool_survey p{pool, now->status.target_digest, std::move(*now), std::move(*forecast)};
      f.nodes += p.now.units.size();
      f.updated += static_cast<std::size_t>(p.now.status.updated_count);
      f.updating += static_cast<std::size_t>(p.now.status.updating_count);
      f.degraded += static_cast<std::size_t>(p.now.status.degraded_count);
      f.held += p.now.holds.size();
      one.pools.push_back(std::move(p));
    }
    f.clusters.push_back(std::move(one));
    co_await l.yield();
  }
  co_return f;
}

json::object status_json(const fleet_survey& f) {
  return fleet_json(f, [](const pool_survey& p, json::object& pool) {
    json::array units;
    for (const bootc::unit& u : p.now.units) units.push_back(unit_json(u));
    pool["units"] = std::move(units);
    pool["holds"] = holds_json(p.now);
  });
}

json::object plan_json(const fleet_survey& f) {
  return fleet_json(f, [](const pool_survey& p, json::object& pool) {
    json::array start, actions;
    for (const std::string& name : starters(p.forecast)) start.push_back(json::string(name));
    for (const bootc::action& a : p.now.actions)
      actions.push_back(json::object{{"action", bootc::text(a.kind)}, {"unit", a.node}});
    pool["start"] = std::move(start);
    pool["holds"] = holds_json(p.forecast);
    pool["actions"] = std::move(actions);
  });
}

page status_text(const fleet_survey& f, bool wide, bool lively) {
  page text = heading(f);
  table t({"CLUSTER", "STATE", "POOL", "TARGET", "NODES", "UPDATED", "UPDATING", "DEGRADED",
           "SLOTS", "NOTE"});
  for (const cluster_survey& c : f.clusters) {
    if (c.pools.empty())
      t.row({c.name, toned(c.state, tone_of(c.state), lively), "-", "-", "-", "-", "-", "-", "-",
             c.last_error});
    for (const pool_survey& p : c.pools) {
      const bootc::node_pool_status& s = p.now.status;
      t.row({c.name, toned(c.state, tone_of(c.state), lively), p.name,
             with_short_digests(p.target_digest), std::to_string(p.now.units.size()),
             std::to_string(s.updated_count), std::to_string(s.updating_count),
             s.degraded_count ? toned(std::to_string(s.degraded_count), tone::bad, lively) : "0",
             std::to_string(p.now.occupied) + "/" + std::to_string(p.now.capacity),
             p.now.halted ? toned("halted", tone::bad, lively) : c.last_error});
    }
  }
  text += t.text();
  for (const cluster_survey& c : f.clusters)
    for (const pool_survey& p : c.pools) {
      if (wide) {
        table units({"NODE", "STATE", "SLOT", "READY", "BOOTED", "NOTE"});
        for (const bootc::unit& u : p.now.units)
          units.row({u.name, toned(bootc::text(u.state), tone_of(bootc::text(u.state)), lively),
                     u.slotted ? (u.approved ? "booting" : "draining") : "-",
                     u.ready ? "yes" : "no", with_short_digests(u.booted_digest),
                     with_short_digests(u.trouble.empty() ? u.message : u.trouble)});
        text += page("\n") + c.name + "/" + p.name + "\n" + units.text("  ");
      }
      if (!p.now.holds.empty())
        text += page("\n") + c.name + "/" + p.name + "\n" +
                grouped_holds(p.now.holds, wide, lively, "  ");
    }
  return text;
}

page plan_text(const fleet_survey& f, bool wide, bool lively) {
  page text = heading(f);
  for (const cluster_survey& c : f.clusters) {
    if (c.pools.empty())
      text += page("\n") + c.name + ": " + toned(c.state, tone_of(c.state), lively) +
              (c.last_error.empty() ? page() : page(", ") + c.last_error) + "\n";
    for (const pool_survey& p : c.pools) {
      text +=
          page("\n") + c.name + "/" + p.name + " → " + with_short_digests(p.target_digest) + "\n";
      const std::vector<std::string> first = starters(p.forecast);
      if (p.now.units.size() == static_cast<std::size_t>(p.now.status.updated_count)) {
        text += "  nothing to do: every node runs the target\n";
      } else {
        text += page("  goes first: ") +
                (first.empty() ? page("nobody") : joined(first, wide ? first.size() : 8)) + "\n";
      }
      text += grouped_holds(p.forecast.holds, wide, lively, "  ");
      if (wide)
        for (const bootc::action& a : p.now.actions)
          text += page("  would ") + bootc::text(a.kind) + " " + a.node + "\n";
    }
  }
  return text;
}

page explain_text(const fleet_survey& f, const std::string& unit, bool lively) {
  page text;
  for (const place& at : find_unit(f, unit)) {
    const bootc::unit& u = *at.unit;
    if (!text.empty()) text += "\n";
    text += page(at.cluster->name) + "/" + u.name + " in pool " + at.pool->name + ": " +
            toned(bootc::text(u.state), tone_of(bootc::text(u.state)), lively) + "\n";
    if (!u.trouble.empty()) text += page("  trouble:  ") + u.trouble + "\n";
    if (!u.message.empty()) text += page("  reported: ") + with_short_digests(u.message) + "\n";
    text += page("  booted:   ") + u.booted_digest + "\n  desired:  " + u.desired_image + "\n";
    if (const bootc::hold* h = hold_of(at.pool->now, u.name)) {
      text += page("  waits:    ") + with_short_digests(h->sentence) + " [" + h->code +
              "]\n  released: " + h->released_by + "\n";
    } else {
      text += u.state == bootc::unit_state::up_to_date
                  ? page("  waits:    no, it runs the target\n")
                  : page("  waits:    no, it is on its way\n");
    }
  }
  return text;
}

json::array explain_json(const fleet_survey& f, const std::string& unit) {
  json::array all;
  for (const place& at : find_unit(f, unit)) {
    json::object o = unit_json(*at.unit);
    o["cluster"] = at.cluster->name;
    o["pool"] = at.pool->name;
    if (const bootc::hold* h = hold_of(at.pool->now, at.unit->name)) o["hold"] = hold_json(*h);
    all.push_back(std::move(o));
  }
  return all;
}

}  // namespace cli
