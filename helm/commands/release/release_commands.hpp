#pragma once

#include "helm/commands/release/release_command_line.hpp"
#include "helm/release/actions.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace helm::release {

/// Where a command writes.
using teller = std::function<void(const std::string&)>;
struct console {
  std::function<void(std::string_view)> out, err;
  teller debug = {};  // may be empty
};

/// The chart that a reference names, loaded.
using chart_finder = std::function<awaitable<outcome<std::shared_ptr<prepared_chart>>>(
    std::string reference, chart_flags from)>;

/// The text that a server has at an address.
using address_fetcher = std::function<awaitable<outcome<std::string>>(std::string address)>;

/// Runs one command and prints what Helm would.
/// Shape    returns the exit code. Reads values files: blocks on them, for the start of a process.
/// Lifetime actions, console and finder outlive it.
class command_runner {
public:
  command_runner(reactor::loop& l, release_actions& actions, console& to, chart_finder find,
                 address_fetcher fetch)
      : loop_(l),
        actions_(actions),
        to_(to),
        find_chart_(std::move(find)),
        fetch_(std::move(fetch)) {}

  awaitable<int> run(command_line line);
  /// After the command was cancelled and joined: ends what it left and says so.
  awaitable<int> cancelled(command_line line);

private:
  awaitable<int> run(install_command c, command_line line);
  awaitable<int> run(upgrade_command c, command_line line);
  awaitable<int> run(rollback_command c, command_line line);
  awaitable<int> run(uninstall_command c, command_line line);
  awaitable<int> run(list_command c, command_line line);
  awaitable<int> run(history_command c, command_line line);
  awaitable<int> run(status_command c, command_line line);
  awaitable<int> run(get_command c, command_line line);
  awaitable<int> run(test_command c, command_line line);
  awaitable<int> install(install_command c, command_line line, std::string prefix);
  outcome<std::pair<std::string, std::string>> name_and_chart(const install_command& c) const;
  awaitable<outcome<value>> values_of(value_options o);
  int fail(const std::string& text) const;
  int show(const outcome<std::string>& text) const;

  reactor::loop& loop_;
  release_actions& actions_;
  console& to_;
  chart_finder find_chart_;
  address_fetcher fetch_;
};

/// Why a chart cannot be used although it loads, and what its user should know: on standard error.
outcome<bool> check_chart(prepared_chart& c, const console& to);

}  // namespace helm::release
