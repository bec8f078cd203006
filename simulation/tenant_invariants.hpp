#pragma once

#include "k8s/sim/api_server.hpp"
#include "simulation/judge.hpp"

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace simulation {

/// What must never happen to Tenants and their releases, checked at every write of every API server
/// by looking at the objects alone, Helm's records among them: this shares no code with what it
/// judges.
///   one release  of a Tenant on its cluster, by its name, with one deployed and one pending record
///                at most; none of a Tenant that names another cluster
///   success      Ready turns True, and a fingerprint is noted, while the newest record is deployed
///   waves        no release changes while a Tenant of an earlier wave that can be reached
///                has never had the new version deployed
///   disengaged   the service writes no records or statuses where the service has let go of the
///   cluster stopping     a service that ended in good order left no pending record
///   deletion     a Tenant does not go before its release
class tenant_invariants : public judge {
public:
  struct place {
    std::string name;
    int wave = 0;
  };
  explicit tenant_invariants(std::vector<place> clusters);

  /// All are to have this version of the chart from now on, earlier waves first.
  void ask_for(std::string version);
  /// The service could not reach the cluster for a moment: its waves need not wait for it.
  void out_of_reach(std::size_t cluster);
  /// The service has let go of the cluster, long enough ago; or has it.
  void let_go(std::size_t cluster) { clusters_[cluster].gone = true; }
  void has(std::size_t cluster) { clusters_[cluster].gone = false; }
  /// The server's on_write.
  void saw(std::size_t cluster, const k8s::sim::written& w);
  /// A service starts: what is pending by now is not its doing.
  void saw_start();
  /// It ended in good order, and nothing was in its way.
  void saw_stop();
  /// When nothing moves any more.
  void check_at_rest();

  /// Tenants that are to have a release, and have what was asked for.
  std::size_t tenants() const;
  std::size_t arrived() const;
  /// Who has not, and why; empty: all have.
  std::string unfinished() const;

private:
  struct record {
    std::string status, version;
    bool inherited = false;  // pending since before the service of now
  };
  struct release {
    std::map<int, record> records;        // by revision
    std::set<std::string> ever_deployed;  // versions
    const record* newest() const { return records.empty() ? nullptr : &records.rbegin()->second; }
  };
  struct tenant_facts {
    std::string target, phase, fingerprint, ready;
    bool deleting = false;
    bool asked = false;  // it was there when the version was asked for
  };
  struct cluster_facts {
    place at;
    std::map<std::string, tenant_facts, std::less<>> tenants;
    std::map<std::string, release, std::less<>> releases;      // by Tenant
    std::map<std::string, std::string, std::less<>> versions;  // of the ConfigMap in its namespace
    bool gone = false, unreached = false;
    bool is_meant(const tenant_facts& t) const { return t.target.empty() || t.target == at.name; }
  };

  void saw_tenant(cluster_facts& c, const k8s::sim::written& w);
  void saw_record(cluster_facts& c, const k8s::sim::written& w);
  void judge_status(cluster_facts& c, std::string_view name, tenant_facts& t,
                    const boost::json::object& o);
  void judge_fingerprint(cluster_facts& c, std::string_view name, tenant_facts& t,
                         const boost::json::object& o);
  void judge_waves(const cluster_facts& c, const std::string& tenant);
  static const record* newest(const cluster_facts& c, std::string_view tenant);
  /// Why it has not arrived; empty: it has.
  std::string lacks(const cluster_facts& c, const std::string& name, const tenant_facts& t) const;
  void violated(const cluster_facts& c, std::string_view tenant, const std::string& sentence);

  std::vector<cluster_facts> clusters_;
  std::string wanted_;
  std::map<std::string, std::string> version_of_;  // of a fingerprint, once it was noted
};

}  // namespace simulation
