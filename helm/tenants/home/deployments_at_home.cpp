#include "helm/tenants/home/deployments_at_home.hpp"

#include "helm/placed/until_live.hpp"
#include "helm/tenants/kinds/events.hpp"
#include "helm/tenants/kinds/log_lines.hpp"
#include "helm/tenants/kinds/metric_table.hpp"
#include "helm/tenants/kinds/names.hpp"
#include "helm/tenants/plan/tenant_status.hpp"
#include "helm/tenants/supply/chart_supply.hpp"
#include "k8s/client/client.hpp"
#include "k8s/client/discovery.hpp"
#include "k8s/client/events.hpp"
#include "reactor/loop.hpp"
#include "reactor/loop_slice.hpp"
#include "reactor/plain/secret.hpp"
#include "reactor/side_by_side.hpp"

#include <boost/json/object.hpp>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace helm::tenants {
namespace {

using namespace std::chrono_literals;

constexpr std::array<std::string_view, 3> deployment_phases = {"Ready", "Pending", "Error"};
constexpr reactor::nanoseconds all_looked_at_every = 1s, remember_again = 5s;

}  // namespace

deployments_at_home::keeper::options deployments_at_home::keeper_of(const options& o,
                                                                    const reactor::logger& log) {
  keeper::options out;
  out.words = {.api_version = names::api_version,
               .kind = names::deployment_kind,
               .reporter = names::deployment_component,
               .component = names::deployment_component,
               .field = "kryptondeployment",
               .deleting = names::deleting,
               .deletion_unmarked = "it cannot be marked as going",
               .namespace_made = log_line::namespace_made,
               .namespace_created = deployment_event::namespace_created,
               .record_doubted = deployment_event::not_noted,
               .failed = retry_cause::edge_operation};
  out.kind = krypton_deployment_resource();
  out.finalizer = names::deployment_cleanup;
  set_common_options(out, o, log);
  return out;
}

deployments_at_home::deployments_at_home(k8s::engagement& on, options o)
    : keeper(on.loop(), on.api(), keeper_of(o, on.log())),
      on_(on),
      options_(std::move(o)),
      objects_(on.loop(), on.api(), options_.wanted()->all.watch_namespaces, options_.limits,
               on.log()),
      places_(on.api(), options_.wanted()->all.notes_ns),
      overviews_(on.loop()),
      changed_(on.loop()),
      closing_(on.loop()) {
  if (options_.charts) options_.charts->enter();
  objects_.each_stream([&](watched_deployments::informer& one) {
    on.follow(one);
    one.add_index("name", [](const krypton_deployment& d, std::vector<k8s::interned>& values) {
      values.emplace_back(d.meta.name.str());
    });
    one.add_index("release", [](const krypton_deployment& d, std::vector<k8s::interned>& values) {
      values.emplace_back(names::deployment_release_name(d.meta.name.view()));
    });
    one.add_index("region", [ns = options_.wanted()->all.ns](const krypton_deployment& d,
                                                             std::vector<k8s::interned>& values) {
      values.emplace_back(noted_name(target_of(d, ns)));
      for (const std::string& noted : noted_targets(d)) values.emplace_back(noted);
    });
    one.on_change([this](const krypton_deployment* before, const krypton_deployment* now) {
      changed(before, now);
    });
  });
  if (options_.does == units::mode::look)
    objects_.start();
  else
    tasks_.start("KryptonDeployments", begin());
}

deployments_at_home::~deployments_at_home() = default;

awaitable<void> deployments_at_home::begin() {
  if (options_.kind == kind_on_cluster::ensured) {
    k8s::resource kind = krypton_deployment_resource();
    std::function<void(std::string)> at_first = [tell = options_.give_up](std::string why) mutable {
      if (auto once = std::exchange(tell, {})) once(std::move(why));
    };
    co_await until_kind_is_there(on_, std::move(kind), kind_absence_, options_.brake,
                                 std::move(at_first));
  }
  objects_.start();
  (void)co_await objects_.synced();
  co_await until_live(on_, on_.loop());
  co_await remember();
  controller_.start();
  // Both look at every object, so that many changes at once are one.
  for (;;) {
    changed_.reset();
    co_await show_phases();
    co_await let_regions_go();
    co_await on_.loop().sleep_for(all_looked_at_every);
    (void)co_await changed_.wait();
  }
}

awaitable<void> deployments_at_home::remember() {
  while (!remembers_) {
    auto loaded = co_await places_.load();
    remembers_ = loaded.has_value();
    if (remembers_) co_return;
    const bool refused = loaded.error().code == k8s::errc::forbidden;
    on_.log().warning(
        "where releases were put cannot be read",
        {{"namespace", options_.wanted()->all.notes_ns}, {"why", loaded.error().message()}});
    remembers_ = refused || options_.does == units::mode::look;  // and goes on without
    if (!remembers_) co_await on_.loop().sleep_for(remember_again);
  }
}

