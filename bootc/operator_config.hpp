#pragma once

#include "k8s/client/fault.hpp"
#include "k8s/client/resource.hpp"
#include "reactor/awaitable.hpp"
#include "reactor/plain/time.hpp"

#include <string>

namespace k8s {
class client;
}

namespace bootc {

const k8s::resource& operator_configs();

/// BootcOperatorConfig: settings of the operator's processes, kept on the cluster. At most one
/// object, of any name; without one these are the values, and where its kind is not installed:
/// operators of this API from before it brought the other two kinds alone.
struct operator_config {
  std::string name;  // of the object; empty: there is none
  bool allow_insecure_registry = false;
  reactor::nanoseconds tag_resolution_period = std::chrono::minutes(5),
                       status_poll_period = std::chrono::minutes(5);
  friend bool operator==(const operator_config&, const operator_config&) = default;
};

/// As it is now: read once when a process starts, and what was read stays as it is.
/// Errors   errc::invalid: there are several, all of them named. Any other as the server has it.
/// Lifetime client outlives it.
reactor::awaitable<k8s::result<operator_config>> load_operator_config(k8s::client& api);

}  // namespace bootc
