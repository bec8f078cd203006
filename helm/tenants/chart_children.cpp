#include "helm/tenants/chart_children.hpp"

#include "helm/apart/kept_renders.hpp"
#include "helm/objects/manifest_job.hpp"
#include "helm/placed/stored_release.hpp"
#include "helm/release/release_jobs.hpp"
#include "helm/sources/repository.hpp"
#include "helm/tenants/kinds/metric_table.hpp"
#include "helm/tenants/supply/supply_jobs.hpp"

#include <unistd.h>

#include <array>
#include <utility>

namespace helm::tenants {
namespace {

reactor::child_workers::options workers_of(chart_children::options o) {
  reactor::child_workers::options w = std::move(o.limits);
  w.argv = apart::child_argv(o.program);
  w.longest_job_bytes = apart::longest_job_bytes;
  w.on_end = [metrics = o.metrics, log = o.log, told = std::move(w.on_end)](
                 reactor::child_end why, const std::string& sentence) {
    const std::string reason(reactor::to_string(why));
    if (metrics) metrics->get_counter(tenant_metrics::children_ended, {{"reason", reason}}).add();
    log.warning("a child process for charts was ended", {{"reason", reason}, {"why", sentence}});
    if (told) told(why, sentence);
  };
  return w;
}

/// A download takes up to 120 s, and its child waits for it.
reactor::child_workers::options index_workers_of(chart_children::options o) {
  o.limits.count = o.limits.at_work = 2;
  o.limits.wall = sources::download_timeout + std::chrono::seconds(10);
  o.limits.processor *= 2;
  return workers_of(std::move(o));
}

}  // namespace

chart_children::chart_children(reactor::loop& l, options o)
    : charts_(l, workers_of(o)), indexes_(l, index_workers_of(o)), attached_(l, *this) {
  if (o.metrics)
    apart::kept_renders::of(l).count_in(
        o.metrics->get_counter(tenant_metrics::chart_renders, {{"result", "made"}}),
        o.metrics->get_counter(tenant_metrics::chart_renders, {{"result", "saved"}}));
  constexpr reactor::nanoseconds told_every = std::chrono::seconds(10);
  memory()->on_wait([log = o.log, told = std::make_shared<reactor::repeats>(l, told_every)](
                        const std::string& who, const std::string& holder) {
    if (told->pass("memory"))
      log.info("an operation waits for the memory that another one has",
               {{"waits", who}, {"has", holder}});
  });
}

awaitable<void> chart_children::stop() {
  co_await charts_.stop();
  co_await indexes_.stop();
}

std::vector<int> chart_children::pids() const {
  std::vector<int> all = charts_.pids();
  for (const int pid : indexes_.pids()) all.push_back(pid);
  return all;
}

std::unique_ptr<reactor::foreign_workers> start_chart_children(reactor::loop& l,
                                                               reactor::metrics& metrics,
                                                               const reactor::logger& log) {
  chart_children::options o;
  o.metrics = &metrics;
  o.log = log;
  return std::make_unique<chart_children>(l, std::move(o));
}

std::span<const apart::handler> chart_jobs() {
  static const std::array all{apart::handler_of<load_job>(),
                              apart::handler_of<release::render_job>(),
                              apart::handler_of<release::crds_job>(),
                              apart::handler_of_pieces<index_job>(),
                              apart::handler_of<release::record_job>(),
                              apart::handler_of<placed::stored_release>(),
                              apart::handler_of<objects::manifest_job>(),
                              apart::handler_of<release::split_job>()};
  return all;
}

void chart_child_main(int argc, const char* const* argv) {
  // What runs at the exit of a process may want what this one has given up.
  if (apart::is_child(argc, argv)) ::_exit(apart::serve(chart_jobs()));
}

}  // namespace helm::tenants
