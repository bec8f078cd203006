#include "bench/charts/kept_charts.hpp"

#include "bench/charts/chart_servers.hpp"
#include "bench/child.hpp"
#include "bench/fleet/served_fleet.hpp"
#include "bench/fleet/shipped_run.hpp"
#include "bench/measure.hpp"
#include "bench/peer_program.hpp"
#include "bench/tenants/request_tally.hpp"
#include "fleetwide/kinds/fleet_chart.hpp"
#include "k8s/client/client.hpp"
#include "k8s/client/kubeconfig.hpp"
#include "reactor/loop.hpp"
#include "reactor/system/private_folder.hpp"

#include <boost/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace bench {
namespace {

using namespace std::chrono_literals;
namespace json = boost::json;

constexpr std::size_t installed_clusters = groups, edited_group = 3, peer_workers = 10,
                      peer_upgrades = 200;
constexpr reactor::nanoseconds look_every = 250ms, look_at_metrics = 1s, longest_wait = 15min,
                               after_start = 15s;

/// The sum of the series of that metric whose labels contain all of the texts.
double sum_of(const std::string& metrics, const std::string& name,
              const std::vector<std::string>& labels) {
  double sum = 0;
  for (auto at = metrics.find("\n" + name + "{"); at != metrics.npos;
       at = metrics.find("\n" + name + "{", at + 1)) {
    const auto end = metrics.find('\n', at + 1);
    const std::string line = metrics.substr(at, end - at);
    const bool is_meant = std::ranges::all_of(
        labels, [&](const std::string& l) { return line.find(l) != line.npos; });
    if (is_meant) sum += std::strtod(line.c_str() + line.rfind(' '), nullptr);
  }
  return sum;
}

double renders_in(const std::string& metrics) {
  return sum_of(metrics, "windlass_chart_renders_total", {"result=\"made\""});
}

k8s::connection home_of(const std::string& kubeconfig) {
  auto read = k8s::load_kubeconfig_file(kubeconfig);
  if (!read) throw std::runtime_error(read.error().message());
  return *read;
}

class charts_course {
public:
  charts_course(reactor::loop& l, const charts_plan& p, const std::string& kubeconfig,
                std::string folder)
      : loop_(l),
        plan_(p),
        folder_(std::move(folder)),
        home_(l, home_of(kubeconfig)),
        run_(l, {.kubeconfig = kubeconfig,
                 .log = folder_ + "/log",
                 .soft_limit = 0,
                 .apis = "fleetcharts"}) {}

  /// Returns why nothing could be measured, or nothing.
  reactor::awaitable<std::string> go(json::object& out) {  // borrowed
    std::string problem = co_await install(out);
    if (problem.empty()) {
      co_await confirm(out);
      co_await rest(out);
      co_await upgrade(out);
      co_await edit(out);
      (void)co_await run_.stop();
      co_await plan(out);
      co_await ask_peer(out);
      out["worst_stall_us"] = rounded(worst_stall_s_ * 1e6, 0);
      out["notes"] = std::move(notes_);
    }
    co_await home_.stop();
    co_return problem;
  }

private:
  void note(const char* what, std::string why) { notes_[what] = std::move(why); }

  reactor::awaitable<json::object> ask_servers(std::string path) {
    auto said = co_await home_.get_path(std::move(path));
    co_return said && said->is_object() ? std::move(said->get_object()) : json::object();
  }

  /// The longest turn is told since the last look.
  reactor::awaitable<std::string> scrape() {
    auto text = co_await run_.ask(shipped_run::listener::metrics, "/metrics", 60s);
    if (!text) co_return std::string();
    constexpr std::string_view name = "\nwindlass_loop_longest_stall_seconds ";
    if (const auto at = text->find(name); at != text->npos)
      worst_stall_s_ =
          std::max(worst_stall_s_, std::strtod(text->c_str() + at + name.size(), nullptr));
    co_return *std::move(text);
  }

