// One seed of FleetCharts from their first install to the verdict: what people do to them and the
// checks at rest need the same fleet and judge, so they stay beside one another.
#include "simulation/commands/simulate/trial_charts.hpp"

#include "fleetwide/charts/api.hpp"
#include "fleetwide/fleet_home.hpp"
#include "fleetwide/kinds/fleet_chart.hpp"
#include "k8s/fleet/cluster.hpp"
#include "k8s/informer/view.hpp"
#include "policies/host/host.hpp"
#include "reactor/loop.hpp"
#include "reactor/net/memory_network.hpp"
#include "service/service.hpp"
#include "simulation/brake_invariants.hpp"
#include "simulation/charts/chart_fleet.hpp"
#include "simulation/charts/chart_invariants.hpp"
#include "simulation/commands/simulate/disturbances.hpp"
#include "simulation/speed_invariants.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace cli::simulate {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;
using simulation::chart_kind;
using simulation::trouble;

constexpr std::size_t tail_of_charts = 60, plans_tried = 3;
constexpr std::string_view fleet_group = "fleet.windlass.dev", charts_plural = "fleetcharts",
                           own_ns = "default", guest_ns = "team", levels_map = "levels";
/// A service needs that long to count a cluster as reached again after a trouble: connections back
/// off, and one that was lost is away after a minute.
constexpr reactor::nanoseconds heard_again_within = 4min, longest_step = 12s,
                               rest_of_charts = 10min, charts_braked_for = 2min;

std::vector<simulation::chart_fleet::place> labelled_places(const simulation::fleet_plan& fleet) {
  std::vector<simulation::chart_fleet::place> out;
  for (std::size_t i = 0; i < fleet.clusters.size(); ++i) {
    simulation::chart_fleet::place p{fleet.clusters[i].name, fleet.clusters[i].labels};
    const std::size_t of_five = i % 5;
    if (of_five < 3) p.labels.emplace("ring", of_five == 0 ? "canary" : "early");
    p.labels.emplace("region", i % 2 ? "us" : "eu");
    out.push_back(std::move(p));
  }
  return out;
}

std::vector<simulation::chart_invariants::place> places_of(
    const std::vector<simulation::chart_fleet::place>& all) {
  std::vector<simulation::chart_invariants::place> out;
  for (const auto& p : all) out.push_back({p.name, p.labels});
  return out;
}

/// Members  more than twenty: the fleet, the service on it, what disturbs both and who judges them.
class chart_trial {
public:
  explicit chart_trial(trial t)
      : trial_(std::move(t)),
        loop_(reactor::loop::mode::simulated, trial_.seed),
        capture_(std::make_shared<reactor::log_capture>(tail_of_charts)),
        log_([this] { return loop_.wall(); }, capture_, reactor::log_level::info),
        places_(labelled_places(trial_.fleet)),
        checks_(places_of(places_), [this] { return loop_.now(); }),
        brake_checks_([this] { return loop_.now(); }),
        speed_checks_(trial_.max_changes, [this] { return loop_.now(); }),
        disturbed_until_(places_.size()),
        tasks_(loop_),
        watch_(loop_) {
    if (trial_.seed % 3 == 0) loop_.set_longest_job(30ms);
    const simulation::troubles known{
        trouble::cut,          trouble::half_open,   trouble::split,
        trouble::conflict,     trouble::gone,        trouble::throttled,
        trouble::failing,      trouble::stale_lists, trouble::restarts,
        trouble::lost_events,  trouble::crashes,     trouble::dead_clusters,
        trouble::departures,   trouble::credentials, trouble::chart_repository,
        trouble::release_edits};
    std::erase_if(trial_.fleet.faults, [&](trouble f) { return !known.contains(f); });
  }

