#include "app/process.hpp"
#include "app/run_to_end.hpp"
#include "bootc/registry_settings.hpp"
#include "fleetwide/charts/api.hpp"
#include "policies/host/embedded.hpp"
#include "reactor/loop.hpp"
#include "reactor/system/files.hpp"
#include "reactor/system/private_folder.hpp"
#include "reactor/system/signals.hpp"
#include "service/ui/fleet_page.hpp"
#include "simulation/commands/commands.hpp"
#include "simulation/commands/demo/chart_story.hpp"
#include "simulation/commands/demo/show.hpp"
#include "simulation/commands/demo/view.hpp"
#include "simulation/node_world.hpp"
#include "simulation/tag_registry.hpp"

#include <boost/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <optional>

namespace cli {

using namespace app;

namespace {

namespace fs = std::filesystem;

/// Where text that goes to a pipe or a file is folded.
constexpr std::size_t piped_columns = 80;

struct demo_arguments {
  std::size_t clusters = 20;
  std::optional<std::size_t> nodes;
  double speed = 1;
  bool keep = false, simulate = false;
  bool tags = false;    // the pools name a tag, which moves
  bool charts = false;  // a FleetChart instead of pools
  std::string policies, dir, record;
  ui_arguments ui;
  std::string metrics_address = "0";
  std::uint64_t seed = 1;
  output_choice output;
};

/// The folder to edit: the user's, or a copy of the stock rollout pack.
reactor::result<std::string> policies_folder(const demo_arguments& a, const std::string& dir) {
  if (!a.policies.empty()) return a.policies;
  const fs::path folder = fs::path(dir) / "policies";
  constexpr std::string_view stock = "rollout/";
  for (const policies::embedded_file& file : policies::stock_files()) {
    if (!file.path.starts_with("rollout/default/")) continue;
    const fs::path to = folder / std::string(file.path.substr(stock.size()));
    std::error_code ec;
    fs::create_directories(to.parent_path(), ec);
    if (ec)
      return reactor::make_fault(reactor::error_code(ec.value(), boost::system::system_category()),
                                 "create " + to.parent_path().string());
    auto stored = reactor::store_file(to.string(), file.content);
    if (!stored) return stored.error();
  }
  return folder.string();
}

/// `own` is made when no folder is named; it goes with the run unless it is to be kept.
reactor::result<std::string> work_folder(const demo_arguments& a,
                                         std::optional<reactor::private_folder>& own) {
  if (a.dir.empty()) {
    own.emplace("demo");
    if (own->path().empty())
      return reactor::make_fault(reactor::error_code(errno, boost::system::system_category()),
                                 "create a folder under " + fs::temp_directory_path().string());
    if (a.keep) own->keep();
    return own->path();
  }
  std::error_code ec;
  fs::create_directories(a.dir, ec);
  if (ec)
    return reactor::make_fault(reactor::error_code(ec.value(), boost::system::system_category()),
                               "create " + a.dir);
  return a.dir;
}

struct playing {
  reactor::loop& loop;
  simulation::world& world;
  service& windlass;
  std::function<reactor::awaitable<demo::show_result>()> play;
  ui* shown = nullptr;
  simulation::tag_registry* registry = nullptr;
  demo::show_result result = {};
};

reactor::awaitable<void> play_and_stop(playing& p) {
  reactor::result<void> started;
  if (p.shown) started = co_await p.shown->start();
  if (started) {
    p.result = co_await p.play();
  } else {
    p.result.problem = started.error().message();
  }
  if (p.shown) co_await p.shown->stop();
  co_await p.windlass.stop();
  co_await p.world.stop();
  if (p.registry) co_await p.registry->stop();
  p.loop.stop();
}

int failed_to_start(const std::string& sentence) {
  return complain("demo: " + sentence);
}

using player = std::function<reactor::awaitable<demo::show_result>(
    service& windlass, demo::show_options show, reactor::event& stop)>;

/// Pools of nodes, or clusters for a FleetChart. `play` becomes what happens there.
std::unique_ptr<simulation::world> world_of(const demo_arguments& a, reactor::loop& l,
                                            player& play) {
  if (a.charts) {
    auto made = std::make_unique<simulation::chart_fleet>(l, demo::chart_places(a.clusters),
                                                          reactor::logger(), a.speed);
    play = [&l, &charts = *made](service& windlass, demo::show_options show, reactor::event& stop) {
      return demo::play_charts(l, charts, windlass, std::move(show), stop);
    };
    return made;
  }
  simulation::world_options o;
  o.clusters = a.clusters;
  o.nodes = a.nodes.value_or(o.nodes);
  o.speed = a.speed;
  auto made = std::make_unique<simulation::node_world>(l, o);
  play = [&l, &w = *made](service& windlass, demo::show_options show, reactor::event& stop) {
    return demo::play(l, w, windlass, std::move(show), stop);
  };
  return made;
}

/// Where to look and what to edit. Each line fits into 80 columns, so that it can be copied.
std::vector<page> about_of(const demo_arguments& a, const simulation::world& w,
                           const std::string& kubeconfig, const std::string& packs) {
  const std::string& first = w.clusters().front()->name();
  std::vector<page> lines = {page("export KUBECONFIG=") + kubeconfig};
  if (a.charts) {
    const std::string name(demo::shown_chart);
    lines.push_back(page("look at it:    windlass chart status ") + name + ", kubectl get " +
                    w.tells().kinds);
    lines.push_back(page("with Helm:     helm --kube-context ") + first + " -n " +
                    std::string(demo::shown_chart_ns) + " history " + name);
  } else {
    lines.push_back(page("look at it:    windlass status, kubectl --context ") + first + " get " +
                    w.tells().kinds);
  }
  lines.push_back(page("edit a policy: ") + packs);
  return lines;
}

/// The registry of the demo speaks no TLS, and its tags are asked for often.
void ask_often(units::api& api, const std::string& ref) {
  bootc::registry_settings how;
  how.interval.value = std::chrono::seconds(2);
  how.insecure.value = {ref.substr(0, ref.find('/'))};
  bootc::set_up(api, bootc::settings_from(how, {}, process_identity()));
}

/// Which flags do not go together; empty: they do.
std::string contradiction(const demo_arguments& a, bool has_page) {
  if (has_page && a.simulate)
    return "demo: no browser can open a page in virtual time: --ui or --simulate";
  if (a.charts && (a.nodes || a.tags))
    return "--charts: a FleetChart is shown on clusters without nodes: leave out --nodes and "
           "--tags";
  return {};
}

service_options options_for(const demo_arguments& a, const invocation& i,
                            const simulation::world& world,
                            const simulation::tag_registry* registry) {
  service_options options;
  options.apis = i.apis();
  if (a.charts)
    std::erase_if(options.apis, [](const auto& one) { return one.name != fleetwide::charts_api; });
  options.hooks = units::hooks_of(i.apis());
  options.home = world.home();
  options.record = a.record;
  options.hosts = a.ui.hosts;
  if (registry) ask_often(units::named(options.apis, "bootc"), registry->ref());
  return options;
}

/// What came of it, as a document or for a person. `kept`: the folder that stays, or empty.
void report(const demo_arguments& a, const simulation::world& world,
            const demo::show_result& result, const std::string& kept, colours tint) {
  const std::string trace = std::to_string(world.trace_hash());
  if (a.output != output_format::text) {
    boost::json::object o = demo::result_json(world, result);
    if (a.simulate) o["trace"] = trace;
    (void)write_document(o, a.output);
    return;
  }
  page told = demo::result_text(world, result, tint);
  if (!kept.empty()) told += page("kept: ") + kept + "\n";
  const std::size_t columns = is_screen(STDOUT_FILENO) ? output_columns() : piped_columns;
  write_out(STDOUT_FILENO, folded(told, columns));
  if (a.simulate)
    write_out(STDOUT_FILENO, page("trace ") + trace + " of seed " + std::to_string(a.seed) + "\n");
}

int demo_command(const demo_arguments& a, const invocation& i) {
  auto ui_at = site_options_of(a.ui);
  if (!ui_at) return complain(ui_at.error().message(), wrong_usage);
  if (auto wrong = contradiction(a, ui_at->has_value()); !wrong.empty())
    return complain(wrong, wrong_usage);
  const bool machine = a.output != output_format::text;
  const colours tint = machine ? colours::none : colours_at(STDOUT_FILENO);
  std::optional<reactor::private_folder> own;  // goes after everything that writes into it
  reactor::loop loop(a.simulate ? reactor::loop::mode::simulated : reactor::loop::mode::real,
                     a.seed);
  auto dir = work_folder(a, own);
  if (!dir) return failed_to_start(dir.error().message());
  auto metrics_at = parse_bind_address(a.metrics_address, "metrics-bind-address");
  if (!metrics_at) return failed_to_start(metrics_at.error().message());
  auto packs = policies_folder(a, *dir);
  if (!packs) return failed_to_start(packs.error().message());

  player play;
  const std::unique_ptr<simulation::world> made = world_of(a, loop, play);
  simulation::world& world = *made;
  std::optional<simulation::tag_registry> registry;
  if (a.tags) registry.emplace(loop);
  auto started = registry ? registry->start() : reactor::result<void>();
  if (started) started = world.start();
  if (started && registry) world.roll_out(registry->ref());
  const std::string kubeconfig = (fs::path(*dir) / "kubeconfig").string();
  // Some of it may run although it did not start as a whole: it is stopped by the loop, below.
  auto stored = started ? reactor::store_file(kubeconfig, world.kubeconfig(), 0600)
                        : reactor::result<void>(started.error());

  service_options options = options_for(a, i, world, registry ? &*registry : nullptr);
  options.policies.emplace_back(*packs);
  options.metrics_at = *metrics_at;
  service windlass(loop, std::move(options), reactor::logger());
  const auto print = [machine](const page& line) {
    write_out(machine ? STDERR_FILENO : STDOUT_FILENO, line + "\n");
  };
  const std::size_t columns = is_screen(STDOUT_FILENO) ? output_columns() : piped_columns;
  reactor::event stop(loop);
  demo::show_options show;
  show.keep = a.keep;
  if (registry) show.roll_out = [&registry] { registry->move_on(); };
  std::optional<ui> shown;
  if (*ui_at) shown.emplace(loop, windlass, **ui_at, reactor::logger());
  std::vector<page> about = about_of(a, world, kubeconfig, *packs);
  if (registry) about.push_back(page("it follows:    ") + registry->ref());
  if (*ui_at && (*ui_at)->at.port != 0)
    about.push_back(page("in a browser:  ") + url_of((*ui_at)->at));
  std::optional<demo::live_screen> screen;
  if (!a.simulate)
    for (const page& line : about) print(line);
  if (!machine && is_screen(STDOUT_FILENO)) {
    screen.emplace(STDOUT_FILENO);
    show.about = about;
    show.draw = [&screen](demo::view v) { screen->show(std::move(v)); };
  } else {
    show.tell = [&](const page& line) { print(folded(line, columns)); };
  }

  playing p{loop,
            world,
            windlass,
            [&] { return play(windlass, show, stop); },
            shown ? &*shown : nullptr,
            registry ? &*registry : nullptr};
  std::unique_ptr<reactor::signals> signals;
  if (!a.simulate)
    signals = std::make_unique<reactor::signals>(
        loop, reactor::signal_actions{.stop = [&stop] { stop.set(); },
                                      .reload = [&windlass] { windlass.reload(); },
                                      .exit_now =
                                          [&screen](int code) {
                                            if (screen) screen->leave();
                                            std::_Exit(code);
                                          },
                                      .resized =
                                          [&screen] {
                                            if (screen) screen->look_again();
                                          }});
  run_to_end(
      loop, "demo", stored ? play_and_stop(p) : [](playing& q) -> reactor::awaitable<void> {
        co_await q.world.stop();
        if (q.registry) co_await q.registry->stop();
        q.loop.stop();
      }(p));
  screen.reset();
  if (!stored) return failed_to_start(stored.error().message());
  if (!p.result.problem.empty()) return failed_to_start(p.result.problem);
  report(a, world, p.result, a.keep && a.dir.empty() ? *dir : std::string(), tint);
  const bool good = world.violation_count() == 0 && (p.result.finished || stop.is_set());
  return good ? success : failure;
}

void declare_demo(flags& f, demo_arguments& to) {
  f.value("--clusters", to.clusters, "clusters").from_to(1, 2'000).shows_default();
  f.value("--nodes", to.nodes,
          "nodes in each cluster (at least 3, so that drained pods have somewhere to go)")
      .from_to(3, 200)
      .shows_default("12");
  f.value("--speed", to.speed, "pace of the simulated hosts; 2 = twice as fast")
      .from_to(0.1, 100.0)
      .shows_default();
  f.on("--tags", to.tags,
       "pools follow a tag of a small registry, which moves while the demo runs");
  f.on("--charts", to.charts,
       "a FleetChart on clusters without nodes instead: its next version fails its test on the "
       "canaries, is halted and undone");
  f.on("--keep", to.keep, "stay up after the rollout until Ctrl-C");
  f.value("--policies", to.policies, "folder of policy packs; edit them while the demo runs")
      .takes("DIR");
  f.value("--record", to.record,
          "keep every question to policies and its answer there, for `policy replay`")
      .takes("FILE");
  f.value("--dir", to.dir,
          "folder for the kubeconfig and the policy to edit (default: a new one under /tmp)")
      .takes("DIR");
  f.value("--metrics-bind-address", to.metrics_address, "Prometheus metrics of the fleet; 0 = off")
      .shows_default();
  f.on("--simulate", to.simulate,
       "virtual time over in-memory streams: the same trace for the same --seed");
  f.value("--seed", to.seed, "of everything that is drawn at random").shows_default();
  declare_ui(f, to.ui);
  f.output(to.output);
  f.footer(
      "Examples:\n  windlass demo\n  windlass demo --keep --ui :8090                    and "
      "http://127.0.0.1:8090 in a browser\n  windlass demo --keep --policies ./my-policies      "
      "edit a "
      "pack and watch it take effect\n  windlass demo --charts                             a Helm "
      "chart, wave by wave, that fails its test\n  windlass demo --clusters 3 --nodes 6 -o json    "
      "   one "
      "JSON object when it ends");
}

}  // namespace

std::vector<app::command> demo_commands() {
  return {command_of<demo_arguments>(
      "demo", "Watch an embedded fleet move to a new image under a Lua policy", declare_demo,
      demo_command)};
}

}  // namespace cli
