#pragma once

#include "k8s/client/fault.hpp"
#include "k8s/client/resource.hpp"
#include "reactor/awaitable.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace k8s {
class client;
}

namespace helm::placed {

/// What the service remembers on a cluster, where the users of workload namespaces cannot write:
/// texts under keys, in ConfigMaps `windlass-placed-0` to `-f` of one namespace of ours. A key
/// stands always in the same one of them, so that a write is one patch, and no ConfigMap comes near
/// its limit of 1 MiB with 10,000 releases.
/// Shape    ConfigMaps and namespace are made when something is written first. Where one of them
///          has more than `roomy_bytes`, a new text takes the place of those of namespaces that are
///          gone.
/// Versions a text is written over the version that it was made from; where another writer came
///          first, it is made again from what that one wrote.
/// Errors   the request's; the conflict, when others come first ten times in a row.
/// Lifetime the client outlives it.
class ledger {
public:
  static constexpr std::size_t roomy_bytes = 512u << 10;
  using text = std::optional<std::string>;  // none: nothing is remembered
  /// What is remembered from now on, by what is. Called again after a conflict.
  using edit = std::function<text(const text& now)>;

  ledger(k8s::client& api, std::string ns) : api_(api), ns_(std::move(ns)) {}

  reactor::awaitable<k8s::result<text>> read(std::string key);
  reactor::awaitable<k8s::result<std::map<std::string, std::string>>> read_all();
  /// What is remembered since. Nothing is written where that is what was.
  reactor::awaitable<k8s::result<text>> change(std::string key, edit how);

private:
  /// One entry as it was read or written last.
  struct entry {
    std::string key, version;  // of its ConfigMap; empty: there is none
    text said;
    std::vector<std::string> others;  // the keys beside it, where little room is left
  };
  reactor::awaitable<k8s::result<entry>> read_entry(std::string key);
  reactor::awaitable<k8s::result<void>> write(entry from, text to);
  reactor::awaitable<k8s::result<std::vector<std::string>>> of_gone_namespaces(
      std::vector<std::string> keys);

  k8s::client& api_;
  std::string ns_;
  std::optional<entry> last_;
};

/// The namespace that a key of a release ("NAMESPACE.RELEASE") is about; empty for another key.
std::string_view namespace_of_key(std::string_view key) noexcept;
/// Those of the keys that are about namespaces which are not `there`.
std::vector<std::string> keys_of_gone(const std::vector<std::string>& keys,
                                      const std::set<std::string, std::less<>>& there);

/// The namespace, made where it is not there.
reactor::awaitable<k8s::result<void>> ensure_namespace(k8s::client& api, std::string name);

}  // namespace helm::placed