  trial_outcome go() {
    world_ = std::make_unique<simulation::chart_fleet>(loop_, places_);
    const reactor::steady_time began = loop_.now();
    tasks_.start("trial", live());
    loop_.run();
    out_.seed = trial_.seed;
    out_.simulated = loop_.now() - began;
    out_.trace = world_->trace_hash();
    out_.writes = world_->writes();
    out_.disturbed_answers = disturbed_.answers();
    for (const std::string& v : checks_.violations()) out_.violations.push_back(v);
    for (const std::string& v : brake_checks_.violations()) out_.violations.push_back(v);
    for (const std::string& v : speed_checks_.violations()) out_.violations.push_back(v);
    out_.began = speed_checks_.seen();
    world_.reset();
    const reactor::live_counts alive = loop_.live();
    out_.left_alive = alive.tasks + alive.streams + alive.waits;
    if (!out_.is_good())
      for (const reactor::log_record& r : capture_->records())
        out_.tail += reactor::format_console(r, false) + "\n";
    return std::move(out_);
  }

private:
  /// A FleetChart as a person has written it.
  struct asked {
    std::string ns, name, chart;
    json::object spec;
    bool has_tests = false;
    std::size_t made = 1;  // versions of its chart
  };

  bool has(trouble t) const { return trial_.fleet.faults.contains(t); }
  bool happens(double share) { return loop_.random().fraction() < share; }
  std::size_t below(std::size_t n) { return loop_.random().between(std::uint64_t{0}, n - 1); }
  k8s::sim::api_server& home() { return world_->home_api(); }

  reactor::awaitable<void> live() {
    if (auto started = world_->start(); !started) {
      out_.violations.push_back(started.error().message());
      co_return;
    }
    home().on_write = [this](const k8s::sim::written& w) { checks_.saw_home(w); };
    world_->on_write = [this](std::size_t of, const k8s::sim::written& w) {
      checks_.saw(of, w);
      if (trial_.brake_at > 0) brake_checks_.saw(places_[of].name, w);
      if (trial_.max_changes.any()) speed_checks_.saw(places_[of].name, w);
      if (rolls_out_ && ++out_.rollout_writes == trial_.brake_at) brake();
      if (crash_at_ > 0 && --crash_at_ == 0) crash_.set();
    };
    home().before = [this](const k8s::sim::request&) { return silence(); };
    for (const auto& c : world_->clusters())
      c->api().before = [this](const k8s::sim::request& r) {
        auto none = silence();
        return none || is_calm_ ? std::move(none) : disturbed_.answer(r);
      };
    found_fleet();
    const bool up = co_await start_windlass();
    if (up) co_await tell();
    // Also where it gave up: what watches would keep virtual time going for ever.
    co_await watch_->cancel_and_join();
    world_->on_write = nullptr;
    home().on_write = nullptr;
    if (windlass_) count(windlass_->packs(), out_.asked);
    if (windlass_) co_await windlass_->stop();
    windlass_.reset();
    co_await world_->stop();
  }

  reactor::awaitable<void> tell() {
    co_await arrive("in the beginning");
    if (trial_.brake_at > 0 || trial_.max_changes.any()) {
      co_await roll_out();
      co_return;
    }
    const reactor::steady_time began = loop_.now();
    co_await be_disturbed();
    mend();
    co_await arrive("after the troubles");
    if (out_.unfinished.empty()) out_.took = loop_.now() - began;
    out_.settled_clusters = out_.unfinished.empty() ? places_.size() : 0;
    for (std::size_t i = 0; i < plans_tried && out_.unfinished.empty(); ++i)
      co_await try_plan_and_undo();
    if (out_.unfinished.empty()) co_await try_rest();
    out_.releases = {checks_.places(), checks_.arrived()};
  }

  // -- the fleet

