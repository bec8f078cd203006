#pragma once

#include "app/api/brake.hpp"
#include "helm/placed/chart_memory.hpp"
#include "helm/placed/object_writes.hpp"
#include "helm/placed/operation_slots.hpp"
#include "helm/placed/operation_task.hpp"
#include "helm/placed/plan/message.hpp"
#include "helm/placed/plan/operation_steps.hpp"
#include "helm/placed/plan/plan.hpp"
#include "helm/placed/release_sight.hpp"
#include "helm/placed/workspace_writes.hpp"
#include "k8s/client/events.hpp"
#include "k8s/informer/controller.hpp"
#include "reactor/log.hpp"
#include "reactor/loop.hpp"
#include "reactor/loop_slice.hpp"
#include "reactor/side_by_side.hpp"
#include "reactor/task_group.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace helm::placed {

using reactor::awaitable;

/// What a keeper says of its objects in their kind's own words, and how it tries again.
struct keeper_words {
  std::string_view api_version, kind;    // "Tenant": as Events and owner references name it
  std::string_view reporter, component;  // of Events
  std::string_view field;                // "tenant": of an object in the log
  std::string_view deleting;             // annotation: it is being cleaned up
  std::string_view deletion_unmarked;    // the log where that cannot be written
  std::string_view namespace_made;       // the log
  k8s::event_kind namespace_created, record_doubted;
  retry_cause failed;  // when a namespace cannot be deleted, or an operation failed
};

/// Keeps one release for each object of a kind: a pass looks at what is there, plans, and carries
/// out one step after the other; an operation of Helm's runs beside the passes, never two for one
/// object. What the kinds do alike is here; a kind of object derives from it and adds what it has
/// alone.
/// Kind     names the types: `object`, `writes` (object_writes of it, or what has its members),
///          `world` (a placement_facts), `plan` (a placement_plan), `place` (where a pass works: an
///          API server) and `extra` (what else is remembered of an object between two passes). A
///          process that forgets all of it has lost nothing but time.
/// Brake    is asked when a pass plans, before each step, and when an operation begins; one that
///          has begun ends.
/// Safety   watches decide that nothing is to be done. Before the first step of a pass, and when an
///          operation begins, object and release are read from the servers, and it is planned
///          again.
/// Stop     stop_keeping() cancels and joins what runs and ends its record, within stop_limit.
template <class Kind>
class keeper : protected k8s::reconciler<k8s::object_key> {
public:
  using key_type = k8s::object_key;
  using object = typename Kind::object;
  using writes = typename Kind::writes;
  using world = typename Kind::world;
  using plan = typename Kind::plan;
  using place = typename Kind::place;

  static constexpr reactor::nanoseconds stop_limit = std::chrono::seconds(2);
  bool idle() const noexcept { return controller_.idle() && operations_ == 0; }

protected:
  /// An operation of this process: for which step, and where.
  struct under_way : operation_task {
    under_way(reactor::loop& l, operation o, step s, place there,
              reactor::task_group::failure_handler broken)
        : operation_task(l, o, std::move(broken)), at(s), to(std::move(there)) {}
    step at;
    place to;
  };
  struct memory : Kind::extra {
    k8s::uid uid;
    chart_memory chart;
    attempts tries;
    release_sight sight;
    bool watched = false;  // all that its last plan was made of
    std::optional<reactor::wall_time> pending_seen;
    int pending_revision = 0;
    std::string applied;
    reactor::wall_time deleting_namespace_since{};
    std::unique_ptr<under_way> running;
    std::optional<plan> last;
  };
  struct gathered {
    world is;
    place to;
    bool watched = false;     // a change of all this is told by watches
    bool again_soon = false;  // whether the place can be reached is not known yet
    std::string unreadable;   // what the place said instead of what is there
  };
  /// What a step led to: a look again at once, with the object as it is now where that is known; or
  /// the end of the pass.
  struct stepped {
    bool again = false;
    std::optional<object> fresh;
    k8s::next then;
  };
  struct options {
    keeper_words words;
    k8s::controller_options controller;
    k8s::resource kind;
    std::string_view finalizer;
    operation_slots* slots = nullptr;
    units::brake_question brake;             // asked before each step that begins something
    std::function<operation_order()> order;  // by the settings of now
    std::function<awaitable<supplied_chart>(chart_coordinates)> chart;
  };
  /// Lifetime loop and client of the objects outlive it.
  keeper(reactor::loop& l, k8s::client& objects_at, options o)
      : keeper(l, writes(l, objects_at, o.kind, o.finalizer), o) {}
  /// The same with writes of its own kind.
  keeper(reactor::loop& l, writes w, options o)
      : loop_(l),
        words_(o.words),
        kept_(std::move(o)),
        writes_(std::move(w)),
        controller_(l, *this, std::move(kept_.controller),
                    [](const key_type& key) { return key.text(); }),
        ending_(l),
        tasks_(l) {}

