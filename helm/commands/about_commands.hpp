#pragma once

#include "helm/commands/commands.hpp"
#include "helm/sources/settings.hpp"

#include <span>
#include <string>

namespace helm {

/// `windlass helm version` and `windlass helm env`: what Helm says of itself and of where it looks.
/// Shape    arguments[0] is the verb; `of` are Helm's variables, `where` what follows from them;
///          `program` is the path of this one and `ns` the namespace that the kubeconfig names.
command_result version_of_helm(std::span<const std::string> arguments,
                               const std::string& program_version);
command_result env_command(std::span<const std::string> arguments, const variables& of,
                           const sources::settings& where, const std::string& program,
                           const std::string& ns);

}  // namespace helm
