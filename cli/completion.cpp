#include "cli/completion.hpp"

#include "cli/arguments.hpp"

namespace cli {
namespace {

std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

/// zsh reads bash's form through bashcompinit.
std::string bash_script() {
  std::vector<std::string> names;
  std::string cases;
  for (const command_words& command : completion_words()) {
    names.push_back(command.name);
    cases += "    " + command.name + ") words=\"" + join(command.flags) + "\" ;;\n";
  }
  return "_windlass() {\n  local words=\"" + join(names) +
         "\"\n  if [ \"$COMP_CWORD\" -gt 1 ]; then case \"${COMP_WORDS[1]}\" in\n" + cases +
         "  esac; fi\n  COMPREPLY=($(compgen -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n}\n"
         "complete -o default -F _windlass windlass\n";
}

std::string fish_script() {
  std::string text = "complete -c windlass -e\n";
  for (const command_words& command : completion_words()) {
    text += "complete -c windlass -n __fish_use_subcommand -a " + command.name + "\n";
    for (const std::string& flag : command.flags) {
      text += "complete -c windlass -n '__fish_seen_subcommand_from " + command.name + "' ";
      text += flag.starts_with("--") ? "-l " + flag.substr(2) + "\n" : "-a " + flag + "\n";
    }
  }
  return text;
}

}  // namespace

std::string completion_script(std::string_view shell) {
  if (shell == "fish") return fish_script();
  if (shell == "zsh") return "autoload -U +X bashcompinit && bashcompinit\n" + bash_script();
  return bash_script();
}

}  // namespace cli
