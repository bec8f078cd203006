#include "bench/helm.hpp"

#include "bench/child.hpp"
#include "bench/measure.hpp"
#include "bench/peer_program.hpp"
#include "helm/render/manifests.hpp"
#include "helm/render/prepared_chart.hpp"
#include "reactor/plain/entropy.hpp"

#include <boost/json.hpp>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace bench {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr auto shortest = 700ms;  // of processor time per figure
constexpr std::size_t many_renders = 5'000;

double milliseconds(reactor::nanoseconds t) {
  return static_cast<double>(t.count()) / 1e6;
}

/// The most memory that was resident since the last call.
std::size_t peak_bytes() {
  std::ifstream status("/proc/self/status");
  std::size_t kilobytes = 0;
  for (std::string word; status >> word;)
    if (word == "VmHWM:") status >> kilobytes;
  std::ofstream("/proc/self/clear_refs") << '5';
  return kilobytes * 1024;
}

[[noreturn]] void give_up(const std::string& chart, const formats::problem& p) {
  throw std::runtime_error(chart + ": " + p.text);
}

helm::render_options options() {
  helm::render_options o;
  o.runtime.random = [](std::span<unsigned char> bytes) { reactor::system_entropy().fill(bytes); };
  o.runtime.now = [] {
    return std::chrono::system_clock::time_point(
        std::chrono::duration_cast<std::chrono::system_clock::duration>(1'767'225'600s));
  };
  o.runtime.log = [](const std::string&) {};
  return o;
}

/// Values, schema and templates of a chart in memory.
helm::rendered_files render(const std::string& path, helm::prepared_chart& chart,
                            const formats::value& user) {
  auto caps = helm::default_capabilities();
  caps.kube = {"v1.31.0", "1", "31"};
  helm::release_options release;
  release.name = "bench";
  auto files = chart.render(user, release, caps, options());
  if (!files) give_up(path, files.error());
  return std::move(*files);
}

/// Splitting, reading and ordering what was rendered. Returns the number of objects.
std::size_t sort(const std::string& path, const helm::rendered_files& files) {
  auto sorted = helm::sort_manifests(files, helm::kind_order::install, {});
  if (!sorted) give_up(path, sorted.error());
  return sorted->hooks.size() + sorted->manifests.size();
}

std::unique_ptr<helm::prepared_chart> load(const std::string& path) {
  std::vector<std::string> warnings;
  auto chart = helm::load_chart(path, warnings);
  if (!chart) give_up(path, chart.error());
  return std::make_unique<helm::prepared_chart>(std::move(*chart));
}

const formats::value& no_values() {
  static const formats::value none(formats::value::map_type{});
  return none;
}

/// Milliseconds of processor time per call.
template <class F>
double measure(F f) {
  f();
  const auto start = process_cpu();
  std::size_t calls = 0;
  while (process_cpu() - start < shortest || calls < 3) {
    f();
    ++calls;
  }
  return milliseconds(process_cpu() - start) / static_cast<double>(calls);
}

std::string name_of(const std::string& path) {
  return fs::path(path).lexically_normal().filename().string();
}

boost::json::object point(const std::string& path) {
  auto chart = load(path);
  boost::json::object o;
  o["chart"] = name_of(path);
  helm::rendered_files files = render(path, *chart, no_values());
  std::size_t bytes = 0;
  for (const auto& [name, text] : files) bytes += text.size();
  std::erase_if(files, [](const auto& f) { return f.first.ends_with("NOTES.txt"); });
  o["objects"] = sort(path, files);
  o["bytes"] = bytes;
  o["warm_ms"] = rounded(measure([&] { render(path, *chart, no_values()); }), 3);
  o["sort_ms"] = rounded(measure([&] { sort(path, files); }), 3);
  o["cold_ms"] = rounded(measure([&] {
                           auto fresh = load(path);
                           render(path, *fresh, no_values());
                         }),
                         3);
  trim_heap();
  (void)peak_bytes();
  const std::size_t before = resident_bytes();
  render(path, *chart, no_values());
  const std::size_t peak = peak_bytes();
  o["peak_mb"] = rounded(static_cast<double>(peak - std::min(peak, before)) / 1e6, 2);
  return o;
}

/// One chart for a fleet: each render has values of its own.
boost::json::object many(const std::string& path) {
  auto chart = load(path);
  const auto once = [&](std::size_t i) {
    const std::string text = std::to_string(i);
    formats::value user(formats::value::map_type{
        {"global", formats::value(formats::value::map_type{
                       {"commonLabels", formats::value(formats::value::map_type{
                                            {"cluster", "cluster-" + text}})}})},
        {"replicaCount", formats::value(static_cast<double>(1 + i % 5))},
        {"fullnameOverride", "cm-" + text}});
    render(path, *chart, user);
  };
  for (std::size_t i = 0; i < 50; ++i) once(i);
  trim_heap();
  const std::size_t before = resident_bytes();
  const auto start = process_cpu();
  for (std::size_t i = 0; i < many_renders; ++i) once(i);
  const auto spent = process_cpu() - start;
  const std::size_t after = resident_bytes();
  boost::json::object o;
  o["chart"] = name_of(path);
  o["renders"] = many_renders;
  o["seconds"] = rounded(milliseconds(spent) / 1e3, 2);
  o["resident_mb_before"] = rounded(static_cast<double>(before) / 1e6, 1);
  o["resident_mb_after"] = rounded(static_cast<double>(after) / 1e6, 1);
  return o;
}

/// What the Go program says of a chart.
boost::json::object ask_peer(const std::string& peer, const std::string& path) {
  auto asked = child::start_program(
      {peer, path, std::to_string(std::chrono::duration<double>(shortest).count())});
  if (!asked) return {};
  boost::system::error_code bad;
  auto v = boost::json::parse(asked->read_line(), bad);
  return bad || !v.is_object() ? boost::json::object{} : v.get_object();
}

std::vector<std::string> default_charts() {
  const char* given = std::getenv("WINDLASS_CHARTS");
  const char* home = std::getenv("HOME");
  const fs::path folder =
      given ? fs::path(given) : fs::path(home ? home : "/") / ".cache/windlass/charts";
  std::vector<std::string> out;
  for (const char* name : {"cert-manager-v1.20.3", "ingress-nginx", "external-secrets",
                           "prometheus", "kube-prometheus-stack", "postgresql"})
    if (fs::exists(folder / name)) out.push_back((folder / name).string());
  return out;
}

}  // namespace

std::string missing_for_helm() {
  if (!default_charts().empty()) return {};
  return "there are no charts in $WINDLASS_CHARTS or ~/.cache/windlass/charts; "
         "tests/helm/differential/README.md says which";
}

boost::json::object measure_helm(const std::vector<std::string>& charts) {
  const std::vector<std::string> paths = charts.empty() ? default_charts() : charts;
  if (paths.empty()) throw std::runtime_error(missing_for_helm());
  boost::json::object o = environment();
  const peer_program peer = go_peer("helm_peer");
  o["go"] = nullptr;
  o["helm"] = nullptr;
  if (peer.path.empty()) o["note"] = peer.skipped;
  boost::json::array points;
  for (const std::string& path : paths) {
    boost::json::object p = point(path);
    p["go_warm_ms"] = p["go_cold_ms"] = p["go_sort_ms"] = p["ratio"] = p["cold_ratio"] = nullptr;
    if (!peer.path.empty()) {
      boost::json::object theirs = ask_peer(peer.path, path);
      if (theirs.contains("error") || !theirs.contains("cold_ms")) {
        p["go_error"] = theirs.contains("error") ? theirs["error"] : "no answer";
      } else {
        o["go"] = theirs["go"];
        o["helm"] = theirs["helm"];
        const double warm = theirs["warm_ms"].to_number<double>();
        const double cold = theirs["cold_ms"].to_number<double>();
        p["go_warm_ms"] = rounded(warm, 3);
        p["go_cold_ms"] = rounded(cold, 3);
        p["go_sort_ms"] = rounded(theirs["sort_ms"].to_number<double>(), 3);
        p["ratio"] = rounded(warm / p["warm_ms"].to_number<double>(), 1);
        p["cold_ratio"] = rounded(cold / p["cold_ms"].to_number<double>(), 1);
        if (theirs["objects"] != p["objects"]) p["go_objects"] = theirs["objects"];
      }
    }
    points.push_back(std::move(p));
  }
  o["charts"] = std::move(points);
  o["many"] = many(paths.front());
  return o;
}

}  // namespace bench
