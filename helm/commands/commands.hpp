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

/// How a command ends that could not read its arguments: 2 for a flag of Helm's that we do not
/// have; one that was asked to describe itself (command_flags::parse) prints that.
command_result usage_end(const problem& p);

/// `windlass helm template|show|lint|create ARGUMENTS…`, flags as Helm's.
/// Shape    arguments[0] is the command's name. Without a locator a chart is a path. `of` are
///          Helm's variables.
command_result run_command(std::span<const std::string> arguments,
                           const render_runtime& runtime = {}, const chart_locator& locate = {},
                           const variables& of = {});

command_result template_command(const template_options& o, const render_runtime& runtime = {},
                                const chart_locator& locate = {});
command_result show_command(const show_options& o, const chart_locator& locate = {});
command_result lint_command(const lint_options& o, const render_runtime& runtime = {});

/// -f and --set flags put together.
/// Errors   "failed to parse x.yaml: …", "failed parsing --set data: …"
outcome<value> read_values(const value_options& o);

}  // namespace helm