  /// Until the service itself counts so many releases as Ready. False: not in time.
  reactor::awaitable<bool> until_ready(std::size_t clusters) {
    const auto wanted = static_cast<double>(clusters * plan_.charts);
    const reactor::steady_time until = loop_.now() + longest_wait;
    while (loop_.now() < until && run_.lives()) {
      const json::object said = co_await ask_servers(chart_control::told);
      if (number_in(said, "watched") >= static_cast<double>(clusters)) break;
      co_await loop_.sleep_for(look_every);
    }
    while (loop_.now() < until && run_.lives()) {
      const std::string metrics = co_await scrape();
      ready_ = sum_of(metrics, "windlass_units", {"api=\"fleetcharts\"", "state=\"Ready\""});
      if (ready_ >= wanted) co_return true;
      co_await loop_.sleep_for(look_at_metrics);
    }
    co_return false;
  }
  std::string why_not_ready() {
    return run_.lives() ? "only " + std::to_string(static_cast<std::size_t>(ready_)) +
                              " releases were Ready in time: " + run_.last_lines()
                        : "the program has ended: " + run_.last_lines();
  }

  /// Until every FleetChart's status says so. False: not in time.
  reactor::awaitable<bool> until_said(std::function<bool(const json::object& status)> is) {
    const reactor::steady_time until = loop_.now() + longest_wait;
    while (loop_.now() < until && run_.lives()) {
      k8s::list_options every;
      auto all = co_await home_.list(fleetwide::fleet_charts(), std::move(every));
      const json::array* items = all ? all->at("items").if_array() : nullptr;
      const bool so = items && std::ranges::all_of(*items, [&](const json::value& o) {
                        const json::value* status = o.as_object().if_contains("status");
                        return status && status->is_object() && is(status->get_object());
                      });
      if (so) co_return true;
      co_await loop_.sleep_for(look_every);
    }
    co_return false;
  }
  static double ready_in(const json::object& status) {
    const json::value* clusters = status.if_contains("clusters");
    return clusters && clusters->is_object() ? number_in(clusters->get_object(), "ready") : 0;
  }
  static bool is_complete(const json::object& status) {
    const json::value *asked = status.if_contains("digest"),
                      *proven = status.if_contains("provenDigest");
    return asked && proven && *asked == *proven;
  }

  /// On the first clusters; the others get what that left there.
  reactor::awaitable<std::string> install(json::object& out) {
    const std::size_t first = std::min(installed_clusters, plan_.clusters);
    const auto of_first = static_cast<double>(first), of_all = static_cast<double>(plan_.clusters);
    const reactor::steady_time began = loop_.now();
    run_.start();
    std::function<bool(const json::object&)> is_first = [of_first](const json::object& s) {
      return ready_in(s) >= of_first && is_complete(s);
    };
    const bool done = co_await until_said(std::move(is_first));
    if (!done) co_return "the first install: " + why_not_ready();
    const double releases = of_first * static_cast<double>(plan_.charts);
    out["install_releases"] = releases;
    out["install_s"] = rounded(seconds_of(loop_.now() - began));
    const json::object said = co_await ask_servers(chart_control::told);
    const std::string metrics = co_await scrape();
    out["install_renders_each_input"] =
        rounded(renders_in(metrics) / static_cast<double>(plan_.charts * first), 3);
    out["install_requests_each"] = rounded(number_in(said, "requests") / releases, 3);
    (void)co_await run_.stop();
    if (first == plan_.clusters) co_return std::string();
    (void)co_await ask_servers(chart_control::copy);
    bool copied = false;
    while (!copied) {
      co_await loop_.sleep_for(look_every);
      const json::object now = co_await ask_servers(chart_control::told);
      copied = now.contains("copied") && now.at("copied").as_bool();
    }
    // The objects at home say how many clusters they have: those that came are written once.
    run_.start();
    std::function<bool(const json::object&)> is_all = [of_all](const json::object& s) {
      return ready_in(s) >= of_all;
    };
    const bool known = co_await until_said(std::move(is_all));
    if (!known) co_return "the clusters that came: " + why_not_ready();
    const json::object came = co_await ask_servers(chart_control::told);
    out["copied_writes"] = number_in(came, "writes");
    (void)co_await run_.stop();
    co_return std::string();
  }