void deployments_at_home::say_unnoted(const k8s::result<void>& end,
                                      const krypton_deployment& about) const {
  if (!end)
    log(reactor::log_level::warning, "where its release is cannot be noted", about,
        end.error().message());
}

awaitable<void> deployments_at_home::note_place(const krypton_deployment& about,  // borrowed
                                                k8s::object_key target) {
  auto noted = co_await places_.add(about.meta.key(), about.meta.uid, std::move(target));
  say_unnoted(noted, about);
}

awaitable<void> deployments_at_home::stop() {
  stopping_ = true;
  if (options_.on_stop) options_.on_stop();
  co_await stop_keeping();
  co_await overviews_.empty();
  std::vector<std::unique_ptr<region>> leaving;
  for (auto& [secret, r] : regions_) leaving.push_back(std::move(r));
  regions_.clear();
  if (!leaving.empty())
    co_await reactor::side_by_side(
        leaving.size(), [&](std::size_t i) { return leaving[i]->stop(); }, leaving.size());
  co_await closing_.join();
  co_await objects_.stop();
  if (options_.charts) co_await options_.charts->leave();
}

awaitable<bool> deployments_at_home::synced(reactor::steady_time deadline) {
  if (options_.does == units::mode::look && options_.kind == kind_on_cluster::ensured) {
    k8s::resource wanted = krypton_deployment_resource();
    kind_absence_ = co_await look_for_kind(on_, std::move(wanted));
  }
  if (!kind_absence_.problem.empty()) co_return false;
  co_return co_await objects_.synced(deadline);
}

void deployments_at_home::reconsider() {
  ++revision_;
  objects_.each([&](const krypton_deployment& d) { controller_.add(d.meta.key()); });
}

void deployments_at_home::changed(const krypton_deployment* before, const krypton_deployment* now) {
  ++revision_;
  const key_type key = (now ? now : before)->meta.key();
  if (!now)  // who shared its name may have the namespace now
    objects_.each_by("name", before->meta.name.str(),
                     [&](const krypton_deployment& d) { controller_.add(d.meta.key()); });
  if (!before || !now || wakes(*before, *now)) controller_.add(key);
  changed_.set();
}

void deployments_at_home::forgotten(const key_type&) {
  ++revision_;
  changed_.set();
}

std::optional<region_visit> deployments_at_home::visit_to(const k8s::object_key& secret) {
  std::unique_ptr<region>& r = regions_[secret];
  if (!r) {
    region::options o;
    o.key = options_.wanted()->all.kubeconfig_key;
    o.field_manager = names::field_manager;
    o.limits = options_.limits;
    o.log = on_.log().with({{"region", secret.text()}});
    o.on_change = [this, secret] { region_changed(secret); };
    o.absence_pause = [this] { return absence_pause(); };
    if (options_.does == units::mode::act) {
      cluster_view::options watched;
      watched.records = records_of(options_.wanted()->all);
      watched.check_interval = options_.wanted()->all.check_interval;
      watched.namespace_changed = [this](std::string_view ns) {
        objects_.each_by("name", ns,
                         [&](const krypton_deployment& d) { controller_.add(d.meta.key()); });
      };
      watched.release_changed = [this](std::string_view, std::string_view release) {
        objects_.each_by("release", release,
                         [&](const krypton_deployment& d) { controller_.add(d.meta.key()); });
      };
      watched.untrusted = [this, secret] { ask_instead(secret); };
      o.watched = std::move(watched);
    }
    o.before_end = [this](const k8s::cluster& leaving) { return end_operations_on(leaving); };
    r = std::make_unique<region>(on_.loop(), on_.api(), secret, std::move(o));
  }
  const auto way = r->way();
  if (!way) return std::nullopt;
  visit out;
  out.secret = secret;
  out.edge = *way;
  out.at = r->connected();
  out.view = r->view();
  out.hash = r->hash();
  out.grant = r->grant();
  out.returns = r->returns();
  return out;
}

/// Up to so many regions, each Secret is watched whether it is there or not. Beyond them, Secrets
/// that are not there are asked for: 20 a second at most.
nanoseconds deployments_at_home::absence_pause() const {
  constexpr std::size_t watched_at_once = 64;
  constexpr nanoseconds shortest = 30s, of_each = 50ms;
  if (regions_.size() <= watched_at_once) return nanoseconds::zero();
  return std::max(shortest, of_each * static_cast<nanoseconds::rep>(regions_.size()));
}

