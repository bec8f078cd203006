// One seed from its first fault to its verdict: the faults share the fleet that they are let loose
// on, so they stay beside what they break and what is counted.
#include "simulation/commands/simulate/trial.hpp"

#include "app/process.hpp"
#include "bootc/api.hpp"
#include "bootc/registry_settings.hpp"
#include "reactor/loop.hpp"
#include "reactor/net/memory_network.hpp"
#include "reactor/plain/thread_time.hpp"
#include "service/service.hpp"
#include "simulation/brake_invariants.hpp"
#include "simulation/commands/simulate/disturbances.hpp"
#include "simulation/commands/simulate/edits.hpp"
#include "simulation/commands/simulate/trial_charts.hpp"
#include "simulation/commands/simulate/trial_tenants.hpp"
#include "simulation/commands/simulate/trial_trustees.hpp"
#include "simulation/node_world.hpp"
#include "simulation/speed_invariants.hpp"
#include "simulation/tag_registry.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

namespace cli::simulate {
namespace {

using namespace std::chrono_literals;
using simulation::trouble;

/// A fallen host keeps its slot for good, so there must be another one.
constexpr double failing_share = 0.3, ill_share = 0.3, slow_share = 0.1;
/// How many trials begin with an image that some hosts do not boot, and with one that some of them
/// do not come back from. The others stage that one so slowly that most of them want a slot after
/// the pool has given those up.
constexpr double bad_image_share = 0.1, lost_reboot_share = 0.05, slow_stage = 120;
constexpr reactor::nanoseconds illness = 15min, rest = 2min, braked_for = 3min;
constexpr std::size_t tail_lines = 40;

constexpr reactor::nanoseconds longest_job = std::chrono::milliseconds(30);

/// Of the first argument that has it.
std::string text_field(const std::vector<policies::argument>& arguments, std::string_view field) {
  for (const policies::argument& a : arguments) {
    const policies::view* v = std::get_if<policies::view>(&a);
    if (!v || v->type->is != policies::view_type::form::record) continue;
    const auto found = v->type->find(v->object.get(), field);
    if (found && found->is == policies::slot::kind::text) return std::string(found->text);
  }
  return {};
}

/// How many may be disturbed at once.
std::size_t slots_of(const simulation::fleet_cluster& c) {
  const std::size_t n = std::strtoul(c.max_unavailable.c_str(), nullptr, 10);
  return c.max_unavailable.ends_with('%') ? (n * c.nodes + 99) / 100 : n;
}

/// A trial as it runs.
/// Members  more than twenty: the world, the service in it, what disturbs both and who judges them.
class running_trial {
public:
  explicit running_trial(trial t)
      : trial_(std::move(t)),
        loop_(reactor::loop::mode::simulated, trial_.seed),
        capture_(std::make_shared<reactor::log_capture>(tail_lines)),
        log_([this] { return loop_.wall(); }, capture_, reactor::log_level::info),
        crash_(loop_),
        crashes_(loop_),
        watch_(loop_),
        brake_checks_([this] { return loop_.now(); }),
        speed_checks_(trial_.max_changes, [this] { return loop_.now(); }),
        tasks_(loop_) {
    // In some trials what a worker does takes time, as on a machine, and may end after its caller
    // was cancelled; the others are where a missing rule shows soonest.
    if (trial_.seed % 3 == 0) loop_.set_longest_job(longest_job);
  }

