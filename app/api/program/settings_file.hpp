#pragma once

#include "reactor/plain/result.hpp"

#include <string>
#include <vector>

namespace app {

/// One entry of a settings file: a flag without its dashes, and its values as the command line
/// would have them, one at least.
struct file_setting {
  std::string flag;
  std::vector<std::string> values;
};

/// Reads the file of `--config`: YAML, a mapping of flag names to texts, numbers, booleans or lists
///   of them. log-format: json
///   apis: [bootc]
/// Errors   not readable, above 1 MiB, not YAML (with its line), or an entry that is neither; each
///          names the file.
reactor::result<std::vector<file_setting>> load_settings(const std::string& path);

}  // namespace app
