#pragma once

#include "formats/yaml/reader.hpp"
#include "helm/apart/ask.hpp"
#include "helm/render/chart_cache.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace helm::tenants {

using reactor::awaitable;

/// What an index has of a chart, and no more of it.
struct offer {
  std::string version, url, digest;
};

/// A repository's index, read for one chart as it comes.
struct index_job {
  static constexpr apart::job_number number = apart::job_number::index;
  std::string chart, shown;
  std::uint64_t memory_bytes = 0;
  struct answer {
    std::vector<offer> offers;
    std::string problem;  // why there are none
  };
  answer read(const text_source& pieces) const;
};

/// An index under way: into a child process, which keeps what is said of one chart; or, where there
/// are none, gathered for the loop's worker for strangers.
/// Lifetime the loop outlives it.
class index_stream {
public:
  index_stream(reactor::loop& l, index_job job) : loop_(l), job_(std::move(job)) {}
  awaitable<reactor::result<void>> put(std::string piece);
  /// After the last piece, or instead of the others when put() failed.
  awaitable<index_job::answer> finish();

private:
  awaitable<reactor::result<void>> open();
  reactor::loop& loop_;
  index_job job_;
  std::unique_ptr<reactor::foreign_stream> to_;
  std::string text_;
};

/// An archive that came, unpacked and looked through: by a child, which keeps it prepared, or into
/// `cache`.
struct unpacked_chart {
  std::shared_ptr<prepared_chart> chart;  // null: see `problem`
  std::string digest, problem;
};
struct load_job {
  static constexpr apart::job_number number = apart::job_number::load;
  bool again = false;  // the chart itself goes beside the job
  struct answer {
    std::string name, version, app_version, problem;
  };
  answer run(outcome<std::shared_ptr<prepared_chart>>& chart) const;
};
awaitable<unpacked_chart> unpack_apart(reactor::loop& l, std::shared_ptr<chart_cache> cache,
                                       std::string archive);

}  // namespace helm::tenants
