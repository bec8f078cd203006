#include "cli/commands.hpp"

namespace cli {

int daemon_command(const std::vector<setting>& settings) {
  std::vector<std::string> words;
  for (const setting& s : settings)
    if (s.origin != "default" && s.name != "config") words.push_back("--" + s.name + "=" + s.value);
  return program::execute_sibling("windlass-node", words);
}

}  // namespace cli
