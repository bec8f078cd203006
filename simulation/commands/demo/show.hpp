#pragma once

#include "reactor/waiters.hpp"
#include "service/overview/overview.hpp"
#include "service/service.hpp"
#include "simulation/commands/demo/view.hpp"
#include "simulation/world.hpp"

#include <boost/json/fwd.hpp>

#include <string>

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
  double seconds = 0;
  std::string problem;  // it could not even start
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
