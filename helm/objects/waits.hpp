#pragma once

#include "helm/go.hpp"
#include "helm/objects/object.hpp"
#include "helm/objects/readiness.hpp"
#include "k8s/client/fault.hpp"
#include "reactor/awaitable.hpp"
#include "reactor/backoff.hpp"
#include "reactor/plain/time.hpp"

#include <boost/json/object.hpp>

#include <vector>

namespace reactor {
class loop;
}
namespace k8s {
class client;
}

namespace helm::objects {

/// Waits for live objects by looking at them: soon at first, later every two seconds.
/// Lifetime loop and client outlive it.
class waits {
public:
  waits(reactor::loop& l, k8s::client& api) : loop_(l), api_(api) {}

  reactor::awaitable<outcome<bool>> until_ready(object_list list, bool jobs,
                                                reactor::steady_time deadline);
  reactor::awaitable<outcome<bool>> until_gone(object_list list, reactor::steady_time deadline);
  reactor::awaitable<outcome<bool>> until_hook_done(object hook, reactor::steady_time deadline);

private:
  reactor::awaitable<k8s::result<readiness>> look(const object& o, bool jobs,
                                                  reactor::steady_time deadline);  // borrowed
  reactor::awaitable<k8s::result<std::vector<boost::json::object>>> selected(k8s::resource of,
                                                                             std::string ns,
                                                                             std::string selector);
  reactor::nanoseconds request_time(reactor::steady_time deadline) const;
  reactor::awaitable<bool> pause(reactor::backoff& pace, reactor::steady_time deadline);

  reactor::loop& loop_;
  k8s::client& api_;
};

/// What a fault says to Helm's users: the server's own sentence when it gave one.
std::string said(const k8s::fault& f);

}  // namespace helm::objects
