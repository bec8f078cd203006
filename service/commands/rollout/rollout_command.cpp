// `windlass rollout`: what a person would edit on each cluster, shown first. In one file: status
// and the edits are shown from one plan of the same rows, and after an edit status watches them.
#include "app/api/assumed_targets.hpp"
#include "app/api/override_order.hpp"
#include "app/api/target_history.hpp"
#include "app/nearest.hpp"
#include "app/progress.hpp"
#include "k8s/informer/selector.hpp"
#include "reactor/loop.hpp"
#include "service/commands/rollout/rollout.hpp"
#include "service/overview/how_long.hpp"
#include "service/overview/overview.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <map>

namespace cli {

using namespace app;
using units::target_record;

namespace {

namespace json = boost::json;
using verb = rollout_arguments::command;

/// For each look of a watch that has no end of its own.
constexpr reactor::nanoseconds default_patience = std::chrono::seconds(15);

/// One cluster's row and what becomes of it.
struct change {
  std::string cluster, api, from, to;
  std::size_t units = 0;
  json::object patch;
  std::vector<target_record> history = {};  // where the target changes: with this change
  bool written = false;
  std::string error = {}, warning = {};
  const units::plan_row* planned = nullptr;  // set-image: the row as it would be
};

struct rolling {
  reactor::loop& loop;
  service& windlass;
  const rollout_arguments& arguments;
  reactor::event& stop;
  command_output& out;
  int exit_code = success;
  std::map<std::string, std::string> users = {};  // by cluster: who asks

