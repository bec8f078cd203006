#pragma once

#include <boost/json/fwd.hpp>

#include <string>

namespace bench {

/// What 500 TrusteeConfigs of three releases on ten clusters cost, against embedded API servers in
/// another process that play the Deployments' status at once: from nothing to Ready; settled, while
/// Secrets that nobody names change 100 times a second; a new catalogue in the mounted folder; and
/// one question to the pack with all that goes in and comes out. Throws std::runtime_error when
/// instances do not become Ready.
boost::json::object measure_trustee();

/// The other process; `size` is "10x50", clusters and the instances of each.
int run_trustee_sender(const std::string& size);

}  // namespace bench