  // -- what a kind of object says

  virtual const object* find_object(const key_type& key) const = 0;
  /// The server of the objects may be decided upon.
  virtual bool is_live() const = 0;
  virtual const reactor::logger& log_to() const = 0;
  virtual void begin_pass(const key_type&) {}
  /// Writes again what could not be written; when to try again where that failed, too.
  virtual awaitable<std::optional<k8s::next>> catch_up(key_type,
                                                       std::optional<object>&) {  // borrowed
    co_return std::nullopt;
  }
  virtual awaitable<k8s::result<gathered>> gather(key_type key, object about, ask how) = 0;
  virtual plan plan_for(const gathered& g) const = 0;
  /// Whether the plan would change the object's status.
  virtual bool would_say(const gathered& g, const plan& p) const = 0;
  virtual k8s::result<k8s::next> refused(const key_type&, const k8s::fault& why) { return why; }
  virtual void planned(const key_type& key, const gathered& g, const plan& p) = 0;
  virtual awaitable<stepped> rest(key_type key, gathered g, plan p) = 0;
  /// A step that only this kind has.
  virtual awaitable<stepped> carry_out_own(key_type, gathered, plan) { co_return stepped{}; }

  virtual k8s::client& api_of(const place& at) const = 0;
  virtual std::string slot_of(const place& at) const = 0;
  virtual k8s::event_recorder& events() = 0;
  /// What an Event about it is about.
  virtual k8s::object_reference reference_to(const object& about) const {
    return {std::string(words_.api_version), std::string(words_.kind), about.meta.ns.str(),
            about.meta.name.str(), about.meta.uid.text()};
  }
  virtual void tell_all(const object& about, const std::vector<told>& all) {
    for (const told& e : all) tell(about, e.what, e.note);
  }
  virtual void log(reactor::log_level level, std::string_view line, const object& about,
                   const std::string& why = {}) const = 0;
  /// Before anything is put at a place.
  virtual awaitable<void> remember_place(const object&, const place&) { co_return; }  // borrowed
  virtual awaitable<void> namespace_failed(key_type key, gathered g, std::string why) = 0;
  virtual void cleaning_failed(const object&) {}
  virtual awaitable<void> before_letting_go(const object&) { co_return; }  // borrowed
  /// Says that the object is being deleted; the object since, where it is known.
  virtual awaitable<std::optional<object>> say_deletion(object now, gathered, plan) {
    co_return now;
  }
  virtual std::string fingerprint_name(const place& at) const = 0;
  virtual void fingerprint_noted(const object&, const std::string& /*fingerprint*/,
                                 const written<object>&) {}
  virtual void forgotten(const key_type&) {}

  // -- what a kind says of an operation

  /// What is known of it when it begins.
  virtual operation_facts facts_of(const under_way& me, const plan& p) const {
    return {.what = me.what, .release = p.release};
  }
  /// Adds values and times to the order. False: the settings or the place changed meanwhile, and it
  /// is planned again.
  virtual bool complete(operation_order& order, const gathered& g, const plan& p,
                        const under_way& me) = 0;
  virtual k8s::discovery& discovery_of(const place& at) const = 0;
  virtual awaitable<void> announce(key_type key, gathered& g, plan p) = 0;  // borrowed
  virtual awaitable<operation_answer> owner_of(key_type, under_way&, std::string /*workspace*/) {
    co_return operation_answer{};  // borrowed
  }
  /// The release at a former place is another object's.
  virtual void say_left(const object&, const place&, const std::string& /*owner*/) {}
  /// Why what is left of a former place cannot be removed; empty: it is gone.
  virtual awaitable<std::string> forget_place(object, place, std::string /*workspace*/) {
    co_return std::string();
  }
  /// How it is told: a line of the log, an Event, and what that says of a success.
  struct outcome_words {
    std::string_view log_line;
    k8s::event_kind event;
    std::string note;
  };
  virtual outcome_words words_of(operation what, operation_end how, const gathered& g,
                                 const plan& p) const = 0;
  virtual void count(const under_way& me, const plan& p, const std::string& failure,
                     reactor::nanoseconds took) = 0;
  virtual awaitable<void> say_failure(key_type key, object about, step at, operation what,
                                      std::string text) = 0;
  virtual awaitable<void> say_done(key_type, operation, const gathered&, plan) {  // borrowed
    co_return;
  }

