// What people and metrics see of compositions.
#include "compose/compose_cluster.hpp"
#include "compose/metric_table.hpp"
#include "compose/tables.hpp"
#include "reactor/loop.hpp"
#include "reactor/metrics.hpp"

#include <boost/json/object.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace compose {

using policies::compose::action;
using policies::compose::child;
using policies::compose::hold;

namespace {

/// The one condition that says of a parent as a whole whether it serves.
constexpr std::string_view ready_condition = "Ready";

/// The published conditions of a parent that are not as they should be: those of the core by the
/// table, those of its pack by convention.
std::vector<units::row_problem> problems_of(const policies::compose::object& parent,
                                            const std::string& unit) {
  std::vector<units::row_problem> out;
  const value* list = parent.status.find("conditions");
  if (!list || !list->if_array()) return out;
  for (const value& c : *list->if_array()) {
    units::row_problem p{unit,
                         c.text_of("type"),
                         c.text_of("status"),
                         c.text_of("reason"),
                         c.text_of("message"),
                         c.text_of("lastTransitionTime")};
    const units::condition_kind* known =
        units::find_condition_kind(conditions, p.condition, p.status, p.reason);
    if (known ? known->shows == units::condition_shows::problem
              : units::is_problem_by_convention(p.condition, p.status))
      out.push_back(std::move(p));
  }
  return out;
}

}  // namespace

std::string compose_cluster::row_of(const pass_result& o) {
  // A parent that names a pack there is not has none.
  const std::string& pack = o.by.about->pack;
  return (pack.empty() ? "none" : pack) + "/" + o.sync_input.parent->kind;
}

void compose_cluster::count_parents() {
  options_.environment.metrics.get_gauge(metric_table::parents, {{"cluster", cluster_}})
      .set(static_cast<double>(by_uid_.size()));
}

/// Moves a parent in the figures of its row; an empty row: it is no more.
void compose_cluster::count(parent_state& state, const std::string& row, const std::string& as,
                            std::vector<std::string> codes) {
  std::sort(codes.begin(), codes.end());
  codes.erase(std::unique(codes.begin(), codes.end()), codes.end());
  if (state.row == row && state.shown_as == as && state.shown_codes == codes) return;
  if (!state.row.empty()) {
    row_counts& was = rows_[state.row];
    --was.parents;
    --was.states[state.shown_as];
    for (const std::string& c : state.shown_codes) --was.held[c];
    if (was.parents == 0 && state.row != row) {
      figures_.forget(state.row);
      rows_.erase(state.row);
    } else if (state.row != row) {
      figures_.show(state.row, was.states, was.held);
    }
  }
  state.row = row;
  state.shown_as = as;
  state.shown_codes = std::move(codes);
  if (row.empty()) return;
  row_counts& is = rows_[row];
  ++is.parents;
  ++is.states[as];
  for (const std::string& c : state.shown_codes) ++is.held[c];
  figures_.show(row, is.states, is.held);
}

void compose_cluster::describe(boost::json::object& entry) const {
  std::size_t held = 0;
  for (const auto& [id, state] : parents_) held += state.holds.empty() ? 0 : 1;
  entry["compositions"] = by_uid_.size();
  entry["compositionsHeld"] = held;
}

awaitable<std::vector<units::plan_row>> compose_cluster::overview() {
  const reactor::gate::visit here(overviews_);
  std::map<std::string, units::plan_row> rows;
  std::vector<object_name> ids;
  for (const auto& [uid, id] : by_uid_) ids.push_back(id);
  std::sort(ids.begin(), ids.end());
  for (const object_name& id : ids) {
    if (stopping_) break;
    auto seen = co_await look(id);
    if (seen->is == pass_result::what::nothing) continue;
    const std::string name = row_of(*seen);
    units::plan_row& row = rows[name];
    row.name = name;
    row.target = seen->by.about->version;
    units::unit u;
    u.name = id.ns.empty() ? id.name : id.ns + "/" + id.name;
    const std::vector<hold>& holds = seen->plan.holds;
    const bool pending =
        std::any_of(seen->plan.actions.begin(), seen->plan.actions.end(),
                    [](const action& a) { return a.what != action::kind::set_status; });
    const bool trouble = std::any_of(holds.begin(), holds.end(), [](const hold& h) {
      const units::hold_kind* kind = find_hold(h.code);
      return kind && kind->nature == units::hold_nature::trouble;
    });
    const bool unknown = !seen->answered && holds.empty();
    u.state = !holds.empty() ? "Held" : pending || unknown ? "Pending" : "Composed";
    std::vector<units::row_problem> problems = problems_of(*seen->sync_input.parent, u.name);
    // What is only not Ready may be on its way there.
    const bool is_wrong = std::any_of(problems.begin(), problems.end(),
                                      [](const auto& p) { return p.condition != ready_condition; });
    u.is = trouble || is_wrong                                         ? units::standing::trouble
           : !holds.empty() || pending || unknown || !problems.empty() ? units::standing::moving
                                                                       : units::standing::done;
    std::size_t there = 0;
    for (const child& c : seen->answer.children)
      there += seen->sync_input.live.contains(c.id) ? 1 : 0;
    u.details = {{.key = "children",
                  .value = static_cast<std::int64_t>(seen->answer.children.size()),
                  .column = "CHILDREN",
                  .label = "children"},
                 {.key = "present", .value = static_cast<std::int64_t>(there)}};
    if (!holds.empty())
      u.message = holds.front().sentence;
    else if (!problems.empty())
      u.message = problems.front().message;
    std::ranges::move(problems, std::back_inserter(row.problems));
    for (const hold& h : holds) {
      units::hold shown{u.name, h.code, h.child.empty() ? h.sentence : h.child + ": " + h.sentence,
                        h.released_by};
      if (seen->plan.look_again.count() > 0)
        shown.asked_again = reactor::format_rfc3339(on_.loop().wall() + seen->plan.look_again);
      row.holds.push_back(std::move(shown));
    }
    for (const action& a : seen->plan.actions) {
      const std::string what = std::string(policies::compose::verb(a.what)) + " " +
                               (a.what == action::kind::set_status ? "status"
                                : a.of == id ? (a.lines.empty() ? "" : a.lines.front())
                                             : a.of.text(id.ns));
      row.actions.push_back({what, u.name});
      if (a.of == id) continue;
      for (const std::string& line : a.lines)
        row.actions.push_back({a.of.text(id.ns) + ": " + line, u.name});
    }
    if (holds.empty() && pending) row.start.push_back(u.name);
    row.updated += u.is == units::standing::done ? 1 : 0;
    row.updating += u.is == units::standing::moving ? 1 : 0;
    row.degraded += u.is == units::standing::trouble ? 1 : 0;
    row.units.push_back(std::move(u));
  }
  std::vector<units::plan_row> out;
  for (auto& [name, row] : rows) {
    std::ranges::sort(row.units, {}, &units::unit::name);
    out.push_back(std::move(row));
  }
  co_return out;
}

}  // namespace compose
