#include "k8s/cluster.hpp"

#include "k8s/informer.hpp"
#include "reactor/loop.hpp"

#include <boost/json/object.hpp>

#include <algorithm>

namespace k8s {
namespace {

namespace json = boost::json;

constexpr reactor::nanoseconds version_patience = 5s;
constexpr reactor::backoff_settings retry{1s, 60s, 2, 0.2};
// How often is looked whether the views are current: what is Live and nobody acts upon seldom becomes old.
constexpr reactor::nanoseconds attended_interval = 1s, freshness_interval = 5s,
                               unattended_interval = 15s;

std::string uid_of(const json::object& object) {
  const json::value* metadata = object.if_contains("metadata");
  if (!metadata || !metadata->is_object()) return {};
  const json::value* uid = metadata->get_object().if_contains("uid");
  return uid && uid->is_string() ? std::string(uid->get_string()) : std::string();
}

constexpr const char* state_help =
    "1 for the state that a cluster is in, 0 for those that it was in before.";

}  // namespace

cluster::cluster(reactor::loop& l, connection to, cluster_options options, reactor::logger log)
    : loop_(l),
      options_(std::move(options)),
      log_(log.with({{"cluster", options_.name}})),
      api_(l, std::move(to), options_.field_manager),
      discovery_(api_),
      health_(l.now(), l.wall()),
      views_(std::make_shared<view_budget>(options_.views)),
      backoff_(retry),
      engaged_(l),
      changed_(l),
      tasks_(l) {
  api_.on_outcome([this](const fault* why) { requested(why); });
  if (!options_.metrics) return;
  const auto counted = [&](const char* outcome) {
    return options_.metrics->get_counter("windlass_api_requests_total", "Requests to API servers.",
                                         {{"cluster", options_.name}, {"result", outcome}});
  };
  requests_ = counted("success");
  failures_ = counted("failure");
}

cluster::~cluster() = default;

/// Changes the health and tells everybody who wants to know.
template <class F>
void cluster::change(F f) {
  const cluster_state before = health_.state();
  f();
  const cluster_state now = health_.state();
  if (now == before) return;
  if (options_.metrics) {
    // A state gets its series when it is first seen: most clusters never see more than two.
    const auto show = [&](cluster_state s, double value) {
      reactor::metric_labels labels{{"cluster", options_.name}, {"state", std::string(name_of(s))}};
      options_.metrics->get_gauge("windlass_cluster_state", state_help, std::move(labels))
          .set(value);
    };
    if (std::exchange(state_shown_, true)) show(before, 0);
    show(now, 1);
  }
  const bool bad = now == cluster_state::unreachable || now == cluster_state::unauthorized ||
                   now == cluster_state::forbidden || now == cluster_state::crd_missing;
  log_.write(bad ? reactor::log_level::warning : reactor::log_level::info, "cluster state",
             {{"state", name_of(now)},
              {"before", name_of(before)},
              {"server", api_.server()},
              {"error", health_.last_error()}});
  if (options_.on_state) options_.on_state(*this, before);
}

void cluster::start() {
  tasks_.start("cluster " + options_.name, run());
}

awaitable<void> cluster::run() {
  for (;;) {
    auto done = co_await engage();
    if (done) break;
    const fault why = done.error();
    if (why.cancelled) co_return;
    change([&] { health_.failed(why, loop_.now(), loop_.wall()); });
    co_await wait_before_retry();
  }
  backoff_.reset();
  change([&] { health_.engaged(loop_.now(), loop_.wall()); });
  engaged_.set();
  if (options_.on_engaged) options_.on_engaged(*this);
  for (;;) {
    if (probe_wanted_) co_await probe_until_answered();
    change([&] { watch_freshness(); });
    count_informers();
    (void)co_await changed_.wait(next_look());
  }
}

reactor::steady_time cluster::next_look() const {
  if (followed_.empty()) return reactor::never;
  if (!is_live()) return loop_.now() + freshness_interval;
  return loop_.now() + (attention_ == attention::close ? attended_interval : unattended_interval);
}

awaitable<void> cluster::wait_before_retry() {
  const reactor::nanoseconds delay = backoff_.next(loop_.random());
  co_await loop_.sleep_for(delay);
}

awaitable<result<void>> cluster::engage() {
  change([&] { health_.dialling(loop_.now(), loop_.wall()); });
  auto version = co_await discovery_.read_version(version_patience);
  if (!version) co_return version.error();
  change([&] { health_.answered(loop_.now(), loop_.wall()); });
  object_key kube_system{"", "kube-system"};
  auto found = co_await api_.get(resources::namespaces(), std::move(kube_system));
  if (!found) {
    fault why = found.error();
    // A server without it is no cluster we know how to name.
    if (why.code == errc::not_found) why.code = errc::malformed;
    co_return why;
  }
  uid_ = uid_of(*found);
  auto known = co_await discovery_.refresh();
  if (!known) co_return known.error();
  for (std::size_t i = 0; i < options_.steps.size(); ++i) {
    auto done = co_await options_.steps[i].run(*this);
    if (done) continue;
    fault why = done.error();
    if (why.doing.empty()) why.doing = options_.steps[i].name;
    co_return why;
  }
  co_return result<void>();
}

/// Called within any request's completion: only notes what happened.
void cluster::requested(const fault* why) {
  (why ? failures_ : requests_).add();
  cluster_health::verdict v{};
  change([&] { v = health_.outcome(why, loop_.now(), loop_.wall()); });
  if (v != cluster_health::verdict::probe) return;
  probe_wanted_ = true;
  changed_.wake_all();
}

awaitable<void> cluster::probe_until_answered() {
  backoff_.reset();
  for (;;) {
    co_await wait_before_retry();
    auto version = co_await discovery_.read_version(version_patience);
    if (version) break;
    const fault why = version.error();
    if (why.cancelled) co_return;
    change([&] { health_.failed(why, loop_.now(), loop_.wall()); });
  }
  backoff_.reset();
  probe_wanted_ = false;
  cluster_health::verdict v{};
  change([&] { v = health_.probed(loop_.now(), loop_.wall()); });
  if (v == cluster_health::verdict::recovered && options_.on_recovered) {
    options_.on_recovered(*this);
  }
}

void cluster::watch_freshness() {
  const std::string why = doubt();
  health_.freshness(why.empty(), loop_.now(), loop_.wall(), why);
}

/// Why something that is kept of the cluster may not be as it is there; empty when all is current.
std::string cluster::doubt() const {
  for (const followed_informer& f : followed_) {
    const informer_base& i = *f.informer;
    if (!i.doubt().empty()) return i.doubt();
    if (i.is_synced() && !i.is_old()) continue;
    std::string why = i.is_synced() ? "nothing shows that what is known of " +
                                          i.collection().plural + " is current"
                                    : i.collection().plural + " are not complete";
    if (i.last_error()) why += ": " + i.last_error()->message();
    return why;
  }
  return {};
}

void cluster::attach(std::string part_name, std::unique_ptr<cluster_part> part) {
  parts_.push_back({std::move(part_name), std::move(part)});
}

cluster_part* cluster::part(std::string_view part_name) const noexcept {
  const auto found = std::find_if(parts_.begin(), parts_.end(),
                                  [&](const named_part& p) { return p.name == part_name; });
  return found == parts_.end() ? nullptr : found->part.get();
}

void cluster::follow(informer_base& i) {
  followed_.push_back({&i, {}});
  i.attend(attention_);
  i.share(views_);
  // Decisions must not be made until the next look.
  i.on_doubt([this] { change([&] { watch_freshness(); }); });
}
void cluster::attend(attention how) {
  if (std::exchange(attention_, how) == how) return;
  for (const followed_informer& f : followed_) f.informer->attend(how);
  changed_.wake_all();
}
void cluster::unfollow(const informer_base& i) noexcept {
  std::erase_if(followed_, [&](const followed_informer& f) { return f.informer == &i; });
}

/// What an informer counted since the last time, as metrics; a series begins with its first count, so that what never
/// happens in a fleet of thousands costs nothing.
void cluster::count_informers() {
  if (!options_.metrics) return;
  for (followed_informer& f : followed_) {
    const watch_counters& now = f.informer->counters();
    const watch_counters before = std::exchange(f.counted, now);
    const auto add = [&](const char* name, const char* help, auto... members) {
      const std::uint64_t n = ((now.*members - before.*members) + ...);
      if (n == 0) return;
      reactor::metric_labels labels{{"cluster", options_.name},
                                    {"kind", f.informer->collection().kind}};
      options_.metrics->get_counter(name, help, std::move(labels)).add(static_cast<double>(n));
    };
    using c = watch_counters;
    add("windlass_informer_events_total", "Events of watch streams.", &c::events);
    add("windlass_informer_bytes_total", "Bytes of lists and watch streams.", &c::bytes);
    add("windlass_informer_lists_total", "Complete lists that were begun.", &c::lists, &c::streams);
    add("windlass_informer_watches_total", "Watch requests.", &c::watches);
    add("windlass_informer_failures_total", "Requests and streams that ended badly.", &c::failures);
    add("windlass_informer_silent_total", "Streams that were given up for silence.", &c::silent);
    add("windlass_informer_oddities_total",
        "Answers that do not fit to earlier ones or are not what a server sends.", &c::repeated,
        &c::regressed, &c::unknown, &c::replaced, &c::older_refused, &c::malformed);
  }
}

awaitable<bool> cluster::engaged(reactor::steady_time deadline) {
  return engaged_.wait(deadline);
}

void cluster::forget_observers() {
  options_.metrics = nullptr;
  options_.on_engaged = {};
  options_.on_state = {};
  options_.on_recovered = {};
}

awaitable<void> cluster::stop() {
  co_await tasks_.cancel_and_join();
  for (const followed_informer& f : followed_) f.informer->on_doubt({});
  followed_.clear();
  while (!parts_.empty()) {
    cluster_part& newest = *parts_.back().part;
    co_await newest.stop();
    parts_.pop_back();
  }
  co_await api_.stop();
}

json::object cluster::to_json() const {
  json::object o;
  o["name"] = options_.name;
  o["state"] = name_of(state());
  o["server"] = api_.server();
  o["uid"] = uid_;
  o["hash"] = options_.hash;
  o["since"] = reactor::format_rfc3339(health_.since_wall());
  o["lastError"] = health_.last_error();
  if (const auto pause = api_.paused_until() - loop_.now(); pause > reactor::nanoseconds::zero())
    o["pausedUntil"] = reactor::format_rfc3339(loop_.wall() + pause);
  return o;
}

}  // namespace k8s
