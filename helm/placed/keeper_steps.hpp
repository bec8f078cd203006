#pragma once

// The bodies of keeper's members: a pass, its steps and the operations beside it.
#include "helm/placed/keeper.hpp"

namespace helm::placed {

namespace kept {

inline constexpr reactor::nanoseconds not_live_retry = std::chrono::seconds(5),
                                      unknown_retry = std::chrono::seconds(1);
/// A pass over views asks nothing, so that no answer slows down one that follows at once.
inline constexpr reactor::nanoseconds shortest_rest = std::chrono::milliseconds(100);
/// Finalizer, namespace, deletion, each decided twice: no way leads through more steps without an
/// operation between them.
inline constexpr int most_steps = 16;

}  // namespace kept

template <class Kind>
awaitable<k8s::result<k8s::next>> keeper<Kind>::pass(key_type key) {
  std::optional<object> fresh;
  bool is_fresh = false;
  begin_pass(key);
  for (int steps = 0; steps < kept::most_steps; ++steps) {
    if (stopping_) co_return k8s::await_change();
    if (!is_live()) co_return k8s::requeue_after(kept::not_live_retry);
    const object* seen = find_object(key);
    memory* m = find(key);
    const bool other = m && seen && !(m->uid == seen->meta.uid);
    if (m && m->running && (!seen || other || m->running->ended.is_set())) {
      co_await end_operation(key, stop_limit);
      continue;
    }
    if (!seen || other) forget(key);
    if (!seen) co_return k8s::await_change();
    if (!find(key)) known_[key].uid = seen->meta.uid;
    object about = fresh ? *fresh : *seen;
    auto later = co_await catch_up(key, fresh);
    if (later) co_return *later;
    if (fresh) about = *fresh;
    auto got = co_await gather(key, std::move(about), is_fresh ? ask::server : ask::watches);
    if (!got) co_return refused(key, got.error());
    if (got->again_soon) co_return k8s::requeue_after(kept::unknown_retry);
    plan p = plan_for(*got);
    // Views may be behind: a step is decided on what the servers say.
    if (!is_fresh && (p.next != step::none || would_say(*got, p))) {
      auto now = co_await writes_.current(key);
      if (!now) co_return refused(key, now.error());
      if (!*now) co_return k8s::await_change();  // the watch is about to say so
      is_fresh = true;
      fresh = std::move(**now);
      continue;
    }
    planned(key, *got, p);
    stepped led = co_await carry_out(key, *std::move(got), std::move(p));
    if (!led.again) co_return led.then;
    fresh = std::move(led.fresh);
    is_fresh = fresh.has_value();
    if (reactor::loop_slice::is_over()) co_await reactor::loop_slice::yield();
  }
  co_return k8s::requeue_after(kept::unknown_retry);
}

template <class Kind>
void keeper<Kind>::tell(const object& about, const k8s::event_kind& what, const std::string& text) {
  k8s::event_note note = k8s::tell_of(what, reference_to(about), safe_message(text));
  note.form = k8s::event_form::core_v1;
  note.reporter = words_.reporter;
  note.component = words_.component;
  events().record(std::move(note));
}

template <class Kind>
operation_order keeper<Kind>::order_for(const plan& p) const {
  operation_order out = kept_.order();
  out.release = p.release;
  out.ns = p.workspace;
  return out;
}

template <class Kind>
std::optional<operation_order> keeper<Kind>::order_for(const key_type& key, const under_way& me,
                                                       const plan& p) {
  memory* m = find(key);
  if (!m) return std::nullopt;
  operation_order out = order_for(p);
  out.what = me.what;
  out.owner = owner(key).text();
  if (me.what == operation::uninstall) return out;
  out.chart = m->chart.hand_over();
  if (!out.chart) return std::nullopt;
  return out;
}

template <class Kind>
void keeper<Kind>::recall(const key_type& key, gathered& g, attempt_key attempt) {
  memory* m = find(key);
  g.is.braked = units::ask(kept_.brake, key.text());
  if (!m) return;
  world& w = g.is;
  if (!w.release || !release::is_pending(w.release->state)) {
    m->pending_seen.reset();
  } else if (!m->pending_seen || m->pending_revision != w.release->revision) {
    m->pending_seen = w.now;
    m->pending_revision = w.release->revision;
  }
  w.pending_seen = m->pending_seen;
  m->chart.want(w.wanted.chart);
  w.chart = m->chart.facts();
  w.attempt = std::move(attempt);
  w.retry_in = m->tries.left(w.attempt, loop_.now());
  if (m->running && !m->running->ended.is_set()) w.running = m->running->what;
  w.applied = m->applied;
  w.deleting_namespace_since = m->deleting_namespace_since;
}

template <class Kind>
awaitable<typename keeper<Kind>::stepped> keeper<Kind>::carry_out(key_type key, gathered g,
                                                                  plan p) {
  // Since it was planned. An operation begins once it has its slot: until then it takes nothing of
  // what may begin in a minute.
  const std::string unit = key.text();
  if (begins(p.next) &&
      (is_operation(p.next) ? units::ask(kept_.brake, unit) : units::begin(kept_.brake, unit))) {
    stepped out;
    out.again = true;
    out.fresh = std::move(g.is.object);
    co_return out;
  }
  switch (p.next) {
    case step::none: {
      stepped out = co_await rest(key, std::move(g), std::move(p));
      if (out.then.after) out.then.after = std::max(*out.then.after, kept::shortest_rest);
      co_return out;
    }
    case step::add_finalizer:
    case step::remove_finalizer:
      co_return co_await change_finalizer(key, std::move(g), std::move(p));
    case step::create_namespace: co_return co_await make_namespace(key, std::move(g), std::move(p));
    case step::delete_namespace:
      co_return co_await remove_namespace(key, std::move(g), std::move(p));
    case step::note_fingerprint: co_return co_await note(key, std::move(g));
    case step::mark_deleting:
    case step::tell_deletion: co_return co_await mark_deleting(std::move(g), std::move(p));
    case step::recover: co_return co_await end_abandoned(key, std::move(g), std::move(p));
    case step::look_at_workloads:
    case step::leave_former_region:
      co_return co_await carry_out_own(key, std::move(g), std::move(p));
    case step::load_chart: start_loading(key, g); break;
    case step::install: start_operation(key, operation::install, p.next, g.to); break;
    case step::upgrade: start_operation(key, operation::upgrade, p.next, g.to); break;
    case step::finish_uninstall:
    case step::uninstall: start_operation(key, operation::uninstall, p.next, g.to); break;
    case step::stop_operation: {
      co_await end_operation(key, stop_limit);
      stepped on;
      on.again = true;
      co_return on;
    }
  }
  co_return stepped{};
}

template <class Kind>
awaitable<typename keeper<Kind>::stepped> keeper<Kind>::change_finalizer(key_type key, gathered g,
                                                                         plan p) {
  using is = typename writes::finalizer_is;
  const bool adds = p.next == step::add_finalizer;
  stepped out;
  const object about = *g.is.object;
  if (!adds) co_await before_letting_go(about);
  auto end = co_await writes_.set_finalizer(*std::move(g.is.object), adds ? is::wanted : is::done);
  if (end.is == write_end::conflict) {
    out.again = true;
    co_return out;
  }
  if (end.is == write_end::failed) {
    log(reactor::log_level::warning, "the finalizer cannot be written", about, end.why);
    out.then = k8s::requeue_after(pause_after(retry_cause::finalizer, 1));
    co_return out;
  }
  tell_all(about, p.events);
  if (!adds || end.is == write_end::gone) {
    forget(key);
    co_return out;
  }
  out.again = true;
  out.fresh = std::move(end.now);
  co_return out;
}

template <class Kind>
awaitable<typename keeper<Kind>::stepped> keeper<Kind>::make_namespace(key_type key, gathered g,
                                                                       plan p) {
  stepped out;
  tell_all(*g.is.object, p.events);
  co_await remember_place(*g.is.object, g.to);
  auto made = co_await create_workspace(api_of(g.to), p.workspace, owner(key));
  if (!made) {
    std::string why = made.error().message();
    if (memory* m = find(key)) m->tries.failed(retry_cause::namespace_, g.is.attempt, loop_.now());
    co_await namespace_failed(key, std::move(g), std::move(why));
    out.then = k8s::requeue_after(pause_after(retry_cause::namespace_, 1));
    co_return out;
  }
  if (*made) {
    tell(*g.is.object, words_.namespace_created, p.workspace);
    log(reactor::log_level::info, words_.namespace_made, *g.is.object);
  }
  out.again = true;
  out.fresh = std::move(g.is.object);
  co_return out;
}

template <class Kind>
awaitable<typename keeper<Kind>::stepped> keeper<Kind>::remove_namespace(key_type key, gathered g,
                                                                         plan p) {
  stepped out;
  auto gone = co_await delete_workspace(api_of(g.to), p.workspace, owner(key));
  memory* m = find(key);
  if (!gone) {
    if (m) m->tries.failed(words_.failed, g.is.attempt, loop_.now());
    cleaning_failed(*g.is.object);
    log(reactor::log_level::warning, "the namespace cannot be deleted", *g.is.object,
        gone.error().message());
    out.then = k8s::requeue_after(pause_after(retry_cause::finalizer, 1));
    co_return out;
  }
  tell_all(*g.is.object, p.events);
  if (m) m->deleting_namespace_since = loop_.wall();
  out.again = true;
  out.fresh = std::move(g.is.object);
  co_return out;
}

template <class Kind>
awaitable<typename keeper<Kind>::stepped> keeper<Kind>::mark_deleting(gathered g, plan p) {
  stepped out;
  auto end = co_await writes_.annotate(*g.is.object, std::string(words_.deleting), "true");
  if (end.is == write_end::failed) {
    log(reactor::log_level::warning, words_.deletion_unmarked, *g.is.object, end.why);
    out.then = k8s::requeue_after(pause_after(retry_cause::finalizer, 1));
    co_return out;
  }
  if (end.is == write_end::gone) co_return out;
  tell_all(*g.is.object, p.events);
  object now = end.now ? std::move(*end.now) : std::move(*g.is.object);
  out.fresh = co_await say_deletion(std::move(now), std::move(g), std::move(p));
  out.again = true;
  co_return out;
}

template <class Kind>
awaitable<typename keeper<Kind>::stepped> keeper<Kind>::end_abandoned(key_type key, gathered g,
                                                                      plan p) {
  stepped out;
  auto ended = co_await end_pending(loop_, api_of(g.to), order_for(p), g.is.release->revision);
  if (!ended) {
    log(reactor::log_level::warning, "a pending release cannot be recovered", *g.is.object,
        ended.error().text);
    out.then = k8s::requeue_after(pause_after(retry_cause::operation, 1));
    co_return out;
  }
  log(reactor::log_level::warning, "a pending release was recovered", *g.is.object, p.reason);
  tell_all(*g.is.object, p.events);
  if (memory* m = find(key)) m->pending_seen.reset();
  out.again = true;
  out.fresh = std::move(g.is.object);
  co_return out;
}

template <class Kind>
awaitable<typename keeper<Kind>::stepped> keeper<Kind>::note(key_type key, gathered g) {
  stepped out;
  const bool noted = co_await note_fingerprint(key, *g.is.object, g.to, g.is.wanted.fingerprint);
  if (noted) {
    out.again = true;
    co_return out;
  }
  if (memory* m = find(key)) m->tries.failed(retry_cause::status_write, g.is.attempt, loop_.now());
  out.then = k8s::requeue_after(pause_after(retry_cause::status_write, 1));
  co_return out;
}

template <class Kind>
awaitable<bool> keeper<Kind>::note_fingerprint(key_type key, object& about, place at,
                                               std::string fingerprint) {
  const std::string name = fingerprint_name(at);
  if (about.meta.annotations.get(name) == fingerprint) co_return true;
  auto end = co_await writes_.annotate(about, name, fingerprint);
  fingerprint_noted(about, fingerprint, end);
  if (end.is == write_end::failed) {
    log(reactor::log_level::warning, "the fingerprint cannot be noted", about, end.why);
    co_return false;
  }
  if (end.now && end.now->meta.generation == about.meta.generation) about = std::move(*end.now);
  if (memory* m = find(key)) m->applied.clear();
  co_return true;
}

template <class Kind>
void keeper<Kind>::start_loading(const key_type& key, const gathered& g) {
  memory* m = find(key);
  if (!m || !m->chart.ask(g.is.wanted.chart)) return;
  tasks_.start("chart for " + key.text(), load(key, g.is.wanted.chart, g.is.attempt));
}

template <class Kind>
awaitable<void> keeper<Kind>::load(key_type key, chart_coordinates c, attempt_key at) {
  supplied_chart got = co_await kept_.chart(c);
  memory* m = find(key);
  if (!m) co_return;
  const chart_memory::arrival came = m->chart.take(c, std::move(got));
  if (came == chart_memory::arrival::unwanted) co_return;
  if (came == chart_memory::arrival::refused) m->tries.failed(retry_cause::chart, at, loop_.now());
  controller_.add(key);
}

template <class Kind>
void keeper<Kind>::start_operation(const key_type& key, operation what, step at, place to) {
  memory* m = find(key);
  if (!m || m->running) return;
  auto broken = [this, key](std::string_view, std::exception_ptr thrown) {
    k8s::log_broken(log_to(), key.text(), thrown, pause_after(retry_cause::operation, 1));
    if (memory* of = find(key); of && of->running) of->running->ended.set();
    controller_.add_after(key, pause_after(retry_cause::operation, 1));
  };
  m->running = std::make_unique<under_way>(loop_, what, at, std::move(to), std::move(broken));
  ++operations_;
  under_way* const me = m->running.get();
  me->task.start(std::string(name_of(at)) + " " + key.text(), operate(key, me));
}

template <class Kind>
awaitable<void> keeper<Kind>::operate(key_type key, under_way* me) {
  me->slot = co_await kept_.slots->take(slot_of(me->to));
  co_await perform(key, me);
  me->slot.give_back();
  me->ended.set();
  controller_.add(key);
}

template <class Kind>
awaitable<void> keeper<Kind>::perform(key_type key, under_way* me) {
  auto decision = co_await decide_again(key, me);
  if (!decision) co_return;
  gathered g = std::move(decision->g);
  const plan p = std::move(decision->p);
  auto order = order_for(key, *me, p);
  if (!order || !complete(*order, g, p, *me)) co_return;
  if (begins(me->at) && units::begin(kept_.brake, key.text())) co_return;  // it is planned again
  operation_facts facts = facts_of(*me, p);
  const bool is_reachable = facts.is_reachable;
  operation_steps steps(std::move(facts));
  for (operation_answer said;;) {
    const operation_request want = steps.next(said);
    said = operation_answer();
    if (steps.is_over() && !std::exchange(me->telling, true)) {
      tell_doubts(*me, *g.is.object);
      me->slot.give_back();
    }
    switch (want) {
      case operation_request::announce:
        co_await announce(key, g, p);
        if (is_reachable)
          me->release = std::make_unique<release_operation>(
              loop_, api_of(me->to), discovery_of(me->to), *std::move(order), log_to());
        break;
      case operation_request::remember_place: co_await remember_place(*g.is.object, me->to); break;
      case operation_request::ask_owner: said = co_await owner_of(key, *me, p.workspace); break;
      case operation_request::run: said.failure = co_await run(me, p); break;
      case operation_request::say_left: say_left(*g.is.object, me->to, steps.owner()); break;
      case operation_request::forget_place:
        said.failure = co_await forget_place(*g.is.object, me->to, p.workspace);
        break;
      case operation_request::tell_failure: {
        const std::string text = safe_message(steps.failure());
        tell_end(*me, g, p, text);
        co_await say_failure(key, *std::move(g.is.object), me->at, me->what, text);
        break;
      }
      case operation_request::tell_success:
        if (me->what != operation::uninstall)
          if (memory* m = find(key)) m->applied = g.is.wanted.fingerprint;
        tell_end(*me, g, p, std::string());
        break;
      case operation_request::note_fingerprint: {
        const bool noted =
            co_await note_fingerprint(key, *g.is.object, me->to, g.is.wanted.fingerprint);
        memory* m = noted ? nullptr : find(key);
        if (m) m->tries.failed(retry_cause::status_write, g.is.attempt, loop_.now());
        break;
      }
      case operation_request::say_done: co_await say_done(key, me->what, g, p); break;
      case operation_request::end: co_return;
    }
  }
}

template <class Kind>
awaitable<std::string> keeper<Kind>::run(under_way* me, plan p) {
  const reactor::steady_time began = loop_.now();
  auto ended = co_await me->release->run();
  std::string failure = ended ? std::string() : ended.error().text;
  count(*me, p, failure, loop_.now() - began);
  co_return failure;
}

template <class Kind>
void keeper<Kind>::tell_doubts(const under_way& me, const object& about) {
  const std::string doubted = me.release ? me.release->doubted() : std::string();
  if (doubted.empty()) return;
  log(reactor::log_level::warning, "a record of the release was not believed", about, doubted);
  tell(about, words_.record_doubted, doubted);
}

template <class Kind>
void keeper<Kind>::tell_end(const under_way& me, const gathered& g, const plan& p,
                            const std::string& failure) {
  memory* m = find(g.is.object->meta.key());
  const bool failed = !failure.empty();
  if (m && failed) m->tries.failed(words_.failed, g.is.attempt, loop_.now());
  if (m && !failed) m->tries.succeeded();
  if (failed) cleaning_failed(*g.is.object);
  const outcome_words words =
      words_of(me.what, failed ? operation_end::failed : operation_end::done, g, p);
  log(failed ? reactor::log_level::error : reactor::log_level::info, words.log_line, *g.is.object,
      failure);
  tell(*g.is.object, words.event, failed ? failure : words.note);
}

template <class Kind>
awaitable<std::optional<typename keeper<Kind>::decided>> keeper<Kind>::decide_again(key_type key,
                                                                                    under_way* me) {
  std::optional<decided> out;
  if (!is_live()) co_return out;
  auto now = co_await writes_.current(key);
  if (!now || !*now) co_return out;
  auto g = co_await gather(key, std::move(**now), ask::server);
  if (!g || !g->is.object || g->again_soon || !g->unreadable.empty()) co_return out;
  g->is.running = operation::none;
  before_deciding(key, *me, *g);
  plan p = plan_for(*g);
  if (find(key) && is_still(me->at, p.next)) out = decided{*std::move(g), std::move(p)};
  co_return out;
}

template <class Kind>
awaitable<void> keeper<Kind>::end_operation(key_type key, reactor::nanoseconds within) {
  memory* m = find(key);
  if (!m || !m->running) co_return;
  auto over = [this, key](const reactor::result<void>& ended) {
    if (!ended)
      log_to().warning("an operation was left as it was; it is recovered later",
                       {{std::string(words_.field), key.text()}, {"why", ended.error()}});
    find(key)->running.reset();
    --operations_;
  };
  const auto gone = m->running->end(loop_, ending_, within, std::move(over));
  (void)co_await gone->wait();
}

template <class Kind>
awaitable<void> keeper<Kind>::end_operations(std::vector<key_type> keys) {
  if (keys.empty()) co_return;
  co_await reactor::side_by_side(
      keys.size(), [&](std::size_t i) { return end_operation(keys[i], stop_limit); }, keys.size());
}

template <class Kind>
awaitable<void> keeper<Kind>::stop_keeping() {
  stopping_ = true;
  co_await tasks_.cancel_and_join();
  co_await controller_.stop();
  std::vector<key_type> keys;
  for (const auto& [key, m] : known_)
    if (m.running) keys.push_back(key);
  co_await end_operations(std::move(keys));
  co_await ending_.join();
}

}  // namespace helm::placed
