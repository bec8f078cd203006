#pragma once

#include "helm/charts/chart.hpp"
#include "helm/sources/archive.hpp"
#include "helm/tenants/api.hpp"
#include "helm/tenants/cluster/tenant_cluster.hpp"
#include "helm/tenants/cluster/tenant_crd.hpp"
#include "helm/tenants/kinds/names.hpp"
#include "k8s/client/client.hpp"
#include "k8s/client/events.hpp"
#include "k8s/fleet/fleet.hpp"
#include "k8s/sim/api_server.hpp"
#include "k8s/sim/server.hpp"
#include "policies/host/host.hpp"
#include "reactor/loop.hpp"
#include "reactor/task_group.hpp"
#include "tests/registry/fixture.hpp"

#include <boost/json/object.hpp>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace helm::tenants::testing {

namespace json = boost::json;
using namespace std::chrono_literals;
using reactor::awaitable;

/// The archive of a chart `web` with a ConfigMap whose data.v is .Values.v, and what else is in
/// `templates`.
std::string archive_of(const std::string& version, std::vector<chart_file> templates = {});

/// A chart repository at http://charts: an index with an ETag, archives, and switches for what goes
/// wrong.
class repository {
public:
  explicit repository(reactor::loop& l);
  void offer(const std::string& version, std::string archive);
  awaitable<void> stop() { return server_.stop(); }
  std::size_t asked(const std::string& path) const;

  bool down = false;
  std::string instead_of_index;  // HTML, for example
  std::size_t unchanged = 0;     // how often the index was not sent again

private:
  reactor::http::response answer(const reactor::http::request& r);
  std::map<std::string, std::string> archives_;  // by version
  ::registry::told_server server_;
};

/// One API server in memory.
class member {
public:
  member(reactor::loop& l, std::string name);
  k8s::connection to() const;
  awaitable<void> stop() { return front_.stop(); }

  void put_namespace(const std::string& ns);
  /// Tenant `name` in namespace `ns`.
  void put_tenant(const std::string& name, const std::string& ns = "default",
                  const std::string& cluster = {});
  json::object tenant(const std::string& name, const std::string& ns = "default") const;
  std::string phase(const std::string& name, const std::string& ns = "default") const;
  /// `status.lastAppliedChart`
  std::string applied_chart(const std::string& name, const std::string& ns = "default") const;
  /// "Ready=True/Installed Progress=False/InstallComplete" of the cluster.
  std::string conditions(const std::string& name, const std::string& cluster,
                         const std::string& ns = "default") const;
  std::string fingerprint(const std::string& name, const std::string& cluster) const;
  /// "1:superseded 2:deployed" of a release's records.
  std::string records(const std::string& ns, const std::string& release) const;
  bool has(const std::string& plural, const std::string& ns, const std::string& name) const {
    return api.get("", plural, ns, name).has_value();
  }
  /// data.v of the chart's ConfigMap.
  std::string value(const std::string& ns) const;
  std::size_t told(const std::string& reason) const;

  const std::string name;
  k8s::sim::api_server api;
  std::vector<std::string> events;  // reasons in the order in which they were told
  std::size_t writes = 0;           // without Events
  /// Nothing reaches the server from this write on, Events included: whoever wrote is dead.
  std::size_t last_write = 0;
  std::size_t all_writes = 0;
  bool dead = false;
  std::function<bool(const k8s::sim::request&)> forbids;
  /// Asked before: an answer that the server itself would not give.
  std::function<std::optional<k8s::sim::answer>(const k8s::sim::request&)> answers;

private:
  k8s::sim::server front_;
};

/// What one process is: the fleet and the API on it.
class process {
public:
  process(reactor::loop& l, settings s, std::vector<std::pair<std::string, member*>> clusters,
          std::string values = {}, units::mode does = units::mode::act,
          kind_on_cluster kind = kind_on_cluster::as_served);
  awaitable<void> stop();
  /// As on SIGHUP.
  awaitable<void> reload() { return works_->reload(); }
  tenant_cluster* on(const std::string& cluster);
  k8s::fleet& fleet() { return *fleet_; }
  reactor::metrics metrics;
  std::shared_ptr<reactor::log_capture> lines = std::make_shared<reactor::log_capture>();

private:
  units::api api_;
  reactor::logger log_;
  policies::host packs_;
  std::unique_ptr<k8s::fleet> fleet_;
  std::unique_ptr<units::running_api> works_;
  reactor::task_group loading_;
};

/// The settings of these tests: chart web of http://charts in that version.
settings of_version(const std::string& version);

/// A loop in virtual time, the repository, and API servers as they are wanted.
class TenantStage : public ::testing::Test {
protected:
  ~TenantStage() override { EXPECT_EQ(l.live(), reactor::nothing_live); }
  void play(std::function<awaitable<void>()> body);
  member& cluster(const std::string& name);
  std::unique_ptr<process> start(settings s, std::string values = {},
                                 units::mode does = units::mode::act,
                                 kind_on_cluster kind = kind_on_cluster::as_served);
  awaitable<bool> until(std::function<bool()> is, reactor::nanoseconds within = 60s);
  awaitable<bool> ready(std::string cluster, std::string name = "acme",
                        reactor::nanoseconds within = 60s);

  reactor::loop l{reactor::loop::mode::simulated, 7};
  std::unique_ptr<repository> charts;
  std::map<std::string, std::unique_ptr<member>> members;
};

/// Clusters that come, change and go by their Secrets on the API server `home`.
class DiscoveredStage : public TenantStage {
protected:
  member& home() { return cluster("home"); }
  /// The Secret `name` makes a cluster of that name of the API server `server`, in that wave.
  void put_way(const std::string& name, const std::string& server, const std::string& token = "one",
               const std::string& wave = {});
  void take_away(const std::string& name);
  std::unique_ptr<process> discover(settings s, units::mode does = units::mode::act,
                                    kind_on_cluster kind = kind_on_cluster::as_served);
  awaitable<void> end(process& p);  // borrowed

private:
  std::vector<std::unique_ptr<k8s::client>> at_home_;
  std::vector<std::unique_ptr<k8s::event_recorder>> tells_;
};

}  // namespace helm::tenants::testing
