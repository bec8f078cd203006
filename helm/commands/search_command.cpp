#include "formats/json/json.hpp"
#include "formats/json/record.hpp"
#include "formats/yaml/writer.hpp"
#include "helm/commands/command_parts.hpp"
#include "helm/commands/go_table.hpp"
#include "helm/go.hpp"
#include "helm/sources/repository.hpp"
#include "helm/sources/search.hpp"
#include "reactor/loop.hpp"

namespace helm::sources {
namespace {

std::string listed(const std::vector<search_hit>& hits, output_format form, std::size_t width) {
  go_table table(width);
  table.row({"NAME", "CHART VERSION", "APP VERSION", "DESCRIPTION"});
  value::list_type all;
  for (const auto& h : hits) {
    table.row({h.name, h.version, h.app_version, h.description});
    all.push_back(record({{"name", h.name},
                          {"version", h.version},
                          {"app_version", h.app_version},
                          {"description", h.description}}));
  }
  const value whole(std::move(all));
  if (form == output_format::table) return table.text() + "\n";
  return form == output_format::json ? *write_json(whole) + "\n" : *write_go_yaml(whole);
}

}  // namespace

awaitable<command_result> search_command(command_context c, words arguments) {
  report out;
  const std::string what = arguments.empty() ? "" : arguments.front();
  if (!arguments.empty()) arguments.erase(arguments.begin());
  if (what == "hub") co_return std::move(out).failed("search hub is not supported by windlass", 2);
  if (what != "repo")
    co_return std::move(out).failed("unknown command " + quote(what) + " for \"helm search\"");
  search_options o;
  output_format form = output_format::table;
  int width = 50;
  bool devel = false, fail = false;
  chart_flags places;
  source_flags f(places);
  f.flag("regexp", 'r', o.regular_expression);
  f.flag("versions", 'l', o.all_versions);
  f.flag("devel", 0, devel);
  f.text("version", 0, o.version);
  f.number("max-col-width", 0, width);
  f.flag("fail-on-no-result", 0, fail);
  add_output_flag(f, form);
  auto rest = f.parse(arguments);
  if (!rest) co_return usage(rest.error());
  c.where = settings_of(c.where, places);
  for (const auto& word : *rest) o.term += (o.term.empty() ? "" : " ") + word;
  if (o.version.empty()) o.version = devel ? ">0.0.0-0" : ">0.0.0";
  auto file = co_await load_repositories(c.loop, c.where.repository_config);
  if (!file) co_return std::move(out).failed(file.error().text);
  if (file->entries.empty()) co_return std::move(out).failed("no repositories configured");
  search_index index;
  for (const auto& e : file->entries) {
    auto cached = co_await cached_index(c.loop, c.where, e.name);
    if (!cached) {
      out.warn("WARNING: Repo " + quote(e.name) +
               " is corrupt or missing. Try 'helm repo update'.");
      out.warn("WARNING: " + cached.error().text);
      continue;
    }
    // A constraint always stands, and an older version may be the one that meets it.
    index.add(e.name, cached->index, true);
  }
  auto hits = index.find(o);
  if (!hits) co_return std::move(out).failed(hits.error().text);
  if (hits->empty() && fail) co_return std::move(out).failed("no results found");
  if (form == output_format::table && hits->empty()) {
    out.say("No results found");
    co_return std::move(out).done();
  }
  out.result.out = listed(*hits, form, width < 0 ? 0 : static_cast<std::size_t>(width));
  co_return std::move(out).done();
}

}  // namespace helm::sources
