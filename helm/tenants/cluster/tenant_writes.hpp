#pragma once

#include "helm/tenants/cluster/object_writes.hpp"
#include "helm/tenants/kinds/tenant.hpp"
#include "helm/tenants/plan/tenant_status.hpp"

namespace helm::tenants {

using written_tenant = written<tenant>;

/// What is written to Tenants.
/// Lifetime  loop and client outlive it.
class tenant_writes : public object_writes<tenant> {
public:
  tenant_writes(reactor::loop& l, k8s::client& api)
      : object_writes(l, api, tenant_resource(), names::cleanup), loop_(l) {}

  /// What came to pass, into status; a conflict is merged with what others wrote. `turn.cluster`
  /// outlives the call.
  reactor::awaitable<written_tenant> tell(tenant t, turn_of_events turn);

private:
  reactor::loop& loop_;
};

}  // namespace helm::tenants
