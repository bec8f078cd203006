#pragma once

#include "k8s/sim/api_server.hpp"
#include "reactor/plain/time.hpp"

#include <boost/json/fwd.hpp>

#include <functional>
#include <map>
#include <string>

namespace reactor {
class loop;
}
namespace simulation {
class pool_cluster;
}

namespace bench {

/// The status of a BootcNode as its daemon writes it; without the generation that it has seen.
boost::json::object reported_status(reactor::wall_time at, const std::string& booted,
                                    const char* idle, const char* reason,
                                    const std::string& staged);

/// The hosts of one cluster, without daemons: what is asked of a node is reported a second later.
class puppets {
public:
  puppets(reactor::loop& l, simulation::pool_cluster& c);

private:
  void later(reactor::nanoseconds d, std::function<void()> f);
  void beat(const std::string& node, reactor::nanoseconds in);
  void saw(const k8s::sim::written& w);
  void reboot(const std::string& node, const std::string& image);
  void report(const std::string& node, const char* idle, const char* reason,
              const std::string& staged);

  reactor::loop& loop_;
  simulation::pool_cluster& cluster_;
  std::map<std::string, std::string> booted_, asked_;  // by node
};

}  // namespace bench
