#include "service/metrics/own_metrics.hpp"

#include "app/api/metric_table.hpp"
#include "k8s/fleet/metric_table.hpp"
#include "k8s/informer/metric_table.hpp"
#include "reactor/metric_table.hpp"
#include "service/metrics/metric_table.hpp"
#include "signals/metric_table.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

namespace cli {
namespace {

double seconds(const timeval& t) {
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
}

double cpu_seconds() {
  rusage used{};
  if (::getrusage(RUSAGE_SELF, &used) != 0) return 0;
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

double resident_bytes() {
  std::ifstream in("/proc/self/statm");
  double size = 0, resident = 0;
  in >> size >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

double open_files() {
  std::error_code failed;
  const auto all = std::filesystem::directory_iterator("/proc/self/fd", failed);
  return failed ? 0 : static_cast<double>(std::distance(begin(all), end(all)) - 1);  // its own
}

void raise(reactor::counter& c, double to) {
  c.add(to - c.value());
}

}  // namespace

std::string_view build_commit() noexcept {
  return WINDLASS_COMMIT;
}

std::vector<reactor::metric_kind> metric_tables(const std::vector<units::api>& apis) {
  std::vector<reactor::metric_kind> all;
  const auto add = [&](const auto& table) { all.insert(all.end(), table.begin(), table.end()); };
  add(reactor::metric_table::all);
  add(k8s::fleet_metrics::all);
  add(k8s::controller_metrics::all);
  add(units::unit_metrics::all);
  add(service_metrics::all);
  add(signals::signal_metrics::all);
  for (const units::api& a : apis) add(a.metrics);
  std::ranges::sort(all, {}, &reactor::metric_kind::name);
  return all;
}

own_metrics::own_metrics(reactor::loop& l, reactor::metrics& into, const policies::host& packs)
    : loop_(l),
      metrics_(into),
      packs_(packs),
      stall_(into.get_gauge(service_metrics::stall)),
      resident_(into.get_gauge(service_metrics::resident)),
      open_files_(into.get_gauge(service_metrics::open_files)),
      callbacks_(into.get_counter(service_metrics::callbacks)),
      busy_(into.get_counter(service_metrics::busy)),
      cpu_(into.get_counter(service_metrics::cpu)),
      faults_(into.get_counter(service_metrics::policy_faults)) {
  into.get_gauge(service_metrics::build_info,
                 {{"commit", std::string(build_commit())}, {"version", WINDLASS_VERSION}})
      .set(1);
  into.get_gauge(service_metrics::start_time)
      .set(std::chrono::duration<double>(l.wall().time_since_epoch()).count());
}

void own_metrics::refresh() {
  const reactor::loop_health health = loop_.take_health();
  stall_.set(std::chrono::duration<double>(health.longest_stall).count());
  callbacks_.add(static_cast<double>(health.callbacks));
  busy_.add(std::chrono::duration<double>(health.busy).count());
  raise(cpu_, cpu_seconds());
  resident_.set(resident_bytes());
  open_files_.set(open_files());
  raise(faults_, static_cast<double>(packs_.faults()));
  show_faults();
}

void own_metrics::show_faults() {
  std::set<std::pair<std::string, std::string>> failing;
  for (const policies::pack_status& p : packs_.status())
    if (p.fault) failing.emplace(p.name, p.fault->hook);
  for (auto& [at, gauge] : failing_) gauge.set(failing.contains(at) ? 1 : 0);
  for (const auto& at : failing) {
    const auto [known, fresh] = failing_.try_emplace(at);
    if (!fresh) continue;
    known->second = metrics_.get_gauge(service_metrics::policy_failing,
                                       {{"hook", at.second}, {"pack", at.first}});
    known->second.set(1);
  }
}

}  // namespace cli
