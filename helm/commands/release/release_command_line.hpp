#pragma once

#include "helm/commands/command_options.hpp"
#include "helm/commands/flags/chart_flags.hpp"
#include "helm/commands/flags/cluster_flags.hpp"
#include "helm/commands/flags/output_format.hpp"
#include "helm/release/actions.hpp"

#include <functional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace helm::release {

struct install_command {
  install_request request;  // name and chart are still to be found
  std::vector<std::string> arguments;
  std::string name_template;
  bool generate_name = false;
  bool hide_notes = false;
  value_options values;
  chart_flags from;
};
struct upgrade_command {
  upgrade_request request;
  std::string chart;
  bool install = false;
  bool create_namespace = false;
  bool skip_crds = false;
  bool hide_notes = false;
  value_options values;
  chart_flags from;
};
struct rollback_command {
  rollback_request request;
};
struct uninstall_command {
  uninstall_request request;
  std::vector<std::string> names;
};
struct list_command {
  list_choice choice;
  bool all_namespaces = false;
  bool brief = false;
  bool no_headers = false;
  std::string time_format, filter, selector;
};
struct history_command {
  std::string name;
  int most = 256;
};
struct status_command {
  std::string name;
  int revision = 0;
  bool show_description = false;
  bool show_resources = false;
};
enum class get_part : std::uint8_t { all, hooks, manifest, metadata, notes, values };
struct get_command {
  get_part part = get_part::all;
  std::string name;
  int revision = 0;
  bool computed = false;
  std::string form;  // a template to print it by; empty: as Helm does
};
struct test_command {
  test_request request;
  bool hide_notes = false;
  bool logs = false;
};

struct command_line {
  cluster_flags cluster;
  output_format output = output_format::table;
  std::variant<install_command, upgrade_command, rollback_command, uninstall_command, list_command,
               history_command, status_command, get_command, test_command>
      what;
};

/// Reads `install NAME CHART --wait …`; variables are Helm's (HELM_NAMESPACE, HELM_MAX_HISTORY, …).
/// Errors   as Helm words them; a flag of Helm's that we do not have says so (is_unsupported).
outcome<command_line> parse_command_line(std::span<const std::string> arguments,
                                         const variables& variable);

}  // namespace helm::release
