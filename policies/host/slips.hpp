#pragma once

#include "policies/host/hook.hpp"
#include "policies/host/signals/declaration.hpp"

#include <string>
#include <vector>

namespace policies {

/// A name that nothing has, next to one that something has.
struct source_slip {
  std::string file;
  int line = 0;
  std::string wrong, right;     // right is empty for a signal that is not declared
  std::string message() const;  // "policy.lua:12: nothing has a field 'slottd', is it slotted?"
};

/// Names behind a dot that are no field of what the pack's hooks are given or answer, of the
/// language, or of the pack's own tables, and look like one: also where no question leads.
/// Shape    `hooks` are those the pack answers; with one that is not described nothing is said: its
///          fields are not known. Reads names, not types: a field of another record is not noticed,
///          the typical questions and tests do that.
///          `fleet.signals.NAME` must be one of `signals`, those that the pack declares.
std::vector<source_slip> find_slips(const pack_files& files, const hook_list& hooks,
                                    const std::vector<signal_declaration>& signals = {});

}  // namespace policies
