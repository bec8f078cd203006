#include "app/output.hpp"
#include "app/process.hpp"
#include "helm/commands/flags/command_flags.hpp"
#include "helm/commands/log_lines.hpp"
#include "helm/commands/program/helm_cluster.hpp"
#include "helm/commands/program/helm_command.hpp"
#include "helm/commands/program/helm_sources.hpp"
#include "helm/commands/release/release_commands.hpp"
#include "helm/commands/source_commands.hpp"
#include "k8s/client/client.hpp"
#include "k8s/client/kubeconfig.hpp"
#include "reactor/loop.hpp"
#include "reactor/system/signals.hpp"
#include "reactor/task_group.hpp"

#include <unistd.h>

#include <cctype>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <optional>
#include <set>

namespace cli {

using namespace app;

namespace {

namespace release = helm::release;

/// Whose pending records a later run of the same person on the same machine may take for its own: a
/// label value.
std::string instance_name() {
  std::string name = "cli-" + std::to_string(geteuid()) + "-" + host_identity();
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '.') c = '-';
  name.resize(std::min<std::size_t>(name.size(), 63));
  while (!std::isalnum(static_cast<unsigned char>(name.back()))) name.pop_back();
  return name;
}

/// HELM_DRIVER, or the reason why there is no such store.
formats::outcome<release::cluster_records::driver> chosen_driver() {
  const std::string name = helm_variable("HELM_DRIVER");
  if (name.empty() || name == "secret" || name == "secrets")
    return release::cluster_records::driver::secrets;
  if (name == "configmap" || name == "configmaps")
    return release::cluster_records::driver::config_maps;
  if (name == "memory" || name == "sql")
    return formats::problem{
        "HELM_DRIVER=" + name + " is not supported by windlass: records are Secrets or ConfigMaps",
        formats::problem_code::unsupported};
  return formats::problem{"unknown driver " + ("\"" + name + "\"")};
}

using loaded_chart = formats::outcome<std::shared_ptr<helm::prepared_chart>>;

/// Finds and loads charts on the command's own loop, so that a signal ends a download. What it
/// holds outlives a search that was cancelled, because giving connections back takes time.
class chart_search {
public:
  chart_search(reactor::loop& l, release::teller debug) : loop_(l), debug_(std::move(debug)) {}

  reactor::awaitable<loaded_chart> find(std::string reference, helm::chart_flags from) {
    source_ = chart_source_for(loop_, from);
    auto located = co_await source_->locate(reference, helm::sources::origin_of(from));
    if (!located) co_return located.error();
    for (const std::string& line : located->notes) write_bytes(STDERR_FILENO, line + "\n");
    if (debug_) debug_("CHART PATH: " + helm::absolute_path(located->path) + "\n");
    // An archive may be large: off the loop, which must hear the signals.
    const auto load = [](const std::string& path) -> loaded_chart {
      std::vector<std::string> warnings;
      auto loaded = helm::load_chart(path, warnings);
      if (!loaded) return loaded.error();
      return std::make_shared<helm::prepared_chart>(*loaded, std::move(warnings));
    };
    co_return co_await loop_.offload(load, located->path);
  }
  reactor::awaitable<formats::outcome<std::string>> fetch(std::string address) {
    if (!source_) source_ = chart_source_for(loop_, {});
    co_return co_await read_address(*source_, std::move(address));
  }
  reactor::awaitable<void> stop() {
    if (source_) co_await source_->stop();
  }

private:
  reactor::loop& loop_;
  release::teller debug_;
  std::unique_ptr<helm::sources::chart_source> source_;
};

int report(const formats::problem& p) {
  write_bytes(STDERR_FILENO, "Error: " + p.text + "\n");
  return helm::is_unsupported(p) ? wrong_usage : failure;
}

struct running {
  reactor::loop& loop;
  k8s::client& api;
  release::command_runner& runner;
  chart_search& charts;
  release::command_line line;
  reactor::task_group& action;
  std::optional<int> exit_code;
};

reactor::awaitable<void> act(running& r) {
  release::command_line line = r.line;
  r.exit_code = co_await r.runner.run(std::move(line));
}

reactor::awaitable<void> supervise(running& r) {
  r.action.start("helm", act(r));
  co_await r.action.join();
  if (!r.exit_code) {
    release::command_line line = r.line;
    r.exit_code = co_await r.runner.cancelled(std::move(line));
  }
  co_await r.charts.stop();
  co_await r.api.stop();
  r.loop.stop();
}

}  // namespace

int helm_release_command(reactor::loop& loop, const std::vector<std::string>& arguments) {
  auto line = release::parse_command_line(arguments, helm_variable);
  if (!line) return report(line.error());
  auto driver = chosen_driver();
  if (!driver) return report(driver.error());
  auto to = connection_of(line->cluster);
  if (!to)
    return report(formats::problem{"Kubernetes cluster unreachable: " + to.error().message()});
  const auto* listed = std::get_if<release::list_command>(&line->what);
  std::string ns = !line->cluster.ns.empty() ? line->cluster.ns : to->ns;
  if (ns.empty()) ns = "default";

  k8s::client api(loop, *to, "helm");
  api.on_warning([&loop, said = std::set<std::string>()](const std::string& text) mutable {
    if (said.insert(text).second)
      write_bytes(STDERR_FILENO, helm::warning_line(loop.wall(), ::getpid(), text) + "\n");
  });
  helm::objects::cluster_objects objects(loop, api);
  release::cluster_records records(loop, api, listed && listed->all_namespaces ? "" : ns, *driver);
  const auto debug = [&loop, began = loop.now(),
                      on = line->cluster.debug](const std::string& text) {
    if (!on) return;
    write_bytes(STDERR_FILENO, helm::debug_line(text, loop.wall(), loop.now() - began));
  };
  records.on_line = debug;
  objects.on_line(debug);
  release::release_actions::settings settings;
  settings.ns = ns;
  settings.instance = instance_name();
  settings.line = debug;
  settings.hook_log = [](const std::string& text) { write_bytes(STDERR_FILENO, text); };
  settings.warning = [](const std::string& text) {
    write_bytes(STDERR_FILENO, helm::log_line(text));
  };
  release::release_actions actions(loop, api, objects, records, std::move(settings));
  release::console console{[](std::string_view text) { write_bytes(STDOUT_FILENO, text); },
                           [](std::string_view text) { write_bytes(STDERR_FILENO, text); }, debug};
  const auto* upgrade = std::get_if<release::upgrade_command>(&line->what);
  chart_search charts(loop, upgrade && !upgrade->install ? release::teller() : debug);
  release::command_runner runner(
      loop, actions, console,
      [&charts](std::string reference, helm::chart_flags from) {
        return charts.find(std::move(reference), std::move(from));
      },
      [&charts](std::string address) { return charts.fetch(std::move(address)); });
  reactor::task_group action(loop), tasks(loop);
  running r{loop, api, runner, charts, std::move(*line), action, std::nullopt};
  reactor::signals signals(loop, {.stop = [&action] { action.cancel(); }, .reload = {}});
  tasks.start("supervise", supervise(r));
  loop.run();
  if (signals.stopped_by() == SIGHUP) return 128 + SIGHUP;  // as Helm's, which does not hear it
  return r.exit_code.value_or(failure);
}

}  // namespace cli
