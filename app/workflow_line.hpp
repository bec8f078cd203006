#pragma once

#include <string>
#include <string_view>

namespace app {

/// A line that a workflow of GitHub shows at a file or a run: "::error title=…::…". Its level is
/// "error", "warning" or "notice"; `file` may be empty.
std::string workflow_line(std::string_view level, std::string_view file, std::string_view title,
                          std::string_view message);

}  // namespace app