  trial_outcome go() {
    simulation::node_world_options o;
    o.fleet = trial_.fleet.clusters;
    o.mishaps = false;
    o.managed_fields = false;
    o.stage_time = trial_.fleet.stage_time;
    o.reboot_time = trial_.fleet.reboot_time;
    world_ = std::make_unique<simulation::node_world>(loop_, o);
    if (simulation::with_registry(trial_.fleet.faults))
      registry_ = std::make_unique<simulation::tag_registry>(loop_);
    std::erase_if(trial_.fleet.faults,
                  [](trouble t) { return simulation::of_charts().contains(t); });
    join(tenants_, simulation::with_tenants(trial_.fleet), simulation::of_tenants());
    join(trustees_, simulation::with_trustees(trial_.fleet), simulation::of_trustees());
    const reactor::steady_time began = loop_.now();
    tasks_.start("trial", live());
    loop_.run();
    out_.seed = trial_.seed;
    out_.simulated = loop_.now() - began;
    out_.trace = world_->trace_hash();
    out_.writes = world_->writes();
    out_.reboots = world_->reboots();
    out_.most_disrupted = world_->max_disrupted();
    out_.disturbed_answers = disturbed_.answers();
    for (const auto& c : world_->clusters()) out_.moved_pods += c->moved_pods();
    for (std::string& v : world_->violations()) out_.violations.push_back(std::move(v));
    for (const workload* c : workloads_)
      for (const std::string& v : c->violations()) out_.violations.push_back(v);
    for (const std::string& v : brake_checks_.violations()) out_.violations.push_back(v);
    for (const std::string& v : speed_checks_.violations()) out_.violations.push_back(v);
    out_.began = speed_checks_.seen();
    const reactor::live_counts alive = loop_.live();
    out_.left_alive = alive.tasks + alive.streams + alive.waits;
    if (!out_.is_good())
      for (const reactor::log_record& r : capture_->records())
        out_.tail += reactor::format_console(r, false) + "\n";
    return std::move(out_);
  }

private:
  template <class Companion>
  void join(std::unique_ptr<Companion>& who, bool lives_here,
            const simulation::troubles& of_it_alone) {
    if (!lives_here)
      return (void)std::erase_if(trial_.fleet.faults,
                                 [&](trouble t) { return of_it_alone.contains(t); });
    who = std::make_unique<Companion>(loop_, *world_, trial_.fleet);
    workloads_.push_back(who.get());
  }
  bool has(trouble t) const { return trial_.fleet.faults.contains(t); }
  bool happens(double share) { return loop_.random().fraction() < share; }
  std::size_t below(std::size_t n) { return loop_.random().between(std::uint64_t{0}, n - 1); }

