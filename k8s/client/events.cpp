#include "k8s/client/events.hpp"

#include "k8s/client/client.hpp"
#include "reactor/loop.hpp"
#include "reactor/plain/printable.hpp"
#include "reactor/plain/secret.hpp"

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <algorithm>
#include <cstdio>

namespace k8s {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

// Limits of the API's validation.
constexpr std::size_t note_limit_bytes = 1'024;
constexpr std::size_t word_limit_bytes = 128;  // reason, action, reporting instance
constexpr std::size_t name_limit_bytes = 236;  // 253 without our suffix

constexpr std::size_t remembered_series = 4'096;
constexpr int attempts = 3;

json::object reference(const object_reference& r) {
  json::object o;
  if (!r.api_version.empty()) o["apiVersion"] = r.api_version;
  o["kind"] = r.kind;
  if (!r.ns.empty()) o["namespace"] = r.ns;
  o["name"] = r.name;
  if (!r.uid.empty()) o["uid"] = r.uid;
  return o;
}

/// Events about cluster-scoped objects must live in "default".
std::string home_of(const object_reference& r) {
  return r.ns.empty() ? "default" : r.ns;
}

std::string event_name(const std::string& regarding, std::uint64_t rng) {
  char suffix[20];
  std::snprintf(suffix, sizeof suffix, ".%016llx", static_cast<unsigned long long>(rng));
  std::string name = regarding.substr(0, name_limit_bytes);
  while (!name.empty() && (name.back() == '.' || name.back() == '-')) name.pop_back();
  return name + suffix;
}

/// core/v1's way: the time makes it unique.
std::string event_name(const std::string& regarding, reactor::wall_time at) {
  return regarding.substr(0, name_limit_bytes) + "." +
         std::to_string(at.time_since_epoch().count());
}

const resource& core_events() {
  static const resource r{"", "v1", "events", "Event", true};
  return r;
}

/// How often, and when last.
json::object repetition_of(event_form form, std::uint64_t count, reactor::wall_time last) {
  if (form == event_form::core_v1)
    return {{"count", count}, {"lastTimestamp", reactor::format_rfc3339(last)}};
  return {
      {"series", {{"count", count}, {"lastObservedTime", reactor::format_rfc3339_micro(last)}}}};
}

/// Notes quote servers, and `kubectl get events` prints them.
std::string shown_cut(std::string_view text, std::size_t limit) {
  return cut_utf8(reactor::redact(reactor::printable(text, limit + 1)), limit);
}

}  // namespace

std::string cut_utf8(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return std::string(text);
  constexpr std::string_view dots = "...";
  std::size_t end = limit > dots.size() ? limit - dots.size() : 0;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return std::string(text.substr(0, end)) + std::string(dots.substr(0, limit));
}

event_note tell_of(const event_kind& what, object_reference regarding, std::string note) {
  event_note e;
  e.regarding = std::move(regarding);
  e.type = what.type;
  e.reason = what.reason;
  e.note = std::move(note);
  return e;
}

event_recorder::event_recorder(reactor::loop& l, client& api, event_options options,
                               reactor::logger log)
    : loop_(l),
      api_(api),
      options_(std::move(options)),
      log_(std::move(log)),
      complaints_(l),
      limiter_(l, {options_.per_second, options_.burst}),
      changed_(l),
      tasks_(l) {
  if (options_.reporting_instance.empty()) options_.reporting_instance = "windlass";
  options_.reporting_instance = cut_utf8(options_.reporting_instance, word_limit_bytes);
  tasks_.start("events", run());
}

void event_recorder::record(event_note note) {
  if (tasks_.cancelled()) return;
  if (options_.on_record) options_.on_record(note);
  key k{std::move(note.regarding),
        std::move(note.related),
        note.type,
        shown_cut(note.reason, word_limit_bytes),
        shown_cut(note.action.empty() ? note.reason : note.action, word_limit_bytes),
        shown_cut(note.note, note_limit_bytes),
        note.form,
        std::move(note.reporter),
        std::move(note.component)};
  auto found = series_.find(k);
  if (found != series_.end() && loop_.now() - found->second.seen > options_.series_window &&
      !found->second.queued) {
    series_.erase(found);
    found = series_.end();
  }
  if (found == series_.end()) {
    forget_old();
    found = series_.emplace(k, series{}).first;
    found->second.first = loop_.wall();
  }
  series& s = found->second;
  ++s.count;
  s.last = loop_.wall();
  s.seen = loop_.now();
  if (s.queued) return;
  make_room();
  s.queued = true;
  queue_.push_back(std::move(k));
  changed_.wake_all();
}

void event_recorder::make_room() {
  if (queue_.size() < options_.queue_limit) return;
  auto victim = std::find_if(queue_.begin(), queue_.end(),
                             [](const key& k) { return k.type == event_severity::normal; });
  if (victim == queue_.end()) victim = queue_.begin();
  series_.erase(*victim);
  queue_.erase(victim);
  ++dropped_;
}

