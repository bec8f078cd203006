#include "helm/tenants/cluster/tenant_writes.hpp"

namespace helm::tenants {

reactor::awaitable<written_tenant> tenant_writes::tell(tenant t, turn_of_events turn) {
  auto patch_of = [wanted = status_after(t, turn, loop_.wall()), turn,
                   first = t.meta.resource_version](const tenant& now) mutable {
    if (!(now.meta.resource_version == first))
      wanted = remerged(now.status, wanted, turn.cluster, turn.skip);
    return status_patch(now.status, wanted, now.meta.resource_version.text());
  };
  co_return co_await set_status(std::move(t), std::move(patch_of));
}

}  // namespace helm::tenants
