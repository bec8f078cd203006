#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace units {

/// What a hold asks of people: `turn` waits for others and ends by itself, `progress` is work under
/// way, `trouble` may last until a person acts.
enum class hold_nature { turn, progress, trouble };
std::string_view text(hold_nature n) noexcept;

/// One reason why units wait, as the reference (docs/reference/holds.md), Events and metrics know
/// it. The codes are stable: scripts and dashboards match on them.
struct hold_kind {
  std::string_view code;  // "slot-full"
  hold_nature nature;
  std::string_view meaning;   // "every reboot slot of the pool is taken"
  std::string_view released;  // "a node in a slot is updated and Ready"
  std::string_view set_by;    // who decides it: "the planner", "the drain"
  // NOLINTNEXTLINE(google-explicit-constructor): a kind is named where its code is meant
  constexpr operator std::string_view() const noexcept { return code; }
  friend constexpr bool operator==(const hold_kind& kind, std::string_view code) noexcept {
    return kind.code == code;
  }
};

/// The kind of that code. A code that its table does not have does not compile.
consteval hold_kind hold_in(std::span<const hold_kind> table, std::string_view code) {
  for (const hold_kind& k : table)
    if (k.code == code) return k;
  throw "no such hold";
}

/// Why a unit waits, as far as every API has such reasons; each adds a table of its own.
namespace hold_code {
inline constexpr auto of_every_api = std::to_array<hold_kind>({
    {"paused", hold_nature::turn, "the object that asks for the move is paused",
     "spec.rollout.paused is false (`windlass rollout resume`)", "the planner"},
    {"braked", hold_nature::trouble,
     "the brake at home is on (the ConfigMap windlass-brake), so nothing begins",
     "`windlass brake off`", "a person"},
    {"speed-limit", hold_nature::turn,
     "as many changes began in the last minute as the fleet, or the cluster, may have "
     "(--max-changes, --max-changes-per-cluster)",
     "its turn comes; `askedAgain` says when", "the service"},
    {"halted", hold_nature::trouble, "too many units are unhealthy, so no other unit starts",
     "fewer than 2 unhealthy units hold slots", "the planner"},
    {"degraded", hold_nature::trouble, "the unit reports an error",
     "its daemon reports Degraded=False, or another image is asked for", "the node's daemon"},
    {"policy", hold_nature::turn,
     "the policy has not chosen it; `policy:Word` where the policy gives a word of its own",
     "the policy chooses it", "a policy pack"},
    {"policy-fault", hold_nature::trouble, "the policy failed, so no other unit starts",
     "the policy is corrected", "the planner"},
    {"signal-bad", hold_nature::trouble,
     "a signal that a policy pack looks at is outside of its bounds; the sentence has value and "
     "bound",
     "the signal is inside of its bounds, for as long as the pack says", "a policy pack"},
    {"signal-unknown", hold_nature::trouble,
     "a signal that a policy pack needs has no value, or an old one; the sentence says why",
     "the signal's server answers with a number", "a policy pack"},
    {"conflict", hold_nature::trouble, "another owner has the unit",
     "the node stops matching one of two pools, or the foreign object is deleted", "the planner"},
    {"invalid-spec", hold_nature::trouble, "what is asked for cannot be processed as written",
     "the object is corrected", "the planner"},
    {"stale-cluster", hold_nature::trouble, "the view of the cluster is old",
     "the cluster answers again", "the cluster's informers"},
});
inline constexpr hold_kind paused = hold_in(of_every_api, "paused"),
                           braked = hold_in(of_every_api, "braked"),
                           speed_limit = hold_in(of_every_api, "speed-limit"),
                           halted = hold_in(of_every_api, "halted"),
                           degraded = hold_in(of_every_api, "degraded"),
                           policy = hold_in(of_every_api, "policy"),
                           policy_fault = hold_in(of_every_api, "policy-fault"),
                           signal_bad = hold_in(of_every_api, "signal-bad"),
                           signal_unknown = hold_in(of_every_api, "signal-unknown"),
                           conflict = hold_in(of_every_api, "conflict"),
                           invalid_spec = hold_in(of_every_api, "invalid-spec"),
                           stale_cluster = hold_in(of_every_api, "stale-cluster");
/// The kind of hold that a policy's word makes: one of those for signals, else `policy`.
constexpr hold_kind of_policy_word(std::string_view word) noexcept {
  return word == signal_bad.code       ? signal_bad
         : word == signal_unknown.code ? signal_unknown
                                       : policy;
}
}  // namespace hold_code

/// One waiting unit: what holds it, as a sentence, and what would release it.
struct hold {
  std::string unit;
  std::string code;
  std::string sentence;
  std::string released_by;
  std::string since = {};        // RFC 3339; empty: not known
  std::string by = {};           // the pack whose word it is, and its version; empty: no pack's
  std::string asked_again = {};  // RFC 3339: when it is looked at again, where that is known
  friend bool operator==(const hold&, const hold&) = default;
};

inline hold held(const hold_kind& why, std::string unit, std::string sentence) {
  return {std::move(unit), std::string(why.code), std::move(sentence), std::string(why.released)};
}
/// As a policy says it: with a word of its own, "policy:AfterCanary". `by` is the pack and its
/// version.
inline hold held_by_policy(std::string_view word, std::string unit, std::string sentence,
                           std::string by = {}) {
  const hold_kind kind = hold_code::of_policy_word(word);
  hold out = held(kind, std::move(unit), std::move(sentence));
  if (kind == hold_code::policy.code && !word.empty()) out.code.append(":").append(word);
  out.by = std::move(by);
  return out;
}

/// "policy" of "policy:AfterCanary": what a table knows of it.
constexpr std::string_view kind_in(std::string_view code) noexcept {
  return code.substr(0, code.find(':'));
}

}  // namespace units