void event_recorder::forget_old() {
  // Past the window a repetition is a new event: what has been silent for so long is of no use.
  // Once in a window.
  if (const reactor::steady_time now = loop_.now(); now - swept_ >= options_.series_window) {
    swept_ = now;
    std::erase_if(series_, [&](const auto& s) {
      return !s.second.queued && now - s.second.seen > options_.series_window;
    });
  }
  if (series_.size() < remembered_series) return;
  auto oldest = series_.end();
  for (auto it = series_.begin(); it != series_.end(); ++it) {
    if (it->second.queued) continue;
    if (oldest == series_.end() || it->second.seen < oldest->second.seen) oldest = it;
  }
  if (oldest != series_.end()) series_.erase(oldest);
}

awaitable<void> event_recorder::run() {
  for (;;) {
    while (queue_.empty()) (void)co_await changed_.wait();
    co_await limiter_.acquire();
    if (queue_.empty()) continue;
    const key k = queue_.front();
    queue_.pop_front();
    writing_ = true;
    if (const auto s = series_.find(k); s != series_.end()) s->second.queued = false;
    co_await deliver(k);
    writing_ = false;
    changed_.wake_all();
  }
}

awaitable<void> event_recorder::deliver(key k) {
  for (int attempt = 1;; ++attempt) {
    auto done = co_await write(k);
    if (done) co_return;
    fault why = done.error();
    if (why.cancelled) co_return;
    const bool passing = why.code == errc::unavailable || why.code == errc::throttled;
    if (!passing || attempt == attempts) {
      complain(k, why);
      co_return;
    }
    co_await loop_.sleep_for(
        std::max<reactor::nanoseconds>(attempt * 1s, why.retry_after.value_or(0s)));
  }
}

void event_recorder::complain(const key& k, const fault& why) {
  const auto times = complaints_.pass(std::string(to_string(why.code)));
  if (!times) return;
  log_.warning("event create failed", {{"reason", k.reason},
                                       {"object", k.regarding.kind + "/" + k.regarding.name},
                                       {"status", why.http_status},
                                       {"error", why.message()},
                                       {"suppressed", *times}});
}

json::object event_recorder::body_of(const key& k, const series& s, const std::string& name) const {
  const bool core = k.form == event_form::core_v1;
  const std::string& reporter = k.reporter.empty() ? options_.reporting_controller : k.reporter;
  json::object body;
  if (s.count > 1 || core) body = repetition_of(k.form, s.count, s.last);
  json::object metadata;
  metadata["name"] = name;
  metadata["namespace"] = home_of(k.regarding);
  body["metadata"] = std::move(metadata);
  body["eventTime"] = reactor::format_rfc3339_micro(s.first);
  body[core ? "reportingComponent" : "reportingController"] = reporter;
  body["reportingInstance"] = options_.reporting_instance;
  body["action"] = k.action;
  body["reason"] = k.reason;
  body["type"] = k.type == event_severity::warning ? "Warning" : "Normal";
  body[core ? "message" : "note"] = k.note;
  body[core ? "involvedObject" : "regarding"] = reference(k.regarding);
  if (!k.related.kind.empty()) body["related"] = reference(k.related);
  if (core) {
    body["firstTimestamp"] = reactor::format_rfc3339(s.first);
    body["source"] = json::object{{"component", k.component.empty() ? reporter : k.component}};
  }
  return body;
}

awaitable<result<void>> event_recorder::write(key k) {
  auto found = series_.find(k);
  if (found == series_.end()) co_return result<void>();
  const series s = found->second;
  const std::string ns = home_of(k.regarding);
  const resource& events = k.form == event_form::core_v1 ? core_events() : resources::events();
  if (!s.name.empty()) {
    json::object patch = repetition_of(k.form, s.count, s.last);
    object_key where{ns, s.name};
    auto done = co_await api_.merge_patch_text(events, std::move(where), std::move(patch));
    if (!done && done.error().code != errc::not_found) co_return done.error();
    found = series_.find(k);
    if (done) {
      if (found != series_.end()) found->second.written = s.count;
      co_return result<void>();
    }
    if (found != series_.end()) found->second.name.clear();
  }
  const std::string name = k.form == event_form::core_v1
                               ? event_name(k.regarding.name, loop_.wall())
                               : event_name(k.regarding.name, loop_.random().next());
  json::object body = body_of(k, s, name);
  auto made = co_await api_.create_text(events, ns, std::move(body));
  if (!made) co_return made.error();
  found = series_.find(k);
  if (found != series_.end()) {
    found->second.name = name;
    found->second.written = s.count;
  }
  co_return result<void>();
}

awaitable<bool> event_recorder::flush(reactor::steady_time deadline) {
  while (!queue_.empty() || writing_) {
    const reactor::woken how = co_await changed_.wait(deadline);
    if (how != reactor::woken::by_call) co_return false;
  }
  co_return true;
}

awaitable<void> event_recorder::stop() {
  queue_.clear();
  return tasks_.cancel_and_join();
}

}  // namespace k8s
