#pragma once

#include "helm/commands/release/release_command_line.hpp"
#include "helm/release/record.hpp"

#include <string>

namespace helm::release {

/// What the commands print, byte for byte as Helm does.

struct status_shape {
  bool debug = false;             // values and everything that was rendered
  bool show_description = false;  // status --show-desc
  bool show_metadata = false;     // get all
  bool hide_notes = false;
  std::string resources;  // of the cluster, for this format: a table's lines, or JSON
};
/// Errors   values that cannot be written.
outcome<std::string> status_report(const record& r, output_format f, const status_shape& shape);
outcome<std::string> history_report(const history& h, output_format f);
outcome<std::string> list_report(const history& h, output_format f, const list_command& c);
/// The user's values, or those with the chart's defaults below.
enum class shown_values : std::uint8_t { users, computed };
outcome<std::string> values_report(const record& r, output_format f, shown_values which);
outcome<std::string> metadata_report(const record& r, output_format f);
std::string hooks_report(const record& r);

}  // namespace helm::release