  reactor::awaitable<void> live() {
    if (auto started = world_->start(); !started) {
      out_.violations.push_back(started.error().message());
      co_return;
    }
    if (registry_ && !follow_tag()) {
      co_await stop_world();
      co_return;
    }
    world_->on_write = [this](std::size_t of, const k8s::sim::written& w) { saw_write(of, w); };
    for (workload* c : workloads_) {
      if (auto started = c->start(); !started) {
        out_.violations.push_back(started.error().message());
        co_await stop_world();
        co_return;
      }
    }
    out_.nodes = world_->node_count();
    for (const auto& c : world_->clusters())
      c->api().before = [this, &c = *c](const k8s::sim::request& r) {
        if (trial_.brake_at > 0) brake_checks_.saw_request(c.name(), r, c.api());
        if (trial_.max_changes.any()) speed_checks_.saw_request(c.name(), r, c.api());
        return disturb(r);
      };
    reactor::memory_network& net = reactor::memory_network::of(loop_);
    if (has(trouble::cut) || has(trouble::half_open) || has(trouble::split))
      net.on_connect = [this](const reactor::endpoint&, reactor::link_faults& f) {
        if (!quiet_) disturbed_.spoil(f);
      };
    calm_ = trial_.fleet.faults.empty();
    if (!trial_.editable.empty()) {
      auto ready = begin_edits(trial_.editable, trial_.policies);
      if (!ready) out_.violations.push_back(ready.error().message());
    }
    const bool up = co_await start_windlass();
    if (!up) {
      co_await stop_world();
      co_return;
    }
    if (!workloads_.empty()) watch_.start("what is reached", watch_reach());
    co_await loop_.sleep_for(30s);
    if (has(trouble::crashes)) crashes_.start("crashes", crash_on_writes());
    co_await try_bad_image();
    choose_weak_hosts();
    rolls_out_ = true;
    roll_out(simulation::new_image);
    bool by_settings = false;
    for (workload* c : workloads_)
      by_settings = c->roll_out() == workload::known_by::settings || by_settings;
    if (by_settings) co_await start_again();
    began_ = loop_.now();
    const reactor::steady_time calm = loop_.now() + trial_.fleet.disturbed_for;
    while (loop_.now() < calm && !trial_.fleet.faults.empty()) co_await cause_trouble();
    calm_ = true;
    for (workload* c : workloads_) c->calm();
    if (registry_) roll_out(simulation::new_image);
    net.on_connect = nullptr;
    // What was broken silently is noticed by probes; what is cut is noticed now.
    if (!trial_.fleet.faults.empty()) net.cut_everything();
    const reactor::steady_time give_up = loop_.now() + trial_.fleet.patience;
    while (!is_done() && loop_.now() < give_up) co_await loop_.sleep_for(1s);
    if (is_done()) out_.took = loop_.now() - began_;
    while (restarting_ || brake_checks_.is_on()) co_await loop_.sleep_for(1s);
    co_await crashes_.cancel_and_join();
    co_await loop_.sleep_for(rest);
    co_await watch_.cancel_and_join();
    out_.updated = world_->hosts_on(simulation::new_image);
    judge_end();
    world_->check_at_rest();
    for (workload* c : workloads_) c->check_at_rest();
    // What is on its way while it is looked at is no difference.
    for (int looks = 0; looks < 3 && (looks == 0 || !out_.divergent_caches.empty()); ++looks) {
      if (looks > 0) co_await loop_.sleep_for(5s);
      out_.divergent_caches.clear();
      co_await compare_caches();
    }
    world_->on_write = nullptr;
    count_questions();
    if (windlass_) co_await windlass_->stop();
    windlass_.reset();
    co_await stop_world();
  }

  reactor::awaitable<void> stop_world() {
    co_await world_->stop();
    for (workload* c : workloads_) co_await c->stop();
    if (registry_) co_await registry_->stop();
  }

  /// Sees what the service reaches, and what it has let go of.
  reactor::awaitable<void> watch_reach() {
    for (;;) {
      for (workload* c : workloads_) c->look_at(restarting_ ? nullptr : windlass_.get());
      co_await loop_.sleep_for(500ms);
    }
  }

  /// Pools name a tag, which names the image that they run, and a login.
  bool follow_tag() {
    if (auto started = registry_->start(); !started) {
      out_.violations.push_back(started.error().message());
      return false;
    }
    change_password();
    tell_password();
    world_->roll_out(registry_->ref());
    return true;
  }

  void roll_out(std::string_view image) {
    if (!registry_) return world_->roll_out(image);
    registry_->be(simulation::tag_registry::behaviour::well);
    registry_->move(image);
  }

