#pragma once

#include "fleetwide/charts/needs.hpp"
#include "tests/fleetwide/worlds.hpp"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace fleetwide::testing {

/// Two FleetCharts on three clusters, a wave each: "app" needs "base". Both roll out revision "new"
/// until nothing happens any more.
class two_charts {
public:
  explicit two_charts(std::mt19937& r) : r_(r), base_is_there_(r() % 8 != 0) {
    for (std::size_t i = 0; i < clusters_.size(); ++i) {
      cluster& c = clusters_[i];
      c.name = "c" + std::to_string(i);
      c.wave = std::string(1, static_cast<char>('a' + r() % 3));
      c.base_is_meant = r() % 5 != 0;
      c.base_is_granted = r() % 8 != 0;
      c.base_is_foreign = r() % 8 == 0;
      c.of_app.digest = r() % 2 ? "old" : "";
    }
    most_ = 1 + r() % 3;
    borne_ = r() % 2;
  }

  /// The first rule that is broken; empty: none.
  std::string run() {
    for (int step = 0; step < 40; ++step) {
      const rollout_world base = world(false), app = world(true);
      if (base_is_there_) carry_out(plan_rollout(base), false);
      const fleet_plan plan = plan_rollout(app);
      halted_ |= !plan.halt.empty();
      if (std::string broken = judge(plan); !broken.empty()) return broken;
      carry_out(plan, true);
      for (cluster& c : clusters_) {
        end_some(c.of_base);
        end_some(c.of_app);
      }
    }
    return left_behind();
  }

private:
  struct release {
    std::string digest;
    progress is = progress::ready;
  };
  struct cluster {
    std::string name, wave;
    bool base_is_meant = true, base_is_granted = true, base_is_foreign = false;
    release of_base, of_app;
  };

  bool base_can_come(const cluster& c) const {
    return base_is_there_ && c.base_is_meant && c.base_is_granted && !c.base_is_foreign;
  }
  static bool is_done(const release& r) { return r.digest == "new" && r.is == progress::ready; }

  needed_chart base_on(const cluster& c) const {
    using state = needed_chart::state;
    const state is = !base_is_there_      ? state::missing
                     : !c.base_is_meant   ? state::not_meant
                     : !c.base_is_granted ? state::not_granted
                     : c.base_is_foreign  ? state::foreign
                     : is_done(c.of_base) ? state::ready
                                          : state::not_ready;
    return {is, {}};
  }

  rollout_world world(bool app) const {
    rollout_world w;
    w.wanted = "new";
    w.now = noon;
    w.settings.wave_label = "ring";
    w.settings.waves = {"a", "b"};
    w.settings.max_clusters = {most_, false};
    w.settings.max_failures = {borne_, false};
    for (const cluster& c : clusters_) {
      const release& r = app ? c.of_app : c.of_base;
      member m = has(c.name, c.wave, r.digest, r.is);
      if (app) {
        needs_verdict verdict =
            judge_needs(c.name, {"base"}, [&](const std::string&) { return base_on(c); });
        (verdict.is_stuck ? m.stuck : m.needs) = std::move(verdict.hold);
      } else {
        m.is_selected = c.base_is_meant;
        m.is_granted = c.base_is_granted;
        if (c.base_is_foreign) m.has = owner::other;
      }
      w.members.push_back(std::move(m));
    }
    return w;
  }

  void carry_out(const fleet_plan& plan, bool app) {
    for (std::size_t i = 0; i < clusters_.size(); ++i)
      if (plan.members[i].does == deed::write)
        (app ? clusters_[i].of_app : clusters_[i].of_base) = {plan.members[i].digest,
                                                              progress::moving};
  }
  void end_some(release& r) {
    if (r.is == progress::moving && r_() % 3 == 0)
      r.is = r_() % 16 == 0 ? progress::failed : progress::ready;
  }

  std::string judge(const fleet_plan& plan) const {
    for (std::size_t i = 0; i < clusters_.size(); ++i) {
      const cluster& c = clusters_[i];
      const member_plan& p = plan.members[i];
      if (p.does == deed::write && !(base_can_come(c) && is_done(c.of_base)))
        return c.name + " begins app without base";
      if (c.of_app.digest != "new" && p.does == deed::nothing && !p.hold)
        return c.name + " waits without a reason";
    }
    return {};
  }

  /// A wave of which no cluster got it opens none.
  bool is_proved_before(const cluster& c) const {
    return std::ranges::all_of(clusters_, [&](const cluster& e) {
      return e.wave >= c.wave || std::ranges::any_of(clusters_, [&](const cluster& other) {
               return other.wave == e.wave && is_done(other.of_app);
             });
    });
  }

  /// Where base is done and nothing failed, app has come at last, whatever other clusters lack.
  std::string left_behind() const {
    if (halted_) return {};
    for (const cluster& c : clusters_) {
      if (!base_can_come(c) || !is_proved_before(c) || !is_done(c.of_base)) continue;
      for (const cluster& other : clusters_)
        if (other.of_app.is == progress::failed || other.of_base.is == progress::failed) return {};
      if (!is_done(c.of_app)) return c.name + " never gets app";
    }
    return {};
  }

  std::mt19937& r_;
  std::array<cluster, 3> clusters_;
  bool base_is_there_, halted_ = false;
  std::size_t most_ = 1, borne_ = 0;
};

}  // namespace fleetwide::testing
