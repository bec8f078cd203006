#pragma once

#include "helm/placed/object_writes.hpp"
#include "helm/tenants/kinds/tenant.hpp"
#include "helm/tenants/plan/tenant_status.hpp"

namespace helm::tenants {

using written_tenant = written<tenant>;

/// Makes the patches that put what came to pass into the status of `t`; after a conflict it is
/// merged with what others wrote. `turn.cluster` outlives the call.
object_writes<tenant>::patch_maker telling(const tenant& t, status_change turn,
                                           reactor::wall_time now);

}  // namespace helm::tenants