  /// Before the good image, in some trials, one that two hosts of each cluster do not boot: they
  /// come back with the image before, or are away for an hour. A pool must stop, or take the others
  /// back if it is told to. That no other starts beside the two is for the invariants to say.
  reactor::awaitable<void> try_bad_image() {
    const bool falls_back = has(trouble::bad_images) && happens(bad_image_share);
    const bool stays_away = has(trouble::lost_reboots) && happens(lost_reboot_share);
    if (!falls_back && !stays_away) co_return;
    // What every node ran is what a pool can go back to.
    std::function<bool()> rests = [this] {
      return std::ranges::all_of(world_->pools(), [](const simulation::pool_cluster* c) {
        const auto p = c->pool_progress();
        return p.up_to_date == "AllUpdated" && p.nodes == c->options().nodes;
      });
    };
    co_await await_within_patience(std::move(rests));
    std::vector<bad_rollout> all;
    for (std::size_t i = 0; i < world_->pools().size(); ++i) {
      const simulation::fleet_cluster& c = trial_.fleet.clusters[i];
      bad_rollout& one = all.emplace_back();
      one.slots = slots_of(c);
      one.goes_back = one.slots >= 2 && happens(0.5);
      if (one.goes_back) world_->pools()[i]->set_on_failure("Return");
      const std::size_t first = below(c.nodes), second = (first + 1 + below(c.nodes - 1)) % c.nodes;
      for (std::size_t n = 0; n < c.nodes; ++n) {
        const bool is_bad = n == first || n == second;
        if (is_bad && !stays_away) world_->refuse(i, n, simulation::middle_image);
        if (is_bad && stays_away) world_->die_of(i, n, simulation::middle_image);
        if (!is_bad && stays_away) world_->stage_slowly(i, n, slow_stage);
      }
    }
    roll_out(simulation::middle_image);
    // What disturbs the service ends as it does in the rollout itself: an hour of it costs more
    // than all the rest, and finds nothing else.
    const reactor::steady_time quiet_at = loop_.now() + trial_.fleet.disturbed_for;
    std::function<bool()> settled = [this, &all, quiet_at] {
      quiet_ = loop_.now() >= quiet_at;
      for (std::size_t i = 0; i < all.size(); ++i)
        if (!has_settled(all[i], *world_->pools()[i])) return false;
      return true;
    };
    co_await await_within_patience(std::move(settled));
    quiet_ = false;
    for (std::size_t i = 0; i < all.size(); ++i) {
      simulation::pool_cluster& c = *world_->pools()[i];
      if (!has_settled(all[i], c)) judge_bad_rollout(all[i], c);
      if (all[i].goes_back) c.set_on_failure("Halt");
      for (std::size_t n = 0; stays_away && n < trial_.fleet.clusters[i].nodes; ++n) {
        if (!world_->survive(i, n, simulation::middle_image))
          world_->stage_slowly(i, n, 1 / slow_stage);
      }
    }
  }

  reactor::awaitable<void> await_within_patience(std::function<bool()> done) {
    const reactor::steady_time give_up = loop_.now() + trial_.fleet.patience;
    while (!done() && loop_.now() < give_up) co_await loop_.sleep_for(5s);
  }

  struct bad_rollout {
    std::size_t slots = 1;
    bool goes_back = false;
  };
  static bool is_digest_of(std::string_view digest, std::string_view image) {
    return !digest.empty() && image.ends_with(digest);
  }
  static bool has_settled(const bad_rollout& r, const simulation::pool_cluster& c) {
    const auto p = c.pool_progress();
    if (r.goes_back) return p.degraded == "RolloutReturned" && p.up_to_date == "AllUpdated";
    if (r.slots >= 2) return p.degraded == "RolloutHalted";
    return !c.checks().known_unhealthy().empty();
  }
  /// Nothing is wrong where a policy holds the others as soon as one of the two has failed, where
  /// all but the failed ones are back already, or where those that were away came back before the
  /// pool had to stop.
  void judge_bad_rollout(const bad_rollout& r, const simulation::pool_cluster& c) {
    const auto p = c.pool_progress();
    if (p.up_to_date == "AllUpdated" || p.degraded == "RolloutReturned") return;
    const std::size_t failed = c.checks().known_unhealthy().size();
    if (r.slots < 2 || failed < 2) return;
    if (r.goes_back && is_digest_of(p.failed_digest, simulation::middle_image) &&
        p.on_target + failed >= p.nodes)
      return;
    out_.violations.push_back(c.name() + ": two nodes failed with an image, and the pool has not " +
                              (r.goes_back ? "gone back" : "stopped") + " (" + p.degraded + ", " +
                              p.up_to_date + ")");
  }

  void change_password() {
    password_ = "password-" + std::to_string(++passwords_);
    registry_->lock(password_);
    world_->require_login(registry_->docker_config(password_));
  }

  void tell_password() {
    for (simulation::pool_cluster* c : world_->pools())
      c->set_login(registry_->docker_config(password_));
  }

