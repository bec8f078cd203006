#pragma once

#include "simulation/commands/simulate/trial.hpp"

#include <string>
#include <string_view>

namespace cli::simulate {

/// An outcome as bytes for another process of this program, and back.
/// Errors: what is cut short or too long is a bug, and throws.
std::string outcome_text(trial_outcome o);
trial_outcome outcome_in(std::string_view text);

}  // namespace cli::simulate
