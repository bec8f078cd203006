#pragma once

#include "helm/apart/child.hpp"
#include "reactor/log.hpp"
#include "reactor/metrics.hpp"
#include "reactor/system/child_workers.hpp"

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace helm::tenants {

using reactor::awaitable;

/// The child processes in which the service works on what strangers wrote: charts, indexes, release
/// records (docs/adr/0011).
/// Shape    attached to the loop while this lives; started with the first job. An index is read as
///          it comes, by children of their own: nothing waits for a slow repository.
/// Lifetime the loop and the metrics outlive it. co_await stop() before destruction.
class chart_children final : public reactor::foreign_workers {
public:
  struct options {
    std::string program = "/proc/self/exe";  // whose main() asks chart_child_main() first
    reactor::metrics* metrics = nullptr;
    reactor::logger log;
    reactor::child_workers::options limits = {};
  };
  chart_children(reactor::loop& l, options o);
  awaitable<reactor::result<std::string>> run(std::string job, std::string owner) override {
    return charts_.run(std::move(job), std::move(owner));
  }
  awaitable<reactor::result<std::unique_ptr<reactor::foreign_stream>>> open(
      std::string job) override {
    return indexes_.open(std::move(job));
  }
  awaitable<void> stop() override;
  /// Those that there are now.
  std::vector<int> pids() const;

private:
  reactor::child_workers charts_, indexes_;
  reactor::attached_workers attached_;
};

/// For units::api::workers.
std::unique_ptr<reactor::foreign_workers> start_chart_children(reactor::loop& l,
                                                               reactor::metrics& metrics,
                                                               const reactor::logger& log);

/// What such a child can do.
std::span<const apart::handler> chart_jobs();
/// The life of such a child; returns only where this process was not started as one. First in
/// main(), after end_when_memory_is_lost().
void chart_child_main(int argc, const char* const* argv);

}  // namespace helm::tenants
