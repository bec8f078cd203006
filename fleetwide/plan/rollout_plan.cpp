#include "fleetwide/plan/rollout_plan.hpp"

#include "fleetwide/plan/holds.hpp"
#include "formats/plain/listed.hpp"

#include <algorithm>
#include <array>

namespace fleetwide {
namespace {

constexpr std::size_t names_in_a_sentence = 3;

/// One pass over the members of one object.
class rollout_pass {
public:
  explicit rollout_pass(const rollout_world& w) : w_(w), clusters_(w.members.size()) {
    out_.members.resize(w.members.size());
    for (std::size_t i = 0; i < w.members.size(); ++i) {
      out_.members[i].cluster = w.members[i].cluster;
      out_.members[i].wave = w.settings.wave_of(w.members[i].wave_value);
    }
  }

  fleet_plan run() && {
    for (std::size_t i = 0; i < clusters_; ++i) classify(i);
    if (!w_.is_leaving) {
      judge_failures();
      if (!out_.notes_failure) move();
    }
    let_leave();
    for (const member_plan& p : out_.members) ++out_.counts[p.is];
    return std::move(out_);
  }

private:
  const member& of(std::size_t i) const { return w_.members[i]; }
  bool is_meant(std::size_t i) const {
    return of(i).is_selected && of(i).is_granted && !w_.is_leaving;
  }
  /// Takes part in waves: what it has can be changed, or is known not to be there.
  bool takes_part(std::size_t i) const {
    if (of(i).stuck && !has_wanted(i)) return false;
    return is_meant(i) && of(i).seen != member::sight::away && of(i).refusal.empty() &&
           (of(i).has != member::owner::other || of(i).is_adopted);
  }
  bool has_wanted(std::size_t i) const {
    return of(i).has == member::owner::ours && of(i).digest == w_.wanted && !of(i).is_going;
  }
  /// It does not have the revision, or gets it again.
  bool is_due(std::size_t i) const { return !has_wanted(i) || is_tried_again(i); }
  /// It failed, and a person asked for it again since.
  bool is_tried_again(std::size_t i) const {
    return has_wanted(i) && of(i).is == member::progress::failed && w_.retry &&
           of(i).since < *w_.retry;
  }
  void hold(std::size_t i, const units::hold_kind& why, std::string sentence) {
    out_.members[i].hold = units::held(why, of(i).cluster, std::move(sentence));
  }

  void classify(std::size_t i) {
    const member& m = of(i);
    member_plan& p = out_.members[i];
    if (m.seen != member::sight::seen) {
      p.is = member_state::away;
      if (is_meant(i) || m.has == member::owner::ours)
        hold(i,
             m.seen == member::sight::lost ? units::hold_code::stale_cluster
                                           : hold_code::cluster_away,
             m.cluster + " cannot be reached: " + m.why_away);
      return;
    }
    if (!m.is_selected || w_.is_leaving) {
      p.is = member_state::leaving;
      return;
    }
    if (!m.is_granted) {
      p.is = member_state::not_granted;
      hold(i, hold_code::not_granted, "no FleetGrant gives this namespace " + m.cluster);
      return;
    }
    if (m.has == member::owner::other && !m.is_adopted) {
      p.is = member_state::foreign;
      hold(i, hold_code::managed_by_other, m.holder);
      return;
    }
    if (!m.refusal.empty()) {
      p.is = member_state::refused;
      hold(i, hold_code::cluster_refused, m.refusal);
      return;
    }
    if (!has_wanted(i)) {
      if (!m.stuck) return;
      p.is = member_state::refused;
      p.hold = m.stuck;
      return;
    }
    if (m.waits) p.hold = m.waits;
    switch (m.is) {
      case member::progress::ready: p.is = member_state::ready; break;
      case member::progress::moving: p.is = member_state::moving; break;
      case member::progress::failed:
        p.is = member_state::failed;
        hold(i, hold_code::cluster_failed, m.message);
        break;
    }
  }

  void judge_failures() {
    std::vector<std::string> failed;
    std::size_t all = 0;
    for (std::size_t i = 0; i < clusters_; ++i) {
      all += is_meant(i);
      // One that cannot be reached since it failed has not recovered.
      if (is_meant(i) && has_wanted(i) && of(i).is == member::progress::failed &&
          !is_tried_again(i))
        failed.push_back(of(i).cluster);
    }
    const std::size_t allowed = w_.settings.max_failures.down(all);
    if (w_.has_failed) return;
    if (failed.size() <= allowed) {
      if (is_any_unknown()) out_.halt = w_.halted;
      return;
    }
    out_.halt = std::to_string(failed.size()) + (failed.size() == 1 ? " cluster" : " clusters") +
                " failed (" + formats::listed(failed, names_in_a_sentence) + "), " +
                std::to_string(allowed) + " may";
    if (w_.settings.goes_back && !w_.proven.empty() && w_.proven != w_.wanted)
      out_.notes_failure = true;
    else if (w_.settings.goes_back)
      out_.halt += "; there is no revision before it to go back to";
  }

