#include "bench/fleet/whole_fleet.hpp"

#include "bench/child.hpp"
#include "bench/fleet/many_servers.hpp"
#include "bench/fleet/served_fleet.hpp"
#include "bench/fleet/shipped_run.hpp"
#include "bench/measure.hpp"
#include "k8s/client/client.hpp"
#include "k8s/client/kubeconfig.hpp"
#include "reactor/loop.hpp"
#include "reactor/system/private_folder.hpp"
#include "reactor/task_group.hpp"

#include <boost/json.hpp>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <vector>

namespace bench {
namespace {

using namespace std::chrono_literals;
namespace json = boost::json;

constexpr reactor::nanoseconds after_start = 15s, quiet_edits = 5s, look_every = 100ms,
                               probe_every = 20ms;

std::string home_kubeconfig(child& servers) {
  const std::string file = servers.read_line();
  if (file.empty()) throw std::runtime_error("the API servers did not come up");
  return file;
}

double in_ms(reactor::nanoseconds d) {
  return seconds_of(d) * 1e3;
}

const std::vector<std::string> page_files{"/", "/page.js", "/live.js", "/page.css"};
const std::vector<const char*> figures_at_rest{"idle_cpu_percent", "requests_per_cluster_hour",
                                               "rss_mb"};

/// The value that `share` of them do not exceed.
double share_below(std::vector<double> all, double share) {
  std::ranges::sort(all);
  const auto at = static_cast<std::size_t>(share * static_cast<double>(all.size()));
  return all[std::min(at, all.size() - 1)];
}

class fleet_course {
public:
  fleet_course(reactor::loop& l, const fleet_plan& p, const std::string& kubeconfig,
               const std::string& log)
      : loop_(l),
        plan_(p),
        home_(home_of(kubeconfig)),
        control_(l, k8s::connection(home_)),
        run_(l, {kubeconfig, log, p.soft_limit}),
        tasks_(l) {}

  /// Returns why nothing could be measured, or nothing.
  reactor::awaitable<std::string> go(json::object& out) {  // borrowed
    std::string problem = co_await settle(out);
    if (problem.empty()) co_await measure_all(out);
    co_await control_.stop();
    co_return problem;
  }

private:
  reactor::awaitable<void> measure_all(json::object& out) {  // borrowed
    co_await cold_start(out);
    co_await rest(out);
    co_await quiet(out);
    co_await storm_of_all(out);
    co_await storm_of_most(out);
    co_await what_people_ask(out);
    co_await rollout(out);
    co_await stop_in_a_storm(out);
    out["worst_stall_us"] =
        scraped_ ? json::value(rounded(worst_stall_s_ * 1e6, 0)) : json::value();
    if (!scraped_) note("worst_stall_us", "/metrics gave no answer");
    out["notes"] = std::move(notes_);
  }

  static k8s::connection home_of(const std::string& kubeconfig) {
    auto read = k8s::load_kubeconfig_file(kubeconfig);
    if (!read) throw std::runtime_error(read.error().message());
    return *read;
  }

  void note(const char* what, std::string why) { notes_[what] = std::move(why); }

  /// What the servers say; empty where they do not answer, as in a cut.
  reactor::awaitable<json::object> ask_servers(std::string path) {
    auto said = co_await control_.get_path(std::move(path));
    co_return said && said->is_object() ? std::move(said->get_object()) : json::object();
  }
  reactor::nanoseconds patience() const {
    return 120s + 60ms * static_cast<std::int64_t>(plan_.clusters);
  }

  /// Every cluster is Live according to the service.
  reactor::awaitable<bool> all_live() {
    auto text = co_await run_.ask(shipped_run::listener::health, "/clusters", 30s);
    if (!text) co_return false;
    boost::system::error_code bad;
    const json::value v = json::parse(*text, bad);
    if (bad || !v.is_array() || v.get_array().size() != plan_.clusters) co_return false;
    co_return std::ranges::all_of(v.get_array(),
                                  [](const json::value& c) { return c.at("state") == "Live"; });
  }

  /// First by the servers, whom it costs the service nothing to ask. False: not in time.
  reactor::awaitable<bool> until_live() {
    const reactor::steady_time until = loop_.now() + patience();
    while (loop_.now() < until && run_.lives()) {
      const json::object said = co_await ask_servers(fleet_control::told);
      if (number_in(said, "watched") >= static_cast<double>(plan_.clusters)) break;
      co_await loop_.sleep_for(look_every);
    }
    while (loop_.now() < until && run_.lives()) {
      const bool live = co_await all_live();
      if (live) co_return true;
      co_await loop_.sleep_for(look_every);
    }
    co_return false;
  }