  reactor::awaitable<void> confirm(json::object& out) {
    (void)co_await ask_servers(chart_control::mark);
    const reactor::steady_time began = loop_.now();
    run_.start();
    const bool ready = co_await until_ready(plan_.clusters);
    const double took = seconds_of(loop_.now() - began);
    if (!ready) {
      note("confirm_s", why_not_ready());
      co_return;
    }
    out["confirm_s"] = rounded(took);
    out["confirm_cpu_s"] = rounded(seconds_of(run_.cpu()));
    co_await loop_.sleep_for(after_start);
    const json::object said = co_await ask_servers(chart_control::told);
    const std::string metrics = co_await scrape();
    out["confirm_writes"] = number_in(said, "writes") + number_in(said, "home_writes");
    out["confirm_renders"] = renders_in(metrics);
    out["confirm_downloads"] = number_in(said, "downloads");
    out["confirm_requests_per_cluster"] =
        rounded(number_in(said, "requests") / static_cast<double>(plan_.clusters), 3);
    confirmed_ = said.contains("asked") ? said.at("asked").as_object() : json::object();
    out["rss_mb"] = rounded(megabytes(run_.resident_bytes()), 1);
    out["peak_rss_mb"] = rounded(megabytes(run_.resident_bytes("VmHWM:")), 1);
  }

  reactor::awaitable<void> rest(json::object& out) {
    const json::object before = co_await ask_servers(chart_control::told);
    const reactor::nanoseconds cpu = run_.cpu();
    const reactor::steady_time began = loop_.now();
    co_await loop_.sleep_for(plan_.window);
    const double took = seconds_of(loop_.now() - began);
    if (!run_.lives()) {
      note("idle_cpu_percent", why_not_ready());
      co_return;
    }
    out["idle_cpu_percent"] = rounded(100 * seconds_of(run_.cpu() - cpu) / took);
    const json::object after = co_await ask_servers(chart_control::told);
    out["requests_per_cluster_hour"] =
        rounded((number_in(after, "requests") - number_in(before, "requests")) * 3'600 / took /
                static_cast<double>(plan_.clusters));
    out["idle_writes"] = number_in(after, "writes") + number_in(after, "home_writes") -
                         number_in(before, "writes") - number_in(before, "home_writes");
  }

  reactor::awaitable<void> ask_for(std::string version) {
    json::object chart{{"version", version}}, spec, patch;
    spec["chart"] = std::move(chart);
    patch["spec"] = std::move(spec);
    k8s::object_key key{"fleet", chart_name(0)};
    auto done =
        co_await home_.merge_patch(fleetwide::fleet_charts(), std::move(key), std::move(patch));
    if (!done) note("version", done.error().message());
  }

  /// Until so many records were made since the mark, and the FleetCharts are complete.
  reactor::awaitable<bool> until_upgraded(std::size_t releases) {
    const reactor::steady_time until = loop_.now() + longest_wait;
    const auto of_all = static_cast<double>(plan_.clusters);
    bool made = false;
    while (!made && loop_.now() < until && run_.lives()) {
      co_await loop_.sleep_for(look_every);
      const json::object said = co_await ask_servers(chart_control::told);
      made = number_in(said, "records") >= static_cast<double>(releases);
    }
    std::function<bool(const json::object&)> is = [of_all](const json::object& s) {
      return ready_in(s) >= of_all && is_complete(s);
    };
    const bool said = made && co_await until_said(std::move(is));
    co_return said;
  }

