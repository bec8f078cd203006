#pragma once

#include "helm/commands/flags/command_flags.hpp"
#include "helm/commands/verbs.hpp"

#include <string>
#include <vector>

namespace helm {

/// The Helm whose output, records and exit codes ours are.
inline constexpr std::string_view stock_version = "v3.21.4";

/// What `windlass helm` says of itself, of a group, of a verb with its flags. Lines of at most 80
/// columns where words allow.
std::string help_text();
std::string help_of(const verb& group);
std::string help_of(const verb& v, const std::vector<flag_info>& flags);

/// "helm plugin is not supported by windlass: …"
std::string refusal_of(const verb& v);

/// docs/helm.md: every verb and flag, and what becomes of each here. `flags_of` tells those of a
/// verb.
std::string reference_text(const std::function<std::vector<flag_info>(const verb& v)>& flags_of);

}  // namespace helm
