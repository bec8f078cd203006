#include "bootc/pool/node_figures.hpp"

#include "bootc/pool/metric_table.hpp"

namespace bootc {

node_figures::node_figures(reactor::metrics& into, const std::string& cluster) {
  const auto of = [&](const reactor::metric_kind& kind) {
    return into.get_counter(kind, {{"cluster", cluster}});
  };
  const auto ended = [&](const char* outcome) {
    return into.get_counter(node_metrics::drains, {{"cluster", cluster}, {"outcome", outcome}});
  };
  drains_done = ended("done");
  drains_failed = ended("failed");
  drains_timed_out = ended("timed-out");
  evictions_refused = of(node_metrics::refused);
  reboots_requested = of(node_metrics::requested);
  reboots_completed = of(node_metrics::completed);
  daemons_older = into.get_gauge(node_metrics::daemons_older, {{"cluster", cluster}});
  drain_seconds = into.get_histogram(node_metrics::drain_seconds);
  stage_seconds = into.get_histogram(node_metrics::stage_seconds);
  reboot_seconds = into.get_histogram(node_metrics::reboot_seconds);
}

}  // namespace bootc
