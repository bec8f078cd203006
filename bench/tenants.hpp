#pragma once

#include <boost/json/fwd.hpp>

#include <string>

namespace bench {

/// What it costs to keep a chart on clusters, against embedded API servers and a chart repository
/// in another process: 1,000 releases of ten objects on one cluster, beside Helm's own packages
/// with ten workers, and the requests of each, counted by the server (requests_per_install of
/// Helm's install alone, requests_per_tenant with all that is done for its Tenant); 1,000 releases
/// on 100 clusters that a new start finds unchanged; the memory of 500 clusters with 20 releases
/// each; what 50 dead clusters do to a live one, in virtual time; and what is left of 1,000
/// rotations of a credential. Throws std::runtime_error when releases do not become Ready.
boost::json::object measure_tenants();

/// The other process; `size` is "100x10", clusters and the Tenants of each.
int run_tenants_sender(const std::string& size);

}  // namespace bench
