#pragma once

#include "k8s/client/fault.hpp"
#include "k8s/client/resource.hpp"
#include "reactor/awaitable.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace k8s {
class client;
}

namespace helm::objects {

/// Which collections a cluster serves, asked once per group version until forget().
/// Lifetime the client outlives it.
class served_kinds {
public:
  explicit served_kinds(k8s::client& api) : api_(api) {}

  void forget();
  /// The collection of a kind; nothing when the server does not have it, also after asking again.
  reactor::awaitable<k8s::result<std::optional<k8s::resource>>> find(std::string api_version,
                                                                     std::string kind);
  /// Every group version and, of those that answer, every kind: "apps/v1", "apps/v1/Deployment", sorted. `skipped`
  /// becomes the group versions that did not answer.
  reactor::awaitable<k8s::result<std::vector<std::string>>> everything(
      std::vector<std::string>& skipped);  // borrowed

private:
  struct group_version {
    std::vector<k8s::resource> resources;
    std::set<std::string> kinds;  // "apps/v1/Scale": those of subresources too
  };
  reactor::awaitable<k8s::result<const group_version*>> read(std::string api_version);

  k8s::client& api_;
  std::map<std::string, group_version> known_;
};

}  // namespace helm::objects
