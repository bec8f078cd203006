// One parent: look at it, ask its pack, plan, in one file since each step is a few lines over what
// the steps before it found. The writes are in compose_writes.cpp.
#include "compose/compose_cluster.hpp"
#include "compose/tables.hpp"
#include "k8s/client/events.hpp"
#include "reactor/loop.hpp"
#include "reactor/loop_slice.hpp"
#include "reactor/plain/printable.hpp"

#include <algorithm>
#include <utility>

namespace compose {

using namespace std::chrono_literals;
using policies::compose::action;
using policies::compose::asked_value;
using policies::compose::child;
using policies::compose::hold;
using policies::compose::key_of;
using policies::compose::question;
using policies::compose::related_query;
using policies::compose::sibling;
using policies::compose::stated_event;
using policies::compose::sync_plan;
namespace code = policies::compose::hold_code;

namespace {

constexpr reactor::nanoseconds look_when_live = 5s, look_for_own_write = 1s, wait_for_proof = 1s,
                               after_race = 1s, after_race_most = 1min, after_fault = 1min;
constexpr std::size_t most_related_objects = 500;
/// What the loop reads, and plans, in one piece; more is done on the worker.
constexpr std::size_t bytes_read_at_once = 32 * 1024, bytes_planned_at_once = 16 * 1024;
constexpr std::size_t children_planned_at_once = 40;

/// Whether it writes anything but the status.
bool writes(const sync_plan& p) {
  return std::any_of(p.actions.begin(), p.actions.end(),
                     [](const action& a) { return a.what != action::kind::set_status; });
}

}  // namespace

std::shared_ptr<const object> compose_cluster::find(const object_name& id) const {
  const watched_kind* w = watched(id.kind);
  return w ? w->find(key_for(id)) : nullptr;
}

/// Whether something that this parent's passes wrote is not seen yet.
bool compose_cluster::is_behind(const object_name& id, const parent_state* state) {
  const auto behind = [this](const object_name& one) {
    watched_kind* w = watched(one.kind);
    return w && w->is_behind(key_for(one));
  };
  if (behind(id)) return true;
  if (!state) return false;
  return std::ranges::any_of(concerns_.named_by(id), behind);
}

bool compose_cluster::set_freshness(const object_name& id, const pass_result& o,
                                    k8s::freshness how) {
  if (how == k8s::freshness::close)
    attending_.insert(id);
  else
    attending_.erase(id);
  on_.set_freshness(attending_.empty() ? k8s::freshness::none : k8s::freshness::close);
  if (how == k8s::freshness::none) return true;
  for (const auto* kinds : {&o.by.about->parents, &o.by.about->children, &o.by.about->related})
    for (const kind_name& k : *kinds)
      if (watched_kind* w = watched(k); w && !w->informer().may_be_acted_upon()) return false;
  return true;
}

// ---------------------------------------------------------------- reading

/// The object as it is now. Large ones are read on the worker.
awaitable<std::shared_ptr<const object>> compose_cluster::read(std::shared_ptr<pass_result> o,
                                                               object_name id) {
  std::shared_ptr<const object> out;
  const watched_kind* w = watched(id.kind);
  const std::string* text = w ? w->text(key_for(id)) : nullptr;
  if (!text) co_return out;
  std::string version(w->meta(key_for(id))->resource_version.text());
  const auto known = o->read.find(id);
  if (known != o->read.end() && known->second->resource_version == version) co_return known->second;
  const std::size_t bytes = text->size();
  o->read_bytes += bytes;
  if (bytes > bytes_read_at_once) {
    const auto parse = [](const kind_name& kind, const std::string& kept, const std::string& seen) {
      return object_from(kind, kept, seen);
    };
    out = co_await on_.loop().offload(parse, id.kind, *text, std::move(version));
  } else {
    out = object_from(id.kind, *text, std::move(version));
    reactor::loop_slice::spend(bytes);
    if (reactor::loop_slice::is_over()) co_await on_.loop().yield();
  }
  o->read.insert_or_assign(id, out);
  co_return out;
}

/// The same without waiting: it was read ahead, or has changed since.
std::shared_ptr<const object> compose_cluster::seen(const pass_result& o,
                                                    const object_name& id) const {
  const watched_kind* w = watched(id.kind);
  const k8s::object_meta* m = w ? w->meta(key_for(id)) : nullptr;
  if (!m) return nullptr;
  const auto known = o.read.find(id);
  if (known != o.read.end() && known->second->resource_version == m->resource_version.text())
    return known->second;
  return w->find(key_for(id));
}

std::vector<object_name> compose_cluster::owned_by(const pass_result& o) const {
  std::vector<object_name> all;
  for (const kind_name& k : o.sync_input.about->children) {
    const watched_kind* w = watched(k);
    if (!w) continue;
    for (const k8s::object_key& key : w->owned_by(k8s::uid(o.sync_input.parent->uid)))
      all.push_back({k, key.ns, key.name});
  }
  return all;
}

/// What the answer speaks of: children, their inputs, what they are copied from.
std::vector<object_name> compose_cluster::named_in(const pass_result& o) const {
  std::vector<object_name> all;
  for (const child& c : o.answer.children) {
    all.push_back(c.id);
    for (object_name input : c.inputs) {
      if (without_namespace_.contains(input.kind)) input.ns.clear();
      all.push_back(std::move(input));
    }
    for (const auto& [key, ask] : c.asks)
      if (ask.from == asked_value::source::copy) all.push_back(secret_of(c.id.ns, ask.secret));
  }
  return all;
}

awaitable<void> compose_cluster::read_ahead(std::shared_ptr<pass_result> o) {
  const std::vector<object_name> named = named_in(*o);
  for (const object_name& id : named) (void)co_await read(o, id);
  const std::vector<object_name> owned = owned_by(*o);
  for (const object_name& id : owned) (void)co_await read(o, id);
}

// ---------------------------------------------------------------- a look

/// While the brake is on, or the speed limit reached, nothing is written, not even a status: it
/// would speak of writes that are to come.
awaitable<std::shared_ptr<compose_cluster::pass_result>> compose_cluster::look(object_name id) {
  const std::string unit = id.text();
  auto out = co_await look_closely(std::move(id));
  const auto held = out->plan.actions.empty() ? std::nullopt : units::ask(brake_, unit);
  if (!held) co_return out;
  if (held->again_in) out->plan.look_again = *held->again_in;
  out->plan.actions.clear();
  out->plan.holds.push_back({held->code, {}, held->sentence, held->released_by});
  co_return out;
}

awaitable<std::shared_ptr<compose_cluster::pass_result>> compose_cluster::look_closely(
    object_name id) {
  auto out = std::make_shared<pass_result>();
  auto parent = co_await read(out, id);
  if (!parent) co_return out;
  std::string named;
  const pack_in_force* chosen = pack_for(*parent, named);
  if (!chosen && (named.empty() || packs_.empty())) co_return out;
  auto& sync_input = out->sync_input;
  sync_input.parent = parent;
  sync_input.now = on_.loop().wall();
  sync_input.without_namespace = without_namespace_;
  if (const auto state = parents_.find(id);
      state != parents_.end() && state->second.uid == parent->uid) {
    sync_input.settled = state->second.settled;
    sync_input.refused = state->second.refused;
  }
  if (!chosen) {
    out->is = pass_result::what::wait;
    out->by.about = std::make_shared<policies::compose::declaration>();
    sync_input.about = out->by.about;
    if (!parent->deleting)
      out->plan = policies::compose::plan_fault(
          sync_input, code::policy,
          "no pack named " + reactor::printable(named, 60) + " composes its kind",
          "the annotation windlass.dev/policy names another, or the pack is there");
    co_return out;
  }
  out->by = *chosen;
  sync_input.about = out->by.about;
  const auto about = sync_input.about;
  if (parent->deleting && !policies::compose::is_kept_by_its_finalizer(*parent, *about))
    co_return out;
  if (!has_turn(*about)) {
    // Its status is for the holder of the Lease to write.
    out->is = pass_result::what::wait;
    out->plan.holds.push_back(
        {std::string(standing_by.code),
         {},
         "this process does not hold the Lease " + about->lease + " that its pack names",
         std::string(standing_by.released)});
    co_return out;
  }
  if (!about->lease.empty()) {
    const std::string other = co_await others_.look(about->lease);
    if (!other.empty()) {
      out->is = pass_result::what::wait;
      out->plan.look_again = other_operators::asked_every;
      out->plan.holds.push_back(
          {std::string(other_operator.code),
           {},
           "another operator works on this cluster: it keeps the Lease " + other,
           std::string(other_operator.released)});
      co_return out;
    }
  }
  if (const std::string why = kinds_problem(*about); !why.empty()) {
    out->is = pass_result::what::wait;
    out->plan =
        policies::compose::plan_fault(sync_input, code::missing_kind, why, missing_kind.released);
    co_return out;
  }
  if (!is_complete(*about)) {
    out->is = pass_result::what::wait;
    co_return out;
  }
  auto q = std::make_shared<question>();
  q->parent = parent;
  auto files = co_await options_.data.of(*about, out->by.pack);
  q->files = files;
  data_digests_.try_emplace(about->pack, digest_with_problem(*files));
  sync_input.data_problem = files->problem;
  auto failed = co_await ask(out, q);
  co_await on_.loop().yield();
  if (!failed) co_await read_ahead(out);
  const watched_kind* w = watched(id.kind);
  const k8s::object_meta* now = w ? w->meta(key_for(id)) : nullptr;
  if (!now || now->resource_version.text() != parent->resource_version) {
    // It changed meanwhile; its event has put it into the queue again.
    out->is = pass_result::what::wait;
    co_return out;
  }
  out->is = pass_result::what::plan;
  gather(*out);
  if (failed) {
    out->plan = policies::compose::plan_fault(sync_input, code::policy_fault,
                                              reactor::printable(failed->message(), 900));
    co_return out;
  }
  out->answered = true;
  co_await plan(out);
  co_return out;
}

/// The plan of the input and the answer, in a turn of its own; a large one is made on the
/// worker, which owns both meanwhile.
awaitable<void> compose_cluster::plan(std::shared_ptr<pass_result> o) {
  const std::size_t children = o->answer.children.size() + o->sync_input.live.size();
  if (o->read_bytes < bytes_planned_at_once && children < children_planned_at_once) {
    co_await on_.loop().yield();
    o->plan = policies::compose::plan_sync(o->sync_input, o->answer);
    co_await on_.loop().yield();
    co_return;
  }
  struct planning {
    policies::compose::sync_input sync_input;
    policies::compose::sync_answer answer;
    sync_plan plan;
  };
  auto job = std::make_shared<planning>();
  job->sync_input = std::move(o->sync_input);
  job->answer = std::move(o->answer);
  const auto make = [](std::shared_ptr<planning>& all) {
    all->plan = policies::compose::plan_sync(all->sync_input, all->answer);
    return std::move(all);
  };
  auto done = co_await on_.loop().offload(make, std::move(job));
  o->sync_input = std::move(done->sync_input);
  o->answer = std::move(done->answer);
  o->plan = std::move(done->plan);
}

/// One question of one pack, written down where a record is kept.
awaitable<reactor::result<void>> compose_cluster::ask_hook(
    std::shared_ptr<pass_result> o, std::string hook, std::vector<policies::argument> arguments,
    std::int64_t instructions, policies::judge accept) {
  const auto pack = o->by.pack;
  policies::host& packs = options_.environment.packs;
  policies::question_note n;
  const bool noted = packs.takes_notes();
  if (noted) {
    n.hook = hook;
    n.about.api = "compose";
    for (const auto& [key, text] : on_.on().labels())
      n.about.cluster_labels.emplace(key.str(), text.str());
    n.about.object_labels = o->sync_input.parent->labels;
    n.about.pack = pack->about().name;
    n.arguments = arguments;
    n.instructions = instructions;
    n.pack = pack->about().name;
    n.version = pack->about().version;
    n.digest = pack->digest();
  }
  auto said = co_await packs.ask(pack, hook, std::move(arguments), instructions, std::move(accept));
  if (noted && said) n.answer = said->answer;
  if (noted && !said) n.failed = said.error();
  if (noted) co_await packs.note(std::move(n));
  if (!said) co_return said.error();
  co_return reactor::result<void>();
}

/// Both hooks. What they stumbled over comes back.
awaitable<std::optional<reactor::fault>> compose_cluster::ask(
    std::shared_ptr<pass_result> o, std::shared_ptr<policies::compose::question> q) {
  auto about = o->sync_input.about;
  auto parent = o->sync_input.parent;
  if (o->by.pack->has("compose.related")) {
    auto queries = std::make_shared<std::vector<related_query>>();
    policies::judge accept = [queries, about,
                              parent](const policies::value& v) -> reactor::result<void> {
      auto read = policies::compose::read_related(v, *about, *parent);
      if (!read) return read.error();
      *queries = std::move(*read);
      return {};
    };
    auto arguments = policies::compose::related_arguments(q);
    auto said = co_await ask_hook(o, "compose.related", std::move(arguments),
                                  policies::unit_instructions, std::move(accept));
    if (!said) co_return said.error();
    o->related = std::move(*queries);
  }
  for (related_query& one : o->related) {
    if (without_namespace_.contains(one.kind)) one.ns.clear();
    std::vector<object_name> found;
    if (!one.name.empty()) {
      found.push_back({one.kind, one.ns, one.name});
    } else if (const watched_kind* w = watched(one.kind)) {
      w->each([&](const k8s::object_meta& m) {
        if (!one.ns.empty() && m.ns.str() != one.ns) return;
        policies::labels labels;
        for (const auto& [key, text] : m.labels) labels.emplace(key.str(), text.str());
        object_name name{one.kind, m.ns.str(), m.name.str()};
        if (one.matches(name, labels)) found.push_back(std::move(name));
      });
      std::sort(found.begin(), found.end());
      co_await on_.loop().yield();
    }
    for (const object_name& name : found) {
      if (q->related.size() >= most_related_objects) break;
      auto there = co_await read(o, name);
      if (there) q->related.emplace(key_of(name, parent->ns), std::move(there));
    }
  }
  const std::vector<object_name> owned = owned_by(*o);
  for (const object_name& name : owned) {
    auto there = co_await read(o, name);
    if (there) q->children.emplace(key_of(name, parent->ns), std::move(there));
  }
  auto answer = std::make_shared<policies::compose::sync_answer>();
  policies::judge accept = [answer, about,
                            parent](const policies::value& v) -> reactor::result<void> {
    auto read = policies::compose::read_answer(v, *about, *parent);
    if (!read) return read.error();
    *answer = std::move(*read);
    return {};
  };
  auto arguments = policies::compose::sync_arguments(q, o->sync_input.now);
  const std::int64_t instructions = policies::compose::sync_instructions(*q);
  auto said =
      co_await ask_hook(o, "compose.sync", std::move(arguments), instructions, std::move(accept));
  if (!said) co_return said.error();
  o->answer = std::move(*answer);
  for (child& c : o->answer.children) settle_lists(c.id.kind, c.body);
  // What lies in no namespace was asked for as if it did.
  for (child& c : o->answer.children)
    if (without_namespace_.contains(c.id.kind) && parent->ns.empty()) c.id.ns.clear();
  co_return std::nullopt;
}

/// All that the plan looks at, as it is now.
void compose_cluster::gather(pass_result& o) const {
  auto& s = o.sync_input;
  const auto keep = [&](const object_name& id) {
    if (s.live.contains(id)) return;
    if (auto there = seen(o, id)) s.live.emplace(id, std::move(there));
  };
  for (const object_name& id : owned_by(o)) keep(id);
  for (const object_name& id : named_in(o)) keep(id);
  for (const child& c : o.answer.children) {
    for (const object_name& other : concerns_.naming(c.id)) {
      if (other == s.parent->id()) continue;
      const auto state = parents_.find(other);
      if (state == parents_.end()) continue;
      const auto& claims = state->second.claims;
      if (std::find(claims.begin(), claims.end(), c.id) == claims.end()) continue;
      const auto there = find(other);
      if (!there || there->deleting || there->uid != state->second.uid) continue;
      const sibling rival{other, there->uid, there->created};
      const auto known = s.claims.find(c.id);
      if (known == s.claims.end())
        s.claims.emplace(c.id, rival);
      else if (policies::compose::is_older(rival, known->second))
        known->second = rival;
    }
  }
  for (const auto& [id, there] : s.live) {
    if (there->controller_uid.empty() || there->controller_uid == s.parent->uid) continue;
    const auto owner = by_uid_.find(there->controller_uid);
    if (owner == by_uid_.end()) continue;
    if (const auto other = find(owner->second); other && other->uid == there->controller_uid)
      s.parents.emplace(other->uid, sibling{owner->second, other->uid, other->created});
  }
}

// ---------------------------------------------------------------- what is remembered

/// Whose changes concern it from now on.
void compose_cluster::remember(const object_name& id, const pass_result& o) {
  parent_state& state = parents_[id];
  const std::vector<object_name> all = named_in(o);
  std::set<object_name> named(all.begin(), all.end());
  std::vector<object_name> claims;
  for (const child& c : o.answer.children) claims.push_back(c.id);
  for (const related_query& q : o.related)
    if (!q.name.empty()) named.insert({q.kind, q.ns, q.name});
  for (const auto& [one, there] : o.sync_input.live)
    if (there->controller_uid == state.uid) named.insert(one);
  // Other parents that ask for the same learn of it, and of what is no longer asked for.
  std::set<object_name> woken;
  const auto others = [&](const object_name& one) {
    for (const object_name& other : concerns_.naming(one))
      if (!(other == id)) woken.insert(other);
  };
  for (const object_name& one : claims)
    if (std::find(state.claims.begin(), state.claims.end(), one) == state.claims.end()) others(one);
  for (const object_name& one : state.claims)
    if (std::find(claims.begin(), claims.end(), one) == claims.end()) others(one);
  std::erase_if(state.settled,
                [&](const auto& one) { return !named.contains(one.first) && !(one.first == id); });
  std::erase_if(state.refused,
                [&](const auto& one) { return !named.contains(one.first) && !(one.first == id); });
  concerns_.put(id, std::move(named), o.related);
  state.claims = std::move(claims);
  for (const object_name& other : woken) look_at(other);
}

void compose_cluster::forget(const object_name& id) {
  attending_.erase(id);
  if (attending_.empty()) on_.set_freshness(k8s::freshness::none);
  const auto state = parents_.find(id);
  if (state == parents_.end()) return;
  count(state->second, {}, {}, {});
  std::set<object_name> others;
  for (const object_name& one : concerns_.named_by(id)) {
    const std::set<object_name>& naming = concerns_.naming(one);
    others.insert(naming.begin(), naming.end());
  }
  others.erase(id);
  concerns_.forget(id);
  parents_.erase(state);
  for (const object_name& other : others) look_at(other);
}

void compose_cluster::record_event(const object_name& id,
                                   const policies::compose::declaration& about,
                                   const stated_event& e) {
  const auto state = parents_.find(id);
  if (e.reason.empty() || state == parents_.end()) return;
  k8s::object_reference regarding{id.kind.api_version, id.kind.kind, id.ns, id.name,
                                  state->second.uid};
  k8s::event_kind kind = of_a_pack;
  kind.reason = e.reason;
  kind.type = e.warning ? k8s::event_severity::warning : k8s::event_severity::normal;
  k8s::event_note note = k8s::tell_of(kind, std::move(regarding), e.message);
  note.action = "Compose";
  if (const auto by = about.reporters.find(id.kind); by != about.reporters.end())
    note.reporter = by->second;
  on_.on().events().record(std::move(note));
}

/// What the answer states, what holds it and which writes failed, each once as long as it stays
/// true. Normal events of the answer may speak of its writes: they wait until all went well.
void compose_cluster::tell(const object_name& id, const pass_result& o, const write_steps& done) {
  parent_state& state = parents_[id];
  const bool went_well = done.refused().empty() && !o.plan.lacks_a_child;
  std::set<stated_event> now;
  for (const stated_event& e : o.plan.events)
    if (e.warning || went_well) now.insert(e);
  std::set<std::string> told_by_pack;
  for (const action& a : o.plan.actions) {
    const auto refused = done.refused().find(a.of);
    if (refused == done.refused().end() || a.failed.reason.empty()) continue;
    const std::string child = a.of.text(id.ns);
    stated_event e = a.failed;
    e.message += (e.message.empty() ? "" : ": ") + child + ": " + refused->second;
    now.insert(std::move(e));
    told_by_pack.insert(child);
  }
  for (const hold& h : o.plan.holds) {
    const units::hold_kind* kind = find_hold(h.code);
    const bool said = h.code == code::conflict ||  // by the planner, under a reason of its own
                      (h.code == code::write_failed && told_by_pack.contains(h.child));
    if (said || !kind || kind->nature != units::hold_nature::trouble) continue;
    now.insert({true, std::string(held.reason),
                h.code + ": " + (h.child.empty() ? "" : h.child + ": ") + h.sentence});
  }
  for (const stated_event& e : now)
    if (!state.told.contains(e)) record_event(id, *o.sync_input.about, e);
  state.told = std::move(now);
}

/// Its holds and how it is counted.
void compose_cluster::show(const object_name& id, const pass_result& o) {
  parent_state& state = parents_[id];
  state.holds = o.plan.holds;
  std::vector<std::string> codes;
  for (const hold& h : o.plan.holds) codes.push_back(h.code);
  count(state, row_of(o),
        !codes.empty()   ? "Held"
        : writes(o.plan) ? "Pending"
                         : "Composed",
        std::move(codes));
}

// ---------------------------------------------------------------- a pass

awaitable<k8s::result<k8s::next>> compose_cluster::reconcile(object_name id) {
  if (!on_.is_live()) co_return k8s::requeue_after(look_when_live);
  {
    const auto state = parents_.find(id);
    if (is_behind(id, state == parents_.end() ? nullptr : &state->second))
      co_return k8s::requeue_after(look_for_own_write);
  }
  auto seen = co_await look(id);
  ++revision_;
  if (seen->is == pass_result::what::nothing) {
    forget(id);
    co_return k8s::await_change();
  }
  if (!on_.is_live()) co_return k8s::requeue_after(look_when_live);
  parent_state& state = parents_[id];
  if (state.uid != seen->sync_input.parent->uid) {
    state.settled.clear();  // another object of that name
    state.refused.clear();
    state.told.clear();
    state.uid = seen->sync_input.parent->uid;
  }
  if (seen->answered) remember(id, *seen);
  const bool knows = seen->answered || !seen->plan.holds.empty();
  if (!knows) co_return k8s::requeue_after(look_when_live);
  const auto how = writes(seen->plan) ? k8s::freshness::close : k8s::freshness::none;
  const bool proved = set_freshness(id, *seen, how);
  show(id, *seen);
  if (!proved) co_return k8s::requeue_after(wait_for_proof);
  const write_steps done = co_await carry_out_all(id, seen);
  if (done.failure() && done.failure()->cancelled) co_return *done.failure();
  if (!done.raced() && !done.has_no_server() && parents_.contains(id)) {
    tell(id, *seen, done);
    if (!done.refused().empty()) show(id, *seen);
  }
  const auto after = parents_.find(id);
  if (done.raced()) {
    std::uint32_t races = 0;
    if (after != parents_.end()) races = std::min<std::uint32_t>(after->second.races++, 6);
    co_return k8s::requeue_after(
        std::min<reactor::nanoseconds>(after_race * (std::int64_t{1} << races), after_race_most));
  }
  if (after != parents_.end()) after->second.races = 0;
  if (done.failure()) co_return *done.failure();
  if (!seen->answered)
    co_return k8s::requeue_after(seen->plan.look_again > 0s ? seen->plan.look_again : after_fault);
  // What was written comes back as an event. A lost one would leave it waiting, so look once more.
  if (done.wrote()) co_return k8s::requeue_after(look_for_own_write);
  if (seen->plan.look_again > 0s) co_return k8s::requeue_after(seen->plan.look_again);
  co_return k8s::await_change();
}

}  // namespace compose
