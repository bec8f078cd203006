#include "k8s/fleet/engagement.hpp"

#include "k8s/fleet/cluster.hpp"
#include "k8s/fleet/metric_table.hpp"
#include "k8s/informer/informer.hpp"
#include "reactor/loop.hpp"

#include <boost/json/object.hpp>

#include <utility>

namespace k8s {
namespace {

namespace json = boost::json;

// How often is looked whether the views are current: what is Live and not acted upon seldom
// becomes old.
constexpr reactor::nanoseconds attended_interval = 1s, freshness_interval = 5s,
                               unattended_interval = 30s;

}  // namespace

engagement::engagement(cluster& on, cluster_api api)
    : cluster_(on),
      api_(std::move(api)),
      health_(on.loop().now(), on.loop().wall()),
      backoff_(cluster::retry),
      tasks_(on.loop()) {
  health_.answered(on.loop().now(), on.loop().wall());
}

cluster_state engagement::state() const noexcept {
  const cluster_state connection = cluster_.connection_state();
  if (connection == cluster_state::live) return health_.state();
  // It answers again, and what is kept is about to catch up.
  if (connection == cluster_state::stale && health_.state() != cluster_state::live)
    return health_.state();
  return connection;
}

const std::string& engagement::last_error() const noexcept {
  return cluster_.is_connected() ? health_.last_error() : cluster_.health_.last_error();
}

std::string engagement::says() const {
  if (state() == cluster_state::live && cluster_.api().newest().delivery.is_shown())
    return "a proxy or balancer before the server buffers streams; changes are seen up to 5 s late";
  if (state() != cluster_state::syncing || !last_error().empty()) return last_error();
  if (followed_.empty()) return "the kinds that it serves are being read";
  std::string why = sync_problem();
  return why.empty() ? "what was read is being looked at for the first time" : why;
}

std::optional<fault> engagement::refusal() const {
  for (const followed_informer& f : followed_)
    if (const auto& why = f.informer->last_error(); why && why->code == errc::forbidden) return why;
  return std::nullopt;
}

reactor::wall_time engagement::since_wall() const noexcept {
  const reactor::wall_time own = health_.since_wall(), connection = cluster_.health_.since_wall();
  return cluster_.connection_state() == cluster_state::live ? own : std::max(own, connection);
}

reactor::loop& engagement::loop() noexcept {
  return cluster_.loop();
}
client& engagement::api() noexcept {
  return cluster_.api();
}
discovery& engagement::discovery() noexcept {
  return cluster_.discovery();
}
const reactor::logger& engagement::log() const noexcept {
  return cluster_.log();
}

void engagement::start() {
  tasks_.start(api_.name + " on " + cluster_.name(), run());
}

awaitable<void> engagement::run() {
  reactor::loop& loop = cluster_.loop();
  for (bool again = false;; again = true) {
    co_await cluster_.connected();
    for (std::string why = cluster_.acts_elsewhere(*this); !why.empty();
         why = cluster_.acts_elsewhere(*this)) {
      health_.stands_by(loop.now(), loop.wall(), why);
      is_settled_ = true;
      cluster_.note();
      (void)co_await cluster_.changed_.wait();
    }
    if (health_.state() == cluster_state::twin) is_settled_ = false;
    result<void> done;
    // What was missing may be there now.
    if (again) done = co_await cluster_.discovery().refresh();
    if (done) done = co_await api_.start(*this);
    if (done) break;
    fault why = done.error();
    if (why.cancelled) co_return;
    if (why.doing.empty()) why.doing = "start " + api_.name;
    health_.failed(why, loop.now(), loop.wall());
    is_settled_ = health_.state() == cluster_state::crd_missing ||
                  health_.state() == cluster_state::forbidden;
    if (health_.state() == cluster_state::forbidden) cluster_.note_refused(api_.name, loop.now());
    cluster_.note();
    co_await loop.sleep_for(backoff_.next(loop.random()));
  }
  backoff_.reset();
  health_.engaged(loop.now(), loop.wall());
  is_settled_ = true;
  cluster_.note_refused(api_.name, std::nullopt);
  cluster_.note();
  cluster_.wake();
}

awaitable<void> engagement::stop() {
  co_await tasks_.cancel_and_join();
  for (const followed_informer& f : followed_) f.informer->on_sync_problem({});
  followed_.clear();
  if (part_) co_await part_->stop();
  part_.reset();
}

void engagement::follow(informer_base& i) {
  followed_.push_back({&i, {}});
  i.set_freshness(freshness_);
  i.share(cluster_.views_);
  // Decisions must not be made until the next look.
  i.on_sync_problem([this] {
    look();
    cluster_.note();
  });
}

void engagement::unfollow(const informer_base& i) noexcept {
  std::erase_if(followed_, [&](const followed_informer& f) { return f.informer == &i; });
}

void engagement::set_freshness(freshness how) {
  if (std::exchange(freshness_, how) == how) return;
  for (const followed_informer& f : followed_) f.informer->set_freshness(how);
  cluster_.wake();
}

void engagement::look() {
  const auto now = cluster_.loop().now();
  const auto wall = cluster_.loop().wall();
  if (const auto refused = refusal()) {
    health_.refused(now, wall, refused->message());
    if (!cluster_.refused_at(api_.name)) cluster_.note_refused(api_.name, now);
  } else if (const std::string why = sync_problem(); why.empty()) {
    health_.current(now, wall);
    if (health_.state() == cluster_state::live) cluster_.note_refused(api_.name, std::nullopt);
  } else {
    health_.doubted(now, wall, why);
  }
}

reactor::steady_time engagement::next_look() const noexcept {
  if (followed_.empty() || !health_.was_engaged()) return reactor::never;
  const reactor::steady_time now = cluster_.loop_.now();
  if (health_.state() != cluster_state::live) return now + freshness_interval;
  if (freshness_ == freshness::close) return now + attended_interval;
  // Thousands of idle clusters are looked at in one go.
  return std::chrono::ceil<std::chrono::seconds>(now + unattended_interval);
}

/// Why something that is kept of the cluster may not be as it is there; empty when all is current.
std::string engagement::sync_problem() const {
  for (const followed_informer& f : followed_) {
    const informer_base& i = *f.informer;
    if (!i.sync_problem().empty()) return i.sync_problem();
    if (i.is_synced() && !i.is_old()) continue;
    std::string why = i.is_synced() ? "nothing shows that what is known of " +
                                          i.collection().plural + " is current"
                                    : i.collection().plural + " are not complete";
    if (i.last_error()) why += ": " + i.last_error()->message();
    return why;
  }
  return {};
}

/// What its informers counted since the last time, as metrics; a series begins with its first
/// count, so that what never happens in a fleet of thousands costs nothing.
void engagement::count(reactor::metrics& into) {
  for (followed_informer& f : followed_) {
    const watch_counters& now = f.informer->counters();
    const watch_counters before = std::exchange(f.counted, now);
    const auto add = [&](const reactor::metric_kind& what, auto... members) {
      const std::uint64_t n = ((now.*members - before.*members) + ...);
      if (n == 0) return;
      reactor::metric_labels labels{{"cluster", cluster_.name()},
                                    {"kind", f.informer->collection().kind}};
      into.get_counter(what, std::move(labels)).add(static_cast<double>(n));
    };
    using c = watch_counters;
    add(fleet_metrics::informer_events, &c::events);
    add(fleet_metrics::informer_bytes, &c::bytes);
    add(fleet_metrics::informer_lists, &c::lists, &c::streams);
    add(fleet_metrics::informer_watches, &c::watches);
    add(fleet_metrics::informer_failures, &c::failures);
    add(fleet_metrics::informer_silent, &c::silent);
    add(fleet_metrics::informer_oddities, &c::repeated, &c::regressed, &c::unknown, &c::replaced,
        &c::older_refused, &c::malformed);
  }
}

void engagement::note(reactor::metrics* metrics, bool alone) {
  const cluster_state now = state();
  const cluster_state before = std::exchange(shown_, now);
  if (now == before) return;
  if (metrics) {
    // A state gets its series when it is first seen, as a cluster's does.
    if (std::exchange(has_series_, true)) show(*metrics, before, 0);
    show(*metrics, now, 1);
  }
  if (alone) return;
  cluster_.log().write(is_failure(now) ? reactor::log_level::warning : reactor::log_level::info,
                       "api state",
                       {{"api", api_.name},
                        {"state", name_of(now)},
                        {"before", name_of(before)},
                        {"error", says()}});
}

void engagement::hide(reactor::metrics* metrics) {
  if (metrics && has_series_) show(*metrics, shown_, 0);
}

void engagement::show(reactor::metrics& in, cluster_state s, double value) const {
  reactor::metric_labels labels{
      {"api", api_.name}, {"cluster", cluster_.name()}, {"state", std::string(name_of(s))}};
  in.get_gauge(fleet_metrics::api_state, labels).set(value);
  if (!api_.state_metric) return;
  labels.erase("api");
  in.get_gauge(*api_.state_metric, std::move(labels)).set(value);
}

json::object engagement::to_json() const {
  json::object o;
  o["state"] = name_of(state());
  o["since"] = reactor::format_rfc3339(since_wall());
  o["lastError"] = says();
  return o;
}

}  // namespace k8s
