#include "helm/commands/release/release_commands.hpp"

#include "helm/commands/commands.hpp"
#include "helm/commands/log_lines.hpp"
#include "helm/commands/name_pattern.hpp"
#include "helm/commands/release/release_report.hpp"
#include "helm/commands/release/release_text.hpp"
#include "helm/commands/release/server_table.hpp"
#include "helm/go.hpp"
#include "helm/render/installation.hpp"
#include "k8s/informer/intern.hpp"
#include "k8s/informer/selector.hpp"
#include "reactor/loop.hpp"

#include <algorithm>

namespace helm::release {
namespace {

bool has_labels(const record& r, const k8s::label_selector& wanted) {
  std::vector<k8s::string_map::member> members;
  for (const auto& [name, text] : r.labels)
    members.emplace_back(k8s::interned(name), k8s::interned(text));
  return wanted.matches(k8s::string_map(std::move(members)));
}

}  // namespace

outcome<bool> check_chart(prepared_chart& c, const console& to) {
  for (const auto& line : c.warnings()) to.err(log_line(line));
  const auto tree = c.copy();
  if (c.meta().deprecated && c.meta().type != "library")
    to.err("WARNING: This chart is deprecated\n");
  return check_installable(*tree);
}

int command_runner::fail(const std::string& text) const {
  to_.err("Error: " + text + "\n");
  return 1;
}

int command_runner::show(const outcome<std::string>& text) const {
  if (!text) return fail(text.error().text);
  to_.out(*text);
  return 0;
}

awaitable<int> command_runner::run(command_line line) {
  command_line whole = line;
  auto command =
      std::visit([&](auto& c) { return run(std::move(c), std::move(whole)); }, line.what);
  co_return co_await std::move(command);
}

outcome<std::pair<std::string, std::string>> command_runner::name_and_chart(
    const install_command& c) const {
  const auto& a = c.arguments;
  if (a.size() > 2) {
    std::string more;
    for (std::size_t i = 2; i < a.size(); ++i) more += (more.empty() ? "" : ", ") + a[i];
    return problem{"expected at most two arguments, unexpected arguments: " + more};
  }
  if (a.size() == 2) {
    if (c.generate_name) return problem{"cannot set --generate-name and also specify a name"};
    if (!c.name_template.empty())
      return problem{"cannot set --name-template and also specify a name"};
    return std::pair(a[0], a[1]);
  }
  if (c.name_template.empty() && !c.generate_name)
    return problem{"must either provide a name or specify --generate-name"};
  render_runtime runtime;
  runtime.now = [this] {
    return std::chrono::time_point_cast<std::chrono::system_clock::duration>(loop_.wall());
  };
  name_choice choice;
  choice.name_template = c.name_template;
  choice.generate = c.generate_name;
  choice.chart = a[0];
  auto name = choose_release_name(choice, runtime);
  if (!name) return name.error();
  return std::pair(*name, a[0]);
}

awaitable<outcome<value>> command_runner::values_of(value_options o) {
  for (const auto& address : addresses_in(o)) {
    std::string from = address;
    auto text = co_await fetch_(std::move(from));
    if (!text) co_return text.error();
    o.fetched[address] = std::move(*text);
  }
  // "-f -" waits for a person, who may press Ctrl-C instead.
  const auto read = [](const auto& from) { return read_values(from); };
  co_return co_await loop_.offload(read, std::move(o));
}

awaitable<int> command_runner::install(install_command c, command_line line, std::string prefix) {
  auto named = name_and_chart(c);
  if (!named) co_return fail(prefix + named.error().text);
  c.request.name = named->first;
  if (to_.debug) to_.debug("Original chart version: " + quote(c.from.version));
  auto found = co_await find_chart_(named->second, c.from);
  if (!found) co_return fail(prefix + found.error().text);
  value_options given = c.values;
  auto values = co_await values_of(std::move(given));
  if (!values) co_return fail(prefix + values.error().text);
  if (auto fit = check_chart(**found, to_); !fit) co_return fail(prefix + fit.error().text);
  c.request.chart = *found;
  c.request.values = *values;
  install_request request = c.request;
  auto made = co_await actions_.install(std::move(request));
  if (!made) co_return fail(prefix + made.error().text);
  status_shape shape;
  shape.debug = line.cluster.debug;
  shape.hide_notes = c.hide_notes;
  co_return show(status_report(*made, line.output, shape));
}

awaitable<int> command_runner::run(install_command c, command_line line) {
  co_return co_await install(std::move(c), std::move(line), "INSTALLATION FAILED: ");
}

awaitable<int> command_runner::run(upgrade_command c, command_line line) {
  auto& request = c.request;
  if (c.install) {
    if (to_.debug) to_.debug("getting history for release " + request.name);
    auto past = co_await actions_.revisions(request.name);
    if (!past && past.error().code != problem_code::not_found) co_return fail(past.error().text);
    const bool gone = past && past->back().state == status::uninstalled;
    if (!past || gone) {
      if (line.output == output_format::table)
        to_.out("Release " + quote(request.name) + " does not exist. Installing it now.\n");
      install_command first;
      first.arguments = {request.name, c.chart};
      first.values = c.values;
      first.from = c.from;
      first.hide_notes = c.hide_notes;
      auto& r = first.request;
      r.work = request.work;
      r.dry = request.dry;
      r.description = request.description;
      r.labels = request.labels;
      r.create_namespace = c.create_namespace;
      r.replace = gone;
      r.atomic = request.atomic;
      r.skip_crds = c.skip_crds;
      r.sub_notes = request.sub_notes;
      r.skip_schema = request.skip_schema;
      r.take_ownership = request.take_ownership;
      r.hide_secrets = request.hide_secrets;
      r.after = request.after;
      co_return co_await install(std::move(first), std::move(line), std::string());
    }
  }
  auto found = co_await find_chart_(c.chart, c.from);
  if (!found) co_return fail(found.error().text);
  value_options given = c.values;
  auto values = co_await values_of(std::move(given));
  if (!values) co_return fail(values.error().text);
  if (auto fit = check_chart(**found, to_); !fit) co_return fail(fit.error().text);
  request.chart = *found;
  request.values = *values;
  upgrade_request wanted = request;
  auto made = co_await actions_.upgrade(std::move(wanted));
  if (!made) co_return fail("UPGRADE FAILED: " + made.error().text);
  if (line.output == output_format::table)
    to_.out("Release " + quote(request.name) + " has been upgraded. Happy Helming!\n");
  status_shape shape;
  shape.debug = line.cluster.debug;
  shape.hide_notes = c.hide_notes;
  co_return show(status_report(*made, line.output, shape));
}

awaitable<int> command_runner::run(rollback_command c, command_line) {
  auto back = co_await actions_.rollback(std::move(c.request));
  if (!back) co_return fail(back.error().text);
  to_.out("Rollback was a success! Happy Helming!\n");
  co_return 0;
}

awaitable<int> command_runner::run(uninstall_command c, command_line) {
  for (std::size_t i = 0; i < c.names.size(); ++i) {
    uninstall_request r = c.request;
    r.name = c.names[i];
    auto gone = co_await actions_.uninstall(std::move(r));
    if (!gone) co_return fail(gone.error().text);
    if (!gone->empty()) to_.out(*gone + "\n");
    to_.out("release \"" + c.names[i] + "\" uninstalled\n");
  }
  co_return 0;
}

awaitable<int> command_runner::run(list_command c, command_line line) {
  auto reached = co_await actions_.reach();
  if (!reached) co_return fail(reached.error().text);
  auto filter = compile_pattern(c.filter);
  if (!filter) co_return fail(filter.error().text);
  auto selector = k8s::label_selector::parse(std::string_view(c.selector));
  if (!selector) co_return fail(selector.error());
  auto all = co_await actions_.list();
  if (!all) co_return fail(all.error().text);
  std::erase_if(*all, [&](const record& r) { return !(*filter)(r.name); });
  c.choice.matches = [&](const record& r) { return has_labels(r, *selector); };
  co_return show(list_report(choose_listed(std::move(*all), c.choice), line.output, c));
}

awaitable<int> command_runner::run(history_command c, command_line line) {
  auto reached = co_await actions_.reach();
  if (!reached) co_return fail(reached.error().text);
  if (!valid_release_name(c.name)) co_return fail("release name is invalid: " + c.name);
  if (to_.debug) to_.debug("getting history for release " + c.name);
  auto all = co_await actions_.revisions(c.name);
  if (!all) co_return fail(all.error().text);
  const auto most = static_cast<std::size_t>(std::max(c.most, 0));
  if (all->size() > most) all->erase(all->begin(), all->end() - static_cast<std::ptrdiff_t>(most));
  co_return show(history_report(*all, line.output));
}

awaitable<int> command_runner::run(status_command c, command_line line) {
  auto reached = co_await actions_.reach();
  if (!reached) co_return fail(reached.error().text);
  auto r = co_await actions_.find(c.name, c.revision);
  if (!r) co_return fail(r.error().text);
  r->origin.reset();
  status_shape shape;
  shape.show_description = c.show_description;
  if (c.show_resources) {
    const bool table = line.output == output_format::table;
    record of = *r;
    auto found = co_await actions_.shown(
        std::move(of), table ? objects::shown_as::tables : objects::shown_as::objects);
    if (!found) co_return fail(found.error().text);
    shape.resources = table ? tables_text(*found) : objects_json(*found);
  }
  co_return show(status_report(*r, line.output, shape));
}

awaitable<int> command_runner::run(get_command c, command_line line) {
  auto reached = co_await actions_.reach();
  if (!reached) co_return fail(reached.error().text);
  auto r = co_await actions_.find(c.name, c.revision);
  if (!r) co_return fail(r.error().text);
  status_shape everything;
  everything.debug = everything.show_metadata = true;
  switch (c.part) {
    case get_part::all:
      co_return show(c.form.empty() ? status_report(*r, output_format::table, everything)
                                    : print_record(*r, c.form));
    case get_part::hooks: co_return show(hooks_report(*r));
    case get_part::manifest: co_return show(r->manifest + "\n");
    case get_part::metadata: co_return show(metadata_report(*r, line.output));
    case get_part::notes:
      co_return show(r->notes.empty() ? std::string() : "NOTES:\n" + r->notes + "\n");
    case get_part::values:
      co_return show(values_report(*r, line.output,
                                   c.computed ? shown_values::computed : shown_values::users));
  }
  co_return 1;
}

awaitable<int> command_runner::run(test_command c, command_line line) {
  test_request request = c.request;
  auto tested = co_await actions_.test(std::move(request));
  if (!tested.tested) co_return fail(tested.failure->text);
  status_shape shape;
  shape.debug = line.cluster.debug;
  shape.hide_notes = c.hide_notes;
  const int shown = show(status_report(*tested.tested, line.output, shape));
  if (c.logs) {
    std::string text;
    auto got = co_await actions_.test_logs(*tested.tested, std::move(c.request), &text);
    to_.out("\n" + text);
    // Where the tests went well Helm says nothing of logs that it could not get; a script that
    // asked wants to know.
    if (!got)
      co_return fail(got.error().text + (tested.failure ? ": " + tested.failure->text : ""));
  }
  co_return tested.failure ? fail(tested.failure->text) : shown;
}

awaitable<int> command_runner::cancelled(command_line line) {
  std::string name, prefix;
  if (const auto* c = std::get_if<install_command>(&line.what)) {
    name = c->arguments.front();
    prefix = "INSTALLATION FAILED: ";
  } else if (const auto* u = std::get_if<upgrade_command>(&line.what)) {
    name = u->request.name;
    prefix = "UPGRADE FAILED: ";
  }
  if (!name.empty()) to_.out("Release " + name + " has been cancelled.\n");
  auto ended = co_await actions_.settle();
  co_return fail(prefix + (ended ? ended->text : "context canceled"));
}

}  // namespace helm::release
