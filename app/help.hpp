#pragma once

#include <string>
#include <vector>

namespace app {

/// What --help says of a command. Plain text: the parser fills it in.
struct help_page {
  struct entry {
    std::string name, about;   // "-o, --output FORMAT"
    std::string section = {};  // of a flag: whose it is; empty: the command's own
    bool matters = false;      // of a flag: on the first screen; of an argument: required
  };
  std::string path;    // "windlass rollout pause"
  std::string about;   // one sentence
  std::string footer;  // examples first, then a blank line and what else there is to say
  std::vector<entry> commands, arguments, flags;
};

enum class help_extent { first_screen, all };

/// In lines of at most 80 columns. The first screen has what it is, its examples and at most ten
/// flags, and fits into 24 lines; `all` has every flag, those of an API below its name.
std::string help_text(const help_page& page, help_extent how);

}  // namespace app
