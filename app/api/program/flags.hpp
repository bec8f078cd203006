#pragma once

#include "reactor/plain/time.hpp"

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace program {

/// --log-level and --log-format.
void add_logging(CLI::App& app, std::string& level, std::string& format);
/// --config.
void add_config(CLI::App& app, std::string& file);
/// A duration as Go writes it, or a number of seconds; above zero and at most a year. `to` stays as
/// it is where the flag is not given; `shown` is what --help says is taken then.
void add_interval(CLI::App& app, const std::string& names, reactor::nanoseconds& to,
                  const std::string& about, const std::string& shown);

/// What the file of --config adds to a command line.
struct with_file {
  std::vector<std::string> words;     // the command line with it
  std::set<std::string> taken;        // flags whose value is the file's
  std::vector<std::string> left_out;  // entries that are no flags of the command
  std::string problem;                // a sentence; else empty
};
/// Puts what `file` says before all other flags of `words`, of which the first `commands` name the
/// command; a flag of the command line wins. `command` has parsed them. Blocks on the file.
with_file with_settings(const std::vector<std::string>& words, std::size_t commands,
                        const CLI::App& command, const std::string& file);

}  // namespace program
