#pragma once

#include "simulation/cluster.hpp"
#include "simulation/invariants.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace simulation {

/// The images of the demo: where every node starts and where the pool wants them.
inline constexpr std::string_view old_image =
    "registry.demo.local/os/"
    "node@sha256:1111111111111111111111111111111111111111111111111111111111111111";
inline constexpr std::string_view new_image =
    "registry.demo.local/os/"
    "node@sha256:2222222222222222222222222222222222222222222222222222222222222222";

struct pool_options {
  std::string max_unavailable = "25%";
  std::map<std::string, std::string> labels = {};
  std::string policy = {};  // the pack it names
};

/// A cluster whose nodes are in one pool, and the judge of what happens to them. Hosts are somebody
/// else's.
class pool_cluster final : public cluster {
public:
  pool_cluster(reactor::loop& l, cluster_options options, pool_options pool = {});

  invariants& checks() noexcept { return checks_; }
  const invariants& checks() const noexcept { return checks_; }

  /// Asks for an image, as a person would who edits the pool.
  void set_image(std::string_view ref);

  struct progress {
    std::size_t nodes = 0, updated = 0;
    std::string up_to_date, degraded;  // the pool's conditions' reasons
    std::string message;
    friend bool operator==(const progress&, const progress&) = default;
  };
  /// What the pool's status says.
  progress pool_progress() const;

private:
  void check(const k8s::sim::written& w) override { checks_.saw(w); }

  invariants checks_;
};

}  // namespace simulation
