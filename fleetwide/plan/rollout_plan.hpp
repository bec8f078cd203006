#pragma once

#include "app/api/hold.hpp"
#include "fleetwide/kinds/rollout.hpp"
#include "reactor/plain/time.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fleetwide {

/// What one cluster of the fleet is to a fleet object, as it was seen last.
struct member {
  std::string cluster;
  std::string wave_value;  // of the label by which waves are told
  bool is_selected = true;
  bool is_granted = true;

  /// What it has can be seen now. Of one that was lost lately nothing is concluded yet.
  enum class sight { seen, lost, away } seen = sight::seen;
  std::string why_away;

  /// Whose the object there is.
  enum class owner { none, ours, other } has = owner::none;
  std::string holder;  // of other: a sentence's part, "the field manager flux", "FleetPool/a/b"
  std::optional<units::hold> policy;  // why a policy does not let it begin; none: it does
  std::optional<units::hold> needs;   // what is not ready there that it needs; none: all is
  /// Why it cannot get the revision before a person acts elsewhere: no wave waits for it.
  std::optional<units::hold> stuck;
  std::string refusal;      // why its server does not take what is written there; empty: it does
  bool is_adopted = false;  // a person lets it be taken over
  std::string digest;       // ours: the revision that it has
  /// The revision that was begun there and is not done, whatever it would be there by now: it keeps
  /// a slot of that revision.
  std::string begun;
  enum class progress { moving, ready, failed } is = progress::moving;
  std::string message;         // of one that failed
  reactor::wall_time since{};  // ready, failed: since when, not before its revision was written
  /// The revision that it was told to get and has not begun to: while the plan still writes it, it
  /// waits there; otherwise it is taken back.
  std::string told;
  std::optional<units::hold> waits;  // moving or ready: what is not well with it there
  bool is_going = false;             // being deleted, or let go
};

/// A fleet object with all its members at one moment.
struct rollout_world {
  std::string wanted;       // the revision that is asked for, its digest
  std::string proven;       // the newest that finished its waves; empty: none did
  bool has_failed = false;  // `wanted` failed before, and members go back
  /// Why `wanted` was halted when it was looked at before: it stays so while a cluster of which
  /// nothing is known may be one that failed.
  std::string halted;
  /// When a person asked to try it again: who failed before that gets it once more.
  std::optional<reactor::wall_time> retry;
  bool is_paused = false, is_leaving = false;  // is_leaving: the object is being deleted
  bool removes = false;  // what a cluster has that is no longer meant: removed, or left there
  rollout_settings settings;
  std::vector<member> members;
  reactor::wall_time now{};
};

/// What is done about a member: nothing; the revision is written; its object is removed; our marks
/// are taken off it.
enum class deed { nothing, write, remove, let_go };

/// How a member does, in one word for people.
enum class member_state {
  ready,
  moving,
  failed,
  waiting,
  away,
  foreign,
  refused,
  not_granted,
  leaving,
};
std::string_view text(member_state s) noexcept;

struct member_plan {
  std::string cluster;
  std::size_t wave = 0;
  member_state is = member_state::waiting;
  deed does = deed::nothing;
  std::string digest;  // to write
  bool takes_over = false;
  bool was_told = false;  // to write: it was told so before, and waits to begin
  std::optional<units::hold> hold;
  friend bool operator==(const member_plan&, const member_plan&) = default;
};

struct fleet_plan {
  std::vector<member_plan> members;  // in the order of the world
  /// Too many failed, a sentence; empty: no.
  std::string halt;
  /// It has to be noted that `wanted` failed before anything else is done.
  bool notes_failure = false;
  /// Every cluster that can be reached has `wanted`: it becomes the proven one.
  bool is_complete = false;
  /// Nothing of it is left on a member that can be reached; on so many others it may be.
  bool is_gone = false;
  std::size_t left_away = 0;
  std::optional<std::size_t> wave;  // under way
  std::map<member_state, std::size_t> counts;
  std::optional<reactor::wall_time> look_again;
};

/// Decides. Pure. No cluster gets `wanted` before the waves before its own have it, as many of them
/// as there are, have proved it for the soak, and no more failed than the budget bears.
fleet_plan plan_rollout(const rollout_world& w);

}  // namespace fleetwide