  std::string why_not_live() {
    return run_.lives() ? "not every cluster was Live in time"
                        : "the program has ended: " + run_.last_lines();
  }

  /// The fleet as a service before this one has left it.
  reactor::awaitable<std::string> settle(json::object& out) {
    const reactor::steady_time began = loop_.now(), until = began + 3 * patience();
    run_.start();
    double writes = -1;
    int still = 0;
    while (loop_.now() < until && run_.lives() && still < 3) {
      co_await loop_.sleep_for(1s);
      const json::object said = co_await ask_servers(fleet_control::told);
      const bool arrived = number_in(said, "arrived") >= static_cast<double>(plan_.clusters);
      still = arrived && number_in(said, "writes") == writes ? still + 1 : 0;
      writes = number_in(said, "writes");
    }
    if (!run_.lives()) co_return "windlass run has ended: " + run_.last_lines();
    if (still < 3) co_return "the fleet did not settle: " + run_.last_lines();
    out["settle_s"] = rounded(seconds_of(loop_.now() - began));
    (void)co_await run_.stop();
    co_return std::string();
  }

  reactor::awaitable<void> cold_start(json::object& out) {
    (void)co_await ask_servers(std::string(fleet_control::cut) + "?percent=100");
    co_await loop_.sleep_for(1s);
    const reactor::steady_time began = loop_.now();
    run_.start();
    const bool live = co_await until_live();
    if (live) out["live_s"] = rounded(seconds_of(loop_.now() - began));
    if (!live) note("live_s", why_not_live());
    out["start_cpu_s"] = rounded(seconds_of(run_.cpu()));
  }

  reactor::awaitable<void> rest(json::object& out) {
    co_await loop_.sleep_for(after_start);
    co_await scrape();
    const json::object before = co_await ask_servers(fleet_control::told);
    const reactor::nanoseconds cpu = run_.cpu();
    const reactor::steady_time began = loop_.now();
    co_await loop_.sleep_for(plan_.window);
    const double took = seconds_of(loop_.now() - began);
    if (!run_.lives()) {
      for (const char* what : figures_at_rest) note(what, why_not_live());
      co_return;
    }
    out["idle_cpu_percent"] = rounded(100 * seconds_of(run_.cpu() - cpu) / took);
    const json::object after = co_await ask_servers(fleet_control::told);
    out["requests_per_cluster_hour"] =
        rounded((number_in(after, "requests") - number_in(before, "requests")) * 3'600 / took /
                static_cast<double>(plan_.clusters));
    out["rss_mb"] = rounded(megabytes(run_.resident_bytes()), 1);
    out["peak_rss_mb"] = rounded(megabytes(run_.resident_bytes("VmHWM:")), 1);
  }

  /// From the edit of a pool until the service's write about it, at the servers.
  reactor::awaitable<std::vector<double>> end_edits() {
    co_await loop_.sleep_for(1s);
    const json::object said =
        co_await ask_servers(std::string(fleet_control::edit) + "?percent=100");
    std::vector<double> all;
    if (const json::value* delays = said.if_contains("delays_ms"))
      for (const json::value& d : delays->as_array()) all.push_back(d.to_number<double>());
    co_return all;
  }

  reactor::awaitable<void> quiet(json::object& out) {
    (void)co_await ask_servers(std::string(fleet_control::edit) + "?percent=0");
    co_await loop_.sleep_for(quiet_edits);
    const std::vector<double> delays = co_await end_edits();
    if (delays.empty()) note("quiet_p99_ms", "no edit was answered");
    if (!delays.empty()) {
      out["quiet_p50_ms"] = rounded(share_below(delays, 0.5));
      out["quiet_p99_ms"] = rounded(share_below(delays, 0.99));
    }
    co_await scrape();
  }

  /// Each as a kubelet does, on a connection of its own.
  reactor::awaitable<void> probe_health() {
    for (;;) {
      const reactor::steady_time began = loop_.now();
      auto said = co_await run_.ask(shipped_run::listener::health, "/healthz", 10s);
      if (!said) ++unanswered_probes_;
      slowest_probe_ = std::max(slowest_probe_, loop_.now() - began);
      co_await loop_.sleep_for(probe_every);
    }
  }

