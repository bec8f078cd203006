#pragma once

#include "k8s/client/fault.hpp"
#include "k8s/client/resource.hpp"
#include "reactor/awaitable.hpp"
#include "reactor/plain/time.hpp"

#include <boost/json/fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
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

/// The texts of GET /version; empty where the server does not say them.
struct version_texts {
  std::string git_version, major, minor;  // "31+" is what some providers say for 31
};

/// What one server serves: its version, its groups at once, the resources of a group version when
/// asked for. One for each cluster, in common to everybody who asks there.
/// Shape    what is known is read again when it is older than `longest_life`, and after forget().
/// Lifetime: the client outlives it.
class discovery {
public:
  explicit discovery(client& api) : api_(api) {}
  discovery(const discovery&) = delete;
  discovery& operator=(const discovery&) = delete;

  /// GET /version, also the cheapest proof that a Kubernetes API server is there.
  awaitable<result<server_version>> read_version(reactor::nanoseconds within);
  /// What GET /version said within the last `version_life`, else it is asked.
  awaitable<result<version_texts>> recent_version();
  /// GET /api and /apis; forgets what was known of resources.
  awaitable<result<void>> refresh();
  /// Whether the collection exists in that version (a CRD is installed and established). Asks the
  /// server once per group version until refresh(); an unknown group costs no request.
  awaitable<result<bool>> serves(resource r);
  /// All collections of "apps/v1" or "v1", without subresources. errc::not_found when it is not
  /// served.
  awaitable<result<std::vector<resource>>> resources_of(std::string api_version);
  /// The collection of a kind; nothing when the server does not have it, also after asking again:
  /// it may have been added since.
  awaitable<result<std::optional<resource>>> find(std::string api_version, std::string kind);
  /// Every group version and, of those that answer, every kind, those of subresources too:
  /// "apps/v1", "apps/v1/Deployment", sorted. `skipped` becomes the group versions that did not
  /// answer: they are asked next time.
  // borrowed
  awaitable<result<std::vector<std::string>>> everything(std::vector<std::string>& skipped);
  /// Kinds came or went: what is asked next is read again.
  void forget() noexcept;

  const server_version& version() const noexcept { return version_; }
  /// "v1", "apps/v1", … with each group's preferred version first.
  const std::vector<std::string>& api_versions() const noexcept { return api_versions_; }
  bool has_api_version(std::string_view api_version) const noexcept;

  // A cluster with many operators has some hundreds of each.
  static constexpr std::size_t most_api_versions = 5'000;
  static constexpr std::size_t most_resources = 20'000;
  // As long as a kind that another client added may stay unknown to callers that ask for all of
  // them.
  static constexpr reactor::nanoseconds longest_life = std::chrono::minutes(10);
  // Many releases are installed within a minute; an upgrade of a control plane takes longer.
  static constexpr reactor::nanoseconds version_life = std::chrono::minutes(1);

private:
  struct group_version {
    std::vector<resource> resources;
    std::vector<std::string> kinds;  // of subresources too
  };
  using shared_version = std::shared_ptr<const group_version>;
  /// What is known of it, or the server's answer. Shared: others may forget it meanwhile.
  awaitable<result<shared_version>> read(std::string api_version);
  static std::vector<std::string> names_of(const std::vector<std::string>& versions,
                                           const std::vector<shared_version>& kinds);
  /// Before anything in resources_ changes.
  void changes() noexcept;
  bool is_current() const noexcept;
  /// The collection of a kind, where its group version has been read.
  const resource* known_kind(const std::string& api_version, std::string_view kind) const;
  awaitable<result<version_texts>> ask_version(reactor::nanoseconds within);

  client& api_;
  server_version version_;
  version_texts said_;
  std::optional<reactor::steady_time> said_at_;  // none: /version has not answered yet
  std::vector<std::string> api_versions_;
  std::set<std::string, std::less<>> known_;  // the same, to look one up
  std::size_t kept_ = 0;                      // resources in resources_, at most most_resources
  std::map<std::string, shared_version> resources_;
  std::optional<std::vector<std::string>> everything_;  // where all of them answered
  std::uint64_t changes_ = 0;
  std::optional<reactor::steady_time> read_at_;  // none: the groups are not known
};

/// "v1", "apps/v1", … from the documents of /api and /apis, each once. errc::malformed for what is
/// none, or too many.
result<std::vector<std::string>> api_versions_in(const boost::json::value& api,
                                                 const boost::json::value& apis);
/// The collections of an APIResourceList, without subresources. Errors as above.
result<std::vector<resource>> resources_in(const std::string& api_version,
                                           const boost::json::value& document);
/// Every kind of an APIResourceList, those of subresources too. Errors as above.
result<std::vector<std::string>> kinds_in(const boost::json::value& document);

}  // namespace k8s