  /// Those that can arrive have. Asked every second, while most seconds have no write.
  bool is_done() {
    if (judged_at_ == world_->writes()) return done_;
    judged_at_ = world_->writes();
    done_ = has_everybody_arrived();
    return done_;
  }
  bool has_everybody_arrived() const {
    for (std::size_t i = 0; i < world_->pools().size(); ++i) {
      const simulation::pool_cluster::progress p = world_->pools()[i]->pool_progress();
      if (p.updated + fallen_.count(i) < trial_.fleet.clusters[i].nodes) return false;
    }
    return std::ranges::all_of(workloads_, [](const workload* c) {
      const workload::count n = c->counted();
      return n.arrived == n.all;
    });
  }

  void judge_end() {
    std::string left;
    for (std::size_t i = 0; i < world_->pools().size(); ++i) {
      const auto p = world_->pools()[i]->pool_progress();
      const std::size_t nodes = trial_.fleet.clusters[i].nodes;
      if (p.updated + fallen_.count(i) >= nodes) {
        ++out_.settled_clusters;
        continue;
      }
      left += (left.empty() ? "" : "; ") + world_->pools()[i]->name() + " has " +
              std::to_string(p.updated) + " of " + std::to_string(nodes) + " (" + p.up_to_date +
              (p.message.empty() ? "" : ": " + p.message) + ")";
    }
    for (const workload* c : workloads_) {
      const std::string waiting = c->unfinished();
      left += (left.empty() || waiting.empty() ? "" : "; ") + waiting;
    }
    if (tenants_) out_.tenants = tenants_->counted();
    if (trustees_) out_.trustees = trustees_->counted();
    out_.unfinished = std::move(left);
  }

  void choose_weak_hosts() {
    for (std::size_t i = 0; i < trial_.fleet.clusters.size(); ++i) {
      const simulation::fleet_cluster& c = trial_.fleet.clusters[i];
      if (has(trouble::slow_hosts))
        for (std::size_t n = 0; n < c.nodes; ++n)
          if (happens(slow_share)) world_->slow_down(i, n, 10);
      if (!has(trouble::failing_hosts)) continue;
      std::size_t falls = c.nodes;
      if (slots_of(c) >= 2 && happens(failing_share)) {
        falls = below(c.nodes);
        world_->refuse(i, falls, simulation::new_image);
        fallen_.insert(i);
      }
      // Two at once end the rollout until they are well again.
      for (int ill = happens(ill_share) ? 2 : 0; ill > 0; --ill) {
        const std::size_t n = below(c.nodes);
        if (n != falls) world_->fall_ill(i, n, illness);
      }
    }
  }

  reactor::awaitable<bool> start_windlass() {
    // A person would look after that many.
    for (int tries = 0; tries < 200; ++tries) {
      service_options o;
      o.apis = trial_.apis;
      o.hooks = hooks_;
      o.home = world_->home();
      const std::string& packs = trial_.editable.empty() ? trial_.policies : trial_.editable;
      if (!packs.empty()) o.policies.push_back(packs);
      o.packs_are_tested = tested_;
      o.max_changes = trial_.max_changes;
      o.policy_watch.poll = 10s;  // each look reads them all, and hours pass in a second
      if (registry_) {
        bootc::registry_settings how;
        how.interval.value = 1min;
        const std::string ref = registry_->ref();
        how.insecure.value = {ref.substr(0, ref.find('/'))};  // it speaks no TLS
        bootc::set_up(units::named(o.apis, "bootc"),
                      bootc::settings_from(how, {}, app::process_identity()));
      }
      for (workload* c : workloads_) {
        o.apis = c->with(std::move(o.apis));
        c->saw_start();
      }
      o.shelf = shelf_;
      windlass_ = std::make_unique<service>(loop_, std::move(o), log_);
      windlass_->packs().on_question = [this](const policies::question_note& n) { count_holds(n); };
      auto started = co_await windlass_->start();
      tested_ = true;
      if (started) co_return true;
      log_.warning("windlass did not start", {{"error", started.error()}});
      last_problem_ = started.error().message();
      co_await windlass_->stop();
      co_await loop_.sleep_for(2s);
    }
    out_.violations.push_back("windlass does not start: " + last_problem_);
    windlass_.reset();
    co_return false;
  }

