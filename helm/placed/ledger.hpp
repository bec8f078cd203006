#pragma once

#include "k8s/client/fault.hpp"
#include "k8s/client/resource.hpp"
#include "reactor/awaitable.hpp"

#include <map>
#include <optional>
#include <string>

namespace k8s {
class client;
}

namespace helm::placed {

/// What the service remembers on a cluster, where the users of workload namespaces cannot write:
/// texts under keys, in ConfigMaps `windlass-placed-0` to `-f` of one namespace of ours. A key
/// stands always in the same one of them, so that a write is one patch, and no ConfigMap comes near
/// its limit of 1 MiB with 10,000 releases.
/// Shape    ConfigMaps and namespace are made when something is written first.
/// Errors   the request's.
/// Lifetime the client outlives it.
class ledger {
public:
  ledger(k8s::client& api, std::string ns) : api_(api), ns_(std::move(ns)) {}

  /// None where nothing is remembered under the key.
  reactor::awaitable<k8s::result<std::optional<std::string>>> read(std::string key);
  reactor::awaitable<k8s::result<std::map<std::string, std::string>>> read_all();
  /// None: it is forgotten.
  reactor::awaitable<k8s::result<void>> write(std::string key, std::optional<std::string> text);

private:
  k8s::client& api_;
  std::string ns_;
};

/// The namespace, made where it is not there.
reactor::awaitable<k8s::result<void>> ensure_namespace(k8s::client& api, std::string name);

}  // namespace helm::placed
