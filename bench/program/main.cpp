// windlass-bench: each bench by its name, with its flags, its run and what its other process does.
#include "app/command.hpp"
#include "app/process.hpp"
#include "bench/charts/chart_servers.hpp"
#include "bench/charts/kept_charts.hpp"
#include "bench/fleet/many_servers.hpp"
#include "bench/fleet/whole_fleet.hpp"
#include "bench/helm.hpp"
#include "bench/hostile.hpp"
#include "bench/idle.hpp"
#include "bench/policy.hpp"
#include "bench/program/all.hpp"
#include "bench/quiet_server.hpp"
#include "bench/registry.hpp"
#include "bench/releases.hpp"
#include "bench/rollout.hpp"
#include "bench/store.hpp"
#include "bench/streams.hpp"
#include "bench/tenants.hpp"
#include "bench/trustee.hpp"
#include "bench/watch.hpp"
#include "bench/watched/peers.hpp"
#include "helm/tenants/chart_children.hpp"

#include <boost/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <sstream>
#include <stdexcept>

namespace {

using app::flags;
using app::output_format;
using app::page;

constexpr std::string_view name = "windlass-bench";

struct options {
  std::string dir = "tests/data/releases", sender;
  app::output_choice output;
  std::size_t clusters = 0, nodes = 0, events = 0;  // 0: the bench's own choice
  unsigned seconds = 600, tags = 10'000, registry_seconds = 60, rest_seconds = 20,
           settled_seconds = 60, objects = 100'000, fleet_objects = 20;
  std::size_t kept_charts = 50;
  std::size_t soft_limit = 0;
  std::vector<std::string> charts;
  bench::peers_effort peers;
};

struct one_bench {
  const char *name, *about;
  boost::json::object (*measure)(const options&);
  void (*declare)(flags&, options&) = [](flags&, options&) {};
  int (*side)(const std::string&) = nullptr;  // the other process of the bench
  const char* quick = nullptr;                // its arguments in `all --quick`; null: not there
  bool repeats_itself = false;                // it takes --runs
  std::string (*missing)() = nullptr;         // what it needs and is not here
};

void take_seconds(flags& f, unsigned& to) {
  f.value("--seconds", to, "how long to look").from_to(10u, 86'400u).shows_default();
}

int quiet_side(const std::string& objects) {
  return bench::run_quiet_sender(std::strtoul(objects.c_str(), nullptr, 10));
}

const one_bench benches[] = {
    {"watch", "One stream of pod events against a sender process, TLS and plain",
     [](const options& o) { return bench::measure_watch(o.events); },
     [](flags& f, options& o) {
       f.value("--events", o.events, "events per point (default: about a second's worth)");
     },
     bench::run_watch_sender, "--events 5000"},
    {"store", "Bytes per stored pod view, and the peak during a relist",
     [](const options& o) { return bench::measure_store(o.objects); },
     [](flags& f, options& o) {
       f.value("--objects", o.objects, "of the larger store; a tenth of them in the smaller")
           .from_to(100u, 10'000'000u)
           .shows_default();
     },
     nullptr, "--objects 20000"},
    {"streams", "Memory per idle stream and per cluster",
     [](const options& o) { return bench::measure_streams(o.clusters); },
     [](flags& f, options& o) {
       f.value("--clusters", o.clusters, "only this fleet (default: 100, 1000 and 2000)");
     },
     quiet_side, "--clusters 100"},
    {"idle", "Processor time and requests of a fleet in which nothing happens",
     [](const options& o) {
       return bench::measure_idle(o.clusters ? o.clusters : 2'000, std::chrono::seconds(o.seconds));
     },
     [](flags& f, options& o) {
       f.value("--clusters", o.clusters, "how many (default: 2000)");
       take_seconds(f, o.seconds);
     },
     quiet_side, "--clusters 100 --seconds 10"},
    {"registry", "What it costs to ask a registry what thousands of tags name",
     [](const options& o) {
       return bench::measure_registry(o.tags, std::chrono::seconds(o.registry_seconds));
     },
     [](flags& f, options& o) {
       f.value("--tags", o.tags, "how many").from_to(1u, 100'000u).shows_default();
       take_seconds(f, o.registry_seconds);
     },
     [](const std::string&) { return bench::run_registry_sender(); }, "--tags 1000 --seconds 10"},
    {"rollout", "What a rollout costs its mover, and what a fleet costs that has arrived",
     [](const options& o) { return bench::measure_rollout(o.clusters, o.nodes); },
     [](flags& f, options& o) {
       f.value("--clusters", o.clusters,
               "how many (default: one run of 100 with 100 nodes, one of 1 with 10,000)");
       f.value("--nodes", o.nodes, "of each cluster");
     },
     bench::run_rollout_sender, "--clusters 5 --nodes 10"},
    {"policy", "Time of one rollout.plan call for 10, 500 and 5,000 units",
     [](const options&) { return bench::measure_policy(); }, [](flags&, options&) {}, nullptr, ""},
    {"releases", "Time of mapping, judging and planning Releases, and the longest stall",
     [](const options& o) { return bench::measure_releases(o.dir); },
     [](flags& f, options& o) {
       f.value("--dir", o.dir, "folder of the Releases").takes("DIR").shows_default();
     },
     nullptr, ""},
    {"tenants", "What a chart on many clusters costs to install, to confirm and to keep",
     [](const options&) { return bench::measure_tenants(); }, [](flags&, options&) {},
     bench::run_tenants_sender},
    {"trustee", "What 500 Trustee instances cost to make, to keep and to move",
     [](const options&) { return bench::measure_trustee(); }, [](flags&, options&) {},
     bench::run_trustee_sender},
    {"peers", "This program beside client-go, controller-runtime and kube-rs on the same server",
     [](const options& o) { return bench::measure_peers(o.peers); },
     [](flags& f, options& o) {
       f.value("--runs", o.peers.runs, "of each measurement").from_to(1u, 100u).shows_default();
       f.value("--events", o.peers.events, "of a point").shows_default();
       f.value("--objects", o.peers.objects, "of one collection in memory").shows_default();
       f.value("--clusters", o.peers.clusters, "of a fleet").shows_default();
       f.value("--streams", o.peers.streams, "of which each has few events").shows_default();
       f.value("--seconds", o.peers.seconds, "at rest, and of each latency")
           .from_to(1u, 3'600u)
           .shows_default();
     },
     bench::run_peers_side, "--events 5000 --objects 1000 --clusters 30 --streams 30 --seconds 1",
     true},
    {"hostile", "What the worst server, caller, pack or kubeconfig can do to 499 good clusters",
     [](const options&) { return bench::measure_hostile(); }, [](flags&, options&) {},
     bench::run_hostile_side},
    {"fleet",
     "The shipped `windlass run` on a served fleet: start, rest, storms, a rollout, its end",
     [](const options& o) {
       return bench::measure_fleet({.clusters = o.clusters ? o.clusters : 100,
                                    .objects = o.fleet_objects,
                                    .soft_limit = o.soft_limit,
                                    .window = std::chrono::seconds(o.rest_seconds)});
     },
     [](flags& f, options& o) {
       f.value("--clusters", o.clusters, "how many (default: 100; 10000 is the whole of it)");
       f.value("--objects", o.fleet_objects, "Nodes of each cluster, and as many BootcNodes")
           .from_to(3u, 10'000u)
           .shows_default();
       f.value("--soft-limit", o.soft_limit,
               "open files that the program is started with (default: as this one)");
       take_seconds(f, o.rest_seconds);
     },
     bench::run_many_servers, "--clusters 20 --seconds 10"},
    {"charts",
     "The shipped `windlass run` with FleetCharts: a restart, a plan, an upgrade, an edit, rest",
     [](const options& o) {
       return bench::measure_charts({.clusters = o.clusters ? o.clusters : 1'000,
                                     .charts = o.kept_charts,
                                     .window = std::chrono::seconds(o.settled_seconds)});
     },
     [](flags& f, options& o) {
       f.value("--clusters", o.clusters, "how many (default: 1000)");
       f.value("--charts", o.kept_charts, "FleetCharts, each for every cluster")
           .from_to(1u, 1'000u)
           .shows_default();
       take_seconds(f, o.settled_seconds);
     },
     bench::run_chart_servers, "--clusters 40 --charts 5 --seconds 10"},
    {"helm", "Time and memory of rendering charts, beside Helm's own engine",
     [](const options& o) { return bench::measure_helm(o.charts); },
     [](flags& f, options& o) {
       f.value("CHART", o.charts,
               "folders or .tgz files (default: the usual ones of $WINDLASS_CHARTS)");
     },
     nullptr, "", false, bench::missing_for_helm},
};

/// The head figures, then each list of points as a table.
page report(const boost::json::object& result) {
  page text;
  for (const auto& [key, value] : result)
    if (!value.is_array()) {
      std::string shown =
          value.is_string() ? std::string(value.get_string()) : app::pretty_json(value);
      while (shown.ends_with('\n')) shown.pop_back();
      text += page(std::string(key)) + ": " + shown + "\n";
    }
  for (const auto& [key, value] : result) {
    if (!value.is_array() || value.get_array().empty() || !value.get_array().front().is_object())
      continue;
    const boost::json::array& points = value.get_array();
    std::vector<page> head;
    for (const auto& member : points.front().as_object())
      head.emplace_back(std::string(member.key()));
    app::table t(head);
    for (const boost::json::value& point : points) {
      std::vector<page> cells;
      for (const auto& member : point.as_object()) {
        std::string shown = app::pretty_json(member.value());
        shown.pop_back();
        cells.push_back(std::move(shown));
      }
      t.row(std::move(cells));
    }
    text += t.text();
  }
  return text;
}

int run(const one_bench& b, const options& o) {
  if (!o.sender.empty() && b.side) return b.side(o.sender);
  try {
    const boost::json::object result = b.measure(o);
    const bool written = o.output == output_format::text
                             ? app::write_out(STDOUT_FILENO, report(result))
                             : (app::write_document(result, o.output) == app::success);
    return written ? app::success : app::failure;
  } catch (const std::runtime_error& e) {
    return app::complain_as(name, std::string(b.name) + ": " + e.what());
  }
}

struct all_options {
  app::output_choice output;
  bool quick = false;
  unsigned runs = 0;
  std::vector<std::string> only;
};

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

int run_every_bench(const all_options& o) {
  bench::all_order order;
  order.quick = o.quick;
  order.runs = o.runs ? o.runs : o.quick ? 1 : 3;
  for (const one_bench& b : benches) {
    if (!o.only.empty() && std::ranges::find(o.only, b.name) == o.only.end()) continue;
    bench::listed_bench l;
    l.name = b.name;
    if (o.quick && b.quick) l.arguments = words_of(b.quick);
    l.repeats_itself = b.repeats_itself;
    if (b.missing) l.missing = b.missing();
    if (o.quick && !b.quick) l.missing = "only in the full form, where it takes minutes";
    order.benches.push_back(std::move(l));
  }
  const boost::json::object result = bench::run_all(order);
  const bool failed = bench::has_failed(result);
  if (o.output != output_format::text) {
    const int written = app::write_document(result, o.output);
    return failed ? app::failure : written;
  }
  app::table t({"Bench", "Seconds", "Outcome"});
  for (const auto& [name, told] : result.at("benches").as_object()) {
    const boost::json::object& b = told.as_object();
    page outcome("measured");
    for (const char* key : {"skipped", "failed"})
      if (const boost::json::value* why = b.if_contains(key))
        outcome = page(std::string(key)) + ": " + std::string(why->as_string());
    const boost::json::value* seconds = b.if_contains("seconds");
    t.row({page(std::string(name)), page(seconds ? boost::json::serialize(*seconds) : "-"),
           std::move(outcome)});
  }
  if (!app::write_out(STDOUT_FILENO, t.text())) return app::failure;
  return failed ? app::failure : app::success;
}

int choose(const std::vector<std::string>& command_line) {
  app::program all{std::string(name), "Measure this build on this machine", {}, {}};
  for (const one_bench& b : benches)
    all.commands.push_back(app::command_of<options>(
        b.name, b.about,
        [&b](flags& f, options& o) {
          f.output(o.output);
          b.declare(f, o);
          // What another process of the same bench is told; not for people.
          if (b.side) f.value("--sender", o.sender, "").group("");
        },
        [&b](const options& o, const app::invocation&) { return run(b, o); }));
  all.commands.push_back(app::command_of<all_options>(
      "all", "Every bench and the peers of this run, in one document",
      [](flags& f, all_options& o) {
        f.output(o.output);
        f.on("--quick", o.quick, "less of everything, in five minutes");
        f.value("--runs", o.runs, "of each bench (default: 3, or 1 with --quick)");
        f.value("BENCH", o.only, "only these");
      },
      [](const all_options& o, const app::invocation&) { return run_every_bench(o); }));
  return app::run(all, {command_line.begin() + 1, command_line.end()}, app::process_environment());
}

}  // namespace

int main(int argc, char** argv) {
  return app::main_of(name, argc, argv, [&](const std::vector<std::string>& command_line) {
    helm::tenants::chart_child_main(argc, argv);
    return choose(command_line);
  });
}
