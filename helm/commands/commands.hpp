#pragma once

#include "helm/commands/command_options.hpp"
#include "helm/template/executor.hpp"
#include "helm/values/values.hpp"

#include <array>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace helm {

/// What a command printed and how it ended; the caller writes the parts of in_order().
struct command_result {
  std::string out;
  std::string err;  // first the warnings, then the error that ended the command
  int exit_code = 0;
  std::size_t error_at = std::string::npos;  // where in `err` that error begins

  /// Adds "Error: …" and sets the exit code.
  void fail(const std::string& text);
  struct part {
    int descriptor;
    std::string_view text;
  };
  /// The order in which Helm prints, which a reader of both streams sees: warnings, output, error.
  /// Lifetime views this result.
  std::array<part, 3> in_order() const&;
  std::array<part, 3> in_order() && = delete;
};

/// What commands ask for what is not on this machine. Each may be missing.
struct peers {
  chart_locator locate;  // without it a chart is a path
  /// The text that a server has at an address: http://, https://, oci://.
  std::function<outcome<std::string>(const std::string& address)> fetch;
  /// The namespace of the kubeconfig's context, or nothing.
  std::function<std::string(const cluster_flags&)> home_namespace;
  /// `lookup` on the cluster that the flags name.
  std::function<decltype(render_runtime::lookup)(const cluster_flags&)> lookups;
};

/// filepath.Abs
std::string absolute_path(const std::string& path);

/// How a command ends that could not read its arguments: 2 for a flag of Helm's that we do not
/// have; one that was asked to describe itself (command_flags::parse) prints that.
command_result usage_end(const problem& p);

/// `windlass helm template|show|lint|create ARGUMENTS…`, flags as Helm's.
/// Shape    arguments[0] is the command's name. `of` are Helm's variables.
command_result run_command(std::span<const std::string> arguments,
                           const render_runtime& runtime = {}, const peers& ask = {},
                           const variables& of = {});

command_result template_command(const template_options& o, const render_runtime& runtime = {},
                                const peers& ask = {});
command_result show_command(const show_options& o, const peers& ask = {});
command_result lint_command(const lint_options& o, const render_runtime& runtime = {},
                            const peers& ask = {});

/// What -f and --set-file name that a server has: the caller fetches each into o.fetched before
/// read_values.
std::vector<std::string> addresses_in(const value_options& o);
/// -f and --set flags put together.
/// Errors   "failed to parse x.yaml: …", "failed parsing --set data: …"
outcome<value> read_values(const value_options& o);

}  // namespace helm
