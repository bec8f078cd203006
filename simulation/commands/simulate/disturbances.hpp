#pragma once

#include "k8s/sim/api_server.hpp"
#include "reactor/awaitable.hpp"
#include "reactor/net/memory_network.hpp"
#include "simulation/trouble.hpp"
#include "simulation/world.hpp"

#include <cstddef>
#include <optional>

namespace reactor {
class loop;
}

namespace cli::simulate {

/// What goes wrong between a service and API servers, whatever the service moves.
/// Lifetime  loop, world and troubles outlive it.
class disturbances {
public:
  disturbances(reactor::loop& l, const simulation::troubles& of) : loop_(l), of_(of) {}

  /// At random another answer than the server's; nothing: the server answers.
  std::optional<k8s::sim::answer> answer(const k8s::sim::request& r);
  /// Makes a new link as bad as the troubles say.
  void spoil(reactor::link_faults& f);
  /// A trouble of one cluster happens and ends. Returns false for one that is not known here.
  reactor::awaitable<bool> cause(simulation::trouble t, simulation::world& w, std::size_t cluster);
  std::size_t answers() const noexcept { return answers_; }

private:
  bool happens(double share);
  reactor::awaitable<void> change_token(simulation::world& w, std::size_t cluster);  // borrowed

  reactor::loop& loop_;
  const simulation::troubles& of_;
  std::size_t answers_ = 0, tokens_ = 0;
};

}  // namespace cli::simulate