  reactor::awaitable<void> upgrade(json::object& out) {
    const double rendered = renders_in(co_await scrape());
    (void)co_await ask_servers(chart_control::mark);
    const reactor::nanoseconds cpu = run_.cpu();
    const reactor::steady_time began = loop_.now();
    co_await ask_for(second_version);
    const bool done = co_await until_upgraded(plan_.clusters);
    const double took = seconds_of(loop_.now() - began);
    const json::object said = co_await ask_servers(chart_control::told);
    if (!done) {
      note("upgrade_s", std::to_string(number_in(said, "records")) + " clusters had it in time; " +
                            run_.last_lines());
      co_return;
    }
    out["upgrades"] = plan_.clusters;
    out["upgrade_s"] = rounded(took);
    out["upgrades_per_s"] = rounded(static_cast<double>(plan_.clusters) / took);
    out["upgrade_cpu_s"] = rounded(seconds_of(run_.cpu() - cpu));
    upgraded_ = said.at("asked").as_object();
    out["upgrade_requests_each"] =
        rounded(number_in(said, "requests") / static_cast<double>(plan_.clusters), 3);
    out["upgrade_home_writes"] = number_in(said, "home_writes");
    const std::string metrics = co_await scrape();
    const std::size_t inputs = std::min(groups, plan_.clusters);
    out["upgrade_renders_each_input"] =
        rounded((renders_in(metrics) - rendered) / static_cast<double>(inputs), 3);
  }

  /// One key of a ConfigMap, which the labels of a tenth of the clusters choose.
  reactor::awaitable<void> edit(json::object& out) {
    (void)co_await ask_servers(chart_control::mark);
    const std::string group = group_of(edited_group);
    json::object data{{group + ".yaml", "level: edited\n"}}, patch;
    patch["data"] = std::move(data);
    k8s::object_key key{"fleet", "values-of-" + chart_name(0)};
    const std::size_t concerned = (plan_.clusters + groups - 1 - edited_group) / groups;
    const reactor::steady_time began = loop_.now();
    auto edited =
        co_await home_.merge_patch(k8s::resources::config_maps(), std::move(key), std::move(patch));
    const bool done = edited && co_await until_upgraded(concerned);
    const double took = seconds_of(loop_.now() - began);
    co_await loop_.sleep_for(after_start);
    const json::object said = co_await ask_servers(chart_control::told);
    if (!done) note("edit_s", run_.last_lines());
    out["edit_clusters"] = number_in(said, "records");
    if (done) out["edit_s"] = rounded(took);
    double elsewhere = number_in(said, "writes");
    if (const json::value* by_group = said.if_contains("writes_by_group"))
      elsewhere -= number_in(by_group->as_object(), group);
    out["edit_writes_elsewhere"] = elsewhere;
    (void)co_await scrape();
  }

