#include "helm/tenants/cluster/tenant_writes.hpp"

namespace helm::tenants {

object_writes<tenant>::patch_maker telling(const tenant& t, status_change turn,
                                           reactor::wall_time now) {
  return [wanted = status_after(t, turn, now), turn,
          first = t.meta.resource_version](const tenant& is) mutable {
    if (!(is.meta.resource_version == first))
      wanted = remerged(is.status, wanted, turn.cluster, turn.skip);
    return status_patch(is.status, wanted, is.meta.resource_version.text());
  };
}

}  // namespace helm::tenants