  int complain(std::string text, int code = failure) {
    out.complaint(std::move(text));
    return code;
  }
};

/// The overview without the clusters that were not asked for and the rows of other names.
struct chosen_rows {
  fleet_overview fleet;
  std::vector<std::string> names;  // of all rows on those clusters
};
chosen_rows chosen_of(fleet_overview f, const rollout_arguments& a) {
  list_request by;
  by.clusters = a.list.clusters;
  by.selector = a.list.selector;
  (void)choose(f, by);  // the selector was read before
  chosen_rows out;
  for (cluster_overview& c : f.clusters)
    for (api_overview& api : c.apis)
      std::erase_if(api.rows, [&](const units::plan_row& row) {
        out.names.push_back(row.name);
        return row.name != a.pool;
      });
  sum_up(f);
  out.fleet = std::move(f);
  return out;
}

std::size_t rows_of(const fleet_overview& f) {
  std::size_t n = 0;
  for (const cluster_overview& c : f.clusters)
    for (const api_overview& a : c.apis) n += a.rows.size();
  return n;
}

bool is_done(const fleet_overview& f) {
  for (const cluster_overview& c : f.clusters)
    for (const api_overview& a : c.apis) {
      if (has_nothing(a.state)) continue;
      if (a.state != "Live") return false;
      for (const units::plan_row& row : a.rows)
        if (row.updated != row.units.size()) return false;
    }
  return rows_of(f) > 0;
}

/// Why there is nothing to do on any of them.
std::string nowhere(const chosen_rows& chosen, const rollout_arguments& a) {
  const fleet_overview& f = chosen.fleet;
  std::string text = "none of " + std::to_string(f.clusters.size()) +
                     (f.clusters.size() == 1 ? " cluster" : " clusters") + " has \"" + a.pool +
                     "\"" + did_you_mean(a.pool, chosen.names);
  for (const cluster_overview& c : f.clusters)
    if (c.state != "Live")
      text += "\n" + c.name + " is " + c.state + (c.last_error.empty() ? "" : ": " + c.last_error);
  return text;
}

reactor::awaitable<chosen_rows> look(rolling& r, reactor::steady_time until) {  // borrowed
  fleet_overview all = co_await look_at(r.windlass, r.loop, {}, until);
  co_return chosen_of(std::move(all), r.arguments);
}

/// Returns the exit code.
int show_document(const json::object& all, const output_choice& choice, command_output& out) {
  auto text = document_text(all, choice);
  if (text)
    out.bytes(std::move(*text));
  else
    out.complaint(text.error());
  return text ? success : failure;
}
void show_document(const json::object& all, rolling& r) {
  if (const int code = show_document(all, r.arguments.list.output, r.out); code != success)
    r.exit_code = code;
}

bool is_wide(const rolling& r) {
  return r.arguments.list.output == output_format::wide;
}
std::size_t width_of(const rolling& r) {
  return is_wide(r) ? any_width : r.out.columns;
}

int show_status(const chosen_rows& chosen, const rollout_arguments& a, command_output& out) {
  if (rows_of(chosen.fleet) == 0) {
    out.complaint(nowhere(chosen, a));
    return failure;
  }
  fleet_overview f = chosen.fleet;
  list_request order;
  order.sort_by = a.list.sort_by;
  if (auto sorted = choose(f, order); !sorted) {
    out.complaint(sorted.error());
    return failure;
  }
  if (a.list.output.is_machine())
    return show_document(status_document(f, a.list), a.list.output, out);
  const bool wide = a.list.output == output_format::wide;
  out.text(status_text(f, wide ? extent::wide : extent::usual, out.tint,
                       wide ? any_width : out.columns, a.list));
  return success;
}

/// How far what moves has come since the watch began, which gives the pace.
std::string time_of(const fleet_overview& f, std::size_t updated_before,
                    reactor::nanoseconds elapsed) {
  progress_state s{.elapsed = elapsed};
  for (const auto& [name, t] : f.apis) {
    s.done += t.updated;
    s.of += t.units;
  }
  s.done -= std::min(s.done, updated_before);
  s.of -= std::min(s.of, updated_before);
  return time_text(s);
}

/// A line whenever something moved, until every cluster has it, a signal comes, or --timeout is
/// over where it was given.
reactor::awaitable<void> watch(rolling& r, fleet_overview f, reactor::steady_time until) {
  std::string told;
  std::size_t before = 0;
  for (const auto& [name, t] : f.apis) before += t.updated;
  const reactor::steady_time began = r.loop.now();
  while (!r.stop.is_set()) {
    std::string line;
    for (const auto& [name, t] : f.apis)
      line += (line.empty() ? "" : "; ") + std::to_string(t.updated) + " of " +
              std::to_string(t.units) + " " + t.says.units + " updated, " +
              std::to_string(t.updating) + " updating, " + std::to_string(t.degraded) + " degraded";
    line += ", " + std::to_string(f.held) + " held";
    for (const cluster_overview& c : f.clusters)
      if (c.state != "Live" && !has_nothing(c.state)) line += "; " + c.name + " is " + c.state;
    if (line != told)
      r.out.text(page(line) + ", " + time_of(f, before, r.loop.now() - began) + "\n");
    told = line;
    if (is_done(f)) co_return;
    if (r.loop.now() >= until) {
      r.exit_code = r.complain("not every cluster has it after " +
                               reactor::format_duration(r.arguments.timeout) + " (--timeout)");
      co_return;
    }
    (void)co_await r.stop.wait(std::min(until, r.loop.now() + std::chrono::seconds(1)));
    chosen_rows now = co_await look(r, std::min(until, r.loop.now() + default_patience));
    f = std::move(now.fleet);
  }
  r.exit_code = failure;
}

/// What becomes of one row, by its API's words for it.
struct edit {
  std::string to;
  json::object patch;
};
reactor::result<edit> edit_of(const units::api::edits& by, const units::plan_row& row,
                              const rollout_arguments& a) {
  const auto made = [](std::string to, reactor::result<json::object> patch) {
    return patch ? reactor::result<edit>(edit{std::move(to), std::move(*patch)})
                 : reactor::result<edit>(patch.error());
  };
  switch (a.what) {
    case verb::set_image: return made(a.image, by.retarget(a.image));
    case verb::approve: {
      const std::string& digest = a.digest.empty() ? row.offered : a.digest;
      return made(digest, by.approve(digest));
    }
    case verb::pause: return edit{"paused", by.pause(true)};
    default: return edit{"not paused", by.pause(false)};
  }
}

/// Nothing is offered there that a person could approve.
bool is_left_out(const units::api::edits& by, const units::plan_row& row,
                 const rollout_arguments& a) {
  return a.what == verb::approve && (!by.approve || (a.digest.empty() && row.offered.empty()));
}

std::string outcome_of(const units::plan_row& row) {
  return units::outcome_text(row.updated, row.units.size(), row.degraded);
}

/// The object of a row as its cluster has it now.
reactor::awaitable<k8s::result<json::object>> object_of(rolling& r,  // borrowed
                                                        const std::string& cluster,
                                                        const units::api::edits& by) {
  k8s::cluster* on = r.windlass.cluster_named(cluster);
  if (!on) {
    k8s::fault gone;
    gone.code = k8s::errc::unavailable;
    gone.doing = "get " + by.kind.plural + " " + r.arguments.pool;
    gone.detail = "the cluster left the fleet";
    co_return gone;
  }
  k8s::resource kind = by.kind;
  k8s::object_key key{"", r.arguments.pool};
  co_return co_await on->api().get(std::move(kind), std::move(key));
}

/// The user that the cluster takes this command for; empty where it does not say.
reactor::awaitable<std::string> user_at(rolling& r, k8s::cluster* on) {  // borrowed
  const std::string cluster = on->name();
  if (const auto known = r.users.find(cluster); known != r.users.end()) co_return known->second;
  const std::string user = co_await user_of(on->api());
  r.users[cluster] = user;
  co_return user;
}

/// Whose value a change would overwrite, and why that does not last.
std::string kept_by_others(const json::object& object, const json::object& patch,
                           const std::string& ours) {
  for (const auto& field : units::fields_of(patch))
    for (const units::field_owner& owner : units::owners_of(object, field))
      if (!units::is_by_hand(owner.manager, ours))
        return units::text_of_field(field) + " is managed by \"" + owner.manager +
               "\", which would put its own value back; change it there, or write it here all "
               "the same with --force";
  return {};
}

/// Looks at the object that a change is about, and adds to the change what follows from that: who
/// else manages the field, and the history with this change.
reactor::awaitable<void> complete(rolling& r, change& one, const units::api::edits& by,  // borrowed
                                  json::object object, std::string outcome) {
  k8s::cluster* on = r.windlass.cluster_named(one.cluster);
  if (!on) {
    one.error = "the cluster left the fleet";
    co_return;
  }
  if (!r.arguments.force && one.error.empty())
    one.error = kept_by_others(object, one.patch, on->api().field_manager());
  const auto field = units::target_field(by);
  const auto written = units::fields_of(one.patch);
  if (written.size() != 1 || written.front() != field) co_return;
  one.history = units::history_of(object, field, std::move(outcome));
  target_record next;
  next.target = one.to;
  next.manager = on->api().field_manager();
  next.by = co_await user_at(r, on);
  next.at = reactor::format_rfc3339(r.loop.wall());
  units::add_record(one.history, std::move(next));
  json::object annotations;
  annotations[units::history_annotation] = units::annotation_of(one.history);
  json::object metadata;
  metadata["annotations"] = std::move(annotations);
  // What was looked at is what is changed.
  metadata["resourceVersion"] = units::text_at(object, {"metadata", "resourceVersion"});
  one.patch["metadata"] = std::move(metadata);
}

/// The order that the row goes on although the brake is on, written along with the change. It is
/// for what the row then asks for, and for the brake that is on now.
reactor::awaitable<void> add_override(rolling& r, change& one, std::string target) {  // borrowed
  k8s::cluster* on = r.windlass.cluster_named(one.cluster);
  if (!on || !one.error.empty()) co_return;
  const units::brake_order& brake = r.windlass.brake().order();
  if (!brake.problem.empty() && brake.version.empty()) {
    one.error = "it is not known which brake would be overridden: " + brake.problem;
    co_return;
  }
  units::override_order order;
  order.why = r.arguments.why;
  order.at = reactor::format_rfc3339(r.loop.wall());
  order.target = std::move(target);
  if (brake.is_on) order.brake = brake.version;
  order.by = co_await user_at(r, on);
  if (order.by.empty()) order.by = on->api().field_manager();
  json::value& metadata = one.patch["metadata"];
  if (!metadata.is_object()) metadata.emplace_object();
  json::value& annotations = metadata.get_object()["annotations"];
  if (!annotations.is_object()) annotations.emplace_object();
  annotations.get_object()[units::override_annotation] = units::annotation_of(order);
}

/// A row of an API that can be edited, and the cluster that has it.
struct place {
  const units::api* api;
  const cluster_overview* cluster;
  const units::plan_row* row;
};
std::vector<place> places_in(const fleet_overview& f, const rolling& r) {
  std::vector<place> all;
  for (const units::api& api : r.windlass.apis()) {
    if (!api.edit) continue;
    for (const cluster_overview& c : f.clusters)
      for (const api_overview& a : c.apis)
        if (a.name == api.name)
          for (const units::plan_row& row : a.rows) all.push_back({&api, &c, &row});
  }
  return all;
}

/// An image that the registry does not have is not asked for; one of which it is not known is, with
/// a warning: a registry may be reached from its clusters alone.
void note_lookup(const units::plan_row& row, const rollout_arguments& a, change& to) {
  if (a.what != verb::set_image || row.unresolved.empty()) return;
  if (row.is_absent && !a.no_lookup)
    to.error = row.unresolved + "; --no-lookup asks for it all the same";
  else
    to.warning = "the image could not be looked up: " + row.unresolved;
}

/// The change of one row; where it cannot be made, with the reason.
/// Errors: what the command line asks for means nothing.
reactor::awaitable<reactor::result<change>> change_of(rolling& r, place at) {  // borrowed
  const units::api::edits& by = *at.api->edit;
  change one{at.cluster->name, at.api->name, at.row->target, {}, at.row->units.size(), {}};
  auto object = co_await object_of(r, one.cluster, by);
  if (!object) {
    one.error = object.error().message();
    co_return one;
  }
  // The row is planned as if the change were made.
  if (r.arguments.what == verb::set_image) {
    one.from = units::text_at(*object, units::target_field(by));
    one.planned = at.row;
  }
  std::string asks_now = units::text_at(*object, units::target_field(by));
  std::string outcome = outcome_of(*at.row);
  rollout_arguments wanted = r.arguments;
  if (wanted.what == verb::undo) {
    const auto known = units::history_of(*object, units::target_field(by), outcome);
    const target_record* back = units::undo_target(known, wanted.to_revision);
    if (!back) {
      one.error = wanted.to_revision > 0
                      ? "its history has no revision " + std::to_string(wanted.to_revision)
                      : "its history has no image before this one";
      co_return one;
    }
    wanted.what = verb::set_image;
    wanted.image = back->target;
  }
  auto made = edit_of(by, *at.row, wanted);
  if (!made) co_return made.error();
  one.to = std::move(made->to);
  one.patch = std::move(made->patch);
  note_lookup(*at.row, r.arguments, one);
  json::object found = std::move(*object);
  co_await complete(r, one, by, std::move(found), std::move(outcome));
  if (!r.arguments.override_brake) co_return one;
  std::string target = wanted.what == verb::set_image ? one.to : asks_now;
  co_await add_override(r, one, std::move(target));
  co_return one;
}

reactor::awaitable<reactor::result<std::vector<change>>> changes_of(rolling& r,  // borrowed
                                                                    const fleet_overview& f) {
  std::vector<change> all;
  const std::vector<place> places = places_in(f, r);
  for (const place& at : places) {
    if (is_left_out(*at.api->edit, *at.row, r.arguments)) continue;
    auto one = co_await change_of(r, at);
    if (!one) co_return one.error();
    all.push_back(std::move(*one));
  }
  co_return all;
}

reactor::awaitable<void> show_history(rolling& r, const fleet_overview& f) {  // borrowed
  json::array documents;
  table t({"CLUSTER", "REVISION", "TARGET", "MANAGER", "BY", "SINCE", "OUTCOME"});
  const std::vector<place> places = places_in(f, r);
  for (const place& at : places) {
    const std::string& cluster = at.cluster->name;
    auto object = co_await object_of(r, cluster, *at.api->edit);
    if (!object) {
      r.exit_code = r.complain(cluster + ": " + object.error().message());
      continue;
    }
    const auto known =
        units::history_of(*object, units::target_field(*at.api->edit), outcome_of(*at.row));
    const auto shown = [](const std::string& text) { return text.empty() ? "-" : text; };
    for (const target_record& one : known)
      t.row({cluster, std::to_string(one.revision), with_short_digests(one.target),
             shown(one.manager), shown(one.by), shown(one.at), shown(one.outcome)});
    json::object document{{"cluster", cluster}, {"api", at.api->name}};
    document["history"] = units::history_json(known);
    documents.push_back(std::move(document));
  }
  if (r.arguments.list.output.is_machine()) {
    json::object o{{"name", r.arguments.pool}};
    o["clusters"] = std::move(documents);
    show_document(document("RolloutHistory", std::move(o)), r);
  } else {
    r.out.text(t.text({}, width_of(r)));
  }
}

reactor::awaitable<void> write(rolling& r, std::vector<change>& all) {  // borrowed
  for (change& one : all) {
    if (!one.error.empty()) continue;
    const auto api = std::ranges::find(r.windlass.apis(), one.api, &units::api::name);
    k8s::cluster* on = r.windlass.cluster_named(one.cluster);
    if (!on) {
      one.error = "it left the fleet";
      continue;
    }
    k8s::resource kind = api->edit->kind;
    k8s::object_key key{"", r.arguments.pool};
    json::object patch = one.patch;
    auto done = co_await on->api().merge_patch(std::move(kind), std::move(key), std::move(patch));
    if (done) {
      one.written = true;
    } else {
      one.error = done.error().message();
    }
  }
}

void add_plan(json::object& to, const fleet_overview& planned, const units::plan_row& row) {
  json::array start, notes;
  for (const std::string& unit : row.start) start.emplace_back(unit);
  for (const std::string& note : row.notes) notes.emplace_back(note);
  to["start"] = std::move(start);
  to["notes"] = std::move(notes);
  add_how_long(to, planned, row);
}

json::object changes_json(const std::vector<change>& all, const fleet_overview& planned,
                          const rolling& r) {
  json::object o{{"name", r.arguments.pool}, {"dryRun", !r.arguments.yes}};
  json::array list;
  for (const change& c : all) {
    json::object one{{"cluster", c.cluster}, {"api", c.api},     {"target", c.from},
                     {"change", c.to},       {"units", c.units}, {"patch", c.patch},
                     {"written", c.written}};
    if (!c.error.empty()) one["error"] = c.error;
    if (!c.warning.empty()) one["warning"] = c.warning;
    if (c.planned) add_plan(one, planned, *c.planned);
    if (!c.history.empty()) one["history"] = units::history_json(c.history);
    list.push_back(std::move(one));
  }
  o["changes"] = std::move(list);
  return document("RolloutChange", std::move(o));
}

/// Clusters that were asked for and could not be looked at: what they have is not known, so it was
/// not written.
std::vector<std::string> away(const fleet_overview& f) {
  std::vector<std::string> all;
  for (const cluster_overview& c : f.clusters)
    if (c.state != "Live" && !has_nothing(c.state))
      all.push_back(c.name + " is " + c.state + (c.last_error.empty() ? "" : ": " + c.last_error));
  return all;
}

/// `planned`: the fleet as it was planned with the change.
void show_changes(const std::vector<change>& all, const fleet_overview& planned, rolling& r) {
  if (r.arguments.list.output.is_machine()) {
    show_document(changes_json(all, planned, r), r);
    return;
  }
  table t({"CLUSTER", "UNITS", "TARGET NOW", "BECOMES", "RESULT"});
  for (const change& c : all)
    t.row({c.cluster, std::to_string(c.units), with_short_digests(c.from), with_short_digests(c.to),
           c.written         ? toned("written", tone::good, r.out.tint)
           : c.error.empty() ? toned("not written", tone::faint, r.out.tint)
                             : toned(c.error, tone::bad, r.out.tint)});
  page text = t.text({}, width_of(r));
  std::map<std::string, std::string> warned;
  for (const change& c : all)
    if (!c.warning.empty()) {
      std::string& clusters = warned[c.warning];
      clusters += (clusters.empty() ? "" : ", ") + c.cluster;
    }
  for (const auto& [why, clusters] : warned)
    text += folded(page("warning: ") + clusters + ": " + why + "\n", width_of(r), 2);
  if (r.arguments.what == verb::set_image)
    text += page("\nThe plan with it: ") +
            plan_text(planned, is_wide(r) ? extent::wide : extent::usual, r.out.tint, width_of(r)) +
            "\n";
  if (!r.arguments.yes) text += "Nothing was written; --yes does it.\n";
  r.out.text(text);
}

/// Names that no cluster of the fleet has: a typing error must not look like a rollout that is
/// done.
std::string unknown_clusters(const rolling& r) {
  std::string text;
  std::vector<std::string> known;
  k8s::fleet::reading all(r.windlass.fleet());
  std::string entries;
  while (const auto piece = all.next()) entries += *piece;
  const json::value parsed = json::parse(entries);
  for (const json::value& one : parsed.as_array())
    known.emplace_back(one.as_object().at("name").as_string());
  for (const std::string& name : r.arguments.list.clusters) {
    list_request one;
    one.clusters = {name};
    if (std::ranges::none_of(known, [&](const auto& k) { return one.chooses_cluster(k); }))
      text += (text.empty() ? "" : ", ") + ("\"" + name + "\"") + did_you_mean(name, known);
  }
  return text;
}

reactor::awaitable<void> work(rolling& r) {  // borrowed
  const reactor::steady_time until = r.loop.now() + r.arguments.timeout;
  const chosen_rows chosen = co_await look(r, until);
  const fleet_overview& f = chosen.fleet;
  if (const std::string unknown = unknown_clusters(r); !unknown.empty()) {
    r.exit_code =
        r.complain("the fleet has no cluster " + unknown + "; `windlass cluster list` shows them");
    co_return;
  }
  if (rows_of(f) == 0) {
    r.exit_code = r.complain(nowhere(chosen, r.arguments));
    co_return;
  }
  if (r.arguments.what == verb::status) {
    if (!r.arguments.list.watch_only) r.exit_code = show_status(chosen, r.arguments, r.out);
    if (r.exit_code == success && r.arguments.list.is_watching())
      co_await watch(r, f, r.arguments.timeout_given ? until : reactor::never);
    co_return;
  }
  if (r.arguments.what == verb::history) {
    co_await show_history(r, f);
    co_return;
  }
  auto all = co_await changes_of(r, f);
  if (!all) {
    r.exit_code = r.complain(all.error().message(), wrong_usage);
    co_return;
  }
  if (all->empty() && r.arguments.what == verb::approve) {
    r.exit_code = r.complain("nothing of \"" + r.arguments.pool + "\" waits for approval");
    co_return;
  }
  if (r.arguments.yes) co_await write(r, *all);
  show_changes(*all, f, r);
  if (std::ranges::any_of(*all, [](const change& c) { return !c.error.empty(); }))
    r.exit_code = failure;
  if (const auto missing = away(f); !missing.empty()) {
    std::string text = "not all clusters could be looked at; what they have is as it was:";
    for (const std::string& one : missing) text += "\n" + one;
    r.exit_code = r.complain(std::move(text));
  }
}

}  // namespace

int show_rollout(fleet_overview f, const rollout_arguments& a, command_output& out) {
  return show_status(chosen_of(std::move(f), a), a, out);
}

reactor::awaitable<int> roll(reactor::loop& l, service& s, rollout_arguments a,
                             reactor::event& stop, command_output& out) {
  rolling r{l, s, a, stop, out};
  co_await work(r);
  co_return r.exit_code;
}

namespace {

int rollout_command(const rollout_arguments& a, const invocation& i) {
  reactor::loop loop;
  if (a.assumed) a.assumed->by_row[a.pool] = a.image;
  if (auto selector = k8s::label_selector::parse(std::string_view(a.list.selector)); !selector)
    return complain("--selector " + a.list.selector + ": " + selector.error(), wrong_usage);
  int code = success;
  auto prepared = prepare_service(loop, a.fleet, i, code);
  if (!prepared) return code;
  prepared->options.does = units::mode::look;
  service windlass(loop, std::move(prepared->options), prepared->log);
  stop_signal stop(loop);
  stop.listen();
  command_output out = standard_output();
  return run_started(loop, windlass, "rollout",
                     [&] { return roll(loop, windlass, a, stop.event(), out); });
}

void add_common(flags& f, rollout_arguments& to) {
  declare_fleet(f, to.fleet);
  f.value("POOL", to.pool, "name of the pool").required();
  f.seconds("--timeout", to.timeout,
            "seconds to wait for the clusters' answers; of `status --watch` until it is over, with "
            "exit code 1, where it is given")
      .shows_default()
      .each([&to] { to.timeout_given = true; });
  f.output(to.list.output, output_format::wide);
  declare_clusters(f, to.list);
}
void declare_status(flags& f, rollout_arguments& to) {
  declare_order(f, to.list);
  f.on("-w,--watch", to.list.watch, "go on until every cluster has it").matters();
  f.on("--watch-only", to.list.watch_only, "the same without the table at the beginning");
  f.footer(
      "Examples:\n  windlass rollout status workers\n  windlass rollout status workers --watch\n"
      "  windlass rollout status workers -l env=prod -o wide");
}
void add_writing(flags& f, rollout_arguments& to, const std::string& example) {
  f.on("-y,--yes", to.yes, "do it; without it the change is only shown");
  f.on("--force", to.force,
       "also where another field manager, such as Argo CD or Flux, has written the field");
  f.footer("Example:\n  " + example);
}
/// Of commands after which a pool moves.
void add_override_flags(flags& f, rollout_arguments& to) {
  f.on("--override-brake", to.override_brake,
       "let these pools, and nothing else, go on although the brake is on, and over the speed "
       "limit; for an hour at most, with --why");
  f.value("--why", to.why,
          "with --override-brake: what stands in its Event, the log and `brake "
          "status`")
      .takes("TEXT");
  f.finally([&to] {
    const bool says = to.why.find_first_not_of(" \t\r\n") != to.why.npos;
    if (to.override_brake && !says) return std::string("--override-brake needs --why TEXT");
    if (!to.override_brake && !to.why.empty())
      return std::string("--why is for --override-brake alone");
    return std::string();
  });
}
void declare_pause(flags& f, rollout_arguments& to) {
  add_writing(f, to, "windlass rollout pause workers --cluster prod-eu-1 --yes");
}
void declare_resume(flags& f, rollout_arguments& to) {
  add_override_flags(f, to);
  add_writing(f, to, "windlass rollout resume workers --yes");
}
void declare_set_image(flags& f, rollout_arguments& to) {
  f.value("REF", to.image, "full reference, with a tag or a digest").required();
  f.on("--no-lookup", to.no_lookup, "also where the registry has no such image");
  to.assumed = f.shared<units::assumed_targets>([](units::assumed_targets&) {});
  f.section("Registries, to look the image up");
  units::declare_lookup(f, to.assumed->registries);
  f.section("");
  add_override_flags(f, to);
  add_writing(
      f, to,
      "windlass rollout set-image workers registry.example.com/os/node@sha256:… -l env=test");
}
void declare_history(flags& f, rollout_arguments&) {
  f.footer("Example:\n  windlass rollout history workers");
}
void declare_undo(flags& f, rollout_arguments& to) {
  f.value("--to-revision", to.to_revision, "that one of `rollout history`; else the one before")
      .takes("N");
  add_override_flags(f, to);
  add_writing(f, to, "windlass rollout undo workers --cluster prod-eu-1 --yes");
}
void declare_approve(flags& f, rollout_arguments& to) {
  f.value("--digest", to.digest, "this one; else the one that is available").takes("sha256:…");
  add_override_flags(f, to);
  add_writing(f, to, "windlass rollout approve workers --cluster prod-eu-1 --yes");
}

}  // namespace

std::vector<app::command> rollout_commands() {
  std::vector<app::command> all = family<rollout_arguments>(
      {"rollout", "Look at, pause, resume, begin or approve a pool's rollout on the fleet"},
      {{"status", "How far it is", verb::status, declare_status},
       {"pause", "No further node starts", verb::pause, declare_pause},
       {"resume", "Go on", verb::resume, declare_resume},
       {"set-image", "Ask for another image", verb::set_image, declare_set_image},
       {"approve", "Let a pool with manual updates move to what its tag names by now",
        verb::approve, declare_approve},
       {"history", "The last ten images, who asked for them, and what came of it", verb::history,
        declare_history},
       {"undo", "Ask for the image before, or that of a revision", verb::undo, declare_undo}},
      add_common, rollout_command);
  for (app::command& c : all)
    if (c.declare) c.takes = completed_command::argument::row;
  return all;
}

}  // namespace cli
