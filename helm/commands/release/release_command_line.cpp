#include "helm/commands/release/release_command_line.hpp"

#include "helm/commands/flags/command_flags.hpp"
#include "helm/commands/post_renderer.hpp"
#include "helm/commands/verbs.hpp"
#include "helm/go.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace helm::release {
namespace {

using arguments_view = std::span<const std::string>;

constexpr const char* no_recreation =
    "Helm has deprecated it; an annotation that changes with the values restarts pods";

problem wrong_count(const std::string& command, const std::string& wanted, const std::string& use) {
  return problem{quote("helm " + command) + " " + wanted + "\n\nUsage:  helm " + use + " [flags]"};
}

/// A command while its flags are read.
struct reading {
  command_line& line;
  command_flags flags;
  const variables& variable;
  std::string dry_run;
  post_renderer after;

  reading(command_line& l, const variables& of) : line(l), variable(of) {
    add_cluster_flags(flags, l.cluster);
  }

  /// Flags that every command of Helm takes and that mean nothing without a chart.
  void without_chart() {
    auto unread = std::make_shared<chart_flags>();
    add_place_flags(flags, *unread);
    flags.hold(std::move(unread));
  }
  void with_output() { add_output_flag(flags, line.output); }
  void with_chart(chart_flags& c) {
    add_chart_flags(flags, c);
    flags.ignored({"disable-openapi-validation"});
    refuse_chart_flags(flags);
  }
  void with_work(work_options& w) {
    flags.duration("timeout", 0, w.timeout);
    flags.flag("wait", 0, w.wait);
    flags.flag("wait-for-jobs", 0, w.wait_for_jobs);
    flags.flag("no-hooks", 0, w.no_hooks);
    flags.flag("force", 0, w.force);
    flags.flag("server-side", 0, w.server_side);
  }
  /// What install and upgrade have in common.
  template <class Request>
  void with_release(Request& r) {
    with_work(r.work);
    flags.optional_text("dry-run", "client", dry_run);
    flags.text("description", 0, r.description);
    flags.pairs("labels", 'l', r.labels);
    flags.flag("atomic", 0, r.atomic);
    flags.flag("render-subchart-notes", 0, r.sub_notes);
    flags.flag("skip-schema-validation", 0, r.skip_schema);
    flags.flag("take-ownership", 0, r.take_ownership);
    flags.flag("hide-secret", 0, r.hide_secrets);
    add_post_renderer_flags(flags, after, variable);
  }
  outcome<enum dry_run> chosen_dry_run() const {
    if (dry_run.empty() || dry_run == "none" || dry_run == "false") return dry_run::none;
    if (dry_run == "client" || dry_run == "true") return dry_run::client;
    if (dry_run == "server") return dry_run::server;
    return problem{
        "Invalid dry-run flag. Flag must one of the following: false, true, none, client, server"};
  }
};

std::optional<problem> read_install(reading& r, arguments_view arguments) {
  auto& c = r.line.what.emplace<install_command>();
  r.with_output();
  add_value_flags(r.flags, c.values);
  r.with_chart(c.from);
  r.with_release(c.request);
  r.flags.flag("create-namespace", 0, c.request.create_namespace);
  r.flags.flag("replace", 0, c.request.replace);
  r.flags.flag("skip-crds", 0, c.request.skip_crds);
  r.flags.flag("generate-name", 'g', c.generate_name);
  r.flags.text("name-template", 0, c.name_template);
  r.flags.flag("hide-notes", 0, c.hide_notes);
  auto rest = r.flags.parse(arguments);
  if (!rest) return rest.error();
  if (rest->empty())
    return wrong_count("install", "requires at least 1 argument", "install [NAME] [CHART]");
  c.arguments = std::move(*rest);
  auto dry = r.chosen_dry_run();
  if (!dry) return problem{"INSTALLATION FAILED: " + dry.error().text};
  c.request.dry = *dry;
  c.request.after = step_of(r.after);
  return std::nullopt;
}

std::optional<problem> read_upgrade(reading& r, arguments_view arguments, int history_max) {
  auto& c = r.line.what.emplace<upgrade_command>();
  c.request.history_max = history_max;
  bool reset = false, keep = false, reset_then_keep = false;
  r.with_output();
  add_value_flags(r.flags, c.values);
  r.with_chart(c.from);
  r.with_release(c.request);
  r.flags.flag("install", 'i', c.install);
  r.flags.flag("create-namespace", 0, c.create_namespace);
  r.flags.flag("skip-crds", 0, c.skip_crds);
  r.flags.flag("hide-notes", 0, c.hide_notes);
  r.flags.flag("reset-values", 0, reset);
  r.flags.flag("reuse-values", 0, keep);
  r.flags.flag("reset-then-reuse-values", 0, reset_then_keep);
  r.flags.flag("cleanup-on-fail", 0, c.request.cleanup_on_fail);
  r.flags.number("history-max", 0, c.request.history_max);
  r.flags.unsupported("recreate-pods", no_recreation);
  auto rest = r.flags.parse(arguments);
  if (!rest) return rest.error();
  if (rest->size() != 2)
    return wrong_count("upgrade", "requires 2 arguments", "upgrade [RELEASE] [CHART]");
  c.request.name = (*rest)[0];
  c.chart = (*rest)[1];
  c.request.how = reset             ? reuse::reset
                  : keep            ? reuse::keep
                  : reset_then_keep ? reuse::reset_then_keep
                                    : reuse::unless_given;
  auto dry = r.chosen_dry_run();
  if (!dry) return dry.error();
  c.request.dry = *dry;
  c.request.after = step_of(r.after);
  return std::nullopt;
}

std::optional<problem> read_rollback(reading& r, arguments_view arguments, int history_max) {
  auto& request = r.line.what.emplace<rollback_command>().request;
  r.without_chart();
  request.history_max = history_max;
  r.with_work(request.work);
  r.flags.flag("dry-run", 0, request.dry_run);
  r.flags.flag("cleanup-on-fail", 0, request.cleanup_on_fail);
  r.flags.number("history-max", 0, request.history_max);
  r.flags.unsupported("recreate-pods", no_recreation);
  auto rest = r.flags.parse(arguments);
  if (!rest) return rest.error();
  if (rest->empty())
    return wrong_count("rollback", "requires at least 1 argument", "rollback <RELEASE> [REVISION]");
  request.name = rest->front();
  if (rest->size() > 1) {
    const auto n = parse_int((*rest)[1], 10);
    if (n.error != int_error::none)
      return problem{"could not convert revision to a number: strconv.Atoi: parsing " +
                     quote((*rest)[1]) +
                     (n.error == int_error::range ? ": value out of range" : ": invalid syntax")};
    request.revision = static_cast<int>(n.number);
  }
  return std::nullopt;
}

std::optional<problem> read_uninstall(reading& r, arguments_view arguments) {
  auto& c = r.line.what.emplace<uninstall_command>();
  r.without_chart();
  auto& request = c.request;
  r.flags.duration("timeout", 0, request.work.timeout);
  r.flags.flag("wait", 0, request.work.wait);
  r.flags.flag("no-hooks", 0, request.work.no_hooks);
  r.flags.flag("dry-run", 0, request.dry_run);
  r.flags.flag("ignore-not-found", 0, request.ignore_not_found);
  r.flags.flag("keep-history", 0, request.keep_history);
  auto choose = [&request](const std::string& how) -> std::optional<std::string> {
    request.cascade = how;
    return std::nullopt;
  };
  r.flags.checked("cascade", 0, "background|foreground|orphan", request.cascade, std::move(choose));
  r.flags.text("description", 0, request.description);
  auto rest = r.flags.parse(arguments);
  if (!rest) return rest.error();
  if (rest->empty())
    return wrong_count("uninstall", "requires at least 1 argument", "uninstall RELEASE_NAME [...]");
  if (request.cascade != "background" && request.cascade != "foreground" &&
      request.cascade != "orphan")
    return problem{"invalid cascade value (" + request.cascade +
                   "). Must be \"background\", \"foreground\", or \"orphan\""};
  c.names = std::move(*rest);
  return std::nullopt;
}

std::optional<problem> read_list(reading& r, arguments_view arguments) {
  auto& c = r.line.what.emplace<list_command>();
  r.without_chart();
  c.choice.limit = 256;
  bool all = false;
  struct choice {
    const char* flag;
    std::vector<status> states;
    bool on = false;
  };
  std::array<choice, 6> choices{
      {{"deployed", {status::deployed}},
       {"uninstalled", {status::uninstalled}},
       {"uninstalling", {status::uninstalling}},
       {"pending", {status::pending_install, status::pending_upgrade, status::pending_rollback}},
       {"failed", {status::failed}},
       {"superseded", {status::superseded}}}};
  for (auto& o : choices) r.flags.flag(o.flag, 0, o.on);
  r.with_output();
  r.flags.flag("short", 'q', c.brief);
  r.flags.flag("no-headers", 0, c.no_headers);
  r.flags.text("time-format", 0, c.time_format);
  r.flags.flag("date", 'd', c.choice.by_date);
  r.flags.flag("reverse", 'r', c.choice.reverse);
  r.flags.flag("all", 'a', all);
  r.flags.flag("all-namespaces", 'A', c.all_namespaces);
  r.flags.number("max", 'm', c.choice.limit);
  r.flags.number("offset", 0, c.choice.offset);
  r.flags.text("filter", 'f', c.filter);
  r.flags.text("selector", 'l', c.selector);
  auto rest = r.flags.parse(arguments);
  if (!rest) return rest.error();
  if (!rest->empty()) return wrong_count("list", "accepts no arguments", "list");
  for (const auto& o : choices)
    if (o.on || all)
      c.choice.states.insert(c.choice.states.end(), o.states.begin(), o.states.end());
  if (c.choice.states.empty()) c.choice.states = {status::deployed, status::failed};
  c.choice.latest_only = c.choice.states != std::vector{status::superseded};
  return std::nullopt;
}

std::optional<problem> read_history(reading& r, arguments_view arguments) {
  auto& c = r.line.what.emplace<history_command>();
  r.without_chart();
  r.with_output();
  r.flags.number("max", 0, c.most);
  auto rest = r.flags.parse(arguments);
  if (!rest) return rest.error();
  if (rest->size() != 1)
    return wrong_count("history", "requires 1 argument", "history RELEASE_NAME");
  c.name = rest->front();
  return std::nullopt;
}

std::optional<problem> read_status(reading& r, arguments_view arguments) {
  auto& c = r.line.what.emplace<status_command>();
  r.without_chart();
  r.with_output();
  r.flags.number("revision", 0, c.revision);
  r.flags.flag("show-desc", 0, c.show_description);
  r.flags.flag("show-resources", 0, c.show_resources);
  auto rest = r.flags.parse(arguments);
  if (!rest) return rest.error();
  if (rest->size() != 1) return wrong_count("status", "requires 1 argument", "status RELEASE_NAME");
  c.name = rest->front();
  return std::nullopt;
}

std::optional<problem> read_get(reading& r, arguments_view arguments) {
  auto& c = r.line.what.emplace<get_command>();
  r.without_chart();
  static const std::map<std::string_view, get_part> parts{
      {"all", get_part::all},           {"hooks", get_part::hooks},
      {"manifest", get_part::manifest}, {"metadata", get_part::metadata},
      {"notes", get_part::notes},       {"values", get_part::values}};
  if (arguments.empty() || !parts.contains(arguments[0]))
    return problem{
        "\"helm get\" requires a part (all, hooks, manifest, metadata, notes, values) and 1 "
        "argument"};
  const std::string part = arguments[0];
  c.part = parts.at(part);
  if (c.part == get_part::metadata || c.part == get_part::values) r.with_output();
  if (c.part == get_part::values) {
    r.flags.flag("all", 'a', c.computed);
    r.flags.about("the chart's values, too");
  }
  if (c.part == get_part::all) r.flags.text("template", 0, c.form);
  r.flags.number("revision", 0, c.revision);
  auto rest = r.flags.parse(arguments.subspan(1));
  if (!rest) return rest.error();
  if (rest->size() != 1)
    return wrong_count("get " + part, "requires 1 argument", "get " + part + " RELEASE_NAME");
  c.name = rest->front();
  return std::nullopt;
}

std::optional<problem> read_test(reading& r, arguments_view arguments) {
  auto& c = r.line.what.emplace<test_command>();
  r.without_chart();
  std::vector<std::string> filters;
  r.flags.duration("timeout", 0, c.request.timeout);
  r.flags.split_list("filter", 0, filters);
  r.flags.about("only these tests: name=A, !name=B");
  r.flags.flag("hide-notes", 0, c.hide_notes);
  r.flags.flag("logs", 0, c.logs);
  auto rest = r.flags.parse(arguments);
  if (!rest) return rest.error();
  if (rest->size() != 1) return wrong_count("test", "requires 1 argument", "test [RELEASE]");
  c.request.name = rest->front();
  for (const auto& f : filters) {
    if (f.starts_with("name="))
      c.request.include.push_back(f.substr(5));
    else if (f.starts_with("!name="))
      c.request.exclude.push_back(f.substr(6));
    else if (f.starts_with("! name="))
      c.request.exclude.push_back(f.substr(7));
  }
  return std::nullopt;
}

}  // namespace

outcome<command_line> parse_command_line(arguments_view arguments, const variables& variable) {
  command_line line;
  line.cluster = cluster_flags_from(variable);
  int history_max = 10;
  if (const auto n = parse_int(variable("HELM_MAX_HISTORY"), 10); n.error == int_error::none)
    history_max = static_cast<int>(n.number);

  const verb* known = find_verb(arguments);
  if (!known || known->family != verb_family::release)
    return problem{"unknown command " + quote(arguments.empty() ? "" : arguments[0]) +
                   " for \"helm\""};
  const auto rest = arguments.subspan(1);
  reading r(line, variable);
  const std::string_view command = known->name;
  auto wrong = command == "install"     ? read_install(r, rest)
               : command == "upgrade"   ? read_upgrade(r, rest, history_max)
               : command == "rollback"  ? read_rollback(r, rest, history_max)
               : command == "uninstall" ? read_uninstall(r, rest)
               : command == "list"      ? read_list(r, rest)
               : command == "history"   ? read_history(r, rest)
               : command == "status"    ? read_status(r, rest)
               : command == "test"      ? read_test(r, rest)
                                        : read_get(r, rest);
  if (wrong) return *wrong;
  return line;
}

}  // namespace helm::release
