#pragma once

#include "reactor/plain/time.hpp"

#include <boost/json/fwd.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace reactor {
class loop;
}

namespace k8s::sim {

class api_server;
struct written;

/// The status of a Deployment whose pods are all there, of the newest template.
void make_ready(boost::json::object& deployment);

/// What a controller manager and kubelets make of workloads, as far as a client waits for it that
/// installs them: each is ready some time after its last change.
/// Deployment   a ReplicaSet for each pod template; the former ones are emptied, and the oldest of
///              them removed beyond revisionHistoryLimit. Paused: only seen.
/// StatefulSet, DaemonSet   all pods of the newest revision; a DaemonSet runs on every node.
/// Job          complete, unless it is suspended.
/// PersistentVolumeClaim    bound. Service of type LoadBalancer: has an address (of TEST-NET-1).
/// There are no pods: a test that needs some adds them.
/// Lifetime     loop and server outlive it; it has their on_write.
class workloads {
public:
  workloads(reactor::loop& l, api_server& api, reactor::nanoseconds ready_after);
  ~workloads();
  workloads(const workloads&) = delete;
  workloads& operator=(const workloads&) = delete;

private:
  /// Plural, namespace, name.
  using key = std::tuple<std::string, std::string, std::string>;
  void saw(const written& w);
  void bring_up(const key& k);
  void roll_out(const key& k);
  bool put_set(const boost::json::object& deployment, const std::string& name,
               const std::string& hash, std::int64_t revision);
  struct history {
    std::int64_t revision = 0;
    std::vector<std::string> sets;  // ReplicaSets, the newest last
  };
  reactor::loop& loop_;
  api_server& api_;
  reactor::nanoseconds ready_after_;
  std::map<key, std::uint64_t> coming_;       // with their timers
  std::map<std::string, history> histories_;  // of Deployments, by uid
  bool acts_ = false;                         // what is written now is its own
};

}  // namespace k8s::sim
