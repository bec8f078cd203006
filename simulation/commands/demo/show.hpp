#pragma once

#include "reactor/loop.hpp"
#include "reactor/waiters.hpp"
#include "service/overview/overview.hpp"
#include "service/service.hpp"
#include "simulation/commands/demo/view.hpp"
#include "simulation/world.hpp"

#include <boost/json/object.hpp>

#include <functional>
#include <string>
#include <vector>

namespace cli::demo {

struct show_options {
  reactor::nanoseconds time_limit = std::chrono::seconds(150);  // of the rollout
  bool keep = false;
  /// Lines for a person as it goes; empty = silence.
  std::function<void(const page& line)> tell;
  /// Instead of them: the view, several times a second, until the story has ended.
  std::function<void(view v)> draw;
  std::vector<page> about = {};         // of the view
  std::function<void()> roll_out = {};  // instead of asking every pool for the new target
};

struct show_result {
  fleet_overview last;
  std::size_t updated = 0, held = 0, policy_reloads = 0;
  bool finished = false, stopped = false;
  reactor::nanoseconds took{};
  std::string problem;       // it could not even start
  page ended;                // instead of the sentence of a rollout
  boost::json::object more;  // of the document
};

/// "12.3 s"
std::string seconds_text(reactor::nanoseconds d);

/// Where a story is told: lines for a person, or the view with them below it, until it is stopped
/// or has taken too long.
/// Lifetime: loop, service, options and event outlive it.
class stage {
public:
  /// `shows` returns the view of this moment, without messages.
  stage(reactor::loop& l, service& windlass, const show_options& options, reactor::event& stop,
        std::function<view()> shows);
  ~stage();
  stage(const stage&) = delete;
  stage& operator=(const stage&) = delete;

  void tell(const page& line);
  bool is_stopped() const noexcept { return stop_.is_set(); }
  bool is_over() const { return is_stopped() || loop_.now() >= give_up_; }
  /// Until it is worth to look again, or for that time.
  reactor::awaitable<void> pause(reactor::nanoseconds d = look_again);
  /// What has become of it by now, for the document and the last sentence.
  reactor::awaitable<void> sum_up(show_result& r, const simulation::world& w);  // borrowed
  /// With --keep: until it is stopped.
  reactor::awaitable<void> stay_up(const show_result& r);  // borrowed

private:
  static constexpr reactor::nanoseconds look_again = std::chrono::milliseconds(200);
  void draw(const page& footer);

  reactor::loop& loop_;
  service& windlass_;
  const show_options& options_;
  reactor::event& stop_;
  std::function<view()> shows_;
  reactor::steady_time give_up_;
  std::vector<page> messages_;
};

/// The demo's story: settle, roll out the new target, watch until nothing moves any more that
/// could.
reactor::awaitable<show_result> play(reactor::loop& l, simulation::world& w, service& windlass,
                                     show_options options, reactor::event& stop);

/// {clusters, nodes, updated, held, violations, max_disrupted, policy_reloads, seconds, …}
boost::json::object result_json(const simulation::world& w, const show_result& r);
page result_text(const simulation::world& w, const show_result& r, colours tint);
/// The view of one moment, without messages.
view view_of(const simulation::world& w, const service& windlass);

}  // namespace cli::demo
