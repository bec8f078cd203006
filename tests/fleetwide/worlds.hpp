#pragma once

#include "fleetwide/plan/rollout_plan.hpp"

#include <array>
#include <random>
#include <string>
#include <utility>

namespace fleetwide::testing {

using namespace std::chrono_literals;
using progress = member::progress;
using owner = member::owner;

inline const reactor::wall_time noon = *reactor::parse_rfc3339("2026-11-29T12:00:00Z");

inline member has(std::string cluster, std::string wave, std::string digest,
                  progress is = progress::ready, reactor::wall_time since = noon - 1h) {
  member m;
  m.cluster = std::move(cluster);
  m.wave_value = std::move(wave);
  m.has = digest.empty() ? owner::none : owner::ours;
  m.digest = std::move(digest);
  m.is = is;
  m.since = since;
  return m;
}
inline member lacks(std::string cluster, std::string wave) {
  return has(std::move(cluster), std::move(wave), "");
}

/// A world at random, seeded.
inline rollout_world any_world(std::mt19937& r) {
  const auto one_of = [&](auto... all) {
    const std::array list{all...};
    return list[r() % list.size()];
  };
  rollout_world w;
  w.wanted = "new";
  w.proven = one_of("old", "old", "");
  w.has_failed = r() % 8 == 0 && !w.proven.empty();
  w.is_paused = r() % 8 == 0;
  w.is_leaving = r() % 16 == 0;
  w.removes = r() % 2;
  w.now = noon;
  w.settings.wave_label = "ring";
  w.settings.waves = {"a", "b"};
  w.settings.max_clusters = {r() % 4, false};
  w.settings.max_failures = {r() % 2, false};
  w.settings.soak = one_of(0min, 10min);
  w.settings.goes_back = r() % 2;
  if (r() % 4 == 0) w.retry = noon - 30min;
  const std::size_t n = r() % 7;
  for (std::size_t i = 0; i < n; ++i) {
    member m = has("c" + std::to_string(i), one_of("a", "b", "c"), one_of("", "old", "new", "new"),
                   one_of(progress::ready, progress::moving, progress::failed),
                   one_of(noon - 5min, noon - 1h));
    m.seen = one_of(member::sight::seen, member::sight::seen, member::sight::seen,
                    member::sight::lost, member::sight::away);
    if (r() % 8 == 0) m.has = owner::other;
    m.holder = m.why_away = m.message = "told";
    if (r() % 16 == 0) m.refusal = "told";
    m.is_adopted = r() % 16 == 0;
    m.is_selected = r() % 8 != 0;
    m.is_granted = r() % 8 != 0;
    m.is_going = m.has == owner::ours && r() % 16 == 0;
    if (r() % 8 == 0) m.told = one_of("old", "new");
    w.members.push_back(std::move(m));
  }
  return w;
}

/// What no plan may say, by rules of its own; empty: it says nothing of that.
inline std::string broken_rule(const rollout_world& w, const fleet_plan& p) {
  const auto is_tried_again = [&](const member& m) {
    return m.is == progress::failed && w.retry && m.since < *w.retry;
  };
  std::size_t failed = 0, meant = 0, moving = 0, back = 0, starts = 0, returns = 0;
  for (const member& m : w.members) {
    const bool is_meant = m.is_selected && m.is_granted;
    meant += is_meant;
    const bool ours = m.has == owner::ours && is_meant && !m.is_going;
    failed += ours && m.seen == member::sight::seen && m.digest == w.wanted &&
              m.is == progress::failed && !is_tried_again(m);
    const bool counts =
        ours && m.refusal.empty() && m.seen != member::sight::away && m.is == progress::moving;
    const bool may_move = is_meant && m.has == owner::none && m.seen == member::sight::lost;
    moving += may_move || (counts && m.digest == w.wanted);
    back += may_move || (counts && m.digest == w.proven);
  }
  if (w.settings.goes_back && failed > w.settings.max_failures.value && !w.has_failed &&
      !w.is_leaving && !w.proven.empty() && !p.notes_failure)
    return "a failure is not noted";
  for (std::size_t i = 0; i < w.members.size(); ++i) {
    const member& m = w.members[i];
    const member_plan& d = p.members[i];
    const std::string who = m.cluster + " ";
    if (d.does == deed::nothing) continue;
    if (m.seen != member::sight::seen) return who + "is written and cannot be seen";
    if (d.does == deed::write && !m.refusal.empty()) return who + "is written and refuses";
    if (d.does == deed::write) {
      if (!m.is_selected || !m.is_granted) return who + "is written and not meant";
      if (w.is_paused || w.is_leaving) return who + "is written in a pause or while it leaves";
      if (m.has == owner::other && !m.is_adopted) return who + "belongs to somebody else";
      if (m.is_going) return who + "is written while it is deleted";
      if (d.digest != w.wanted && d.digest != w.proven) return who + "gets something else";
      if (d.digest == w.wanted && w.has_failed) return who + "gets what failed";
      if (d.digest == w.wanted && failed > w.settings.max_failures.value)
        return who + "begins although too many failed";
      const bool has_it = m.has == owner::ours && m.digest == d.digest;
      if (d.digest == w.wanted && has_it && !is_tried_again(m)) return who + "gets it again";
      if (d.digest == w.wanted) {
        ++starts;
        const std::size_t wave = w.settings.wave_of(m.wave_value);
        for (std::size_t before = 0; before < wave; ++before) {
          bool anybody = false, proved = false;
          for (const member& other : w.members) {
            if (!other.is_selected || !other.is_granted ||
                w.settings.wave_of(other.wave_value) != before)
              continue;
            anybody = true;
            proved |= other.has == owner::ours && other.digest == w.wanted && !other.is_going &&
                      other.seen == member::sight::seen && other.is == progress::ready &&
                      other.refusal.empty();
          }
          if (anybody && !proved) return who + "follows a wave that proved nothing";
        }
        for (const member& other : w.members) {
          if (!other.is_selected || !other.is_granted || other.seen == member::sight::away)
            continue;
          if ((other.has == owner::other && !other.is_adopted) || !other.refusal.empty()) continue;
          if (w.settings.wave_of(other.wave_value) >= wave) continue;
          const bool settled = other.has == owner::ours && other.digest == w.wanted &&
                               !other.is_going && other.is != progress::moving &&
                               !is_tried_again(other) && other.seen == member::sight::seen;
          if (!settled) return who + "is ahead of " + other.cluster;
          if (other.is == progress::ready && other.since + w.settings.soak > w.now)
            return who + "begins before " + other.cluster + " proved it";
        }
      } else if (m.has != owner::none) {
        if (!w.has_failed) return who + "goes back although nothing failed";
        ++returns;
      }
    }
    if (d.does == deed::remove || d.does == deed::let_go) {
      if (m.has != owner::ours) return who + "is let go and is not ours";
      if (m.is_selected && !w.is_leaving) return who + "is let go and still meant";
      if ((d.does == deed::remove) != w.removes) return who + "is let go in the other way";
      for (const member& other : w.members)
        if (d.does == deed::remove && other.has == owner::ours &&
            other.seen == member::sight::seen && (!other.is_selected || w.is_leaving) &&
            w.settings.wave_of(other.wave_value) < w.settings.wave_of(m.wave_value))
          return who + "leaves before " + other.cluster;
    }
  }
  if (starts && moving + starts > w.settings.max_clusters.value) return "too many move";
  if (returns && back + returns > std::max<std::size_t>(1, w.settings.max_clusters.value))
    return "too many go back";
  for (const member_plan& d : p.members)
    if (d.hold && (d.hold->sentence.empty() || d.hold->released_by.empty()))
      return d.cluster + " waits without a reason";
  return {};
}

}  // namespace fleetwide::testing