  reactor::awaitable<void> crash() {
    if (std::exchange(restarting_, true)) co_return;
    ++out_.crashes;
    // Killed, or told to end.
    co_await end_windlass(happens(0.5) ? ending::killed : ending::told);
    co_await loop_.sleep_for(loop_.random().between(100ms, 20s));
    (void)co_await start_windlass();
    restarting_ = false;
  }

  /// With another setting, as a Deployment does it.
  reactor::awaitable<void> start_again() {
    while (std::exchange(restarting_, true)) co_await loop_.sleep_for(1s);
    co_await end_windlass(ending::told);
    (void)co_await start_windlass();
    restarting_ = false;
  }

  enum class ending { told, killed };
  reactor::awaitable<void> end_windlass(ending how) {
    if (!windlass_) co_return;
    dead_ = how == ending::killed;
    for (workload* c : workloads_) c->look_at(nullptr);
    count_questions();
    co_await windlass_->stop();
    windlass_.reset();
    dead_ = false;
    if (how != ending::told || !is_heard()) co_return;
    for (workload* c : workloads_) c->saw_stop();
  }

  /// Nothing comes between the service and the servers.
  bool is_heard() const {
    constexpr std::array disturbing = {
        trouble::cut,       trouble::half_open,  trouble::conflict,      trouble::gone,
        trouble::throttled, trouble::failing,    trouble::stale_lists,   trouble::lost_events,
        trouble::restarts,  trouble::departures, trouble::dead_clusters, trouble::credentials};
    return std::ranges::none_of(disturbing, [this](trouble t) { return has(t); });
  }

  void saw_write(std::size_t of, const k8s::sim::written& w) {
    for (workload* c : workloads_) c->saw(of, w);
    if (trial_.brake_at > 0) brake_checks_.saw(world_->clusters()[of]->name(), w);
    if (trial_.max_changes.any() && windlass_) speed_checks_.saw(world_->clusters()[of]->name(), w);
    if (rolls_out_ && ++out_.rollout_writes == trial_.brake_at) brake();
    if (calm_ || quiet_ || crash_at_ == 0 || --crash_at_ > 0) return;
    crash_.set();
  }

  /// As `kubectl apply` puts it on; after a while another one takes it off.
  void brake() {
    out_.braked = true;
    say_brake("on");
    brake_checks_.landed();
    watch_.start("brake", [this]() -> reactor::awaitable<void> {
      co_await loop_.sleep_for(braked_for);
      brake_checks_.lifted();
      say_brake("off");
    });
  }
  void say_brake(std::string_view state) {
    boost::json::object o{{"apiVersion", "v1"}, {"kind", "ConfigMap"}};
    o["metadata"] = boost::json::object{{"name", units::brake_object}, {"namespace", "default"}};
    o["data"] = boost::json::object{{"state", state}, {"why", "a trial"}};
    world_->home_api().put(std::move(o));
  }

  /// Right after some write, before its answer arrives.
  reactor::awaitable<void> crash_on_writes() {
    while (!calm_) {
      crash_.reset();
      crash_at_ = loop_.random().between(std::uint64_t{1}, std::uint64_t{600});
      (void)co_await crash_.wait();
      if (calm_) co_return;
      co_await crash();
    }
  }