/// Those that go there or were there; a region that comes and goes is nothing to the others.
void deployments_at_home::region_changed(const k8s::object_key& secret) {
  if (stopping_ || options_.does != units::mode::act) return;
  ++revision_;
  objects_.each_by("region", noted_name(secret),
                   [&](const krypton_deployment& d) { controller_.add(d.meta.key()); });
}

void deployments_at_home::ask_instead(const k8s::object_key& secret) {
  const auto& wanted = options_.wanted()->all;
  objects_.each_by("region", noted_name(secret), [&](const krypton_deployment& d) {
    memory* m = find(d.meta.key());
    if (m && target_of(d, wanted.ns) == secret && std::exchange(m->watched, false))
      controller_.add_after(d.meta.key(), next_check(wanted.check_interval, on_.loop().random()));
  });
}

std::vector<deployments_at_home::key_type> deployments_at_home::all_keys() const {
  std::vector<key_type> out;
  objects_.each([&](const krypton_deployment& d) { out.push_back(d.meta.key()); });
  return out;
}

bool deployments_at_home::is_named(const k8s::object_key& secret) const {
  const std::string ns = options_.wanted()->all.ns;
  bool found = false;
  objects_.each_by("region", noted_name(secret), [&](const krypton_deployment& d) {
    found = found || target_of(d, ns) == secret;
  });
  return found;
}

/// There may be ten thousand objects, each with a region of its own, so the loop is left between.
awaitable<void> deployments_at_home::let_regions_go() {
  std::set<k8s::object_key> used;  // beside those that objects name now
  for (const auto& [key, m] : known_)
    if (m.running) used.insert(m.running->to.secret);
  const std::vector<key_type> keys = all_keys();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (const krypton_deployment* d = find_object(keys[i]))
      for (k8s::object_key& one : former_targets(*d, {})) used.insert(std::move(one));
    if (reactor::loop_slice::is_over()) co_await reactor::loop_slice::yield();
  }
  std::vector<k8s::object_key> known;
  for (const auto& [secret, r] : regions_) known.push_back(secret);
  for (std::size_t i = 0; i < known.size(); ++i) {
    const auto it = regions_.find(known[i]);
    if (it != regions_.end() && !used.contains(known[i]) && !is_named(known[i])) {
      auto stop = [](std::unique_ptr<region> leaving) -> awaitable<void> {
        co_await leaving->stop();
      };
      closing_.start("leave region " + it->first.text(), stop(std::move(it->second)));
      regions_.erase(it);
    }
    if (reactor::loop_slice::is_over()) co_await reactor::loop_slice::yield();
  }
}

std::vector<k8s::object_key> deployments_at_home::former_targets(const krypton_deployment& d,
                                                                 const k8s::object_key& now) const {
  std::vector<k8s::object_key> out = places_.of(d.meta.key(), d.meta.uid);
  std::erase(out, now);
  return out;
}

void deployments_at_home::add_claimants(deployment_world& w, const visit& to) {
  const krypton_deployment& d = *w.object;
  objects_.each_by("name", d.meta.name.str(), [&](const krypton_deployment& other) {
    if (other.meta.key() == d.meta.key()) return;
    const k8s::object_key target = target_of(other, w.discovery_ns);
    bool same = target == to.secret;
    const auto there = regions_.find(target);
    if (!same && to.at && there != regions_.end())
      if (const auto& at = there->second->connected())
        same = at->api().server() == to.at->api().server() ||
               (!at->uid().empty() && at->uid() == to.at->uid());
    if (!same) return;
    names::owner_reference who{std::string(names::deployment_kind), other.meta.key()};
    w.others.push_back({std::move(who), other.created});
  });
  // The object that we made the namespace for has it while it exists, whatever its target is now
  // and whether or not we are let to see it.
  const auto named = names::read_owner(w.workspace.owner);
  if (!named || named->kind != names::deployment_kind || named->key == d.meta.key()) return;
  const krypton_deployment* owner = objects_.find(named->key);
  const auto& seen_in = options_.wanted()->all.watch_namespaces;
  const bool unseen =
      !seen_in.empty() && std::ranges::find(seen_in, named->key.ns) == seen_in.end();
  const auto is_named = [&](const claimant& c) { return c.who == *named; };
  if ((owner || unseen) && std::ranges::none_of(w.others, is_named))
    w.others.push_back({*named, owner ? owner->created : reactor::wall_time{}});
}