  reactor::awaitable<void> storm_of_all(json::object& out) {
    tasks_.start("probes", probe_health());
    co_await loop_.sleep_for(1s);
    out["quiet_healthz_ms"] = rounded(in_ms(slowest_probe_));
    slowest_probe_ = {};
    (void)co_await ask_servers(std::string(fleet_control::cut) + "?percent=100");
    const reactor::steady_time began = loop_.now();
    const bool live = co_await until_live();
    if (live) out["storm_live_s"] = rounded(seconds_of(loop_.now() - began));
    if (!live) note("storm_live_s", why_not_live());
    co_await tasks_.cancel_and_join();
    if (unanswered_probes_ == 0) out["storm_healthz_ms"] = rounded(in_ms(slowest_probe_));
    if (unanswered_probes_ > 0)
      note("storm_healthz_ms",
           std::to_string(unanswered_probes_) + " probes had no answer in 10 s");
    co_await scrape();
  }

  reactor::awaitable<void> storm_of_most(json::object& out) {
    co_await loop_.sleep_for(5s);
    (void)co_await ask_servers(std::string(fleet_control::edit) + "?percent=90");
    co_await loop_.sleep_for(1s);
    (void)co_await ask_servers(std::string(fleet_control::cut) + "?percent=90");
    co_await loop_.sleep_for(look_every);
    const bool live = co_await until_live();
    const std::vector<double> delays = co_await end_edits();
    if (!live) note("storm_p99_ms", why_not_live());
    if (delays.empty()) note("storm_p99_ms", "no edit was answered");
    if (live && !delays.empty()) {
      out["storm_p99_ms"] = rounded(share_below(delays, 0.99));
      out["storm_p999_ms"] = rounded(share_below(delays, 0.999));
      out["storm_edits"] = delays.size();
    }
    co_await scrape();
  }

  reactor::awaitable<void> what_people_ask(json::object& out) {
    co_await loop_.sleep_for(5s);
    const reactor::steady_time metrics_began = loop_.now();
    co_await scrape();
    out["metrics_ms"] = rounded(in_ms(loop_.now() - metrics_began));
    out["metrics_mb"] = rounded(megabytes(metrics_bytes_));
    co_await open_page(out);
    co_await scrape();
    const reactor::steady_time status_began = loop_.now();
    std::vector<std::string> words;
    words.emplace_back("status");
    const int code = co_await run_.run_command(std::move(words));
    if (code == 0) out["status_ms"] = rounded(in_ms(loop_.now() - status_began));
    if (code != 0) note("status_ms", "windlass status ended with " + std::to_string(code));
  }

  /// Files, and then what is drawn first; a browser asks for the files together.
  reactor::awaitable<void> open_page(json::object& out) {
    const reactor::steady_time began = loop_.now();
    for (std::string file : page_files)
      (void)co_await run_.ask(shipped_run::listener::page, std::move(file), 10s);
    reactor::http::client_options o;
    o.origin = {false, "127.0.0.1", run_.port(shipped_run::listener::page)};
    reactor::http::client asking(loop_, std::move(o));
    reactor::http::request r;
    r.method = "GET";
    r.target = "/events";
    auto stream = co_await asking.send(std::move(r));
    std::string text;
    const reactor::steady_time until = loop_.now() + 60s;
    bool first = false, whole = false;
    while (stream && (*stream)->head().status == 200 && !whole && loop_.now() < until) {
      auto piece = co_await (*stream)->read(10s);
      if (!piece || piece->empty()) break;
      text += *piece;
      for (auto end = text.find("\n\n"); end != text.npos; end = text.find("\n\n")) {
        const std::string event = text.substr(0, end);
        text.erase(0, end + 2);
        if (!std::exchange(first, true)) out["page_ms"] = rounded(in_ms(loop_.now() - began));
        page_rows_ += rows_in(event);
        whole = page_rows_ >= plan_.clusters;
      }
    }
    if (whole) out["page_whole_ms"] = rounded(in_ms(loop_.now() - began));
    if (!whole)
      note("page_whole_ms", "only " + std::to_string(page_rows_) + " clusters came in a minute");
    if (!first) note("page_ms", "the page sent no event");
    if (stream) stream->reset();
    co_await asking.stop();
  }
  static std::size_t rows_in(const std::string& event) {
    constexpr std::string_view row = "\"cluster/";
    std::size_t rows = 0;
    for (auto at = event.find(row); at != event.npos; at = event.find(row, at + 1)) ++rows;
    return rows;
  }

