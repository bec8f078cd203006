#pragma once

#include "helm/tenants/kinds/names.hpp"
#include "helm/tenants/kinds/tenant.hpp"
#include "helm/tenants/plan/tenant_status.hpp"
#include "helm/tenants/plan/writes.hpp"
#include "k8s/client/fault.hpp"
#include "reactor/awaitable.hpp"

#include <boost/json/fwd.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace reactor {
class loop;
}
namespace k8s {
class client;
}

namespace helm::tenants {

/// What a server said of a write, for those who decide what follows.
inline write_answer answer_of(const k8s::fault& f) {
  return {f.http_status, f.retry_after};
}

/// How a write to a Tenant ended.
struct written_tenant {
  enum class end : std::uint8_t {
    written,
    unchanged,  // it was so already
    gone,       // the object is not there any more: nobody needs it
    conflict,   // somebody wrote meanwhile: read it and decide anew
    failed,
  };
  end is = end::unchanged;
  std::optional<tenant> now;  // as the server has it since, where it said
  std::string why;            // of failed
};

/// What is written to Tenants and for them: each write names what it was decided on, and touches
/// nothing of anybody else's.
/// Lifetime  loop and client outlive it.
class tenant_writes {
public:
  tenant_writes(reactor::loop& l, k8s::client& api) : loop_(l), api_(api) {}

  /// Our finalizer, put there or taken away; others stay. Guarded by the version that `t` has.
  enum class finalizer_is : std::uint8_t { wanted, done };
  reactor::awaitable<written_tenant> set_finalizer(tenant t, finalizer_is how);
  /// One annotation, tried as the contract says (10).
  reactor::awaitable<written_tenant> annotate(k8s::object_key key, std::string name,
                                              std::string value);
  /// What came to pass, into status; a conflict is merged with what others wrote. `turn.cluster`
  /// outlives the call.
  reactor::awaitable<written_tenant> tell(tenant t, turn_of_events turn);

  /// The workload namespace with its marks. True when it was made now.
  reactor::awaitable<k8s::result<bool>> create_workspace(std::string name,
                                                         names::owner_reference owner);
  reactor::awaitable<k8s::result<void>> delete_workspace(std::string name);

private:
  reactor::loop& loop_;
  k8s::client& api_;
};

}  // namespace helm::tenants