  reactor::awaitable<void> cause_trouble() {
    using reach = reactor::memory_network::reach;
    reactor::entropy& dice = loop_.random();
    co_await loop_.sleep_for(dice.between(2s, 12s));
    const auto of = below(world_->clusters().size());
    reactor::memory_network& net = reactor::memory_network::of(loop_);
    const auto& all = trial_.fleet.faults;
    auto which = all.begin();
    std::advance(which, static_cast<std::ptrdiff_t>(below(all.size())));
    switch (*which) {
      case trouble::lost_nodes:
        world_->lose(of, below(trial_.fleet.clusters[of].nodes), dice.between(20s, 3min));
        break;
      case trouble::crashes: co_await crash(); break;
      case trouble::policy_swaps: swap_policy(); break;
      case trouble::registries: {
        using behaviour = simulation::tag_registry::behaviour;
        const std::string host(simulation::tag_registry::host);
        switch (below(5)) {
          case 0: net.set_reach(host, reach::blackhole); break;
          case 1: net.cut_all(host); break;
          case 2: registry_->be(behaviour::failing); break;
          case 3: registry_->be(behaviour::throttling); break;
          default: registry_->be(behaviour::lying); break;
        }
        co_await loop_.sleep_for(dice.between(5s, 60s));
        net.set_reach(host, reach::open);
        registry_->be(behaviour::well);
        break;
      }
      case trouble::tag_moves:
        registry_->move(happens(0.5)   ? simulation::middle_image
                        : happens(0.5) ? simulation::old_image
                                       : simulation::new_image);
        break;
      case trouble::secret_rotations: {
        const bool first = happens(0.5);
        const std::string config =
            registry_->docker_config("password-" + std::to_string(passwords_ + 1));
        if (first)
          for (simulation::pool_cluster* p : world_->pools()) p->set_login(config);
        else
          change_password();
        co_await loop_.sleep_for(dice.between(0s, 40s));
        if (first)
          change_password();
        else
          tell_password();
        break;
      }
      default: {
        const trouble now = *which;
        // Those of answers, links and hosts happen all the time.
        const bool is_known = co_await disturbed_.cause(now, *world_, of);
        if (is_known) co_return;
        for (workload* one : workloads_) co_await one->cause(now, of);
      }
    }
  }

  void swap_policy() {
    if (trial_.editable.empty() || restarting_ || !windlass_) return;
    ++out_.swaps;
    auto edited = edit_policies(trial_.editable, trial_.policies, out_.swaps);
    if (!edited) out_.violations.push_back(edited.error().message());
    windlass_->reload();
  }

  std::optional<k8s::sim::answer> disturb(const k8s::sim::request& r) {
    if (dead_ && k8s::sim::presents_token(r)) {  // hosts have none
      k8s::sim::answer silence;
      silence.drop = true;
      return silence;
    }
    if (calm_ || quiet_) return std::nullopt;
    return disturbed_.answer(r);
  }

  void count_questions() {
    if (windlass_) count(windlass_->packs(), out_.asked);
  }

  void count_holds(const policies::question_note& n) {
    if (!n.answer) return;
    const auto note = [&](const std::string& unit, const policies::value* why) {
      const policies::value* code = why ? why->find("code") : nullptr;
      const std::string* text = code ? code->if_string() : nullptr;
      if (held_.insert(unit + "/" + (text ? *text : n.pack)).second) ++out_.holds;
    };
    const std::string cluster = text_field(n.arguments, "cluster");
    if (const policies::value* holds = n.answer->find("holds"); holds && holds->if_object())
      for (const auto& [unit, why] : *holds->if_object()) note(cluster + "/" + unit, &why);
    if (const policies::value* admit = n.answer->find("admit");
        admit && admit->if_bool() && !*admit->if_bool())
      note(cluster + "/" + text_field(n.arguments, "name"), &*n.answer);
  }

  using differences = k8s::result<std::vector<std::string>>;

  reactor::awaitable<void> compare_caches() {
    if (!windlass_) co_return;
    for (const auto& c : world_->clusters()) {
      k8s::cluster* seen = windlass_->fleet().find(c->name());
      bootc::bootc_cluster* pools = seen ? bootc::bootc_part(*seen) : nullptr;
      if (!pools) {
        out_.divergent_caches.push_back(c->name() + " is not engaged");
        continue;
      }
      std::function<reactor::awaitable<differences>()> ask = [pools] {
        return pools->differences();
      };
      co_await compare(c->name(), std::move(ask));
      for (workload* one : workloads_) {
        ask = [one, seen] { return one->differences(*seen); };
        co_await compare(c->name(), std::move(ask));
      }
    }
  }

