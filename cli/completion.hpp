#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cli {

/// A command as a shell completes it.
struct completed_command {
  struct flag {
    std::string name, about;
    char brief = 0;
    bool takes_value = false;
    std::vector<std::string> values;  // all that it takes; empty: anything, a file for one
  };
  enum class argument { any, release, repository };
  std::string name, about;         // "policy test"
  std::vector<std::string> words;  // what may come next: commands below, or fixed values
  std::vector<flag> flags;
  argument takes = argument::any;
};
/// Every command but helm's own, those below others too. In arguments.cpp, where they are declared.
std::vector<completed_command> own_commands();

/// Every command of the program, Helm's below "helm", by name: what a shell completes.
std::vector<completed_command> all_commands();

/// The completion script for bash, zsh or fish, made from the commands as they are. It asks the
/// program itself for names of releases and repositories.
std::string completion_script(std::string_view shell);

}  // namespace cli
