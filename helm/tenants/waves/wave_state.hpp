#pragma once

#include "helm/tenants/kinds/tenant.hpp"
#include "helm/tenants/plan/tenant_plan.hpp"
#include "reactor/plain/time.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace helm::tenants {

/// How a Tenant stands to what is wanted everywhere: settled is who is Ready or in Error with that,
/// and with nothing older.
struct wave_state {
  enum class kind : std::uint8_t { unsettled, ready, failed };
  kind is = kind::unsettled;
  std::string fingerprint;     // of what is wanted
  reactor::wall_time since{};  // when it became so
  /// It was looked at once at least, whosever it is.
  bool is_planned() const noexcept { return !fingerprint.empty(); }
  friend bool operator==(const wave_state&, const wave_state&) = default;
};

/// After a pass that planned `p` for what `wanted` is the fingerprint of; `noted` is the one that
/// the object carries. Who failed stays failed while it is tried again, who is Ready while it is
/// put back.
wave_state wave_state_after(const wave_state& before, std::string_view wanted,
                            std::string_view noted, const tenant_plan& p, reactor::wall_time now);

/// The same as far as the object tells a process that made no attempt of its own.
wave_state wave_state_seen(const tenant& t, std::string_view cluster, std::string_view wanted);

/// All Tenants of a cluster together.
struct wave_progress {
  std::size_t tenants = 0, settled = 0, failed = 0;
  reactor::wall_time since{};  // when the last of them settled
  void add(const wave_state& one);
  bool is_settled() const noexcept { return settled == tenants; }
  friend bool operator==(const wave_progress&, const wave_progress&) = default;
};

}  // namespace helm::tenants
