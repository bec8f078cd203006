#include "app/process.hpp"
#include "app/run_to_end.hpp"
#include "bootc/registry_settings.hpp"
#include "policies/host/embedded.hpp"
#include "reactor/loop.hpp"
#include "reactor/system/files.hpp"
#include "reactor/system/private_folder.hpp"
#include "reactor/system/signals.hpp"
#include "service/ui/fleet_page.hpp"
#include "simulation/commands/commands.hpp"
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

struct demo_arguments {
  std::size_t clusters = 20, nodes = 12;
  double speed = 1;
  bool keep = false, simulate = false;
  bool tags = false;  // the pools name a tag, which moves
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

/// `own` is made when nobody names a folder; it goes with the run unless somebody wants to keep it.
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
  demo::show_options options;
  reactor::event& stop;
  ui* shown = nullptr;
  simulation::tag_registry* registry = nullptr;
  demo::show_result result = {};
};

reactor::awaitable<void> play_and_stop(playing& p) {
  reactor::result<void> started;
  if (p.shown) started = co_await p.shown->start();
  if (started) {
    p.result = co_await demo::play(p.loop, p.world, p.windlass, p.options, p.stop);
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

/// The registry of the demo speaks no TLS, and its tags are asked for often.
void ask_often(units::api& api, const std::string& ref) {
  bootc::registry_settings how;
  how.interval.value = std::chrono::seconds(2);
  how.insecure.value = {ref.substr(0, ref.find('/'))};
  bootc::set_up(api, bootc::settings_from(how, {}, process_identity()));
}

int demo_command(const demo_arguments& a, const invocation& i) {
  auto ui_at = site_options_of(a.ui);
  if (!ui_at) return complain(ui_at.error().message(), wrong_usage);
  if (*ui_at && a.simulate)
    return complain("demo: no browser can open a page in virtual time: --ui or --simulate",
                    wrong_usage);
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

  simulation::world_options world_options;
  world_options.clusters = a.clusters;
  world_options.nodes = a.nodes;
  world_options.speed = a.speed;
  simulation::node_world world(loop, world_options);
  std::optional<simulation::tag_registry> registry;
  if (a.tags) registry.emplace(loop);
  auto started = registry ? registry->start() : reactor::result<void>();
  if (started) started = world.start();
  if (started && registry) world.roll_out(registry->ref());
  const std::string kubeconfig = (fs::path(*dir) / "kubeconfig").string();
  // Some of it may run although it did not start as a whole: it is stopped by the loop, below.
  auto stored = started ? reactor::store_file(kubeconfig, world.kubeconfig(), 0600)
                        : reactor::result<void>(started.error());

  service_options options;
  options.apis = i.apis();
  options.hooks = units::hooks_of(i.apis());
  options.home = world.home();
  options.policies.emplace_back(*packs);
  options.record = a.record;
  options.metrics_at = *metrics_at;
  options.hosts = a.ui.hosts;
  if (registry) ask_often(units::named(options.apis, "bootc"), registry->ref());
  service windlass(loop, std::move(options), reactor::logger());
  const auto print = [machine](const page& line) {
    write_out(machine ? STDERR_FILENO : STDOUT_FILENO, line + "\n");
  };
  reactor::event stop(loop);
  demo::show_options show;
  show.keep = a.keep;
  if (registry) show.roll_out = [&registry] { registry->move_on(); };
  // Lines that fit into 80 columns, so that they can be copied.
  std::optional<ui> shown;
  if (*ui_at) shown.emplace(loop, windlass, **ui_at, reactor::logger());
  std::vector<page> about = {page("export KUBECONFIG=") + kubeconfig,
                             page("look at it:    windlass status, kubectl --context ") +
                                 world.clusters().front()->name() + " get " + world.tells().kinds,
                             page("edit a policy: ") + *packs};
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
    show.tell = print;
  }

  playing p{loop,
            world,
            windlass,
            show,
            stop,
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
  if (machine) {
    boost::json::object o = demo::result_json(world, p.result);
    if (a.simulate) o["trace"] = std::to_string(world.trace_hash());
    (void)write_document(o, a.output);
  } else {
    page told = demo::result_text(world, p.result, tint);
    if (a.keep && a.dir.empty()) told += page("kept: ") + *dir + "\n";
    write_out(STDOUT_FILENO, folded(told, output_columns()));
    if (a.simulate)
      write_out(STDOUT_FILENO, page("trace ") + std::to_string(world.trace_hash()) + " of seed " +
                                   std::to_string(a.seed) + "\n");
  }
  const bool good = world.violation_count() == 0 && (p.result.finished || stop.is_set());
  return good ? success : failure;
}

void declare_demo(flags& f, demo_arguments& to) {
  f.value("--clusters", to.clusters, "clusters").from_to(1, 2'000).shows_default();
  f.value("--nodes", to.nodes,
          "nodes in each cluster (at least 3, so that drained pods have somewhere to go)")
      .from_to(3, 200)
      .shows_default();
  f.value("--speed", to.speed, "pace of the simulated hosts; 2 = twice as fast")
      .from_to(0.1, 100.0)
      .shows_default();
  f.on("--tags", to.tags,
       "pools follow a tag of a small registry, which moves while the demo runs");
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
      "pack and watch it take effect\n  windlass demo --clusters 3 --nodes 6 -o json       one "
      "JSON object when it ends");
}

}  // namespace

std::vector<app::command> demo_commands() {
  return {command_of<demo_arguments>(
      "demo", "Watch an embedded fleet move to a new image under a Lua policy", declare_demo,
      demo_command)};
}

}  // namespace cli
