#pragma once

#include "k8s/fault.hpp"
#include "k8s/resource.hpp"
#include "reactor/awaitable.hpp"
#include "reactor/time.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace k8s {

class client;

struct server_version {
  std::string git_version;  // "v1.31.2"
  int major = 0, minor = 0;
  bool at_least(int wanted_major, int wanted_minor) const noexcept {
    return major != wanted_major ? major > wanted_major : minor >= wanted_minor;
  }
};

/// What one server serves: its version, its groups at once, the resources of a group version when asked for.
/// Lifetime: the client outlives it.
class discovery {
public:
  explicit discovery(client& api) : api_(api) {}

  /// GET /version, also the cheapest proof that a Kubernetes API server is there.
  awaitable<result<server_version>> read_version(reactor::nanoseconds within);
  /// GET /api and /apis; forgets what was known of resources.
  awaitable<result<void>> refresh();
  /// Whether the collection exists in that version (a CRD is installed and established). Asks the
  /// server once per group version until refresh(); an unknown group costs no request.
  awaitable<result<bool>> serves(resource r);
  /// All collections of "apps/v1" or "v1", without subresources. errc::not_found when it is not served.
  awaitable<result<std::vector<resource>>> resources_of(std::string api_version);

  const server_version& version() const noexcept { return version_; }
  /// "v1", "apps/v1", … with each group's preferred version first.
  const std::vector<std::string>& api_versions() const noexcept { return api_versions_; }
  bool has_api_version(std::string_view api_version) const noexcept;
  /// The server streams the initial list of a watch (WatchList, on by default since 1.32). A hint:
  /// it can be turned off.
  bool offers_watch_list() const noexcept { return version_.at_least(1, 32); }

private:
  client& api_;
  server_version version_;
  std::vector<std::string> api_versions_;
  std::map<std::string, std::vector<resource>> resources_;
};

}  // namespace k8s