  /// What `windlass plan` says of another version, from its start to its end; no service runs.
  reactor::awaitable<void> plan(json::object& out) {
    co_await ask_for(first_version);
    (void)co_await ask_servers(chart_control::mark);
    const std::string file = folder_ + "/plan.json";
    const reactor::steady_time began = loop_.now();
    std::vector<std::string> words{"plan", "-o", "json"};
    const int code = co_await run_.run_command(std::move(words), file);
    const double took = seconds_of(loop_.now() - began);
    const json::object said = co_await ask_servers(chart_control::told);
    std::ifstream in(file);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    const std::string begins = "\"write revision ";
    std::size_t planned = 0;
    for (auto at = text.find(begins); at != text.npos; at = text.find(begins, at + 1)) ++planned;
    out["plan_upgrades"] = planned;
    if (planned == plan_.clusters) out["plan_s"] = rounded(took);
    if (planned != plan_.clusters)
      note("plan_s", "windlass plan ended with " + std::to_string(code) + " and tells of " +
                         std::to_string(planned) + " upgrades: " + text.substr(0, 2'000));
    out["plan_writes"] = number_in(said, "writes") + number_in(said, "home_writes");
  }

  /// The same upgrade by Helm's own packages, of releases on one server.
  reactor::awaitable<void> ask_peer(json::object& out) {
    const peer_program peer = go_peer("helm_peer");
    if (peer.path.empty()) {
      note("peer_upgrade_s", peer.skipped);
      co_return;
    }
    const json::object servers = co_await ask_servers(chart_control::told);
    const auto text = [&](const char* key) { return std::string(servers.at(key).as_string()); };
    const std::size_t count = std::min(peer_upgrades, plan_.clusters);
    json::object said;
    double before = 0;
    const std::vector<std::pair<std::string, std::string>> verbs{{"install", first_version},
                                                                 {"upgrade", second_version}};
    for (const auto& [verb, version] : verbs) {
      const json::object now = co_await ask_servers(chart_control::told);
      before = number_in(now, "peer_requests");
      const std::string archive = text("shelf") + "/" + chart_name(0) + "-" + version + ".tgz";
      const std::vector<std::string> command{peer.path,
                                             verb,
                                             text("peer_server"),
                                             archive,
                                             std::to_string(count),
                                             std::to_string(peer_workers)};
      auto asked = child::start_program(command);
      boost::system::error_code bad;
      const json::value v = asked ? json::parse(asked->read_line(), bad) : json::value();
      said = !bad && v.is_object() ? v.get_object() : json::object();
      if (said.contains("seconds")) continue;
      note("peer_upgrade_s", json::serialize(said));
      co_return;
    }
    const json::object after = co_await ask_servers(chart_control::told);
    out["peer_upgrades"] = count;
    out["peer_upgrades_per_s"] = rounded(static_cast<double>(count) / number_in(said, "seconds"));
    out["peer_upgrade_s"] = rounded(number_in(said, "seconds"));
    out["peer_upgrade_requests_each"] =
        rounded((number_in(after, "peer_requests") - before) / static_cast<double>(count), 3);
  }

public:
  /// What one cluster's confirmation and one upgrade take of each kind of request.
  json::array points() const {
    std::map<std::string, std::pair<double, double>> by_kind;
    for (const auto& [kind, n] : confirmed_) by_kind[kind].first = n.to_number<double>();
    for (const auto& [kind, n] : upgraded_) by_kind[kind].second = n.to_number<double>();
    json::array out;
    for (const auto& [kind, n] : by_kind) {
      json::object point;
      point["request"] = kind;
      point["per_confirmed_cluster"] = rounded(n.first / static_cast<double>(plan_.clusters));
      point["per_upgrade"] = rounded(n.second / static_cast<double>(plan_.clusters));
      out.emplace_back(std::move(point));
    }
    return out;
  }

private:
  reactor::loop& loop_;
  const charts_plan plan_;
  const std::string folder_;
  k8s::client home_;
  shipped_run run_;
  json::object notes_, confirmed_, upgraded_;
  double worst_stall_s_ = 0, ready_ = 0;
};

}  // namespace

json::object measure_charts(const charts_plan& p) {
  const chart_load load{p.clusters, p.charts, std::min(installed_clusters, p.clusters)};
  auto servers = child::start({"charts", "--sender", load.text()});
  if (!servers) throw std::runtime_error(servers.error().message());
  const std::string kubeconfig = servers->read_line();
  if (kubeconfig.empty()) throw std::runtime_error("the API servers did not come up");
  pin_to_core(0);  // and with this process the program that it starts
  json::object out = environment();
  out["clusters"] = p.clusters;
  out["charts"] = p.charts;
  out["releases"] = p.clusters * p.charts;
  for (const char* key :
       {"confirm_s", "confirm_writes", "confirm_renders", "rss_mb", "plan_s", "upgrade_s",
        "upgrade_requests_each", "idle_cpu_percent", "edit_writes_elsewhere", "worst_stall_us"})
    out[key] = nullptr;
  const reactor::private_folder folder("charts");
  reactor::loop l;
  charts_course course(l, p, kubeconfig, folder.path());
  std::string problem;
  run_on(l, [&]() -> reactor::awaitable<void> { problem = co_await course.go(out); });
  ::unlink(kubeconfig.c_str());
  if (!problem.empty()) throw std::runtime_error(problem);
  out["points"] = course.points();
  return out;
}

}  // namespace bench
