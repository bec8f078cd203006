#pragma once

#include "policies/host/hook.hpp"
#include "policies/host/host.hpp"
#include "policies/rollout.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace policies {

/// How the workload makes way.
struct drain_options {
  /// Given up after that long, and the slot goes to another; 0: as the object says.
  reactor::nanoseconds timeout{0};
};

/// May the workload of this unit be disturbed now? Asked before a unit that may start gets its
/// slot; what is under way is finished whatever is answered.
struct disruption_answer {
  bool admit = false;
  std::string code, reason;  // why not; `code` one word or empty
  bool halt = false;         // of a no: the rollout halts
  bool is_fault = false;     // a pack failed: `reason` is how
  drain_options drain;       // of a yes
  reactor::nanoseconds look_again{0};
  std::string pack, version;  // that said no, or the last that was asked
};

/// The packs that are asked about a unit, in order: those that apply. Of Tenants, and of a rollout
/// that is watched when every unit has moved, only those that declare signals.
std::vector<std::shared_ptr<const pack>> disruption_chain(const host& packs, const subject& s,
                                                          bool is_watched);

/// Every pack of the chain is asked in order; the first no is the answer, so that a pack can only
/// narrow. Without any the answer is yes. One that fails means no, with its message as the reason.
/// Lifetime `unit` is one of the input's; the input stays as it is during the call.
reactor::awaitable<disruption_answer> admit_disruption(host& packs, subject s,
                                                       std::shared_ptr<const rollout_input> input,
                                                       std::size_t unit, reactor::wall_time now);

/// The part of it that looks at one answer.
reactor::result<disruption_answer> read_disruption_answer(const value& answer);

std::int64_t disruption_instructions(std::size_t peers);

hook disruption_hook();

}  // namespace policies
