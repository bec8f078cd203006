#pragma once

#include "k8s/client/fault.hpp"
#include "reactor/awaitable.hpp"
#include "reactor/plain/time.hpp"

#include <string>

namespace reactor {
class loop;
}
namespace k8s {
class client;
struct lease_record;
}  // namespace k8s

namespace bootc {

/// Whether another operator of this API works on a cluster, which shows in the Lease that they
/// share by name. While another process renews it nothing is done there.
/// Pace     the server is asked when the caller is about to act, and not again within
///          `asked_every`.
/// Time     a Lease counts as kept for as long as it says since this process saw it change: clocks
///          need not agree.
/// Errors   without an answer what was known counts; without the right to ask no other is known.
/// Lifetime loop and client outlive it.
class other_operator {
public:
  /// `identity`: under which this process holds Leases.
  other_operator(reactor::loop& l, k8s::client& api, std::string ns, std::string identity);

  /// Its holder, as last known; empty = no other process.
  const std::string& known() const noexcept { return holder_; }
  /// The same, asked for when the last answer is too old to act upon.
  reactor::awaitable<void> look();

  static constexpr reactor::nanoseconds asked_every = std::chrono::seconds(10);

private:
  void note(const k8s::lease_record& lease);

  reactor::loop& loop_;
  k8s::client& api_;
  std::string ns_, identity_;
  std::string holder_, renewed_;
  reactor::steady_time asked_at_{}, changed_at_{};
  bool asked_ = false;
};

}  // namespace bootc
