#include "fleetwide/charts/chart_members.hpp"

#include "fleetwide/charts/chart_words.hpp"
#include "fleetwide/kinds/names.hpp"
#include "helm/placed/until_live.hpp"
#include "helm/tenants/supply/chart_supply.hpp"
#include "k8s/client/discovery.hpp"
#include "k8s/client/events.hpp"
#include "k8s/fleet/cluster.hpp"
#include "reactor/loop.hpp"

#include <algorithm>
#include <vector>

namespace fleetwide {

using namespace std::chrono_literals;
using helm::placed::operation;
using helm::placed::operation_end;
using helm::placed::retry_cause;

namespace {

constexpr reactor::nanoseconds view_patience = 5s;

/// What the same request meets again.
bool is_refusal(const k8s::fault& why) {
  return !why.cancelled && (why.code == k8s::errc::forbidden || why.code == k8s::errc::invalid);
}

bool is_trouble(std::string_view code) {
  return std::ranges::any_of(hold_code::of_charts, [&](const units::hold_kind& k) {
    return k.code == code && k.nature == units::hold_nature::trouble;
  });
}

std::string slashed(std::string_view ns, std::string_view release) {
  return std::string(ns) + "/" + std::string(release);
}

}  // namespace

chart_members::keeper::options chart_members::keeper_of(chart_members* me, const options& o,
                                                        const reactor::logger& log) {
  keeper::options out;
  out.words = {.api_version = names::api_version,
               .kind = names::fleet_chart,
               .reporter = "windlass.dev/fleetcharts",
               .component = "windlass-fleetcharts",
               .field = "fleetchart",
               .deleting = {},
               .deletion_unmarked = {},
               .namespace_made = "the namespace of a FleetChart's release was made",
               .namespace_created = chart_event::namespace_created,
               .record_doubted = chart_event::record_doubted,
               .failed = retry_cause::operation};
  helm::tenants::set_common_options(out, o, log);
  out.chart = [me](helm::placed::chart_coordinates c) { return me->chart(std::move(c)); };
  return out;
}

note_writes::options chart_members::notes_of(chart_members* me, const options& o) {
  note_writes::options out;
  out.ns = o.wanted()->all.notes_ns;
  out.order = [me](const key_type& key) { return me->find_object(key); };
  out.may_begin = [me](const chart_order& o) { return me->may_begin(o); };
  out.noted = [me](chart_notes now) { me->written_ = std::move(now); };
  out.told = [me](const std::string& claim, const k8s::fault* why) {
    if (!why || is_refusal(*why)) me->note_refusal(claim, why ? why->message() : std::string());
  };
  return out;
}

chart_members::chart_members(k8s::engagement& on, options o)
    : keeper(on.loop(), note_writes(on.loop(), on.api(), reads_, notes_of(this, o)),
             keeper_of(this, o, on.log())),
      on_(on),
      options_(std::move(o)),
      reads_(on.loop(), on.api(), helm::tenants::records_of(options_.wanted()->all)),
      notes_(on.loop(), on.api(),
             k8s::only(k8s::resources::config_maps(),
                       {options_.wanted()->all.notes_ns, std::string(notes_object)},
                       options_.limits, on.log())) {
  if (options_.charts) options_.charts->enter();
  on.follow(notes_);
  notes_.on_change([this](const chart_notes* before, const chart_notes* now) {
    const auto each = [this](const chart_notes* all, const chart_notes* other) {
      if (!all) return;
      for (const auto& [key, note] : all->by_key) {
        const auto found = other ? other->by_key.find(key) : all->by_key.end();
        if (other && found != other->by_key.end() && found->second == note) continue;
        std::string claim = key;
        std::ranges::replace(claim, '.', '/');
        changed(claim);
      }
    };
    each(now, before);
    each(before, now);
    if (now && view_) follow_kinds_of(*now);
  });
  helm::placed::cluster_view::options watched;
  watched.records = helm::tenants::records_of(options_.wanted()->all);
  watched.limits = options_.limits;
  watched.log = on.log();
  watched.check_interval = options_.wanted()->all.check_interval;
  watched.namespace_changed = [this](std::string_view ns) {
    for (const auto& [key, order] : orders_)
      if (order.ns == ns) controller_.add(key);
  };
  watched.object_gone = [this](std::string_view ns) { object_gone(ns); };
  watched.release_changed = [this](std::string_view ns, std::string_view release) {
    changed(slashed(ns, release));
  };
  watched.untrusted = [this] {
    for (const auto& [key, order] : orders_) controller_.add(key);
  };
  view_ = std::make_unique<helm::placed::cluster_view>(on.loop(), on.api(), std::move(watched));
  notes_.start();
  view_->start();
  tasks_.start("FleetCharts of " + on.on().name(), begin());
}

chart_members::~chart_members() = default;

awaitable<void> chart_members::begin() {
  (void)co_await notes_.synced();
  co_await helm::placed::until_live(on_, on_.loop());
  co_await view_->synced(on_.loop().now() + view_patience);
  if (options_.on_recovered) options_.on_recovered();
  if (options_.does == units::mode::act) controller_.start();
}

awaitable<void> chart_members::stop() {
  stopping_ = true;
  if (options_.on_stop) options_.on_stop(this);
  co_await stop_keeping();
  co_await view_->stop();
  co_await notes_.stop();
  co_await notes_.forget();
  if (options_.charts) co_await options_.charts->leave();
}

awaitable<bool> chart_members::synced(reactor::steady_time deadline) {
  const bool notes = co_await notes_.synced(deadline);
  co_await view_->synced(deadline);
  co_return notes;
}

void chart_members::reconsider() {
  for (const auto& [key, order] : orders_) controller_.add(key);
  if (options_.on_recovered) options_.on_recovered();
}

/// Of what was watched and what we wrote the newer.
const chart_notes* chart_members::notes_now() const {
  const chart_notes* all =
      notes_.find({options_.wanted()->all.notes_ns, std::string(notes_object)});
  if (!all || all->meta.resource_version < written_.meta.resource_version) return &written_;
  return all;
}

std::optional<chart_note> chart_members::note_for(const std::string& claim) const {
  const chart_notes* all = notes_now();
  const auto found = all->by_key.find(note_key(claim));
  return found == all->by_key.end() ? std::nullopt : std::optional(found->second);
}

void chart_members::changed(const std::string& claim) {
  for (auto& [key, order] : orders_) {
    if (order.claim() != claim) continue;
    order.noted = note_for(claim);
    controller_.add(key);
  }
  if (options_.on_change) options_.on_change(claim);
}

void chart_members::follow_kinds_of(const chart_notes& all) {
  for (const auto& [key, note] : all.by_key)
    for (const std::string& kind : note.kinds) {
      const std::size_t slash = kind.rfind('/');
      if (slash == std::string::npos) continue;
      view_->follow({kind.substr(0, slash), kind.substr(slash + 1), {}, {}});
    }
}

void chart_members::object_gone(std::string_view ns) {
  const chart_notes* all = notes_now();
  if (!options_.on_doubt) return;
  std::vector<std::string> claims;
  for (const auto& [key, note] : all->by_key)
    if (note.is == chart_note::state::done && key.starts_with(std::string(ns) + "."))
      claims.push_back(slashed(ns, std::string_view(key).substr(ns.size() + 1)));
  for (const std::string& claim : claims) options_.on_doubt(this, claim);
}

chart_members::seen chart_members::look(const fleet_object& of) const {
  seen out;
  const auto newest = view_->newest(of.chart.ns, of.chart.release);
  out.is_known = newest.has_value() && notes_.is_synced();
  if (newest) out.newest = *newest;
  out.note = note_for(of.claim);
  if (const auto no = refusals_.find(of.claim); no != refusals_.end()) out.refusal = no->second;
  const key_type key = of.meta.key();
  const auto found = orders_.find(key);
  if (found == orders_.end() || found->second.claim() != of.claim) return out;
  const chart_order& order = found->second;
  out.is_ordered = true;
  out.is_told = !order.is_begun() && !order.uninstalls;
  out.ordered = order.wanted.fingerprint;
  out.goes = order.uninstalls;
  const auto known = known_.find(key);
  if (known != known_.end() && known->second.last) out.hold = known->second.last->hold;
  return out;
}

std::size_t chart_members::busy() const {
  return static_cast<std::size_t>(std::ranges::count_if(orders_, [this](const auto& o) {
    const auto known = known_.find(o.first);
    if (known == known_.end() || !known->second.last || !known->second.last->hold) return true;
    return known->second.last->hold->code == hold_code::operating.code;
  }));
}

void chart_members::order(chart_order o) {
  const key_type key = o.meta.key();
  const auto found = orders_.find(key);
  if (found != orders_.end() && found->second.asks_as(o)) return;
  o.noted = note_for(o.claim());
  orders_.insert_or_assign(key, std::move(o));
  controller_.add(key);
}

void chart_members::take_back(const key_type& key) {
  const chart_order* o = find_object(key);
  const memory* m = find(key);
  // An operation of what was told before ends first.
  if (!o || o->is_begun() || o->uninstalls || (m && m->running)) return;
  const std::string claim = o->claim();
  orders_.erase(key);
  controller_.add(key);
  if (options_.on_change) options_.on_change(claim);
}

bool chart_members::is_under_way(const fleet_object& of, std::string_view digest) const {
  const auto& all = notes_now()->by_key;
  const auto found = all.find(note_key(of.claim));
  return found != all.end() && found->second.is == chart_note::state::begun &&
         found->second.digest == digest && found->second.object == of.mark();
}

awaitable<k8s::result<void>> chart_members::let_go(k8s::object_key key, std::string claim) {
  orders_.erase(key);
  co_await end_operation(key, stop_limit);
  controller_.add(key);
  co_return co_await writes_.forget(std::move(claim));
}

std::string chart_members::kubernetes() const {
  return on_.discovery().version().git_version;
}

const chart_order* chart_members::find_object(const key_type& key) const {
  const auto found = orders_.find(key);
  return found == orders_.end() ? nullptr : &found->second;
}

/// Meanwhile the cluster was away, or home asks for something else.
void chart_members::begin_pass(const key_type& key) {
  const chart_order* o = find_object(key);
  if (!o || o->is_begun() || o->uninstalls) return;
  if (is_live())
    (void)may_begin(*o);
  else
    take_back(key);
}

bool chart_members::may_begin(const chart_order& o) {
  const key_type key = o.meta.key();
  const chart_order* now = find_object(key);
  if (!now || !now->asks_as(o)) return false;
  if (!options_.is_asked || options_.is_asked(o)) return true;
  take_back(key);
  return false;
}

awaitable<helm::placed::supplied_chart> chart_members::chart(helm::placed::chart_coordinates c) {
  helm::placed::supplied_chart got = co_await options_.charts->get(c);
  if (!got.chart) co_return got;
  for (const auto& [key, order] : orders_) {
    if (!(order.wanted.chart == c) || order.chart_digest.empty()) continue;
    if (order.chart_digest == got.digest) continue;
    got.why.text = "the archive of " + c.text() + " has digest " + got.digest + ", and " +
                   order.chart_digest + " was asked for";
    got.chart = nullptr;
    break;
  }
  co_return got;
}

awaitable<k8s::result<chart_members::gathered>> chart_members::gather(key_type key,
                                                                      chart_order about,
                                                                      helm::placed::ask how) {
  gathered g;
  chart_world& w = g.is;
  helm::placed::release_sight before;
  if (const memory* m = find(key)) before = m->sight;
  auto found = co_await helm::placed::look_at_release(reads_, view_.get(), about.ns, about.release,
                                                      std::move(before), how);
  if (!found) co_return found.error();
  w.workspace = std::move(found->workspace);
  if (found->release) {
    w.release = found->release->facts;
    w.record = found->release->record;
    w.record_version = found->release->version;
  }
  if (memory* m = find(key)) m->sight = std::move(found->sight);
  const bool is_done = about.is_begun() && about.noted->is == chart_note::state::done;
  if (is_done && found->release && about.drift != chart_spec::on_drift::ignore &&
      found->release->facts.state == helm::release::status::deployed)
    w.drift.missing = co_await reads_.missing(std::move(found->release->objects));

  // From here on nothing is waited for, so that all of it is of one moment.
  w.wanted = about.wanted;
  w.reserved = helm::tenants::reserved_by(options_.wanted()->all);
  w.now = on_.loop().wall();
  helm::placed::attempt_key attempt;
  attempt.generation = about.meta.generation;
  attempt.fingerprint = about.wanted.fingerprint;
  attempt.credentials = on_.on().hash();
  attempt.asked = about.asked;
  w.object = std::move(about);
  recall(key, g, std::move(attempt));
  co_return g;
}

void chart_members::note_refusal(const std::string& claim, std::string why) {
  const auto found = refusals_.find(claim);
  if (found == refusals_.end() ? why.empty() : found->second == why) return;
  if (why.empty())
    refusals_.erase(found);
  else
    refusals_[claim] = std::move(why);
  if (options_.on_change) options_.on_change(claim);
}

k8s::result<k8s::next> chart_members::refused(const key_type& key, const k8s::fault& why) {
  const chart_order* o = find_object(key);
  if (o && is_refusal(why)) note_refusal(o->claim(), why.message());
  return why;
}

void chart_members::planned(const key_type& key, const gathered& g, const chart_plan& p) {
  memory* m = find(key);
  if (!m) return;
  if (p.next == helm::placed::step::none) note_refusal(g.is.object->claim(), {});
  const bool is_news = !m->last || !(m->last->hold == p.hold);
  m->last = p;
  if (is_news && options_.on_change) options_.on_change(g.is.object->claim());
}

awaitable<chart_members::stepped> chart_members::rest(key_type key, gathered g, chart_plan p) {
  stepped out;
  if (p.is_settled) {
    orders_.erase(key);
    forget(key);
    if (options_.on_change) options_.on_change(g.is.object->claim());
    co_return out;
  }
  const chart_order& o = *g.is.object;
  if (p.hold && o.is_begun() && o.noted->is != chart_note::state::failed &&
      is_trouble(p.hold->code) &&
      (o.noted->hold != p.hold->code || o.noted->why != p.hold->sentence))
    co_await note_hold(key, o, *p.hold);
  if (p.again_in && *p.again_in != helm::placed::nanoseconds::max())
    out.then = k8s::requeue_after(*p.again_in);
  co_return out;
}

void chart_members::forgotten(const key_type& key) {
  const auto found = orders_.find(key);
  if (found == orders_.end() || !found->second.uninstalls) return;
  const std::string claim = found->second.claim();
  orders_.erase(found);
  if (options_.on_change) options_.on_change(claim);
}

k8s::object_reference chart_members::reference_to(const chart_order& about) const {
  return {std::string(names::api_version), std::string(names::fleet_chart), about.ns, about.release,
          about.meta.uid.text()};
}

void chart_members::log(reactor::log_level level, std::string_view line, const chart_order& about,
                        const std::string& why) const {
  const reactor::logger to =
      on_.log().with({{"fleetchart", about.meta.key().text()}, {"release", about.claim()}});
  if (why.empty())
    to.write(level, line, {});
  else
    to.write(level, line, {{"why", why}});
}

awaitable<void> chart_members::namespace_failed(key_type, gathered g, std::string why) {
  log(reactor::log_level::warning, "the namespace of a release cannot be made", *g.is.object, why);
  co_return;
}

bool chart_members::complete(helm::placed::operation_order& order, const gathered& g,
                             const chart_plan&, const under_way&) {
  const chart_order& o = *g.is.object;
  order.values = o.values;
  order.timeout = o.timeout;
  order.uninstalls_in = o.timeout;
  order.atomic = o.atomic;
  order.tests = o.tests;
  order.is_confined = o.is_confined;
  return true;
}

chart_members::outcome_words chart_members::words_of(operation what, operation_end how,
                                                     const gathered& g, const chart_plan& p) const {
  if (how == operation_end::failed)
    return {"an operation on a FleetChart's release failed", chart_event::failed, p.release};
  const std::string note = p.release + " with " + g.is.wanted.chart.text();
  switch (what) {
    case operation::install:
      return {"the release of a FleetChart was installed", chart_event::installed, note};
    case operation::upgrade:
      return {"the release of a FleetChart was upgraded", chart_event::upgraded, note};
    case operation::uninstall:
    case operation::none: break;
  }
  return {"the release of a FleetChart was uninstalled", chart_event::uninstalled, p.release};
}

void chart_members::count(const under_way& me, const chart_plan&, const std::string& failure,
                          reactor::nanoseconds) {
  if (!options_.metrics) return;
  reactor::metric_labels labels;
  labels["cluster"] = on_.on().name();
  labels["operation"] = helm::placed::word_for(me.what);
  labels["result"] = failure.empty() ? "success" : "failure";
  options_.metrics->get_counter(chart_metrics::operations, std::move(labels)).add();
}

awaitable<void> chart_members::note_hold(key_type key, chart_order about, units::hold why) {
  const std::string claim = about.claim();
  // What has come of it since it was planned says more.
  const auto now = note_for(claim);
  if (!now || !(now == about.noted)) co_return;
  (void)co_await writes_.note_hold(std::move(about), std::move(why.code), std::move(why.sentence));
  const auto found = orders_.find(key);
  if (found != orders_.end()) found->second.noted = note_for(claim);
}

awaitable<void> chart_members::say_failure(key_type key, chart_order about, helm::placed::step,
                                           operation, std::string text) {
  const std::string claim = about.claim();
  note_writes::written end = co_await writes_.note_failure(std::move(about), std::move(text));
  if (end.is == helm::placed::write_end::failed)
    on_.log().warning("that a release failed cannot be noted",
                      {{"release", claim}, {"why", end.why}});
  const auto found = orders_.find(key);
  if (found != orders_.end()) found->second.noted = note_for(claim);
  if (options_.on_change) options_.on_change(claim);
}

}  // namespace fleetwide
