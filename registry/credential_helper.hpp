#pragma once

#include "formats/plain/problem.hpp"
#include "reactor/awaitable.hpp"
#include "reactor/plain/result.hpp"
#include "reactor/system/process.hpp"
#include "registry/auth.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace reactor {
class loop;
}

namespace registry {

// Docker's credential helpers: programs "docker-credential-NAME" on a person's machine that keep
// logins (docker/docker-credential-helpers, README). Only commands that a person types run them.

/// The helper that a docker config.json names for a registry: "docker-credential-NAME".
/// `credHelpers` goes before `credsStore`. Empty without one.
/// Errors   what is no such file; a name that is no bare program name.
outcome<std::string> find_helper(std::string_view config, std::string_view registry,
                                 const std::string& path);

/// What the end of "PROGRAM get" means.
/// Shape    nothing when the helper has no login for the registry. The user name "<token>" marks an
///          identity token.
/// Errors   a helper that failed, in its own words; an answer that is not what helpers write. Of
///          what it wrote on success nothing is quoted.
outcome<std::optional<registry_login>> read_helper_answer(const reactor::process_exit& ended,
                                                          const std::string& program,
                                                          std::string_view registry);

/// Runs "PROGRAM get" with the server's name as its input.
using helper_runner = std::function<reactor::awaitable<reactor::result<reactor::process_exit>>(
    std::string program, std::string server)>;

/// Runs helpers of the PATH with the environment of this process, as docker does.
/// Bounds   one minute; 64 KiB of output.
/// `show`   gets what the helper wrote to its standard error: it may ask the person for something.
/// Lifetime the loop outlives it.
helper_runner run_helpers(reactor::loop& l, std::function<void(std::string_view)> show);

}  // namespace registry
