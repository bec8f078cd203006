#include "bootc/pool/reconciler/pool_teller.hpp"

#include "app/api/row_figures.hpp"
#include "bootc/kinds/names.hpp"
#include "bootc/pool/events/hold_note.hpp"
#include "bootc/pool/reconciler/pass_steps.hpp"
#include "k8s/client/events.hpp"
#include "reactor/loop.hpp"
#include "reactor/loop_slice.hpp"

#include <utility>

namespace bootc {
namespace {

using namespace std::chrono_literals;
namespace json = boost::json;

/// Of holds, written in one pass; the others follow in the next.
constexpr std::size_t most_notes = 20;
constexpr std::size_t units_a_turn = 1'000;

/// One line, and a count, when a rollout starts and when it is done, by what the pool's status said
/// before.
void tell_turn(const reactor::logger& log, units::row_figures* rows, const node_pool& pool,
               const node_pool_status& now, reactor::wall_time at) {
  const condition* before = find_condition(pool.status.conditions, pool_condition::up_to_date);
  const condition* after = find_condition(now.conditions, pool_condition::up_to_date);
  const bool was_done = !before || before->status == "True",
             is_done = after && after->status == "True";
  if (was_done == is_done || (!before && now.node_count == 0)) return;
  const std::string& name = pool.meta.name.str();
  if (rows && !is_done) rows->began();
  if (!is_done)
    return log.info("rollout started",
                    {{"pool", name}, {"target", now.target_digest}, {"nodes", now.node_count}});
  const auto began = reactor::parse_rfc3339(before->last_transition_time);
  const reactor::nanoseconds took = began ? reactor::nanoseconds(at - *began) : 0s;
  if (rows) rows->done(took);
  log.info(
      "rollout done",
      {{"pool", name}, {"target", now.target_digest}, {"nodes", now.node_count}, {"took", took}});
}

/// The log says of the condition Degraded what its Event does, and its end.
void tell_trouble(const reactor::logger& log, const node_pool& pool, const node_pool_status& now) {
  const condition* before = find_condition(pool.status.conditions, pool_condition::degraded);
  const condition* after = find_condition(now.conditions, pool_condition::degraded);
  const bool was = before && before->is_true(), is = after && after->is_true();
  const std::string& name = pool.meta.name.str();
  if (is && (!was || before->reason != after->reason || before->message != after->message))
    log.warning("pool is degraded",
                {{"pool", name}, {"reason", after->reason}, {"why", after->message}});
  else if (was && !is)
    log.info("pool is no longer degraded", {{"pool", name}, {"reason", before->reason}});
}

}  // namespace

void pool_teller::say_new(const node_pool& pool, const std::vector<warning>& warnings) {
  const std::string& name = pool.meta.name.str();
  std::set<std::string> now;
  for (const warning& w : warnings) {
    std::string key = std::string(w.reason) + "/" + w.node;
    if (!said_[name].contains(key)) {
      settings_.log.warning(w.message, {{"pool", name}, {"reason", w.reason}});
      tell(event_of(w, w.node.empty() ? nullptr : views_.nodes.find("", w.node), pool));
    }
    now.insert(std::move(key));
  }
  said_[name] = std::move(now);
  if (said_[name].empty()) said_.erase(name);
}

void pool_teller::tell(k8s::event_note note) {
  if (settings_.events) settings_.events->record(std::move(note));
}

awaitable<std::optional<reactor::wall_time>> pool_teller::tell_of_drains(node_pool pool,
                                                                         drains_by_node ours) {
  drain_teller::news news;
  for (const auto& [node, progress] : ours) {
    if (reactor::loop_slice::is_over()) co_await loop_.yield();
    drain_teller_.tell_one(pool, node, views_.nodes.find("", node), progress, loop_.wall(), news);
  }
  drain_teller_.forget(pool, ours);
  for (k8s::event_note& n : news.notes) tell(std::move(n));
  co_return news.look_again;
}

/// The step that the node has made since it was last told of; told now, and from then on remembered
/// by its object.
void pool_teller::note_step(const bootc_node& b, const node_pool& pool, json::object& annotations) {
  if (!settings_.events) return;
  const std::string name = b.meta.name.str();
  auto step = next_step(b, views_.nodes.find("", name), pool);
  if (!step) {
    told_steps_.erase(name);
    return;
  }
  annotations[names::last_observed_state] = step->remember;
  std::string& told = told_steps_[name];
  if (told == step->remember) return;
  told = step->remember;
  if (step->note) tell(std::move(*step->note));
}

awaitable<pool_teller::noted> pool_teller::notes_of(const node_pool& pool, rollout_plan& plan) {
  noted out;
  std::set<std::string> written_anyway;
  for (const action& a : plan.actions)
    if (takes_notes(a.kind)) written_anyway.insert(a.node);
  auto why = plan.holds.begin();
  std::size_t alone = 0;
  bool has_skew = false, has_limit = false;
  for (std::size_t i = 0; i < plan.units.size(); ++i) {
    if (i % units_a_turn == units_a_turn - 1 || reactor::loop_slice::is_over())
      co_await loop_.yield();
    const unit& u = plan.units[i];
    while (why != plan.holds.end() && why->unit < u.name) ++why;
    const bool is_held = why != plan.holds.end() && why->unit == u.name;
    const bootc_node* b = views_.bootc_nodes.find("", u.name);
    // Of those that the image's Kubernetes holds one speaks for the pool; so does one of those that
    // the speed limit holds, which no other process knows.
    const bool tells_skew =
        !has_skew && u.beyond_skew && is_held &&
        (why->code == hold_code::version_skew || why->code == hold_code::removed_apis);
    has_skew |= tells_skew;
    const bool tells_limit = !has_limit && b && is_held && why->code == hold_code::speed_limit;
    has_limit |= tells_limit;
    const bool matters = u.slotted || u.state == unit_state::degraded || !u.trouble.empty() ||
                         tells_skew || tells_limit;
    const hold* now = matters && is_held ? &*why : nullptr;
    // What the next pass would say goes along with the slot.
    std::optional<hold> begins;
    if (u.starting && !now)
      now = &begins.emplace(u.name, std::string(hold_code::draining.code), "its drain begins",
                            std::string(hold_code::draining.released));
    const bool goes_along = written_anyway.contains(u.name);
    // What leaves is deleted in this pass.
    const bool leaves = now && now->code == hold_code::leaving;
    if (!b || leaves) continue;
    if (!goes_along && alone == most_notes) {
      out.are_left = true;
      continue;
    }
    json::object annotations;
    const bool is_said = is_noted(*b, now);
    const reactor::steady_time may_be_said_at =
        is_said ? reactor::steady_time() : may_note_at(*b, now);
    if (!now) noted_at_.erase(u.name);
    if (!is_said && !goes_along && may_be_said_at > loop_.now()) {
      out.look_again = earlier(out.look_again, loop_.wall() + (may_be_said_at - loop_.now()));
    } else if (!is_said) {
      if (now) noted_at_[u.name] = loop_.now();
      annotations = note_annotations(*b, now, loop_.wall());
      // A note that fails is told again with the next one, as a repetition of the same Event.
      if (is_new(*b, now)) tell(event_of(*b, now));
    }
    note_step(*b, pool, annotations);
    if (annotations.empty()) continue;
    if (!goes_along) ++alone;
    out.all.emplace(u.name, std::move(annotations));
  }
  co_return out;
}

/// Other words of the same code replace a note once it is old enough, so that a drain whose pods
/// end one by one costs few writes.
reactor::steady_time pool_teller::may_note_at(const bootc_node& b, const hold* now) const {
  const auto before = note_of(b);
  const auto written = noted_at_.find(b.meta.name.str());
  if (!now || !before || before->code != now->code || written == noted_at_.end()) return {};
  return written->second + shortest_life_of_note(now->code);
}

void pool_teller::tell_status(const node_pool& pool, const node_pool_status& now) {
  tell_turn(settings_.log, settings_.rows, pool, now, loop_.wall());
  tell_trouble(settings_.log, pool, now);
}

void pool_teller::tell_other_operator(const std::string& holder) {
  if (other_said_ == holder) return;
  if (holder.empty())
    settings_.log.info("no other operator keeps the Lease any more: its cluster is ours again");
  else
    settings_.log.warning("another operator works on this cluster: nothing is done here",
                          {{"lease", names::lease}, {"holder", holder}});
  other_said_ = holder;
}

}  // namespace bootc
