#pragma once

#include "bench/child.hpp"
#include "bench/measure.hpp"
#include "k8s/client/kubeconfig.hpp"
#include "reactor/awaitable.hpp"
#include "reactor/plain/time.hpp"

#include <boost/json/fwd.hpp>

#include <cstddef>
#include <functional>
#include <string>

namespace k8s::sim {
class api_server;
class server;
}  // namespace k8s::sim
namespace reactor {
class loop;
}

namespace bench {

/// Clusters, and how much there is on each.
struct fleet_size {
  std::size_t clusters = 0, each = 0;
  std::string text() const { return std::to_string(clusters) + "x" + std::to_string(each); }
};

/// "100x10"
fleet_size fleet_size_of(const std::string& text);

/// API servers in another process, c0, c1, …, and this one's way to them.
class served_fleet {
public:
  /// bench: whose sender it is. Throws std::runtime_error when it does not come up.
  served_fleet(const std::string& bench, fleet_size s);

  const std::string& server() const { return to_.server; }
  static std::string name_of(std::size_t cluster) { return "c" + std::to_string(cluster); }
  k8s::connection to(std::size_t cluster) const;
  const fleet_size& size() const { return size_; }

  /// What GET `path` answers at the first of them; empty when it does not.
  reactor::awaitable<boost::json::object> ask(reactor::loop& l, std::string path) const;

private:
  fleet_size size_;
  child process_;
  k8s::connection to_;
};

double number_in(const boost::json::object& o, std::string_view key);

/// Listens, prints the URL and serves until it is killed. The exit code of a process that could
/// not.
int serve_to_end(reactor::loop& l, k8s::sim::server& front);

/// The other process: such API servers on the other core, until it is killed. Prints their URL.
int serve_fleet(const fleet_size& s,
                const std::function<void(reactor::loop& l, k8s::sim::api_server& api)>& furnish);

/// How a measurement goes.
struct course {
  std::string problem;  // what did not happen in time
  stalls held_up;       // by what is measured
};

/// Until the body has ended.
void run_on(reactor::loop& l, const std::function<reactor::awaitable<void>()>& body);
/// Runs one measurement on a loop of its own. Throws std::runtime_error with its problem.
void run(course& c, const std::function<reactor::awaitable<void>(reactor::loop&)>& body);
/// What belongs to the harness: how long that takes is no stall of what is measured.
reactor::awaitable<void> apart(reactor::loop& l, course& c, std::function<void()> f);  // borrowed
/// Nothing more is waited for once something did not happen.
reactor::awaitable<void> until(reactor::loop& l, course& c,  // borrowed
                               std::function<reactor::awaitable<bool>()> is, const char* what);
reactor::awaitable<void> until(reactor::loop& l, course& c,  // borrowed
                               std::function<bool()> is, const char* what);

}  // namespace bench
