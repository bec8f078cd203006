#pragma once

#include "k8s/sim/api_server.hpp"

#include <boost/json/fwd.hpp>

#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace simulation {

/// What Windlass begins on the clusters of a fleet, seen at every write by looking at the objects
/// alone.
///   pools        a BootcNode comes, goes, gets another image, a slot or the order to boot
///   releases     a pool that follows a Release gets another image
///   fleet pools  a pool that a FleetPool asks for is made, changed, deleted or let go
///   drains       an eviction on a node of which none was tried before
///   charts       a namespace, a new record of a release, an uninstall, a finalizer of a Tenant
///   fleet charts a release of a FleetChart is noted as begun
///   compositions one of their objects is made, changed or deleted
class beginnings {
public:
  virtual ~beginnings() = default;
  void saw(const std::string& cluster, const k8s::sim::written& w);
  /// Before that server of a cluster answers it.
  void saw_request(const std::string& cluster, const k8s::sim::request& r,
                   const k8s::sim::api_server& server);

protected:
  /// `what`: "c1/bootcnodes/w1 takes a slot".
  virtual void began(const std::string& cluster, std::string what) = 0;

private:
  void saw_bootc_node(const std::string& cluster, const k8s::sim::written& w);
  void saw_pool(const std::string& cluster, const k8s::sim::written& w);
  void saw_record(const std::string& cluster, const k8s::sim::written& w);
  void saw_fleet_notes(const std::string& cluster, const k8s::sim::written& w);
  void acted(const std::string& cluster, const k8s::sim::written& w, std::string_view what);

  std::set<std::pair<std::string, std::string>> drains_;  // cluster and node
};

}  // namespace simulation