  reactor::awaitable<void> rollout(json::object& out) {
    (void)co_await ask_servers(fleet_control::roll);
    const reactor::steady_time began = loop_.now(), until = began + 4 * patience();
    const reactor::nanoseconds cpu = run_.cpu();
    bool arrived = false;
    json::object said;
    while (!arrived && loop_.now() < until && run_.lives()) {
      co_await loop_.sleep_for(500ms);
      said = co_await ask_servers(fleet_control::told);
      const json::value* rolled = said.if_contains("rolled");
      arrived = rolled && rolled->is_bool() && rolled->get_bool() &&
                number_in(said, "arrived") >= static_cast<double>(plan_.clusters);
    }
    if (arrived) out["rollout_s"] = rounded(seconds_of(loop_.now() - began));
    if (!arrived)
      note("rollout_s",
           run_.lives()
               ? "only " + std::to_string(static_cast<std::size_t>(number_in(said, "arrived"))) +
                     " clusters had arrived in time"
               : why_not_live());
    if (run_.lives()) out["rollout_cpu_s"] = rounded(seconds_of(run_.cpu() - cpu));
    out["rollout_violations"] = number_in(said, "violations");
    if (const json::value* first = said.if_contains("violation"))
      if (first->is_string() && !first->get_string().empty())
        note("rollout_violations", std::string(first->get_string()));
    out["peak_rss_mb"] = rounded(megabytes(run_.resident_bytes("VmHWM:")), 1);
    co_await scrape();
  }

  reactor::awaitable<void> stop_in_a_storm(json::object& out) {
    (void)co_await ask_servers(std::string(fleet_control::cut) + "?percent=100");
    co_await loop_.sleep_for(200ms);
    const reactor::steady_time began = loop_.now();
    const int code = co_await run_.stop();
    out["stop_s"] = rounded(seconds_of(loop_.now() - began));
    if (code != 0)
      note("stop_s", "its exit code was " + std::to_string(code) + ": " + run_.last_lines());
  }

  /// The longest turn is told since the last look.
  reactor::awaitable<void> scrape() {
    auto text = co_await run_.ask(shipped_run::listener::metrics, "/metrics", 60s);
    if (!text) co_return;
    metrics_bytes_ = text->size();
    scraped_ = true;
    constexpr std::string_view name = "\nwindlass_loop_longest_stall_seconds ";
    if (const auto at = text->find(name); at != text->npos)
      worst_stall_s_ =
          std::max(worst_stall_s_, std::strtod(text->c_str() + at + name.size(), nullptr));
  }

  reactor::loop& loop_;
  const fleet_plan plan_;
  k8s::connection home_;
  k8s::client control_;
  shipped_run run_;
  json::object notes_;
  double worst_stall_s_ = 0;
  bool scraped_ = false;
  std::size_t metrics_bytes_ = 0, page_rows_ = 0, unanswered_probes_ = 0;
  reactor::nanoseconds slowest_probe_{};
  reactor::task_group tasks_;
};

rlimit file_limits() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return limit;
}

}  // namespace

json::object measure_fleet(const fleet_plan& p) {
  const fleet_size size{p.clusters, p.objects};
  auto servers = child::start({"fleet", "--sender", size.text()});
  if (!servers) throw std::runtime_error(servers.error().message());
  const std::string kubeconfig = home_kubeconfig(*servers);
  pin_to_core(0);  // and with this process the program that it starts
  const rlimit files = file_limits();
  json::object out = environment();
  out["clusters"] = p.clusters;
  out["nodes_per_cluster"] = p.objects;
  out["objects_per_cluster"] = 2 * p.objects + 2;  // Nodes, BootcNodes, two pools
  for (const char* key : {"live_s", "rss_mb", "idle_cpu_percent", "requests_per_cluster_hour",
                          "storm_live_s", "storm_healthz_ms", "storm_p99_ms", "rollout_s",
                          "rollout_violations", "status_ms", "metrics_ms", "page_ms", "stop_s"})
    out[key] = nullptr;
  out["soft_limit"] = p.soft_limit > 0 ? p.soft_limit : static_cast<std::size_t>(files.rlim_cur);
  out["hard_limit"] = static_cast<std::size_t>(files.rlim_max);
  out["worst_stall_us"] = nullptr;
  const reactor::private_folder folder("fleet");
  reactor::loop l;
  {
    fleet_course course(l, p, kubeconfig, folder.path() + "/log");
    std::string problem;
    run_on(l, [&]() -> reactor::awaitable<void> { problem = co_await course.go(out); });
    ::unlink(kubeconfig.c_str());
    if (!problem.empty()) throw std::runtime_error(problem);
  }
  return out;
}

}  // namespace bench
