#include "helm/tenants/cluster/tenant_cluster.hpp"

#include "helm/placed/until_live.hpp"
#include "helm/tenants/kinds/conditions.hpp"
#include "helm/tenants/kinds/events.hpp"
#include "helm/tenants/kinds/holds.hpp"
#include "helm/tenants/kinds/log_lines.hpp"
#include "helm/tenants/kinds/metric_table.hpp"
#include "helm/tenants/kinds/names.hpp"
#include "helm/tenants/plan/published.hpp"
#include "helm/tenants/supply/chart_supply.hpp"
#include "k8s/client/client.hpp"
#include "k8s/client/discovery.hpp"
#include "k8s/client/events.hpp"
#include "k8s/fleet/cluster.hpp"
#include "reactor/loop.hpp"
#include "reactor/plain/secret.hpp"
#include "reactor/side_by_side.hpp"

#include <boost/json/object.hpp>

#include <algorithm>

namespace helm::tenants {
namespace {

using namespace std::chrono_literals;
using units::plan_row;

constexpr std::size_t most_tenants = 10'000;
constexpr std::size_t looks_at_once = 8;
/// Views that are complete spare each pass a question; a pass that finds them incomplete asks.
constexpr reactor::nanoseconds view_patience = 5s;
constexpr std::array<std::string_view, 3> phase_names = {"Ready", "Pending", "Error"};

std::size_t phase_index(std::string_view phase) noexcept {
  const auto found = std::ranges::find(phase_names, phase);
  return found == phase_names.end() ? 1 : static_cast<std::size_t>(found - phase_names.begin());
}

double seconds(reactor::nanoseconds d) {
  return std::chrono::duration<double>(d).count();
}

/// "demo" of "https://charts.example.com/demo:1.2.0".
std::string chart_name_in(const std::string& text) {
  const std::string of = text.substr(text.rfind('/') + 1);
  return of.substr(0, of.rfind(':'));
}

/// Those of its conditions that are about this cluster; the others stand in that one's row.
std::vector<k8s::condition> conditions_about(const tenant& t, const std::string& cluster) {
  std::vector<k8s::condition> out;
  for (const k8s::condition& c : t.status.conditions)
    if (c.type.ends_with("/" + cluster)) out.push_back(c);
  return out;
}

std::string_view state_of(const tenant_plan& p) {
  if (p.hold) return p.hold->code;
  return p.action == "skip" ? std::string_view("UpToDate") : p.action;
}

}  // namespace

tenant_cluster::keeper::options tenant_cluster::keeper_of(const options& o,
                                                          const reactor::logger& log) {
  keeper::options out;
  out.words = {.api_version = names::api_version,
               .kind = names::tenant_kind,
               .reporter = names::tenant_reporter,
               .component = names::tenant_component,
               .field = "tenant",
               .deleting = names::deleting,
               .deletion_unmarked = "the Tenant cannot be marked as going",
               .namespace_made = log_line::namespace_made,
               .namespace_created = tenant_event::workspace_created,
               .record_doubted = tenant_event::not_noted,
               .failed = retry_cause::operation};
  out.kind = tenant_resource();
  out.finalizer = names::cleanup;
  set_common_options(out, o, log);
  return out;
}

wave_gate::options tenant_cluster::gate_of() {
  wave_gate::options out;
  out.ask = options_.ask_turn;
  out.question = [this](const wave_gate& at) { return question_for_turns(at); };
  out.wake = [this](const key_type& key) { controller_.add(key); };
  out.is_live = [this] { return on_.is_live(); };
  if (options_.does == units::mode::look) out.asks = wave_gate::options::repeats::never;
  return out;
}

tenant_cluster::tenant_cluster(k8s::engagement& on, options o)
    : keeper(on.loop(), on.api(), keeper_of(o, on.log())),
      on_(on),
      options_(std::move(o)),
      reads_(on.loop(), on.api(), records_of(options_.wanted()->all)),
      tenants_(on.loop(), on.api(),
               k8s::all_of(tenant_resource(), options_.limits, on.log(), most_tenants)),
      figures_(options_.metrics && options_.rows && options_.does == units::mode::act
                   ? std::make_unique<units::row_figures>(*options_.metrics, *options_.rows,
                                                          std::string(api_name), on.on().name())
                   : nullptr),
      gate_(on.loop(), gate_of()),
      overviews_(on.loop()) {
  if (options_.charts) options_.charts->enter();
  if (options_.metrics && options_.does == units::mode::act) {
    const std::string cluster = on.on().name();
    for (std::size_t i = 0; i < phase_names.size(); ++i) {
      series_.phases[i] = options_.metrics->get_gauge(
          tenant_metrics::by_phase, {{"cluster", cluster}, {"phase", std::string(phase_names[i])}});
      series_.phases[i].set(0);
    }
    series_.ready = options_.metrics->get_gauge(tenant_metrics::ready, {{"cluster", cluster}});
    series_.error = options_.metrics->get_gauge(tenant_metrics::error, {{"cluster", cluster}});
    series_.depth =
        options_.metrics->get_gauge(tenant_metrics::queue_depth, {{"cluster", cluster}});
    series_.ready.set(0);
    series_.error.set(0);
    series_.depth.set(0);
    series_.pass_seconds = options_.metrics->get_histogram(tenant_metrics::reconcile_seconds);
    series_.operation_seconds = options_.metrics->get_histogram(tenant_metrics::operation_seconds);
  }
  on.follow(tenants_);
  tenants_.add_index("namespace", [](const tenant& t, std::vector<k8s::interned>& values) {
    values.emplace_back(t.workload_namespace());
  });
  tenants_.add_index("release", [this](const tenant& t, std::vector<k8s::interned>& values) {
    values.emplace_back(names::release_name(t.meta.name.view(), on_.on().name()));
  });
  tenants_.on_change([this](const tenant* before, const tenant* now) { changed(before, now); });
  if (options_.does == units::mode::look) {
    tenants_.start();
    return;
  }
  cluster_view::options watched;
  watched.records = records_of(options_.wanted()->all);
  watched.limits = options_.limits;
  watched.log = on.log();
  watched.check_interval = options_.wanted()->all.check_interval;
  watched.namespace_changed = [this](std::string_view ns) { look_again("namespace", ns); };
  watched.release_changed = [this](std::string_view, std::string_view release) {
    look_again("release", release);
  };
  watched.untrusted = [this] { ask_instead(); };
  view_ = std::make_unique<cluster_view>(on.loop(), on.api(), std::move(watched));
  tasks_.start("Tenants of " + on.on().name(), begin());
}

awaitable<void> tenant_cluster::begin() {
  if (options_.kind == kind_on_cluster::ensured) {
    k8s::resource kind = tenant_resource();
    std::function<void(std::string)> tell_failure = [this](std::string why) {
      if (options_.tell_at_home)
        options_.tell_at_home(tenant_event::crd_ensure_failed, safe_message(why));
    };
    co_await until_kind_is_there(on_, std::move(kind), kind_absence_, options_.brake,
                                 std::move(tell_failure));
  }
  tenants_.start();
  (void)co_await tenants_.synced();
  co_await until_live(on_, on_.loop());
  view_->start();
  co_await view_->synced(on_.loop().now() + view_patience);
  controller_.start();
}

void tenant_cluster::look_again(std::string_view index, std::string_view value) {
  tenants_.objects().each_by(index, value, [&](const tenant& t) { controller_.add(t.meta.key()); });
}

void tenant_cluster::ask_instead() {
  const auto interval = options_.wanted()->all.check_interval;
  for (auto& [key, m] : known_)
    if (std::exchange(m.watched, false))
      controller_.add_after(key, next_check(interval, on_.loop().random()));
}

tenant_cluster::~tenant_cluster() = default;

awaitable<void> tenant_cluster::stop() {
  stopping_ = true;
  if (options_.on_stop) options_.on_stop(this);
  co_await gate_.stop();
  co_await stop_keeping();
  if (view_) co_await view_->stop();
  co_await tenants_.stop();
  co_await overviews_.empty();
  co_await tenants_.forget();
  if (options_.charts) co_await options_.charts->leave();
}

awaitable<bool> tenant_cluster::synced(reactor::steady_time deadline) {
  if (options_.does == units::mode::look && options_.kind == kind_on_cluster::ensured) {
    k8s::resource wanted = tenant_resource();
    kind_absence_ = co_await look_for_kind(on_, std::move(wanted));
  }
  if (!kind_absence_.problem.empty()) co_return false;
  co_return co_await tenants_.synced(deadline);
}

void tenant_cluster::reconsider() {
  ++revision_;
  gate_.ask_again();
  tenants_.objects().each([&](const tenant& t) { controller_.add(t.meta.key()); });
}

void tenant_cluster::recover() {
  ++revision_;
  ++connection_;  // what failed while it was down is tried again
  tenants_.objects().each([&](const tenant& t) {
    const auto spread = static_cast<std::uint64_t>(k8s::cluster::recovery_spread.count());
    const auto share = static_cast<std::int64_t>(on_.loop().random().next() % spread);
    controller_.add_after(t.meta.key(), reactor::nanoseconds(share));
  });
}

void tenant_cluster::changed(const tenant* before, const tenant* now) {
  ++revision_;
  const key_type key = (now ? now : before)->meta.key();
  if (!now) {
    count_phase(key, std::nullopt);
    // Who shared its name may have the namespace now.
    tenants_.objects().each_by("namespace", before->workload_namespace(),
                               [&](const tenant& t) { controller_.add(t.meta.key()); });
  } else if (counted_.contains(key)) {
    count_phase(key, phase_index(now->status.phase));
  }
  if (!before || !now || wakes(*before, *now)) controller_.add(key);
}

void tenant_cluster::forgotten(const key_type& key) {
  remember(key, std::nullopt);
  gate_.forget(key);
}

void tenant_cluster::count_phase(const key_type& key, std::optional<std::size_t> phase) {
  const auto was = counted_.find(key);
  if (was != counted_.end()) --phases_[was->second];
  if (phase) {
    ++phases_[*phase];
    counted_.insert_or_assign(key, *phase);
  } else if (was != counted_.end()) {
    counted_.erase(was);
  }
  for (std::size_t i = 0; i < phases_.size(); ++i)
    series_.phases[i].set(static_cast<double>(phases_[i]));
  series_.ready.set(static_cast<double>(phases_[phase_index("Ready")]));
  series_.error.set(static_cast<double>(phases_[phase_index("Error")]));
}

void tenant_cluster::remember(const key_type& key, std::optional<tenant_plan> p) {
  ++revision_;
  const auto count = [&](const tenant_plan& of, int by) {
    const auto add = [by](units::row_figures::counts& all, std::string_view what) {
      std::size_t& n = all[std::string(what)];
      n += static_cast<std::size_t>(by);
      if (n == 0) all.erase(std::string(what));
    };
    add(states_, state_of(of));
    if (of.hold) add(held_, units::kind_in(of.hold->code));
  };
  memory* m = find(key);
  if (m && m->last) count(*m->last, -1);
  if (m) m->last.reset();
  if (p && m) {
    count(*p, +1);
    m->last = std::move(p);
    const tenant* t = tenants_.find(key);
    if (t) count_phase(key, phase_index(t->status.phase));
  } else {
    count_phase(key, std::nullopt);
  }
  if (!figures_) return;
  const std::string row = options_.wanted()->all.chart.name;
  if (!row_.empty() && (row_ != row || states_.empty())) figures_->forget(std::exchange(row_, {}));
  if (states_.empty()) return;
  figures_->show(row, states_, held_);
  row_ = row;
}

awaitable<k8s::result<k8s::next>> tenant_cluster::reconcile(key_type key) {
  const reactor::steady_time began = on_.loop().now();
  auto ended = co_await pass(key);
  series_.pass_seconds.observe(seconds(on_.loop().now() - began));
  series_.depth.set(static_cast<double>(controller_.depth()));
  reactor::metric_labels labels;
  labels["api"] = api_name;
  labels["result"] = ended ? "success" : "failure";
  count(tenant_metrics::reconciles, std::move(labels));
  co_return ended;
}

void tenant_cluster::count(const reactor::metric_kind& kind, reactor::metric_labels labels) {
  if (!options_.metrics) return;
  labels["cluster"] = on_.on().name();
  options_.metrics->get_counter(kind, std::move(labels)).add();
}

void tenant_cluster::count_operation(std::string_view what, std::string_view outcome) {
  reactor::metric_labels labels;
  labels["operation"] = what;
  labels["result"] = outcome;
  count(tenant_metrics::operations, std::move(labels));
}

void tenant_cluster::log(reactor::log_level level, std::string_view line, const tenant& about,
                         const std::string& why) const {
  const std::string name = about.meta.name.str();
  const reactor::logger to =
      on_.log().with({{"tenant", about.meta.key().text()},
                      {"release", names::release_name(name, on_.on().name())},
                      {"workspace", about.workload_namespace()}});
  if (why.empty())
    to.write(level, line, {});
  else
    to.write(level, line, {{"why", why}});
}

awaitable<tenant_cluster::said> tenant_cluster::say(key_type key, tenant about, transition what,
                                                    std::string message, std::string applied_chart,
                                                    std::optional<k8s::condition> plan) {
  const auto wanted = options_.wanted();
  const std::string cluster = on_.on().name();
  status_change turn;
  turn.cluster = cluster;
  turn.what = what;
  turn.message = message;
  turn.applied_chart = applied_chart;
  turn.plan = plan;
  turn.skip = wanted->all.skip;
  turn.known = options_.known;
  tenant before = about;
  auto patch_of = telling(about, std::move(turn), loop_.wall());
  written_tenant end = co_await writes_.set_status(std::move(about), std::move(patch_of));
  said out;
  memory* m = find(key);
  if (end.is == written_tenant::end::failed) {
    if (m)
      m->unsaved = kept_tenants::extra::unsaid{what, std::move(message), std::move(applied_chart),
                                               std::move(plan)};
    tell(before, tenant_event::status_update_failed, end.why);
    out.well = false;
    co_return out;
  }
  if (m) m->unsaved.reset();
  if (end.is == written_tenant::end::written && end.now &&
      phase_changed(before.status, end.now->status))
    tell(*end.now, tenant_event::phase_set, end.now->status.phase);
  out.now = std::move(end.now);
  co_return out;
}

void tenant_cluster::describe(boost::json::object& entry) const {
  boost::json::object tenants;
  for (std::size_t i = 0; i < phase_names.size(); ++i) tenants[phase_names[i]] = phases_[i];
  entry[api_name] = std::move(tenants);
}

units::unit tenant_cluster::shown(const tenant& t, const tenant_plan& p,
                                  const std::string& chart) const {
  units::unit u;
  u.name = t.meta.name.str();  // as its release: of several with one name one acts
  const units::hold* waits = p.waits();
  if (waits && waits->code == hold_code::conflict.code) u.name += "." + t.meta.ns.str();
  u.state = t.status.phase.empty() ? "Pending" : t.status.phase;
  const bool wrong = u.state == "Error" || (waits && waits->code == hold_code::drifted.code);
  const bool done = p.action == "skip";
  u.is = wrong ? units::standing::trouble : done ? units::standing::done : units::standing::moving;
  u.message = t.status.last_message;
  const std::string to = reactor::redact(chart);
  const bool same = p.action == "skip" || p.action == "none";
  std::string step = same ? std::string() : std::string(p.action);
  if (p.action == "install" || p.action == "upgrade")
    step += (p.from.empty() ? std::string() : " " + p.from) + " → " + to;
  u.details = {
      {.key = "step", .value = std::move(step)},
      {.key = "action", .value = std::string(p.action), .column = "ACTION", .label = "action"},
      {.key = "from", .value = p.from, .column = "FROM", .label = "from"},
      {.key = "to", .value = to, .label = "to"},
      {.key = "release", .value = p.release, .label = "release"},
      {.key = "tenant", .value = t.meta.key().text(), .label = "tenant"},
      {.key = "namespace", .value = t.meta.ns.str(), .label = "namespace"},
  };
  return u;
}

awaitable<std::vector<plan_row>> tenant_cluster::overview() {
  const reactor::gate::visit here(overviews_);
  co_return co_await look_at_all();
}

awaitable<std::vector<plan_row>> tenant_cluster::look_at_all() {
  std::vector<key_type> keys;
  tenants_.objects().each([&](const tenant& t) { keys.push_back(t.meta.key()); });
  std::ranges::sort(keys);
  const auto wanted = options_.wanted();
  // Without a word about the chart the service at work knows it, and what it does about it.
  const bool asks = options_.does == units::mode::look && !wanted->all.chart_is_said;
  std::string chart = asks ? std::string() : wanted->all.chart.text();
  std::vector<std::optional<tenant_plan>> plans(keys.size());
  if (options_.does == units::mode::act) {
    for (std::size_t i = 0; i < keys.size(); ++i)
      if (const memory* m = find(keys[i])) plans[i] = m->last;
  } else {
    gate_.reset();  // a command that looks lets nothing in
    const auto look = [&](std::size_t i) -> awaitable<void> {
      const tenant* t = tenants_.find(keys[i]);
      const bool ours = t && concern_of(*t, world_of(*t)) == concern::ours;
      if (asks && ours) {
        if (auto seen = plan_published_on(*t, on_.on().name())) {
          chart = std::move(seen->chart);
          plans[i] = std::move(seen->plan);
        } else {
          plans[i] = unknown_plan(*t, on_.on().name());
        }
        co_return;
      }
      if (!t) co_return;
      tenant about = *t;
      auto g = co_await gather(keys[i], std::move(about), ask::server);
      if (g && concern_of(*g->is.object, g->is) == concern::ours) plans[i] = plan_for(*g);
    };
    co_await reactor::side_by_side(keys.size(), look, looks_at_once);
  }
  plan_row row;
  row.name = chart.empty() ? "unknown" : chart_name_in(chart);
  row.target = reactor::redact(chart);
  row.capacity = wanted->all.per_cluster;
  row.occupied = operations_;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const tenant* t = tenants_.find(keys[i]);
    if (!t || !plans[i]) continue;
    const tenant_plan& p = *plans[i];
    units::unit u = shown(*t, p, chart);
    units::add_problems(row.problems, tenant_conditions, conditions_about(*t, on_.on().name()),
                        u.name);
    if (row.notes.empty() && is_of_the_original(*t, on_.on().name()))
      row.notes = wanted->all.unlike_krypton;
    row.updated += u.is == units::standing::done;
    row.updating += u.is == units::standing::moving;
    row.degraded += u.is == units::standing::trouble;
    if (const units::hold* waits = p.waits()) {
      units::hold h = *waits;
      h.unit = u.name;
      row.forecast.push_back(h);
      if (p.hold) row.holds.push_back(std::move(h));
    } else if (p.next != step::none) {
      row.start.push_back(u.name);
      row.actions.push_back({std::string(p.action == "none" ? name_of(p.next) : p.action), u.name});
    }
    row.units.push_back(std::move(u));
  }
  std::vector<plan_row> rows;
  if (!row.units.empty()) rows.push_back(std::move(row));
  co_return rows;
}

}  // namespace helm::tenants
