#pragma once

#include "app/api/brake.hpp"
#include "k8s/informer/view.hpp"
#include "reactor/awaitable.hpp"
#include "reactor/log.hpp"
#include "reactor/plain/time.hpp"
#include "reactor/task_group.hpp"
#include "reactor/waiters.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace k8s {
class client;
template <stored_view View>
class informer;
}  // namespace k8s

namespace cli {

/// The brake's ConfigMap, its known keys alone: other content, however much, changes nothing.
struct brake_view {
  k8s::object_meta meta;
  units::brake_data data;

  static brake_view parse(k8s::wire_value object);
  std::size_t heap_bytes() const noexcept;
  friend bool operator==(const brake_view&, const brake_view&) = default;
};

/// Follows the brake's object at home by a watch of it alone, and tells `brake` what it says.
/// Unread     before the first answer the brake is on where this process acts, so that nothing is
///            done that the object forbids. It stays on while the object cannot be read, and says
///            why.
/// Unreached  a home that answered once and is away since: its last word stands.
/// Lifetime   loop, brake and client outlive it; co_await stop() before destruction.
class home_brake {
public:
  struct options {
    std::string ns;
    std::vector<std::string> apis;  // names that the object may have
    bool acts = true;               // else an object that cannot be read stops nothing
    std::function<void()> on_change;
    reactor::logger log;
  };
  home_brake(reactor::loop& l, k8s::client& api, units::brake& to, options o);
  ~home_brake();

  void start();
  reactor::awaitable<void> stop();
  /// It is known what the object says, or that it cannot be read; false when the deadline came
  /// first.
  reactor::awaitable<bool> known(reactor::steady_time deadline);

private:
  reactor::awaitable<void> read();
  void take(units::brake_order now);
  units::brake_order order_in(const brake_view* object) const;

  reactor::loop& loop_;
  units::brake& brake_;
  options options_;
  reactor::event read_;
  std::unique_ptr<k8s::informer<brake_view>> seen_;
  reactor::task_group tasks_;
};

}  // namespace cli
