#pragma once

#include "helm/commands/command_options.hpp"
#include "helm/template/executor.hpp"
#include "helm/values/values.hpp"

#include <span>
#include <string>

namespace helm {

/// What a command printed and how it ended; the caller writes it out.
struct command_result {
  std::string out;
  std::string err;
  int exit_code = 0;
};

/// `windlass helm template|show|lint ARGUMENTS…`, flags as Helm's.
/// Shape    arguments[0] is the command's name. Without a locator a chart is a path.
command_result run_command(std::span<const std::string> arguments, const surroundings& around = {},
                           const chart_locator& locate = {});

command_result template_command(const template_options& o, const surroundings& around = {},
                                const chart_locator& locate = {});
command_result show_command(const show_options& o, const chart_locator& locate = {});
command_result lint_command(const lint_options& o, const surroundings& around = {});

/// -f and --set flags put together.
/// Errors   "failed to parse x.yaml: …", "failed parsing --set data: …"
outcome<value> read_values(const value_options& o);

}  // namespace helm
