#pragma once

#include "helm/render/chart_cache.hpp"
#include "helm/sources/settings.hpp"
#include "helm/tenants/desired/chart_requests.hpp"
#include "helm/tenants/supply/supply_jobs.hpp"
#include "reactor/awaitable.hpp"
#include "reactor/log.hpp"
#include "reactor/metrics.hpp"
#include "reactor/waiters.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace reactor {
class loop;
}

namespace helm::tenants {

/// The charts of repositories and registries, prepared for rendering: one for all Tenants on all
/// clusters of this process.
/// Shape    a caller that asks for what is being fetched waits for that; when a question ends makes
///          no difference to the download.
///          Nothing is written to disk: archives go into a cache in memory, under their digests.
/// Limits   those of chart_requests; an index 24 MiB, an archive 8 MiB, 120 s each; what is made of
///          them service_chart_limits; prepared charts cache_bytes. Together they fit into what
///          deploy/chart gives the service.
/// Lifetime the loop outlives it. Who uses it enters first and co_awaits leave() at last: with the
///          last one downloads end.
class chart_supply {
public:
  struct options {
    sources::settings where;  // of repositories and logins, as stock Helm has them
    registry::environment environment;
    /// Of a repository without an index: <repo>/<name>-<version>.tgz is asked for (15.3).
    bool without_index = false;
    std::size_t cache_bytes = 24u << 20;
    reactor::metrics* metrics = nullptr;  // outlives it
    reactor::logger log;
  };
  chart_supply(reactor::loop& l, options o);
  ~chart_supply();
  chart_supply(const chart_supply&) = delete;
  chart_supply& operator=(const chart_supply&) = delete;

  void enter() noexcept { ++users_; }
  reactor::awaitable<void> leave();

  /// Waits for the download where there is one.
  reactor::awaitable<supplied_chart> get(chart_coordinates c);
  /// Who signed the archive with that digest ("sha256:…") of an exact version, by these public keys
  /// (sources::check_signature): "Jane <jane@example.com>, key 0123…". It is asked for each time.
  /// Errors   why its provenance cannot be had, or Helm's reason not to believe it.
  reactor::awaitable<outcome<std::string>> signer(chart_coordinates c, std::string digest,
                                                  std::string keys);

private:
  using offers = std::vector<offer>;
  /// Where an archive lies.
  struct source {
    std::string url, version, digest;
    chart_problem why;  // that it is not known, or that there is no index which says so
  };
  enum class part : std::uint8_t { archive, provenance };
  struct fetched {
    std::string bytes, version;
    std::string file;  // the name of the archive
    chart_problem why;
    bool came = false;
  };
  using key = std::string;
  static key key_of(const chart_coordinates& c) {
    return c.repo + '\n' + c.name + '\n' + c.version;
  }
  struct network;
  network& online();
  reactor::awaitable<void> fetch(chart_coordinates c);
  reactor::awaitable<supplied_chart> load(chart_coordinates c);
  reactor::awaitable<source> source_of(chart_coordinates c);
  reactor::awaitable<fetched> get_part(chart_coordinates c, part what);
  reactor::awaitable<fetched> from_web(std::string repo, std::string url, std::size_t most_bytes);
  reactor::awaitable<fetched> from_registry(std::string reference, std::string version, part what);
  // borrowed
  reactor::awaitable<std::shared_ptr<const offers>> index_of(std::string repo, std::string name,
                                                             chart_problem& why);
  reactor::awaitable<void> fetch_index(std::string repo, std::string name, std::string etag);

  reactor::loop& loop_;
  options options_;
  chart_requests requests_;
  std::shared_ptr<chart_cache> cache_;  // workers fill it after this is gone, too; with children,
                                        // of archives
  std::map<std::string, std::shared_ptr<const offers>> indexes_;  // by repository and chart
  std::map<key, std::string> digests_;                            // of archives that came
  std::size_t users_ = 0;
  reactor::waiters changed_;
  std::unique_ptr<network> network_;
};

}  // namespace helm::tenants
