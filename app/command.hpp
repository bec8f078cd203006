#pragma once

#include "app/exit_code.hpp"
#include "app/flags.hpp"

#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <typeindex>
#include <utility>
#include <vector>

namespace app {

struct program;

/// What the body of a command is given beside its own options. It outlives the body.
struct invocation {
  const program& of;
  const std::vector<units::api>* known;  // the APIs of the program; null: it has none
  const environment_reader& environment;
  std::vector<std::string> words;  // behind the command's path, as they were typed
  /// Every setting of the command with its origin, for the log line at the start. Asked after the
  /// APIs were set up, it has the values that count.
  std::function<std::vector<setting>()> settings;

  const std::vector<units::api>& apis() const noexcept { return *known; }
};

/// A declared command: its body and the options that the body reads.
struct declared_command {
  std::function<int(const invocation&)> run;  // returns the exit code
  std::shared_ptr<const void> options;
  std::type_index type = typeid(void);
};

/// A command as a shell completes it.
struct completed_command {
  struct flag {
    std::string name, about;
    char brief = 0;
    bool takes_value = false;
    std::vector<std::string> values;  // all that it takes; empty: anything, a file for one
  };
  enum class argument { any, release, repository, row, unit, cluster };
  std::string name, about;         // "policy test"
  std::vector<std::string> words;  // what may come next: commands below, or fixed values
  std::vector<flag> flags;
  argument takes = argument::any;
};

/// One command of the program. Adding one is its file and one line in the program's list.
struct command {
  std::string path;   // "rollout approve"
  std::string about;  // one sentence for --help
  /// Declares the flags and returns the body. Empty: the command only groups those below its path.
  std::function<declared_command(flags&)> declare = {};
  std::string footer = {};  // of a group; others set it by flags::footer
  /// Gets everything behind the path as it was typed, --help included: flags of another program.
  std::function<int(const std::vector<std::string>&, const invocation&)> raw = {};
  /// What a shell completes behind a raw command, itself included.
  std::function<std::vector<completed_command>()> completed = {};
  /// What a shell completes as the arguments of a declared one.
  completed_command::argument takes = completed_command::argument::any;
};

/// A command whose options are an `Options`, which begins as `begin`.
template <class Options>
command command_of(std::string path, std::string about,
                   std::function<void(flags&, Options&)> declare,
                   std::function<int(const Options&, const invocation&)> run, Options begin = {}) {
  command out{std::move(path), std::move(about)};
  out.declare = [declare = std::move(declare), run = std::move(run),
                 begin = std::move(begin)](flags& f) {
    const auto options = std::make_shared<Options>(begin);
    declare(f, *options);
    return declared_command{[run, options](const invocation& i) { return run(*options, i); },
                            options, typeid(Options)};
  };
  return out;
}

/// One of several commands that share their options, in which `what` says which one it is.
template <class Options>
struct verb_of {
  const char *name, *about;
  decltype(Options::what) what;
  void (*declare)(flags&, Options&);
};

/// The group, and below its path a command for each verb; `common` declares what all have.
template <class Options>
std::vector<command> family(command group, const std::vector<verb_of<Options>>& verbs,
                            void (*common)(flags&, Options&),
                            std::function<int(const Options&, const invocation&)> run,
                            Options begin = {}) {
  const std::string path = group.path + " ";
  std::vector<command> out = {std::move(group)};
  for (const verb_of<Options>& v : verbs) {
    begin.what = v.what;
    out.push_back(command_of<Options>(
        path + v.name, v.about,
        [common, declare = v.declare](flags& f, Options& to) {
          common(f, to);
          declare(f, to);
        },
        run, begin));
  }
  return out;
}

/// All commands; a group comes before what is in it. A program that is one command has that alone,
/// with an empty path; the file of --config may have settings of other programs then.
struct program {
  std::string name, about, footer;
  std::vector<command> commands;
  std::string version = {};     // for --version of a program that is one command
  template_engine engine = {};  // for -o go-template; without it there is none

  bool is_one_command() const { return commands.size() == 1 && commands.front().path.empty(); }
};

class parsing;

/// The command line as a command that can be run, or a text and an exit code: 0 after --help, 2
/// for wrong usage.
struct parse_outcome {
  declared_command chosen;  // without a body: nothing is to be run
  std::string path;         // of the chosen command
  int exit_code = 0;
  std::string out, err;
  std::shared_ptr<parsing> read;

  explicit operator bool() const noexcept { return static_cast<bool>(chosen.run); }
  /// The options of the chosen command; null when they are of another type.
  template <class Options>
  const Options* options() const noexcept {
    return chosen.type == typeid(Options) ? static_cast<const Options*>(chosen.options.get())
                                          : nullptr;
  }
  std::vector<setting> settings() const;
};

/// A variable that is not empty wins over a flag, a flag over the file of --config.
parse_outcome parse(const program& p, const std::vector<std::string>& words,
                    const environment_reader& environment,
                    const std::vector<units::api>* apis = nullptr);

/// Parses the words and runs the command that they name. Returns the exit code; wrong usage is told
/// on standard error.
int run(const program& p, const std::vector<std::string>& words,
        const environment_reader& environment, const std::vector<units::api>* apis = nullptr);

/// Every command as a shell completes it.
std::vector<completed_command> described(const program& p, const std::vector<units::api>* apis);

/// The completion script for bash, zsh or fish. It asks the program for names of releases and
/// repositories.
std::string completion_script(const std::vector<completed_command>& all, std::string_view shell);

}  // namespace app
