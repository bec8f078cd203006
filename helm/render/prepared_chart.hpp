#pragma once

#include "helm/charts/chart.hpp"
#include "helm/render/render.hpp"

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace helm {

/// A chart whose archive is here, and which is unpacked, checked and rendered in another process
/// only: to this one it is bytes.
struct archived_chart {
  std::string digest;  // "sha256:…" of the archive
  std::shared_ptr<const std::string> archive;
};

/// A chart that was loaded once and is rendered for many releases: its templates are parsed and its
/// schemas compiled at first use and kept.
/// Lifetime Renders on several worker threads wait for one another: values are counted without
///          atomics, and those of the chart are used by every render. What comes out of a render
///          shares nothing with the chart.
class prepared_chart {
public:
  /// `loaded` belongs to the prepared chart from now on; no one else may use it. `digest` is that
  /// of the archive that it was loaded from.
  explicit prepared_chart(chart_ptr loaded, std::vector<std::string> warnings = {},
                          std::string digest = {});
  /// One that is in another process. `meta` is what it said there of itself. It cannot be rendered
  /// or copied here.
  prepared_chart(archived_chart a, metadata meta);
  prepared_chart(const prepared_chart&) = delete;
  prepared_chart& operator=(const prepared_chart&) = delete;

  const metadata& meta() const { return loaded_->meta; }
  /// Null where the chart is in this process.
  const archived_chart* archived() const { return archived_ ? &*archived_ : nullptr; }
  /// "sha256:…" of the chart's archive; empty: it was loaded from none.
  const std::string& digest() const { return archived_ ? archived_->digest : digest_; }
  /// What loading had to say.
  const std::vector<std::string>& warnings() const { return warnings_; }

  /// From the user's values to texts by template path: dependencies, coalescing, schemas,
  /// templates.
  /// Shape    `user` is only read.
  /// Errors   those of check_installable, process_dependencies, coalesce_values, check_schemas,
  ///          kube_version_problem and parsed_chart.
  outcome<rendered_files> render(const value& user, const release_options& release,
                                 const capabilities& caps, const render_options& options);

  /// The chart in the form in which a release keeps it. `pack` is asked once; the text is shared by
  /// every release.
  std::shared_ptr<const std::string> packed(const std::function<std::string(const chart&)>& pack);
  /// A chart of one's own, e.g. to process its dependencies; only the files are shared.
  chart_ptr copy();

  /// About what it holds in memory, for caches; grows with the first renders. Never waits.
  std::size_t bytes() const { return bytes_; }

private:
  /// Conditions, tags and aliases decide which charts there are; each set of them has its own
  /// template names.
  struct shape {
    std::string key;
    parsed_chart parsed;
  };
  outcome<rendered_files> render_within(const value& user, const release_options& release,
                                        const capabilities& caps, const render_options& options);
  outcome<const parsed_chart*> parsed(const chart_ptr& tree);
  void weigh();

  chart_ptr loaded_;
  std::optional<archived_chart> archived_;
  std::string digest_;
  std::vector<std::string> warnings_;
  std::mutex in_use_;
  std::vector<std::unique_ptr<shape>> shapes_;  // most recently used first
  std::shared_ptr<const std::string> packed_;
  std::size_t source_bytes_ = 0;
  std::size_t template_bytes_ = 0;
  std::atomic<std::size_t> bytes_ = 0;
};

}  // namespace helm