  // -- what all do alike

  memory* find(const key_type& key) {
    const auto found = known_.find(key);
    return found == known_.end() ? nullptr : &found->second;
  }
  void forget(const key_type& key) {
    forgotten(key);
    known_.erase(key);
  }
  names::owner_reference owner(const key_type& key) const {
    return {std::string(words_.kind), key};
  }

  void tell(const object& about, const k8s::event_kind& what, const std::string& text);
  operation_order order_for(const plan& p) const;
  /// With its owner and chart; none where the chart has to be fetched again.
  std::optional<operation_order> order_for(const key_type& key, const under_way& me, const plan& p);

  awaitable<k8s::result<k8s::next>> pass(key_type key);
  /// What this process remembers of the object goes into its world; nothing is waited for.
  void recall(const key_type& key, gathered& g, attempt_key attempt);
  awaitable<stepped> carry_out(key_type key, gathered g, plan p);
  awaitable<stepped> change_finalizer(key_type key, gathered g, plan p);
  awaitable<stepped> make_namespace(key_type key, gathered g, plan p);
  awaitable<stepped> remove_namespace(key_type key, gathered g, plan p);
  awaitable<stepped> mark_deleting(gathered g, plan p);
  awaitable<stepped> end_abandoned(key_type key, gathered g, plan p);
  awaitable<stepped> note(key_type key, gathered g);
  void start_loading(const key_type& key, const gathered& g);
  awaitable<void> load(key_type key, chart_coordinates c, attempt_key at);
  void start_operation(const key_type& key, operation what, step at, place to);
  awaitable<void> operate(key_type key, under_way* me);
  /// Decides once more and carries the operation out.
  awaitable<void> perform(key_type key, under_way* me);
  awaitable<std::string> run(under_way* me, plan p);
  void tell_doubts(const under_way& me, const object& about);
  void tell_end(const under_way& me, const gathered& g, const plan& p, const std::string& failure);
  /// The operation's world and plan as they are now; none where it is not the step any more.
  struct decided {
    gathered g;
    plan p;
  };
  awaitable<std::optional<decided>> decide_again(key_type key, under_way* me);
  virtual void before_deciding(const key_type&, const under_way&, gathered&) {}
  /// False: it could not be written. `about` becomes what the server has since, unless its spec was
  /// changed meanwhile, which is for the next pass.
  awaitable<bool> note_fingerprint(key_type key, object& about, place at,
                                   std::string fingerprint);  // borrowed
  /// Cancels, joins and settles what runs; `within` is for all of it.
  awaitable<void> end_operation(key_type key, reactor::nanoseconds within);
  awaitable<void> end_operations(std::vector<key_type> keys);
  awaitable<void> stop_keeping();

  reactor::loop& loop_;
  keeper_words words_;

private:
  options kept_;

protected:
  writes writes_;
  std::map<key_type, memory> known_;
  std::size_t operations_ = 0;
  bool stopping_ = false;
  k8s::controller<key_type> controller_;
  reactor::task_group ending_;  // operations; joined, never cancelled
  reactor::task_group tasks_;
};

/// The step for which an operation was started, or another that it does as well.
inline bool is_still(step was, step now) noexcept {
  const auto uninstalls = [](step s) {
    return s == step::uninstall || s == step::finish_uninstall;
  };
  return was == now || (uninstalls(was) && uninstalls(now));
}

}  // namespace helm::placed

#include "helm/placed/keeper_steps.hpp"