  bool is_any_unknown() const {
    for (std::size_t i = 0; i < clusters_; ++i)
      if (is_meant(i) && of(i).seen != member::sight::seen && of(i).has == member::owner::none)
        return true;
    return false;
  }

  /// Nothing begins, and why; none: it may.
  std::optional<std::pair<const units::hold_kind*, std::string>> stopped() const {
    if (w_.is_paused)
      return std::pair(&units::hold_code::paused, std::string("spec.paused is true"));
    if (!out_.halt.empty()) return std::pair(&hold_code::rollout_halted, out_.halt);
    return std::nullopt;
  }

  /// How far the waves are open, and what the first closed one waits for.
  struct opening {
    std::size_t waves = 0;  // so many may move
    const units::hold_kind* why = nullptr;
    std::string sentence;
  };

  opening open_waves() {
    opening o;
    reactor::wall_time proved{};
    for (std::size_t wave = 0; wave < w_.settings.wave_count(); ++wave) {
      o.waves = wave + 1;
      std::vector<std::string> unsettled;
      std::size_t meant = 0, ready = 0;
      for (std::size_t i = 0; i < clusters_; ++i) {
        if (out_.members[i].wave != wave || !is_meant(i)) continue;
        ++meant;
        if (!takes_part(i)) continue;
        const member_state s = out_.members[i].is;
        ready += s == member_state::ready;
        if (s == member_state::ready) proved = std::max(proved, of(i).since);
        if ((s != member_state::ready && s != member_state::failed) || is_tried_again(i))
          unsettled.push_back(of(i).cluster);
      }
      const std::string name = w_.settings.wave_name(wave);
      if (!unsettled.empty() || (meant > 0 && ready == 0)) {
        out_.wave = wave;
        o.why = &hold_code::earlier_wave;
        o.sentence = unsettled.empty()
                         ? "no cluster of wave " + name + " could prove the revision"
                         : "waits for " + formats::listed(unsettled, names_in_a_sentence) +
                               " of wave " + name;
        return o;
      }
      if (wave + 1 < w_.settings.wave_count() && proved + w_.settings.soak > w_.now &&
          anybody_after(wave)) {
        out_.wave = wave;
        out_.look_again = proved + w_.settings.soak;
        o.why = &hold_code::wave_soak;
        o.sentence = "wave " + name + " is watched until " +
                     reactor::format_rfc3339(proved + w_.settings.soak);
        return o;
      }
    }
    o.waves = w_.settings.wave_count();
    out_.is_complete = std::ranges::any_of(
        out_.members, [](const member_plan& p) { return p.is == member_state::ready; });
    return o;
  }

  bool anybody_after(std::size_t wave) const {
    for (std::size_t i = 0; i < clusters_; ++i)
      if (out_.members[i].wave > wave && takes_part(i) && is_due(i)) return true;
    return false;
  }

  bool is_moving(std::size_t i, const std::string& digest) const {
    if (of(i).seen == member::sight::seen && of(i).begun == digest) return true;
    // What has not been seen since the process began may be on its way.
    if (is_meant(i) && of(i).seen == member::sight::lost && of(i).has == member::owner::none)
      return true;
    // One whose server refuses what comes next is on its way all the same.
    return is_meant(i) && of(i).seen != member::sight::away && of(i).has == member::owner::ours &&
           of(i).digest == digest && of(i).is == member::progress::moving && !of(i).is_going;
  }

  void move() {
    if (w_.has_failed) return go_back();
    const auto stop = stopped();
    const opening open = open_waves();
    const std::size_t all = static_cast<std::size_t>(
        std::count_if(w_.members.begin(), w_.members.end(),
                      [&](const member& m) { return m.is_selected && m.is_granted; }));
    std::size_t moving = 0;
    for (std::size_t i = 0; i < clusters_; ++i) moving += is_moving(i, w_.wanted);
    const std::size_t most = w_.settings.max_clusters.up(all);
    for (const std::size_t i : in_turn()) {
      if (!takes_part(i) || of(i).seen != member::sight::seen) continue;
      if (!is_due(i)) continue;
      // Where the revision was begun as it would not be now, it goes on in the slot that it has.
      const std::size_t others = moving - is_moving(i, w_.wanted);
      member_plan& p = out_.members[i];
      p.is = member_state::waiting;
      if (stop) {
        hold(i, *stop->first, stop->second);
        continue;
      }
      if (of(i).needs) {
        p.hold = of(i).needs;
        continue;
      }
      // One that comes is brought to what the others had before, outside of waves.
      if (of(i).has == member::owner::none && !w_.proven.empty() && w_.proven != w_.wanted &&
          !of(i).is_going) {
        write(i, w_.proven);
        continue;
      }
      if (of(i).is_going) {
        hold(i, hold_code::cluster_slot, "what it had before is being deleted");
      } else if (p.wave >= open.waves) {
        hold(i, *open.why, open.sentence);
        if (open.why == &hold_code::wave_soak && out_.look_again)
          p.hold->asked_again = reactor::format_rfc3339(*out_.look_again);
      } else if (of(i).policy) {
        p.hold = of(i).policy;
      } else if (others >= most) {
        hold(i, hold_code::cluster_slot,
             std::to_string(others) + " of " + std::to_string(most) + " clusters move");
      } else {
        moving = others + 1;
        write(i, w_.wanted);
      }
    }
  }

