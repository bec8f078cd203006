#include "bench/helm.hpp"
#include "bench/hostile.hpp"
#include "bench/idle.hpp"
#include "bench/policy.hpp"
#include "bench/quiet_server.hpp"
#include "bench/registry.hpp"
#include "bench/releases.hpp"
#include "bench/rollout.hpp"
#include "bench/store.hpp"
#include "bench/streams.hpp"
#include "bench/tenants.hpp"
#include "bench/trustee.hpp"
#include "bench/watch.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"

#include <boost/json.hpp>
#include <unistd.h>

#include <stdexcept>

namespace cli {
namespace {

/// The points as a table, the head figures above it.
page report(const boost::json::object& result) {
  page text;
  for (const auto& [key, value] : result)
    if (!value.is_array()) {
      std::string shown = value.is_string() ? std::string(value.get_string()) : pretty_json(value);
      while (shown.ends_with('\n')) shown.pop_back();
      text += page(std::string(key)) + ": " + shown + "\n";
    }
  const boost::json::value* listed = result.if_contains("points");
  if (!listed) listed = result.if_contains("charts");
  if (!listed) return text;
  const boost::json::array& points = listed->as_array();
  std::vector<page> head;
  for (const auto& member : points.front().as_object())
    head.emplace_back(std::string(member.key()));
  table t(head);
  for (const boost::json::value& point : points) {
    std::vector<page> cells;
    for (const auto& member : point.as_object()) {
      std::string shown = pretty_json(member.value());
      shown.pop_back();
      cells.push_back(std::move(shown));
    }
    t.row(std::move(cells));
  }
  return text + t.text();
}

}  // namespace

int bench_command(const bench_arguments& a) {
  if (!a.sender.empty())
    return a.what == "watch"     ? bench::run_watch_sender(a.sender)
           : a.what == "hostile" ? bench::run_hostile_side(a.sender)
           : a.what == "rollout" ? bench::run_rollout_sender(a.sender)
           : a.what == "tenants" ? bench::run_tenants_sender(a.sender)
           : a.what == "trustee" ? bench::run_trustee_sender(a.sender)
           : a.what == "registry"
               ? bench::run_registry_sender()
               : bench::run_quiet_sender(std::strtoul(a.sender.c_str(), nullptr, 10));
  try {
    const boost::json::object result =
        a.what == "watch"    ? bench::measure_watch(a.events)
        : a.what == "store"  ? bench::measure_store()
        : a.what == "policy" ? bench::measure_policy()
        : a.what == "registry"
            ? bench::measure_registry(a.tags, std::chrono::seconds(a.registry_seconds))
        : a.what == "rollout"  ? bench::measure_rollout(a.clusters, a.nodes)
        : a.what == "hostile"  ? bench::measure_hostile()
        : a.what == "tenants"  ? bench::measure_tenants()
        : a.what == "trustee"  ? bench::measure_trustee()
        : a.what == "releases" ? bench::measure_releases(a.dir)
        : a.what == "helm"     ? bench::measure_helm(a.charts)
        : a.what == "idle"
            ? bench::measure_idle(a.clusters ? a.clusters : 2'000, std::chrono::seconds(a.seconds))
            : bench::measure_streams(a.clusters);
    const bool written = a.output == output_format::text
                             ? write_out(STDOUT_FILENO, report(result))
                             : write_bytes(STDOUT_FILENO, machine_text(result, a.output));
    return written ? success : failure;
  } catch (const std::runtime_error& e) {
    return complain(std::string("bench ") + a.what + ": " + e.what());
  }
}

}  // namespace cli
