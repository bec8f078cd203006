#pragma once

#include "registry/credential_helper.hpp"

namespace reactor {
class loop;
}

namespace app {

/// Runs the credential helpers of the person who types the command, and shows what they write to
/// their standard error. The service has none: a Secret or a file of a cluster starts no program.
registry::helper_runner login_helpers(reactor::loop& l);

}  // namespace app
