// windlass-bench: each bench by its name, with its flags, its run and what its other process does.
#include "app/command.hpp"
#include "app/process.hpp"
#include "bench/fleet/many_servers.hpp"
#include "bench/fleet/whole_fleet.hpp"
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
#include "helm/tenants/chart_children.hpp"

#include <boost/json.hpp>
#include <unistd.h>

#include <cstdlib>
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
  unsigned seconds = 600, tags = 10'000, registry_seconds = 60, rest_seconds = 20, objects = 20;
  std::size_t soft_limit = 0;
  std::vector<std::string> charts;
};

struct one_bench {
  const char *name, *about;
  boost::json::object (*measure)(const options&);
  void (*declare)(flags&, options&) = [](flags&, options&) {};
  int (*side)(const std::string&) = nullptr;  // the other process of the bench
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
     bench::run_watch_sender},
    {"store", "Bytes per stored pod view, and the peak during a relist",
     [](const options&) { return bench::measure_store(); }},
    {"streams", "Memory per idle stream and per cluster",
     [](const options& o) { return bench::measure_streams(o.clusters); },
     [](flags& f, options& o) {
       f.value("--clusters", o.clusters, "only this fleet (default: 100, 1000 and 2000)");
     },
     quiet_side},
    {"idle", "Processor time and requests of a fleet in which nothing happens",
     [](const options& o) {
       return bench::measure_idle(o.clusters ? o.clusters : 2'000, std::chrono::seconds(o.seconds));
     },
     [](flags& f, options& o) {
       f.value("--clusters", o.clusters, "how many (default: 2000)");
       take_seconds(f, o.seconds);
     },
     quiet_side},
    {"registry", "What it costs to ask a registry what thousands of tags name",
     [](const options& o) {
       return bench::measure_registry(o.tags, std::chrono::seconds(o.registry_seconds));
     },
     [](flags& f, options& o) {
       f.value("--tags", o.tags, "how many").from_to(1u, 100'000u).shows_default();
       take_seconds(f, o.registry_seconds);
     },
     [](const std::string&) { return bench::run_registry_sender(); }},
    {"rollout", "What a rollout costs its mover, and what a fleet costs that has arrived",
     [](const options& o) { return bench::measure_rollout(o.clusters, o.nodes); },
     [](flags& f, options& o) {
       f.value("--clusters", o.clusters,
               "how many (default: one run of 100 with 100 nodes, one of 1 with 10,000)");
       f.value("--nodes", o.nodes, "of each cluster");
     },
     bench::run_rollout_sender},
    {"policy", "Time of one rollout.plan call for 10, 500 and 5,000 units",
     [](const options&) { return bench::measure_policy(); }},
    {"releases", "Time of mapping, judging and planning Releases, and the longest stall",
     [](const options& o) { return bench::measure_releases(o.dir); },
     [](flags& f, options& o) {
       f.value("--dir", o.dir, "folder of the Releases").takes("DIR").shows_default();
     }},
    {"tenants", "What a chart on many clusters costs to install, to confirm and to keep",
     [](const options&) { return bench::measure_tenants(); }, [](flags&, options&) {},
     bench::run_tenants_sender},
    {"trustee", "What 500 Trustee instances cost to make, to keep and to move",
     [](const options&) { return bench::measure_trustee(); }, [](flags&, options&) {},
     bench::run_trustee_sender},
    {"hostile", "What the worst server, caller, pack or kubeconfig can do to 499 good clusters",
     [](const options&) { return bench::measure_hostile(); }, [](flags&, options&) {},
     bench::run_hostile_side},
    {"fleet",
     "The shipped `windlass run` on a served fleet: start, rest, storms, a rollout, its end",
     [](const options& o) {
       return bench::measure_fleet({.clusters = o.clusters ? o.clusters : 100,
                                    .objects = o.objects,
                                    .soft_limit = o.soft_limit,
                                    .window = std::chrono::seconds(o.rest_seconds)});
     },
     [](flags& f, options& o) {
       f.value("--clusters", o.clusters, "how many (default: 100; 10000 is the whole of it)");
       f.value("--objects", o.objects, "Nodes of each cluster, and as many BootcNodes")
           .from_to(3u, 10'000u)
           .shows_default();
       f.value("--soft-limit", o.soft_limit,
               "open files that the program is started with (default: as this one)");
       take_seconds(f, o.rest_seconds);
     },
     bench::run_many_servers},
    {"helm", "Time and memory of rendering charts, beside Helm's own engine",
     [](const options& o) { return bench::measure_helm(o.charts); },
     [](flags& f, options& o) {
       f.value("CHART", o.charts,
               "folders or .tgz files (default: the usual ones of $WINDLASS_CHARTS)");
     }},
};

/// The points as a table, the head figures above it.
page report(const boost::json::object& result) {
  page text;
  for (const auto& [key, value] : result)
    if (!value.is_array()) {
      std::string shown =
          value.is_string() ? std::string(value.get_string()) : app::pretty_json(value);
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
  return text + t.text();
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
  return app::run(all, {command_line.begin() + 1, command_line.end()}, app::process_environment());
}

}  // namespace

int main(int argc, char** argv) {
  return app::main_of(name, argc, argv, [&](const std::vector<std::string>& command_line) {
    helm::tenants::chart_child_main(argc, argv);
    return choose(command_line);
  });
}
