#include "cli/bench_arguments.hpp"

namespace cli {
namespace {

using options = bench_arguments;

/// What another process of the same bench is told; not for people.
void add_sender(flags& f, options& to) {
  f.value("--sender", to.sender, "").group("");
}
void declare_watch(flags& f, options& to) {
  f.value("--events", to.events, "events per point (default: about a second's worth)");
  add_sender(f, to);
}
void declare_streams(flags& f, options& to) {
  f.value("--clusters", to.clusters, "only this fleet (default: 100, 1000 and 2000)");
  add_sender(f, to);
}
void declare_idle(flags& f, options& to) {
  f.value("--clusters", to.clusters, "how many (default: 2000)");
  f.value("--seconds", to.seconds, "how long to look").from_to(10u, 86'400u).shows_default();
  add_sender(f, to);
}
void declare_registry(flags& f, options& to) {
  f.value("--tags", to.tags, "how many").from_to(1u, 100'000u).shows_default();
  f.value("--seconds", to.registry_seconds, "how long to look")
      .from_to(10u, 86'400u)
      .shows_default();
  add_sender(f, to);
}
void declare_rollout(flags& f, options& to) {
  f.value("--clusters", to.clusters,
          "how many (default: one run of 100 with 100 nodes, one of 1 with 10,000)");
  f.value("--nodes", to.nodes, "of each cluster");
  add_sender(f, to);
}
void declare_releases(flags& f, options& to) {
  f.value("--dir", to.dir, "folder of the Releases").takes("DIR").shows_default();
}
void declare_helm(flags& f, options& to) {
  f.value("CHART", to.charts,
          "folders or .tgz files (default: the usual ones of $WINDLASS_CHARTS)");
}
void declare_nothing(flags&, options&) {}

void add_output(flags& f, options& to) {
  f.output(to.output);
}

}  // namespace

std::vector<app::command> bench_commands() {
  return family<options>(
      {"bench", "Measure this build on this machine"},
      {{"watch", "One stream of pod events against a sender process, TLS and plain", "watch",
        declare_watch},
       {"store", "Bytes per stored pod view, and the peak during a relist", "store",
        declare_nothing},
       {"streams", "Memory per idle stream and per cluster", "streams", declare_streams},
       {"idle", "Processor time and requests of a fleet in which nothing happens", "idle",
        declare_idle},
       {"registry", "What it costs to ask a registry what thousands of tags name", "registry",
        declare_registry},
       {"rollout", "What a rollout costs its mover, and what a fleet costs that has arrived",
        "rollout", declare_rollout},
       {"policy", "Time of one rollout.plan call for 10, 500 and 5,000 units", "policy",
        declare_nothing},
       {"releases", "Time of mapping, judging and planning Releases, and the longest stall",
        "releases", declare_releases},
       {"tenants", "What a chart on many clusters costs to install, to confirm and to keep",
        "tenants", add_sender},
       {"trustee", "What 500 Trustee instances cost to make, to keep and to move", "trustee",
        add_sender},
       {"hostile", "What the worst server, caller, pack or kubeconfig can do to 499 good clusters",
        "hostile", add_sender},
       {"helm", "Time and memory of rendering charts, beside Helm's own engine", "helm",
        declare_helm}},
      add_output, [](const options& a, const invocation&) { return bench_command(a); });
}

}  // namespace cli