  reactor::awaitable<void> compare(std::string of,
                                   std::function<reactor::awaitable<differences>()> ask) {
    // A pooled connection that went half-open while it was idle costs the first try its timeout.
    auto found = co_await ask();
    for (int tries = 1; !found && tries < 3; ++tries) found = co_await ask();
    if (!found) {
      out_.divergent_caches.push_back(of + ": " + found.error().message());
      co_return;
    }
    for (const std::string& d : *found) out_.divergent_caches.push_back(of + ": " + d);
  }

  trial trial_;
  policies::shared_hooks hooks_ = units::hooks_of(trial_.apis);
  reactor::loop loop_;
  disturbances disturbed_{loop_, trial_.fleet.faults};
  std::shared_ptr<reactor::log_capture> capture_;
  reactor::logger log_;
  std::unique_ptr<simulation::node_world> world_;
  std::unique_ptr<simulation::tag_registry> registry_;
  std::unique_ptr<trial_tenants> tenants_;
  std::unique_ptr<trial_trustees> trustees_;
  std::vector<workload*> workloads_;  // those that live here
  std::string password_;
  std::size_t passwords_ = 0;
  std::unique_ptr<service> windlass_;
  trial_outcome out_;
  std::shared_ptr<policies::pack_shelf> shelf_ = std::make_shared<policies::pack_shelf>();
  std::set<std::size_t> fallen_;  // clusters with a host that does not boot the new image
  std::set<std::string> held_;
  std::string last_problem_;
  reactor::steady_time began_{};
  bool rolls_out_ = false, calm_ = false, quiet_ = false, restarting_ = false, dead_ = false,
       tested_ = false, done_ = false;
  std::optional<std::uint64_t> judged_at_;  // after so many writes
  std::uint64_t crash_at_ = 0;
  reactor::event crash_;
  reactor::task_group crashes_, watch_;
  simulation::brake_invariants brake_checks_;
  simulation::speed_invariants speed_checks_;
  reactor::task_group tasks_;
};

}  // namespace

void count(const asked_hook& one, std::vector<asked_hook>& to) {
  const auto known = std::ranges::find_if(to, [&](const asked_hook& a) {
    return a.pack == one.pack && a.hook == one.hook && a.stock == one.stock;
  });
  if (known == to.end())
    to.push_back(one);
  else
    known->times += one.times;
}

void count(const policies::host& packs, std::vector<asked_hook>& to) {
  for (const policies::pack_status& p : packs.status()) {
    if (p.hooks.empty()) count({p.name, {}, p.stock ? 1u : 0u, 0}, to);
    for (const std::string& hook : p.hooks) {
      const auto n = p.asked.find(hook);
      count({p.name, hook, p.stock ? 1u : 0u, n == p.asked.end() ? 0 : n->second}, to);
    }
  }
}

std::vector<std::string> trial_outcome::findings() const {
  std::vector<std::string> all = violations;
  for (const std::string& d : divergent_caches) all.push_back("a cache is not the truth: " + d);
  if (!unfinished.empty()) all.push_back("the rollout did not end: " + unfinished);
  if (left_alive > 0)
    all.push_back(std::to_string(left_alive) + " tasks, streams and waits were left alive");
  return all;
}

trial_outcome run(trial t) {
  const reactor::nanoseconds began = reactor::thread_cpu();
  trial_outcome out;
  {
    if (t.fleet.charts > 0) {
      out = run_charts(std::move(t));
    } else {
      running_trial trial(std::move(t));
      out = trial.go();
    }
  }
  out.cpu = reactor::thread_cpu() - began;
  return out;
}

}  // namespace cli::simulate
