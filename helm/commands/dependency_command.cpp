#include "formats/plain/path.hpp"
#include "helm/charts/chart.hpp"
#include "helm/commands/command_parts.hpp"
#include "helm/commands/go_table.hpp"
#include "helm/go.hpp"
#include "helm/sources/dependencies/dependency_manager.hpp"
#include "helm/sources/dependencies/dependency_rules.hpp"
#include "reactor/loop.hpp"

namespace helm::sources {
namespace {

outcome<std::string> chart_of(const words& rest, const std::string& command) {
  if (auto wrong = count_problem(rest, 0, 1, command, "CHART"); !wrong.empty())
    return problem{wrong};
  return rest.empty() ? std::string(".") : clean_path(rest.front());
}

outcome<std::string> listed(const std::string& path, std::size_t width) {
  std::vector<std::string> ignored;
  auto c = load_chart(path, ignored);
  if (!c) return c.error();
  const auto& dependencies = (*c)->meta.dependencies;
  if (!(*c)->meta.has_dependencies)
    return "WARNING: no dependencies at " + clean_path(path + "/charts") + "\n";
  go_table table(width);
  table.row({"NAME", "VERSION", "REPOSITORY", "STATUS"});
  for (const auto& d : dependencies)
    table.row({d->name, d->version, d->repository, dependency_status(path, *d, **c)});
  std::string out = table.text() + "\n\n";
  for (const auto& line : unasked_charts(path, **c)) out += line + "\n";
  return out;
}

awaitable<command_result> list(command_context c, words arguments) {
  report out;
  int width = 80;
  chart_flags places;
  source_flags f(places);
  f.number("max-col-width", 0, width);
  auto rest = f.parse(arguments);
  if (!rest) co_return usage(rest.error());
  auto path = chart_of(*rest, "dependency list");
  if (!path) co_return std::move(out).failed(path.error().text);
  const std::size_t columns = width < 0 ? 0 : static_cast<std::size_t>(width);
  auto text = co_await c.loop.offload(&listed, *path, columns);
  if (!text) co_return std::move(out).failed(text.error().text);
  out.result.out = std::move(*text);
  co_return std::move(out).done();
}

enum class task : std::uint8_t { update, build };

awaitable<command_result> fill(command_context c, words arguments, task what) {
  report out;
  dependency_options o;
  chart_flags origin;
  bool verify = false;
  source_flags f(origin);
  add_login_flags(f, origin);
  f.flag("verify", 0, verify);
  f.text("keyring", 0, origin.keyring);
  f.flag("skip-refresh", 0, o.skip_refresh);
  auto rest = f.parse(arguments);
  if (!rest) co_return usage(rest.error());
  auto path = chart_of(*rest, what == task::update ? "dependency update" : "dependency build");
  if (!path) co_return std::move(out).failed(path.error().text);
  o.chart_path = *path;
  o.origin = origin_of(origin);
  c.where = settings_of(c.where, origin);
  if (verify)
    o.provenance = what == task::update ? provenance_use::always : provenance_use::if_possible;
  chart_source source(c.loop, c.where, c.env);
  dependency_manager manager(source, std::move(o), [&](const std::string& line) { out.say(line); });
  outcome<bool> done = problem{};
  if (what == task::update)
    done = co_await manager.update();
  else
    done = co_await manager.build();
  co_await source.stop();
  if (!done) co_return std::move(out).failed(done.error().text);
  co_return std::move(out).done();
}

}  // namespace

awaitable<command_result> dependency_command(command_context c, words arguments) {
  const std::string what = arguments.empty() ? "" : arguments.front();
  if (!arguments.empty()) arguments.erase(arguments.begin());
  if (what == "list") co_return co_await list(std::move(c), std::move(arguments));
  if (what == "update") co_return co_await fill(std::move(c), std::move(arguments), task::update);
  if (what == "build") co_return co_await fill(std::move(c), std::move(arguments), task::build);
  co_return report().failed("unknown command " + quote(what) + " for \"helm dependency\"");
}

}  // namespace helm::sources
