#pragma once

#include "reactor/awaitable.hpp"
#include "reactor/waiters.hpp"

#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <string>

namespace reactor {
class loop;
}

namespace helm::placed {

/// How many operations run at once, on one cluster and in all. Clusters take turns, those of one
/// cluster are served in order:
/// a slow or dead one keeps its own slots and no other's turn.
/// Lifetime  loop outlives it; slots may outlive it.
class operation_slots {
public:
  operation_slots(reactor::loop& l, std::size_t per_cluster, std::size_t in_all);

  /// Gives its place back at its end.
  class slot {
  public:
    slot() = default;
    slot(slot&& other) noexcept = default;
    slot& operator=(slot&& other) noexcept;
    ~slot() { give_back(); }
    void give_back() noexcept;

  private:
    friend class operation_slots;
    struct books;
    std::weak_ptr<books> of_;
    std::string cluster_;
  };

  /// Waits for one.
  reactor::awaitable<slot> take(std::string cluster);
  std::size_t taken() const noexcept;
  std::size_t waiting() const noexcept;

private:
  std::shared_ptr<slot::books> books_;
};

}  // namespace helm::placed