awaitable<k8s::result<k8s::next>> deployments_at_home::reconcile(key_type key) {
  auto ended = co_await pass(key);
  if (options_.metrics) {
    reactor::metric_labels labels;
    labels["api"] = deployments_api;
    labels["cluster"] = on_.on().name();
    labels["result"] = ended ? "success" : "failure";
    options_.metrics->get_counter(tenant_metrics::reconciles, std::move(labels)).add();
  }
  co_return ended;
}

awaitable<bool> deployments_at_home::say(krypton_deployment about, deployment_verdict is,
                                         std::string applied_chart) {
  auto patch_of = [is = std::move(is), applied = std::move(applied_chart),
                   this](const krypton_deployment& now) {
    return status_patch(now.status, status_after(now, is, applied, on_.loop().wall()),
                        now.meta.resource_version.text());
  };
  krypton_deployment before = about;
  auto end = co_await writes_.set_status(std::move(about), std::move(patch_of));
  if (end.is != write_end::failed) co_return true;
  log(reactor::log_level::warning, "status cannot be written", before, end.why);
  co_return false;
}

void deployments_at_home::tell_all(const krypton_deployment& about,
                                   const std::vector<told>& events) {
  memory* m = find(about.meta.key());
  for (const told& e : events) {
    tell(about, e.what, e.note);
    // Told once, and again when it changes.
    if (m && e.what.reason == deployment_event::account_validated.reason)
      m->account_told = about.account;
    if (m && e.what.reason == deployment_event::routing.reason)
      m->routing_told = target_of(about, options_.wanted()->all.ns);
  }
}

void deployments_at_home::cleaning_failed(const krypton_deployment& about) {
  memory* m = find(about.meta.key());
  if (m && about.meta.deleting() && m->cleaning_since == reactor::wall_time{})
    m->cleaning_since = on_.loop().wall();
}

void deployments_at_home::log(reactor::log_level level, std::string_view line,
                              const krypton_deployment& about, const std::string& why) const {
  const std::string name = about.meta.name.str();
  const reactor::logger to =
      on_.log().with({{"kryptondeployment", about.meta.key().text()},
                      {"release", names::deployment_release_name(name)},
                      {"region", target_of(about, options_.wanted()->all.ns).text()},
                      {"workspace", name}});
  if (why.empty())
    to.write(level, line, {});
  else
    to.write(level, line, {{"why", why}});
}

attempt_key deployments_at_home::attempt_of(const krypton_deployment& about, const visit& to,
                                            const desired_release& wanted) const {
  attempt_key out;
  out.generation = about.meta.generation;
  out.fingerprint = wanted.fingerprint;
  out.credentials = to.hash;
  out.connection = to.returns;
  out.asked = std::string(about.meta.annotations.get(names::retry));
  return out;
}

void deployments_at_home::count(const under_way& me, const deployment_plan&,
                                const std::string& failure, reactor::nanoseconds) {
  if (!options_.metrics) return;
  reactor::metric_labels labels;
  labels["cluster"] = me.to.secret.text();
  labels["operation"] = word_for(me.what);
  labels["result"] = failure.empty() ? "success" : "failure";
  options_.metrics->get_counter(tenant_metrics::operations, std::move(labels)).add();
}

awaitable<void> deployments_at_home::show_phases() {
  if (!options_.metrics || options_.does != units::mode::act) co_return;
  std::map<std::pair<std::string, std::string>, double> counts;
  for (const auto& was : shown_) counts[was] = 0;
  const std::string ns = options_.wanted()->all.ns;
  const std::vector<key_type> keys = all_keys();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (const krypton_deployment* d = find_object(keys[i]))
      ++counts[{std::string(phase_in(*d)), target_of(*d, ns).text()}];
    if (reactor::loop_slice::is_over()) co_await reactor::loop_slice::yield();
  }
  for (auto one = counts.begin(); one != counts.end(); ++one) {
    const auto& [of, n] = *one;
    reactor::metric_labels labels{{"phase", of.first}, {"region", of.second}};
    reactor::gauge series = options_.metrics->get_gauge(tenant_metrics::deployments, labels);
    if (n > 0) {
      series.set(n);
      shown_.insert(of);
    } else {
      options_.metrics->drop(tenant_metrics::deployments, labels, series);
      shown_.erase(of);
    }
    if (reactor::loop_slice::is_over()) co_await reactor::loop_slice::yield();
  }
}

void deployments_at_home::describe(boost::json::object& entry) const {
  boost::json::object all;
  for (const std::string_view phase : deployment_phases) all[phase] = 0;
  objects_.each([&](const krypton_deployment& d) {
    boost::json::value& n = all[phase_in(d)];
    n = n.is_int64() ? n.as_int64() + 1 : 1;
  });
  entry[deployments_api] = std::move(all);
}

}  // namespace helm::tenants
