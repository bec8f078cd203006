#pragma once

#include "policies/host/host.hpp"
#include "policies/host/signals/declaration.hpp"
#include "policies/host/view.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace policies {

/// A declared signal as hooks see it, when they are asked.
struct signal_fact {
  std::optional<double> value;            // the last one; none while `unknown` says why
  std::optional<double> lowest, highest;  // of the values of the last `covers` seconds
  double age = 0;                         // seconds since `value` was fetched
  /// For so long, up to now and up to the declared window, there was always a value that was not
  /// stale. After a start of the service it begins again.
  double covers = 0;
  std::string unknown;  // why there is no value, a sentence; empty: there is one
};
using signal_facts = std::map<std::string, signal_fact, std::less<>>;

template <>
struct view_record<signal_fact> {
  static constexpr const char* name = "signal";
  static constexpr field fields[] = {
      field_of<&signal_fact::value>("value", "nil while it is unknown, and while it is stale"),
      field_of<&signal_fact::age>("age", "since the value was fetched", "seconds"),
      field_of<&signal_fact::unknown>("unknown", "why there is no value; empty: there is one"),
      field_of<&signal_fact::lowest>("lowest", "of the values of the last `covers` seconds"),
      field_of<&signal_fact::highest>("highest", "of the same"),
      field_of<&signal_fact::covers>(
          "covers",
          "for so long there was always a value that was not stale, up to the window; a start of "
          "the service begins it again",
          "seconds"),
  };
};

/// A signal that the packs which answer for a pool declare.
struct wanted_signal {
  signal_declaration as;
  std::string pack;     // the first that declares it
  std::string problem;  // why it cannot be fetched: another pack declares it otherwise
};

/// Codes of holds that a pack may give beside words of its own; each is a row of the table of holds
/// (app/api/hold.hpp).
inline constexpr std::string_view signal_bad = "signal-bad", signal_unknown = "signal-unknown";

/// Those of the packs that are asked for the subject by a hook which sees signals, by name: of what
/// is said once at home `fleet.revision`, else `rollout.plan` and `disruption.admit`.
std::vector<wanted_signal> signals_wanted(const host& packs, const subject& of);

/// What hooks see of the declared signals when each has that value, or none.
signal_facts typical_signals(const std::vector<signal_declaration>& declared,
                             std::optional<double> value);

/// What every signal is where none is fetched.
signal_facts unknown_signals(const std::vector<wanted_signal>& wanted, std::string_view why);

}  // namespace policies