  void found_fleet() {
    for (const std::string_view ns : {own_ns, guest_ns})
      home().put({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", ns}}}});
    say_levels("info", "warn");
    json::object selector, spec, clusters;
    selector["matchLabels"] = json::object{{"region", "eu"}};
    clusters["selector"] = std::move(selector);
    spec["namespaces"] = json::array{json::string(guest_ns)};
    spec["kinds"] = json::array{"FleetChart"};
    spec["targetNamespaces"] = json::array{"team-apps"};
    spec["clusters"] = std::move(clusters);
    home().put({{"apiVersion", "fleet.windlass.dev/v1alpha1"},
                {"kind", "FleetGrant"},
                {"metadata", {{"name", "team"}, {"namespace", own_ns}}},
                {"spec", std::move(spec)}});
    for (std::size_t i = 0; i < trial_.fleet.charts; ++i) all_.push_back(made(i));
    // The younger of two that claim one release.
    if (all_.size() > 2) {
      asked rival = all_.front();
      rival.name = "rival";
      rival.spec["release"] = all_.front().name;
      rival.spec["dependsOn"] = json::array();
      all_.push_back(std::move(rival));
    }
    for (const asked& a : all_) {
      world_->shelf().put(a.chart, "1.0.0", a.has_tests ? chart_kind::tested : chart_kind::plain);
      write(a);
    }
  }

  asked made(std::size_t i) {
    asked a;
    a.ns = i % 5 == 4 ? guest_ns : own_ns;
    a.name = "app-" + std::to_string(i);
    a.chart = a.name;
    a.has_tests = happens(0.3);
    json::object rollout;
    if (happens(0.7))
      rollout["waves"] =
          json::object{{"label", "ring"}, {"values", json::array{"canary", "early"}}};
    if (happens(0.5))
      rollout["maxClusters"] = 1 + below(3);
    else
      rollout["maxClusters"] = "50%";
    rollout["soak"] = happens(0.5) ? "30s" : "0s";
    rollout["maxFailures"] = below(2);
    rollout["onFailure"] = happens(0.5) ? "Return" : "Halt";
    a.spec["clusters"] = everywhere();
    a.spec["chart"] = json::object{{"repository", "http://" + std::string(shelf_host)},
                                   {"name", a.chart},
                                   {"version", "1.0.0"}};
    a.spec["namespace"] = a.ns == guest_ns ? "team-apps" : i % 2 ? "apps" : "base";
    a.spec["rollout"] = std::move(rollout);
    a.spec["drift"] = std::array{"Report", "Repair", "Ignore"}[below(3)];
    a.spec["uninstall"] = happens(0.5) ? "Delete" : "Orphan";
    a.spec["timeout"] = "2m";
    if (a.has_tests) a.spec["test"] = true;
    if (happens(0.2)) a.spec["atomic"] = true;
    if (a.ns == own_ns && happens(0.5)) {
      json::object from{{"kind", "ConfigMap"}, {"name", levels_map}, {"key", "{region}.yaml"}};
      a.spec["valuesFrom"] = json::array{std::move(from)};
    } else if (happens(0.5)) {
      a.spec["values"] = json::object{{"level", "debug"}};
    }
    json::array needs;
    for (int tries = 0; tries < 2 && i > 0; ++tries) {
      const asked& other = all_[below(i)];
      const bool is_known = std::ranges::find(needs, json::value(other.name)) != needs.end();
      if (other.ns == a.ns && !is_known && happens(0.4)) needs.emplace_back(other.name);
    }
    a.spec["dependsOn"] = std::move(needs);
    return a;
  }

  static json::object everywhere() {
    json::object clusters;
    clusters["selector"] = json::object();
    return clusters;
  }

  static json::object object_of(const asked& a) {
    return {{"apiVersion", "fleet.windlass.dev/v1alpha1"},
            {"kind", "FleetChart"},
            {"metadata", {{"name", a.name}, {"namespace", a.ns}}},
            {"spec", a.spec}};
  }

  void write(const asked& a) {
    checks_.by_person([&] {
      if (home().get(std::string(fleet_group), std::string(charts_plural), a.ns, a.name))
        home().edit(std::string(fleet_group), std::string(charts_plural), a.ns, a.name,
                    [&](json::object& o) { o["spec"] = a.spec; });
      else
        home().put(object_of(a));
    });
  }

  void annotate(const asked& a, std::string_view key, const std::string& value) {
    checks_.by_person([&] {
      home().edit(std::string(fleet_group), std::string(charts_plural), a.ns, a.name,
                  [&](json::object& o) {
                    json::value& all = o["metadata"].as_object()["annotations"];
                    if (!all.is_object()) all.emplace_object();
                    all.get_object()[key] = value;
                  });
    });
  }

  void say_levels(const std::string& eu, const std::string& us) {
    checks_.by_person([&] {
      home().put(
          {{"apiVersion", "v1"},
           {"kind", "ConfigMap"},
           {"metadata", {{"name", levels_map}, {"namespace", own_ns}}},
           {"data", {{"eu.yaml", "level: " + eu + "\n"}, {"us.yaml", "level: " + us + "\n"}}}});
    });
  }

  void say_brake(bool is_on) {
    checks_.by_person([&] {
      json::object o{{"apiVersion", "v1"}, {"kind", "ConfigMap"}};
      o["metadata"] = json::object{{"name", units::brake_object}, {"namespace", own_ns}};
      o["data"] = json::object{{"state", is_on ? "on" : "off"}, {"why", "a trial"}};
      home().put(std::move(o));
    });
    checks_.brakes(is_on);
    if (is_on)
      brake_checks_.landed();
    else
      brake_checks_.lifted();
  }
  void brake() {
    out_.braked = is_braked_ = true;
    say_brake(true);
    watch_->start("brake", lift_brake());
  }

  /// Another version of its chart; which one, good or bad.
  void ask_for_version(asked& a, bool is_good) {
    const std::string version = "1." + std::to_string(a.made++) + ".0";
    chart_kind kind = a.has_tests ? chart_kind::tested : chart_kind::plain;
    if (!is_good) kind = a.has_tests ? chart_kind::failing_test : chart_kind::failing;
    if (!is_good && a.ns == guest_ns) kind = chart_kind::reaching_out;
    world_->shelf().put(a.chart, version, kind);
    a.spec["chart"].as_object()["version"] = version;
    for (asked& other : all_)
      if (other.chart == a.chart) other.made = a.made;
  }

  void ask_for_next_versions() {
    for (asked& a : all_) {
      ask_for_version(a, true);
      write(a);
    }
  }

  // -- troubles

  std::optional<k8s::sim::answer> silence() const {
    if (!is_dead_) return std::nullopt;
    k8s::sim::answer none;
    none.drop = true;
    return none;
  }

  void begin_trouble() {
    is_calm_ = trial_.fleet.faults.empty();
    reactor::memory_network& net = reactor::memory_network::of(loop_);
    if (has(trouble::cut) || has(trouble::half_open) || has(trouble::split))
      net.on_connect = [this](const reactor::endpoint&, reactor::link_faults& f) {
        disturbed_.spoil(f);
      };
    if (!is_calm_) watch_->start("reach", watch_reach());
    if (has(trouble::crashes)) watch_->start("crashes", crash_on_writes());
  }

  reactor::awaitable<void> be_disturbed() {
    begin_trouble();
    const reactor::steady_time calm = loop_.now() + trial_.fleet.disturbed_for;
    while (loop_.now() < calm) {
      co_await loop_.sleep_for(loop_.random().between(1s, longest_step));
      act();
      if (!trial_.fleet.faults.empty() && happens(0.5)) co_await cause_trouble();
    }
    co_await end_trouble();
  }

  reactor::awaitable<void> end_trouble() {
    ends_ = true;
    while (is_restarting_) co_await loop_.sleep_for(1s);
    crash_at_ = 0;
    is_calm_ = true;
    reactor::memory_network& net = reactor::memory_network::of(loop_);
    net.on_connect = nullptr;
    if (!trial_.fleet.faults.empty()) net.cut_everything();
  }

  /// Another version of every chart. No person does anything until all clusters have it, but for
  /// one more version after troubles: what failed in them is halted, or taken back.
  reactor::awaitable<void> roll_out() {
    rolls_out_ = true;
    ask_for_next_versions();
    if (!trial_.fleet.faults.empty()) {
      begin_trouble();
      co_await loop_.sleep_for(trial_.fleet.disturbed_for);
      co_await end_trouble();
      ask_for_next_versions();
    }
    co_await arrive("after the rollout");
    if (out_.unfinished.empty()) out_.settled_clusters = places_.size();
    out_.releases = {checks_.places(), checks_.arrived()};
  }

  /// A person does something at home.
  void act() {
    asked& a = all_[below(all_.size())];
    switch (below(8)) {
      case 0:
      case 1:
      case 2: ask_for_version(a, happens(0.7)); break;
      case 3: a.spec["values"] = json::object{{"level", "l" + std::to_string(below(4))}}; break;
      case 4: return say_levels("l" + std::to_string(below(4)), "l" + std::to_string(below(4)));
      case 5: a.spec["paused"] = happens(0.5); break;
      case 6: {
        if (happens(0.5)) return annotate(a, "fleet.windlass.dev/retry", now_text());
        json::object selector{{"matchLabels", json::object{{"region", "eu"}}}};
        json::object some;
        some["selector"] = std::move(selector);
        a.spec["clusters"] = happens(0.5) ? everywhere() : std::move(some);
        break;
      }
      default:
        if (!is_braked_) brake();
        return;
    }
    write(a);
  }

  std::string now_text() { return reactor::format_rfc3339(loop_.wall()); }

  reactor::awaitable<void> lift_brake() {
    co_await loop_.sleep_for(loop_.random().between(5s, charts_braked_for));
    say_brake(false);
    is_braked_ = false;
  }

  reactor::awaitable<void> cause_trouble() {
    const std::size_t of = below(places_.size());
    auto which = trial_.fleet.faults.begin();
    std::advance(which, static_cast<std::ptrdiff_t>(below(trial_.fleet.faults.size())));
    const trouble now = *which;
    using reach = reactor::memory_network::reach;
    switch (now) {
      case trouble::crashes: co_await crash(); co_return;
      case trouble::release_edits: edit_release(of); co_return;
      case trouble::chart_repository: {
        reactor::memory_network& net = reactor::memory_network::of(loop_);
        const std::string host(shelf_host);
        if (happens(0.5))
          net.cut_all(host);
        else
          net.set_reach(host, reach::blackhole);
        co_await loop_.sleep_for(loop_.random().between(1s, 40s));
        net.set_reach(host, reach::open);
        co_return;
      }
      default: break;
    }
    disturbed_until_[of] = reactor::never;
    checks_.loses(of);
    (void)co_await disturbed_.cause(now, *world_, of);
    disturbed_until_[of] = loop_.now() + heard_again_within;
  }

  /// Clusters that were disturbed count again once a service must have noticed that they are back.
  reactor::awaitable<void> watch_reach() {
    for (;;) {
      if (!is_calm_) home_disturbed_until_ = loop_.now() + heard_again_within;
      checks_.reaches_home(loop_.now() >= home_disturbed_until_);
      for (std::size_t i = 0; i < places_.size(); ++i)
        is_calm_&& loop_.now() >= disturbed_until_[i] ? checks_.reaches(i) : checks_.loses(i);
      co_await loop_.sleep_for(1s);
    }
  }

  /// As people do with kubectl and helm.
  void edit_release(std::size_t of) {
    const asked& a = all_[below(all_.size())];
    k8s::sim::api_server& api = world_->clusters()[of]->api();
    const std::string ns(a.spec.at("namespace").as_string());
    std::vector<std::string> records;
    for (const json::object& o : api.list("", "secrets")) {
      const json::object& metadata = o.at("metadata").as_object();
      const std::string name(metadata.at("name").as_string());
      if (metadata.at("namespace") == json::string(ns) &&
          name.starts_with("sh.helm.release.v1." + a.name + ".v"))
        records.push_back(name);
    }
    if (records.empty()) return;
    checks_.by_person([&] {
      switch (below(3)) {
        case 0: (void)api.erase("", "secrets", ns, records.back()); return;
        case 1:
          for (const std::string& name : records) (void)api.erase("", "secrets", ns, name);
          (void)api.erase("", "configmaps", ns, a.name);
          return;
        default:
          if (api.get("", "configmaps", ns, a.name))
            api.edit("", "configmaps", ns, a.name,
                     [](json::object& o) { o["data"].as_object()["level"] = "mine"; });
      }
    });
  }

  /// Right after some write, before its answer arrives.
  reactor::awaitable<void> crash_on_writes() {
    while (!ends_) {
      crash_.reset();
      crash_at_ = loop_.random().between(std::uint64_t{1}, std::uint64_t{80});
      (void)co_await crash_.wait();
      if (!ends_) co_await crash();
    }
  }

  /// The good end of it: all clusters, no brake, and a version that works.
  void mend() {
    say_brake(false);
    say_levels("info", "warn");
    for (asked& a : all_) {
      ask_for_version(a, true);
      a.spec["paused"] = false;
      a.spec["clusters"] = everywhere();
      write(a);
    }
  }

  // -- at rest

  reactor::awaitable<void> arrive(std::string when) {
    const reactor::steady_time give_up = loop_.now() + trial_.fleet.patience;
    for (;;) {
      if (checks_.arrived() == checks_.places()) break;
      if (loop_.now() >= give_up) {
        out_.unfinished = std::move(when) + ": " + checks_.unfinished() + holds_at_home();
        co_return;
      }
      co_await loop_.sleep_for(5s);
    }
    co_await loop_.sleep_for(rest_of_charts);  // statuses, soaks, and what troubles left behind
    co_await watch_->cancel_and_join();
    watch_.emplace(loop_);  // a group that was cancelled starts nothing any more
    for (std::size_t i = 0; i < places_.size(); ++i) checks_.reaches(i);
    checks_.reaches_home(true);
  }

  /// What `plan -f` says of an edit begins when it is made; the spec put back puts all back.
  reactor::awaitable<void> try_plan_and_undo() {
    const std::size_t which = below(trial_.fleet.charts);
    const std::string id = all_[which].ns + "/" + all_[which].name;
    const std::string before = checks_.releases_of(id);
    const asked was = all_[which];
    const bool is_good = happens(0.6);
    ask_for_version(all_[which], is_good);
    std::set<std::string> first = co_await planned(all_[which]);
    if (!first.empty()) {
      ++out_.plans_kept;
      checks_.will_begin(id, std::move(first));
    }
    write(all_[which]);
    if (is_good)
      co_await arrive("after a new version");
    else
      co_await loop_.sleep_for(rest_of_charts);
    checks_.check_planned();
    if (!out_.unfinished.empty()) co_return;
    all_[which].spec = was.spec;
    write(all_[which]);
    co_await arrive("after an undo");
    if (!out_.unfinished.empty()) co_return;
    checks_.check_undone(id, before);
    ++out_.undone;
  }

  /// What the FleetCharts say themselves of clusters that wait.
  std::string holds_at_home() {
    std::string out;
    for (const json::object& o : world_->home_api().list("fleet.windlass.dev", "fleetcharts")) {
      const json::value* status = o.if_contains("status");
      const json::value* held = status ? status->as_object().if_contains("held") : nullptr;
      if (held && held->is_object() && !held->as_object().empty())
        out += "; " + std::string(o.at("metadata").at("name").as_string()) + " says " +
               json::serialize(*held);
    }
    return out;
  }

  /// The clusters on which it would begin, by a service that only looks.
  reactor::awaitable<std::set<std::string>> planned(asked a) {
    json::object o = object_of(a);
    json::object& metadata = o["metadata"].as_object();
    metadata["uid"] = "assumed";
    metadata["resourceVersion"] = "1";
    std::vector<fleetwide::fleet_object> assumed;
    auto read = k8s::parse_view<fleetwide::fleet_chart>(json::serialize(o));
    if (read) assumed.push_back(std::move(*read));
    service_options options = options_of(fleetwide::chart_settings());
    options.does = units::mode::look;
    auto looks = std::make_unique<service>(loop_, std::move(options), log_);
    std::set<std::string> out;
    auto started = co_await looks->start();
    std::vector<units::plan_row> rows;
    if (started) {
      const k8s::engagement* e = looks->home()->find(fleetwide::charts_api);
      for (int i = 0; i < 100 && !(e && e->is_live()); ++i) {
        co_await loop_.sleep_for(200ms);
        e = looks->home()->find(fleetwide::charts_api);
      }
      auto* part = dynamic_cast<fleetwide::fleet_home*>(e ? units::part_of(*e) : nullptr);
      if (part) {
        part->assume(std::move(assumed));
        rows = co_await part->overview();
      }
    } else {
      out_.violations.push_back("a service that looks does not start: " +
                                started.error().message());
    }
    for (const units::plan_row& r : rows)
      if (r.name == a.ns + "/" + a.name) out.insert(r.start.begin(), r.start.end());
    co_await looks->stop();
    co_return out;
  }

  /// A fleet that has all that is asked for costs no write, nor does a service that starts on it.
  reactor::awaitable<void> try_rest() {
    checks_.rests(true);
    co_await loop_.sleep_for(rest_of_charts);
    co_await end_windlass(ending::told);
    (void)co_await start_windlass();
    co_await loop_.sleep_for(rest_of_charts);
    checks_.rests(false);
  }

  // -- the service

  service_options options_of(fleetwide::chart_settings s) {
    service_options o;
    o.apis = {units::named(trial_.apis, fleetwide::charts_api)};
    o.apis.front().where_served = false;  // as --apis does
    fleetwide::set_up(o.apis.front(), std::move(s));
    o.hooks = hooks_;
    o.home = world_->home();
    if (!trial_.policies.empty()) o.policies.push_back(trial_.policies);
    o.packs_are_tested = is_tested_;
    o.max_changes = trial_.max_changes;
    o.policy_watch.poll = 10s;
    o.shelf = shelf_;
    return o;
  }

  reactor::awaitable<bool> start_windlass() {
    std::string problem;
    for (int tries = 0; tries < 200; ++tries) {
      service_options o = options_of({});
      checks_.saw_start();
      windlass_ = std::make_unique<service>(loop_, std::move(o), log_);
      auto started = co_await windlass_->start();
      is_tested_ = true;
      if (started) co_return true;
      problem = started.error().message();
      co_await windlass_->stop();
      co_await loop_.sleep_for(2s);
    }
    out_.violations.push_back("windlass does not start: " + problem);
    windlass_.reset();
    co_return false;
  }

  enum class ending { told, killed };
  reactor::awaitable<void> end_windlass(ending how) {
    if (!windlass_) co_return;
    is_dead_ = how == ending::killed;
    count(windlass_->packs(), out_.asked);
    co_await windlass_->stop();
    windlass_.reset();
    is_dead_ = false;
    const bool is_heard = is_calm_ || trial_.fleet.faults == simulation::troubles{trouble::crashes};
    if (how == ending::told && is_heard) checks_.saw_stop();
  }

  reactor::awaitable<void> crash() {
    if (std::exchange(is_restarting_, true)) co_return;
    ++out_.crashes;
    co_await end_windlass(happens(0.5) ? ending::killed : ending::told);
    co_await loop_.sleep_for(loop_.random().between(100ms, 20s));
    (void)co_await start_windlass();
    is_restarting_ = false;
  }

  static constexpr std::string_view shelf_host = simulation::chart_shelf::host;

  trial trial_;
  policies::shared_hooks hooks_ = units::hooks_of(trial_.apis);
  reactor::loop loop_;
  disturbances disturbed_{loop_, trial_.fleet.faults};
  std::shared_ptr<reactor::log_capture> capture_;
  reactor::logger log_;
  std::vector<simulation::chart_fleet::place> places_;
  std::unique_ptr<simulation::chart_fleet> world_;
  simulation::chart_invariants checks_;
  simulation::brake_invariants brake_checks_;
  simulation::speed_invariants speed_checks_;
  std::vector<asked> all_;
  std::unique_ptr<service> windlass_;
  trial_outcome out_;
  std::shared_ptr<policies::pack_shelf> shelf_ = std::make_shared<policies::pack_shelf>();
  std::vector<reactor::steady_time> disturbed_until_;
  reactor::steady_time home_disturbed_until_{};
  bool is_calm_ = true, is_dead_ = false, is_tested_ = false, is_restarting_ = false,
       is_braked_ = false, rolls_out_ = false, ends_ = false;
  std::uint64_t crash_at_ = 0;
  reactor::event crash_{loop_};
  reactor::task_group tasks_;
  std::optional<reactor::task_group> watch_;
};

}  // namespace

trial_outcome run_charts(trial t) {
  chart_trial one(std::move(t));
  return one.go();
}

}  // namespace cli::simulate
