#pragma once

#include "app/flags.hpp"
#include "reactor/log.hpp"
#include "reactor/net/stream.hpp"
#include "reactor/plain/result.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace reactor {
class loop;
}

namespace app {

/// What main() does: `body` gets the command line with the name that it was called by, and returns
/// the exit code. Lost memory ends the process with one sentence; any other exception is told as a
/// bug of the program `name`.
int main_of(std::string_view name, int argc, char** argv,
            const std::function<int(const std::vector<std::string>& command_line)>& body);

/// Reads the variables of this process.
environment_reader process_environment();

/// Where the program `name` of the same build is, as seen from the program at `self`: beside it, or
/// in ../libexec/windlass. Errors: errc::not_found, naming both places.
reactor::result<std::string> find_sibling(const std::string& self, const std::string& name);

/// Replaces this process by the program `name` that find_sibling() finds, with `arguments`. Returns
/// only where that fails: an exit code, and why is said on standard error.
int execute_sibling(const std::string& name, const std::vector<std::string>& arguments);

/// --log-level and --log-format.
void declare_logging(flags& f, std::string& level, std::string& format);

/// ":8080", "127.0.0.1:8080", "[::1]:8080"; "0" = none. Errors: errc::malformed, naming `flag`.
reactor::result<std::optional<reactor::endpoint>> parse_bind_address(const std::string& text,
                                                                     const std::string& flag);

/// Level and format from the flags. Errors: errc::malformed.
reactor::result<reactor::logger> logger_from(reactor::loop& l, const std::string& level,
                                             const std::string& format);

/// POD_NAME, else the host's name: where we run. Events name it, and the records of releases that
/// a later run takes over once their deadline has passed.
std::string host_identity();
/// host_identity() and a part that is random and stays as long as the process lives: who we are in
/// Leases. Machines may share a host name, and a machine may run two of us.
const std::string& process_identity();

}  // namespace app
