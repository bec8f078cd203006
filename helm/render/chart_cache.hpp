#pragma once

#include "helm/render/prepared_chart.hpp"
#include "reactor/plain/keyed_map.hpp"

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace helm {

/// Prepared charts by the digest of their archive, shared by all releases on all clusters of this
/// process.
/// Shape    least recently used charts go first when the limit is passed; a caller that still
///          renders one keeps it until done.
/// Units    limit_bytes: what the charts take in memory, about. each: what one may be.
/// Lifetime Any thread: workers load and render, the loop looks up. A chart is loaded outside the
///          lock, so that a big one does not hold up the others; two workers that load the same one
///          at once agree on the first that is done.
class chart_cache {
public:
  explicit chart_cache(std::size_t limit_bytes = 256u << 20, const chart_limits& each = {})
      : limit_bytes_(limit_bytes), each_(each) {}

  /// The chart in an archive (.tgz), loaded unless its digest is known.
  /// Errors   those of load_archive; nothing is kept of a chart that does not load.
  outcome<std::shared_ptr<prepared_chart>> from_archive(std::string_view archive);
  /// Takes one that is in another process; returns the one of its digest that is here already.
  std::shared_ptr<prepared_chart> keep(std::shared_ptr<prepared_chart> archived);
  /// The chart of a digest ("sha256:…"), when it is here.
  std::shared_ptr<prepared_chart> find(std::string_view digest);

  struct figures {
    std::size_t charts = 0;
    std::size_t bytes = 0;
  };
  figures look() const;

private:
  struct entry {
    std::string digest;
    std::shared_ptr<prepared_chart> chart;
  };
  using order = std::list<entry>;
  std::shared_ptr<prepared_chart> take(std::string_view digest);
  std::shared_ptr<prepared_chart> add(std::string digest, std::shared_ptr<prepared_chart> fresh);
  void shrink();

  const std::size_t limit_bytes_;
  const chart_limits each_;
  mutable std::mutex lock_;
  order used_;                                                       // most recently used first
  reactor::keyed_map<std::string_view, order::iterator> by_digest_;  // keys live in used_
};

}  // namespace helm
