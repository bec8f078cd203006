#include "simulation/commands/demo/chart_story.hpp"

#include "fleetwide/commands/fleet_kinds.hpp"
#include "fleetwide/commands/object_command.hpp"
#include "reactor/loop.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

namespace cli::demo {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

constexpr std::string_view group = "fleet.windlass.dev", plural = "fleetcharts",
                           home_ns = "default", good = "1.0.0", bad = "1.1.0";
constexpr std::size_t canaries = 2, early = 8;  // early: canaries and those that come after them
/// How long the halt stands before the undo.
constexpr reactor::nanoseconds halt_is_seen = 5s;

json::object chart_object(const std::string& repository) {
  json::object clusters, spec;
  clusters["selector"] = json::object();
  spec["clusters"] = std::move(clusters);
  spec["chart"] =
      json::object{{"repository", repository}, {"name", shown_chart}, {"version", good}};
  spec["namespace"] = shown_chart_ns;
  spec["test"] = true;
  spec["timeout"] = "2m";
  spec["rollout"] =
      json::object{{"waves", {{"label", "ring"}, {"values", json::array{"canary", "early"}}}},
                   {"maxClusters", "50%"},
                   {"maxFailures", 0},
                   {"onFailure", "Halt"}};
  return {{"apiVersion", std::string(group) + "/v1alpha1"},
          {"kind", "FleetChart"},
          {"metadata", {{"name", shown_chart}, {"namespace", home_ns}}},
          {"spec", std::move(spec)}};
}

class chart_story {
public:
  chart_story(reactor::loop& l, simulation::chart_fleet& w, service& windlass,
              const show_options& options, reactor::event& stop)
      : loop_(l),
        world_(w),
        windlass_(windlass),
        options_(options),
        stage_(l, windlass, options_, stop, [this] { return view_of(world_, windlass_); }) {}

  reactor::awaitable<show_result> play() {
    show_result r;
    world_.shelf().put(name_, std::string(good), simulation::chart_kind::tested);
    world_.shelf().put(name_, std::string(bad), simulation::chart_kind::failing_test);
    simulation::chart_invariants& judge = world_.judge();
    judge.saw_start();
    auto started = co_await windlass_.start();
    if (!started) {
      r.problem = started.error().message();
      co_return r;
    }
    const reactor::steady_time began = loop_.now();
    world_.home_api().put(chart_object(world_.shelf().url()));
    tell_asked(good);
    co_await until([this] { return all_have(good); });
    tell_arrived(began);
    const std::string releases = judge.releases_of(id_);
    co_await upgrade();
    co_await go_back();
    r.finished = !halted_.empty() && all_have(good);
    r.took = loop_.now() - began;
    if (r.finished) {
      judge.check_undone(id_, releases);
      tell_arrived(began);
      co_await stage_.pause(1s);  // what follows from the last release, its Events for example
    }
    co_await stage_.sum_up(r, world_);
    sum_up(r);
    world_.judge_rests();  // what people do from now on is theirs
    co_await stage_.stay_up(r);
    co_return r;
  }

private:
  std::string count_text() const {
    const std::size_t n = world_.clusters().size();
    return std::to_string(n) + (n == 1 ? " cluster" : " clusters");
  }
  bool all_have(std::string_view version) const {
    const simulation::chart_fleet::chart_state now = world_.chart(name_);
    return now.version == version && now.ready == world_.clusters().size();
  }
  bool all_canaries_failed() const {
    for (std::size_t i = 0; i < std::min(canaries, world_.clusters().size()); ++i)
      if (world_.progress_of(i).trouble.empty()) return false;
    return true;
  }
  void tell_asked(std::string_view version) {
    stage_.tell(page(name_) + " " + std::string(version) + " is asked for on " + count_text() +
                ": canary, early, the others");
  }
  void tell_arrived(reactor::steady_time began) {
    if (stage_.is_over()) return;
    stage_.tell(count_text() + (world_.clusters().size() == 1 ? " has " : " have ") + name_ + " " +
                std::string(good) + ", and its test passed, after " +
                seconds_text(loop_.now() - began));
  }

