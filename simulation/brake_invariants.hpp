#pragma once

#include "k8s/sim/api_server.hpp"
#include "reactor/plain/time.hpp"
#include "simulation/judge.hpp"

#include <boost/json/fwd.hpp>

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace simulation {

/// What must never happen while the brake at home is on, from a second after its landing: checked
/// at every write of the fleet by looking at the objects alone.
///   pools        no BootcNode comes, goes, gets another image, a slot or the order to boot
///   drains       no eviction on a node of which none was tried before
///   charts       no namespace, no new record of a release, no finalizer of a Tenant
///   compositions nothing of them is made, changed or deleted
class brake_invariants : public judge {
public:
  explicit brake_invariants(std::function<reactor::steady_time()> now) : now_(std::move(now)) {}

  /// The object at home says so from now on.
  void landed() { on_since_ = now_(); }
  void lifted() { on_since_.reset(); }
  bool is_on() const noexcept { return on_since_.has_value(); }
  void saw(const std::string& cluster, const k8s::sim::written& w);
  /// Before that server of a cluster answers it.
  void saw_request(const std::string& cluster, const k8s::sim::request& r,
                   const k8s::sim::api_server& server);

private:
  static constexpr reactor::nanoseconds lands_within = std::chrono::seconds(1);
  bool forbids() const { return on_since_ && now_() >= *on_since_ + lands_within; }
  void saw_bootc_node(const std::string& cluster, const k8s::sim::written& w);
  void acted(const std::string& cluster, const k8s::sim::written& w, std::string_view what);

  std::function<reactor::steady_time()> now_;
  std::optional<reactor::steady_time> on_since_;
  std::set<std::pair<std::string, std::string>> drains_;  // cluster and node
};

}  // namespace simulation