  void write(std::size_t i, const std::string& digest) {
    member_plan& p = out_.members[i];
    p.does = deed::write;
    p.digest = digest;
    p.takes_over = of(i).has == member::owner::other;
    p.hold.reset();
    p.was_told = of(i).told == digest;
    if (!p.was_told) return;
    p.is = member_state::moving;
    p.hold = of(i).waits;
  }

  /// By wave, then by name.
  std::vector<std::size_t> in_turn() const {
    std::vector<std::size_t> order(clusters_);
    for (std::size_t i = 0; i < clusters_; ++i) order[i] = i;
    std::ranges::sort(order, {}, [&](std::size_t i) {
      return std::pair(out_.members[i].wave, std::string_view(of(i).cluster));
    });
    return order;
  }

  /// The revision failed: clusters that have it get the proven one again, and no other cluster gets
  /// it.
  void go_back() {
    out_.halt = "the revision failed; its clusters have the one before, or go back to it";
    std::size_t moving = 0;
    const std::size_t most = std::max<std::size_t>(1, w_.settings.max_clusters.up(clusters_));
    for (std::size_t i = 0; i < clusters_; ++i) moving += is_moving(i, w_.proven);
    for (const std::size_t i : in_turn()) {
      if (!takes_part(i) || of(i).seen != member::sight::seen) continue;
      member_plan& p = out_.members[i];
      const bool has_proven = of(i).has == member::owner::ours && of(i).digest == w_.proven;
      if (has_proven && !of(i).is_going) {
        p.is = of(i).is == member::progress::ready    ? member_state::ready
               : of(i).is == member::progress::moving ? member_state::moving
                                                      : member_state::failed;
        hold(i, hold_code::revision_failed, "the revision failed on other clusters");
        continue;
      }
      if (w_.is_paused || w_.proven.empty()) {
        hold(i, w_.is_paused ? units::hold_code::paused : hold_code::revision_failed,
             w_.is_paused ? "spec.paused is true" : out_.halt);
      } else if (of(i).is_going) {
        hold(i, hold_code::cluster_slot, "what it had before is being deleted");
      } else if (moving >= most) {
        hold(i, hold_code::cluster_slot,
             std::to_string(moving) + " of " + std::to_string(most) + " clusters go back");
      } else {
        ++moving;
        write(i, w_.proven);
      }
    }
  }

  /// Those that are no longer meant: one wave after the other where something is removed.
  void let_leave() {
    out_.is_gone = true;
    std::optional<std::size_t> first;
    std::size_t going = 0;
    std::vector<std::size_t> who;
    for (const std::size_t i : in_turn()) {
      if (is_meant(i) || (of(i).is_selected && !w_.is_leaving && !of(i).is_granted)) continue;
      // What a cluster has that was not seen since the process began is not known.
      const bool may_have = w_.is_leaving && of(i).is_selected && of(i).is_granted &&
                            of(i).seen != member::sight::seen && of(i).has == member::owner::none;
      if (of(i).has != member::owner::ours && !may_have) continue;
      out_.is_gone &= of(i).seen == member::sight::away;
      out_.left_away += of(i).seen == member::sight::away;
      if (of(i).seen != member::sight::seen) continue;
      out_.members[i].is = member_state::leaving;
      if (!first) first = out_.members[i].wave;
      going += of(i).is_going;
      who.push_back(i);
    }
    const std::size_t most = std::max<std::size_t>(1, w_.settings.max_clusters.up(clusters_));
    for (const std::size_t i : who) {
      if (of(i).is_going) continue;
      if (w_.is_paused && !w_.is_leaving) {
        hold(i, units::hold_code::paused, "spec.paused is true");
      } else if (!w_.removes) {
        out_.members[i].does = deed::let_go;
      } else if (out_.members[i].wave != *first) {
        hold(i, hold_code::earlier_wave,
             "what wave " + w_.settings.wave_name(*first) + " has is removed first");
      } else if (going >= most) {
        hold(i, hold_code::cluster_slot,
             std::to_string(going) + " of " + std::to_string(most) + " clusters are let go");
      } else {
        ++going;
        out_.members[i].does = deed::remove;
      }
    }
  }

  const rollout_world& w_;
  const std::size_t clusters_;
  fleet_plan out_;
};

}  // namespace

std::string_view text(member_state s) noexcept {
  static constexpr std::array<std::string_view, 9> words{"Ready",   "Moving",     "Failed",
                                                         "Waiting", "Away",       "Foreign",
                                                         "Refused", "NotGranted", "Leaving"};
  return words[static_cast<std::size_t>(s)];
}

fleet_plan plan_rollout(const rollout_world& w) {
  return rollout_pass(w).run();
}

}  // namespace fleetwide