  /// Tells of each wave and failure as they come.
  reactor::awaitable<void> until(std::function<bool()> is_so) {
    while (!is_so() && !stage_.is_over()) {
      tell_news();
      co_await stage_.pause();
    }
    tell_news();
  }
  void tell_news() {
    const simulation::chart_fleet::chart_state now = world_.chart(name_);
    if (now.wave != wave_ && !now.wave.empty())
      stage_.tell(page("wave ") + now.wave + " gets " + name_ + " " + now.version);
    wave_ = now.wave;
    for (std::size_t i = 0; i < world_.clusters().size(); ++i) {
      const simulation::world::progress p = world_.progress_of(i);
      std::string& told = failures_[world_.clusters()[i]->name()];
      const std::string now_failed = p.trouble.empty() ? std::string() : p.message;
      if (std::exchange(told, now_failed) == now_failed || now_failed.empty()) continue;
      stage_.tell(page(world_.clusters()[i]->name()) + " " + p.trouble + ": " + now_failed);
    }
  }

  reactor::awaitable<void> upgrade() {
    if (stage_.is_over()) co_return;
    world_.home_api().edit(group, plural, home_ns, name_, [](json::object& o) {
      o["spec"].as_object()["chart"].as_object()["version"] = bad;
    });
    tell_asked(bad);
    co_await until([this] { return !world_.chart(name_).halted.empty() && all_canaries_failed(); });
    co_await stage_.pause(1s);  // until the status tells of all of them
    halted_ = world_.chart(name_).halted;
    if (halted_.empty()) co_return;
    stage_.tell(page("halted: ") + halted_ + "; the others keep " + std::string(good));
    co_await stage_.pause(halt_is_seen);
  }

  /// As `windlass chart undo` does, unless a person was faster.
  reactor::awaitable<void> go_back() {
    if (halted_.empty() || stage_.is_over()) co_return;
    if (world_.chart(name_).version == bad) {
      stage_.tell(page("$ windlass chart undo ") + name_ + " --yes");
      object_arguments undo;
      undo.kind = &charts_for_commands();
      undo.what = object_arguments::command::undo;
      undo.name = name_;
      undo.yes = true;
      command_output out;
      out.columns = any_width;
      out.text = [this](const page& p) { stage_.tell(first_line(p)); };
      out.complaint = [this](const std::string& s) { stage_.tell(s); };
      const int code = co_await work_on_objects(loop_, windlass_, std::move(undo), {}, out);
      if (code != success) co_return;
    }
    wave_.clear();
    co_await until([this] { return all_have(good); });
  }
  void sum_up(show_result& r) {
    const simulation::chart_fleet::chart_state now = world_.chart(name_);
    r.ended = page(std::to_string(now.ready)) + " of " + count_text() + " have " + name_ + " " +
              now.version + " after " + seconds_text(r.took);
    if (!halted_.empty())
      r.ended += page("; ") + std::string(bad) + " was halted" + (r.finished ? " and undone" : "");
    r.policy_reloads = windlass_.packs().reloads();
    r.more["chart"] = name_;
    r.more["version"] = now.version;
    r.more["revision"] = now.revision;
    r.more["halted"] = halted_;
    r.more["undone"] = r.finished;
  }
  static page first_line(const page& p) { return p.text().substr(0, p.text().find('\n')); }

  reactor::loop& loop_;
  simulation::chart_fleet& world_;
  service& windlass_;
  show_options options_;
  stage stage_;
  const std::string name_{shown_chart}, id_ = std::string(home_ns) + "/" + name_;
  std::string wave_, halted_;
  std::map<std::string, std::string> failures_;  // that were told, by cluster
};

}  // namespace

std::vector<simulation::chart_fleet::place> chart_places(std::size_t clusters) {
  std::vector<simulation::chart_fleet::place> out;
  for (std::size_t i = 0; i < clusters; ++i) {
    simulation::chart_fleet::place p{simulation::world::cluster_name(i), {}};
    if (i < early) p.labels["ring"] = i < canaries ? "canary" : "early";
    out.push_back(std::move(p));
  }
  return out;
}

reactor::awaitable<show_result> play_charts(reactor::loop& l, simulation::chart_fleet& w,
                                            service& windlass, show_options options,
                                            reactor::event& stop) {
  chart_story story(l, w, windlass, options, stop);
  co_return co_await story.play();
}

}  // namespace cli::demo
