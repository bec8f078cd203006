#include "bootc/daemons/daemon_waves.hpp"

#include "app/api/target_history.hpp"
#include "bootc/pool/events/event_notes.hpp"
#include "bootc/pool/events/events.hpp"
#include "k8s/client/client.hpp"
#include "k8s/client/list_pages.hpp"
#include "reactor/loop.hpp"

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

#include <utility>

namespace bootc {
namespace {

namespace json = boost::json;
using reactor::awaitable;
using units::text_at;

/// No cluster has a tenth of it.
constexpr std::size_t most_daemon_sets = 1'000, most_pods = 10'000;

std::int64_t number_at(const json::object& o, std::string_view part, std::string_view name) {
  const json::value* in = o.if_contains(part);
  const json::value* v = in && in->is_object() ? in->get_object().if_contains(name) : nullptr;
  return v && v->is_int64() ? v->get_int64() : 0;
}

reactor::wall_time time_in(const std::string& text) {
  const auto read = reactor::parse_rfc3339(text);
  return read ? *read : reactor::wall_time{};
}

bool belongs_to(const json::object& object, std::string_view uid) {
  const json::value* metadata = object.if_contains("metadata");
  const json::value* owners = metadata && metadata->is_object()
                                  ? metadata->get_object().if_contains("ownerReferences")
                                  : nullptr;
  if (!owners || !owners->is_array()) return false;
  for (const json::value& one : owners->get_array())
    if (one.is_object() && text_at(one.get_object(), {"uid"}) == uid) return true;
  return false;
}

/// f(object) of a list's items.
template <class F>
void each_item(const json::object& list, F&& f) {
  const json::array* items = k8s::items_of(list);
  if (!items) return;
  for (const json::value& one : *items)
    if (one.is_object()) f(one.get_object());
}

/// Since when the pod is ready; none: it is not.
std::optional<reactor::wall_time> ready_since(const json::object& pod) {
  const json::value* status = pod.if_contains("status");
  const json::value* conditions =
      status && status->is_object() ? status->get_object().if_contains("conditions") : nullptr;
  if (!conditions || !conditions->is_array()) return std::nullopt;
  for (const json::value& one : conditions->get_array()) {
    if (!one.is_object() || text_at(one.get_object(), {"type"}) != "Ready" ||
        text_at(one.get_object(), {"status"}) != "True")
      continue;
    return time_in(text_at(one.get_object(), {"lastTransitionTime"}));
  }
  return std::nullopt;
}

std::string labels_selector(const json::object& daemon_set) {
  const json::value whole(daemon_set);
  boost::system::error_code none;
  const json::value* labels = whole.find_pointer("/spec/selector/matchLabels", none);
  std::string out;
  if (labels && labels->is_object())
    for (const auto& [key, value] : labels->get_object())
      if (value.is_string())
        out += (out.empty() ? "" : ",") + std::string(key) + "=" + std::string(value.get_string());
  return out;
}

bool is_ours_to_replace(const json::object& daemon_set) {
  return text_at(daemon_set, {"spec", "updateStrategy", "type"}) == "OnDelete";
}

bool is_done(const json::object& daemon_set) {
  return number_at(daemon_set, "status", "observedGeneration") >=
             number_at(daemon_set, "metadata", "generation") &&
         number_at(daemon_set, "status", "updatedNumberScheduled") >=
             number_at(daemon_set, "status", "currentNumberScheduled");
}

std::string key_of(const json::object& daemon_set) {
  return text_at(daemon_set, {"metadata", "namespace"}) + "/" +
         text_at(daemon_set, {"metadata", "name"});
}

k8s::object_reference reference_to(const json::object& daemon_set) {
  return {"apps/v1", "DaemonSet", text_at(daemon_set, {"metadata", "namespace"}),
          text_at(daemon_set, {"metadata", "name"}), text_at(daemon_set, {"metadata", "uid"})};
}

const k8s::resource& revisions() {
  static const k8s::resource r{"apps", "v1", "controllerrevisions", "ControllerRevision", true};
  return r;
}

}  // namespace

std::string newest_revision(const json::object& list, std::string_view daemon_set_uid) {
  std::string out;
  std::int64_t newest = 0;
  each_item(list, [&](const json::object& one) {
    const json::value* number = one.if_contains("revision");
    if (!number || !number->is_int64() || number->get_int64() <= newest ||
        !belongs_to(one, daemon_set_uid))
      return;
    newest = number->get_int64();
    out = text_at(one, {"metadata", "labels", "controller-revision-hash"});
  });
  return out;
}

std::vector<daemon_pod> pods_in(const json::object& list, std::string_view daemon_set_uid) {
  std::vector<daemon_pod> out;
  each_item(list, [&](const json::object& one) {
    if (!belongs_to(one, daemon_set_uid) || text_at(one, {"spec", "nodeName"}).empty()) return;
    daemon_pod pod;
    pod.name = text_at(one, {"metadata", "name"});
    pod.uid = text_at(one, {"metadata", "uid"});
    pod.node = text_at(one, {"spec", "nodeName"});
    pod.revision = text_at(one, {"metadata", "labels", "controller-revision-hash"});
    pod.leaving = !text_at(one, {"metadata", "deletionTimestamp"}).empty();
    const auto since = ready_since(one);
    pod.ready = since.has_value();
    pod.ready_since = since.value_or(reactor::wall_time{});
    out.push_back(std::move(pod));
  });
  return out;
}

daemon_waves::daemon_waves(reactor::loop& l, k8s::client& api, options o)
    : loop_(l), api_(api), options_(std::move(o)) {}

awaitable<void> daemon_waves::run() {
  for (;;) {
    const auto pause = co_await look();
    co_await loop_.sleep_for(pause);
  }
}

awaitable<k8s::result<std::vector<json::object>>> daemon_waves::due() {
  std::vector<json::object> out;
  std::size_t seen = 0;
  k8s::list_options marked;
  marked.label_selector = daemon_mark;
  k8s::list_pages pages(api_, k8s::resources::daemon_sets(), std::move(marked));
  while (seen < most_daemon_sets) {
    auto page = co_await pages.next();
    if (!page) co_return page.error();
    if (!*page) break;
    each_item(**page, [&](const json::object& one) {
      ++seen;
      if (is_ours_to_replace(one) && !is_done(one) && !refused_.contains(key_of(one)))
        out.push_back(one);
    });
  }
  co_return out;
}

awaitable<reactor::nanoseconds> daemon_waves::look() {
  if (!options_.may_act()) co_return under_way;
  if (loop_.now() >= ask_refused_again_) {
    refused_.clear();
    ask_refused_again_ = loop_.now() + refused_for;
  }
  auto sets = co_await due();
  if (!sets) {
    say_fault(sets.error());
    co_return at_rest;
  }
  double older = 0;
  for (const json::object& one : *sets) {
    json::object daemon_set = one;
    auto plan = co_await plan_for(std::move(daemon_set));
    if (!plan) {
      // A mark is anybody's to give; the namespace in which we may replace pods is not.
      if (plan.error().code == k8s::errc::forbidden) refused_.insert(key_of(one));
      say_fault(plan.error());
      continue;
    }
    older += static_cast<double>(plan->older);
    if (!plan->replace.empty())
      if (const auto held = units::ask(options_.brake, key_of(one))) {
        plan->replace.clear();
        plan->waits = held->sentence;
      }
    say(one, *plan);
    k8s::object_key of{text_at(one, {"metadata", "namespace"}), text_at(one, {"metadata", "name"})};
    co_await replace(std::move(of), std::move(*plan));
  }
  options_.older.set(older);
  if (!sets->empty()) co_return under_way;
  told_.clear();
  fault_.clear();
  sightings_.clear();
  co_return at_rest;
}

awaitable<k8s::result<wave_plan>> daemon_waves::plan_for(json::object daemon_set) {
  const std::string ns = text_at(daemon_set, {"metadata", "namespace"}),
                    uid = text_at(daemon_set, {"metadata", "uid"});
  k8s::list_options of_set;
  of_set.ns = ns;
  of_set.label_selector = labels_selector(daemon_set);
  k8s::list_options of_pods = of_set;
  wave_facts facts;
  auto history = co_await api_.list(revisions(), std::move(of_set));
  if (!history) co_return history.error();
  facts.newest = newest_revision(*history, uid);
  k8s::list_pages pages(api_, k8s::resources::pods(), std::move(of_pods));
  while (facts.pods.size() < most_pods) {
    auto page = co_await pages.next();
    if (!page) co_return page.error();
    if (!*page) break;
    for (daemon_pod& pod : pods_in(**page, uid)) facts.pods.push_back(std::move(pod));
  }
  wave_plan nothing;
  if (facts.newest.empty()) co_return nothing;  // its controller has not seen the template yet
  facts.wanted =
      static_cast<std::size_t>(number_at(daemon_set, "status", "desiredNumberScheduled"));
  note_ages(key_of(daemon_set), facts.pods);
  options_.say_nodes(facts);
  co_return plan_wave(facts);
}

void daemon_waves::note_ages(const std::string& daemon_set, std::vector<daemon_pod>& pods) {
  std::map<std::string, sighting> now;
  std::map<std::string, sighting>& before = sightings_[daemon_set];
  for (daemon_pod& pod : pods) {
    const auto known = before.find(pod.uid);
    sighting one = known == before.end() ? sighting{.first = loop_.now()} : known->second;
    if (!pod.ready)
      one.ready.reset();
    else if (!one.ready || one.ready_since != pod.ready_since)
      one.ready = loop_.now();
    one.ready_since = pod.ready_since;
    pod.seen_for = loop_.now() - one.first;
    if (one.ready) pod.ready_for = loop_.now() - *one.ready;
    now.emplace(pod.uid, one);
  }
  before = std::move(now);
}

awaitable<void> daemon_waves::replace(k8s::object_key of, wave_plan plan) {
  for (const daemon_pod& pod : plan.replace) {
    if (units::begin(options_.brake, of.text())) co_return;  // the next look says why
    k8s::object_key key{of.ns, pod.name};
    k8s::delete_options how;
    how.uid = pod.uid;
    auto gone = co_await api_.remove(k8s::resources::pods(), std::move(key), std::move(how));
    if (gone)
      options_.log.info("daemon replaced", {{"node", pod.node}, {"pod", pod.name}});
    else if (gone.error().code != k8s::errc::not_found)
      say_fault(gone.error());
  }
}

/// Each change of it once.
void daemon_waves::say(const json::object& daemon_set, const wave_plan& plan) {
  const k8s::object_reference about = reference_to(daemon_set);
  std::string& told = told_[key_of(daemon_set)];
  if (plan.waits == told) return;
  told = plan.waits;
  if (plan.waits.empty()) return;
  const std::string note = std::to_string(plan.updated) + " pods run the new daemon, " +
                           std::to_string(plan.older) + " the older one; waits for " + plan.waits;
  options_.log.info("daemons wait", {{"daemonset", key_of(daemon_set)}, {"why", note}});
  if (!options_.events || !plan.halted) return;
  k8s::event_note halted = k8s::tell_of(hold_event::daemons_halted, about, note);
  halted.reporter = event_reporter;
  options_.events->record(std::move(halted));
}

void daemon_waves::say_fault(const k8s::fault& why) {
  std::string said = why.message();
  if (why.cancelled || said == fault_) return;
  fault_ = std::move(said);
  options_.log.warning("the daemons' DaemonSet cannot be upgraded", {{"why", fault_}});
}

}  // namespace bootc
