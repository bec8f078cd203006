#pragma once

#include "app/flags.hpp"
#include "reactor/log.hpp"
#include "reactor/net/stream.hpp"
#include "reactor/plain/result.hpp"

#include <optional>
#include <string>

namespace reactor {
class loop;
}

namespace app {

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
