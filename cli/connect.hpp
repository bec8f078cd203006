#pragma once

#include "cli/arguments.hpp"
#include "cli/service/service.hpp"
#include "reactor/plain/result.hpp"
#include "units/program/process.hpp"

#include <optional>
#include <string>

namespace cli {

/// What is moved, of what is `known`; where home is and which clusters there are, from the flags.
/// Blocks on files, and runs the loop where home's kubeconfig is in a Secret; for the start of the
/// process.
/// Errors: one sentence that names the file, field and reason.
reactor::result<service_options> service_from(reactor::loop& l, const fleet_arguments& a,
                                              const std::vector<units::api>& known);

/// What a command about the fleet begins with.
struct prepared_service {
  reactor::logger log;
  service_options options;
};
/// None: it was said what is wrong and that a person names `whom`, and `exit_code` is set.
std::optional<prepared_service> prepare_service(reactor::loop& l, const fleet_arguments& a,
                                                const std::vector<units::api>& known,
                                                int& exit_code, const char* whom = "a cluster");

using program::logger_from;
using program::parse_bind_address;

/// POD_NAME, else the host's name: where we run. Events name it, and the records of releases that
/// a later run takes over once their deadline has passed.
std::string host_identity();
/// host_identity() and a part that is random and stays as long as the process lives: who we are in
/// Leases. Machines may share a host name, and a machine may run two of us.
const std::string& process_identity();

}  // namespace cli
