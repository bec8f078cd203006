#include "helm/commands/command_options.hpp"

#include "helm/commands/flags/cluster_flags.hpp"
#include "helm/commands/flags/command_flags.hpp"

namespace helm {

void add_value_flags(command_flags& f, value_options& into) {
  f.split_list("values", 'f', into.files);
  f.list("set", 0, into.set);
  f.list("set-string", 0, into.set_string);
  f.list("set-file", 0, into.set_file);
  f.list("set-json", 0, into.set_json);
  f.list("set-literal", 0, into.set_literal);
}

void add_post_renderer_flags(command_flags& f, post_renderer& into, const variables& of) {
  auto find = [&into, of](const std::string& name) -> std::optional<std::string> {
    auto found = find_program(name, of ? of("PATH") : std::string());
    if (!found) return found.error().text;
    into.program = std::move(*found);
    return std::nullopt;
  };
  f.checked("post-renderer", 0, "program", "", std::move(find));
  f.list("post-renderer-args", 0, into.arguments);
}

namespace {

/// Flags of `helm template` alone. Keeps a reference to `o`.
void add_template_flags(command_flags& f, template_options& o) {
  f.text("kube-version", 0, o.kube_version);
  f.split_list("api-versions", 'a', o.api_versions);
  f.list("show-only", 's', o.show_only);
  f.text("output-dir", 0, o.output_dir);
  f.text("name-template", 0, o.name_template);
  f.flag("generate-name", 'g', o.generate_name);
  f.flag("release-name", 0, o.use_release_name);
  f.flag("include-crds", 0, o.include_crds);
  f.flag("skip-tests", 0, o.skip_tests);
  f.flag("no-hooks", 0, o.no_hooks);
  f.flag("is-upgrade", 0, o.is_upgrade);
  f.flag("skip-schema-validation", 0, o.skip_schema_validation);
  f.flag("render-subchart-notes", 0, o.sub_notes);
}

/// [NAME] CHART. Nothing when they fit.
std::optional<problem> take_template_names(const std::vector<std::string>& rest,
                                           template_options& o) {
  if (rest.empty())
    return problem{
        "\"helm template\" requires at least 1 argument\n\nUsage:  helm template [NAME] [CHART] "
        "[flags]"};
  if (rest.size() > 2) {
    std::string more;
    for (std::size_t i = 2; i < rest.size(); ++i) more += (more.empty() ? "" : " ") + rest[i];
    return problem{"expected at most two arguments, unexpected arguments: " + more};
  }
  if (rest.size() == 2) {
    if (o.generate_name) return problem{"cannot set --generate-name and also specify a name"};
    if (!o.name_template.empty())
      return problem{"cannot set --name-template and also specify a name"};
    o.release_name = rest.front();
  }
  o.chart = rest.back();
  return std::nullopt;
}

}  // namespace

outcome<template_options> parse_template_arguments(std::span<const std::string> arguments,
                                                   const variables& of) {
  cluster_flags cluster = cluster_flags_from(of);
  template_options o;
  command_flags f;
  add_value_flags(f, o.values);
  add_cluster_flags(f, cluster);
  add_chart_flags(f, o.origin);
  add_template_flags(f, o);
  f.ignored_with_value({"description"});
  std::chrono::nanoseconds timeout = std::chrono::minutes(5);
  f.duration("timeout", 0, timeout);
  f.changes_nothing();
  std::map<std::string, std::string> unread;  // a template has no record that could carry them
  f.pairs("labels", 'l', unread);
  std::string dry_run;
  f.optional_text("dry-run", "client", dry_run);
  f.ignored({"atomic", "create-namespace", "disable-openapi-validation", "force", "hide-notes",
             "replace", "skip-crds", "take-ownership", "wait", "wait-for-jobs"});
  add_post_renderer_flags(f, o.after, of);
  f.unsupported("validate", "`windlass helm install --dry-run=server` asks the cluster");
  refuse_chart_flags(f);
  auto rest = f.parse(arguments);
  if (!rest) return rest.error();
  o.debug = cluster.debug;
  o.cluster = std::move(cluster);
  if (auto bad = take_template_names(*rest, o)) return std::move(*bad);
  static const std::map<std::string_view, bool> asking{{"", false},       {"true", false},
                                                       {"client", false}, {"server", true},
                                                       {"none", true},    {"false", true}};
  const auto how = asking.find(dry_run);
  if (how == asking.end())
    return problem{
        "Invalid dry-run flag. Flag must one of the following: false, true, none, client, server"};
  o.asks_cluster = how->second;
  return o;
}

outcome<show_options> parse_show_arguments(std::span<const std::string> arguments) {
  show_options o;
  command_flags f;
  ignore_cluster_flags(f);
  add_chart_flags(f, o.origin);
  if (!arguments.empty() && arguments[0] == "values") f.text("jsonpath", 0, o.json_path);
  auto rest = f.parse(arguments);
  if (!rest) return rest.error();
  static const std::map<std::string, show_part> parts{{"all", show_part::all},
                                                      {"chart", show_part::chart},
                                                      {"values", show_part::values},
                                                      {"readme", show_part::readme},
                                                      {"crds", show_part::crds}};
  if (rest->empty() || !parts.contains(rest->front()))
    return problem{
        "\"helm show\" requires a part (all, chart, crds, readme, values) and 1 argument"};
  const std::string part = "helm show " + rest->front();
  if (rest->size() != 2)
    return problem{quote(part) + " requires 1 argument\n\nUsage:  " + part + " [CHART] [flags]"};
  o.part = parts.at((*rest)[0]);
  o.chart = (*rest)[1];
  return o;
}

outcome<lint_line> parse_lint_arguments(std::span<const std::string> arguments,
                                        const variables& of) {
  lint_line line;
  line.cluster = cluster_flags_from(of);
  lint_options& o = line.lint;
  command_flags f;
  add_value_flags(f, o.values);
  add_cluster_flags(f, line.cluster);
  chart_flags unused;
  add_place_flags(f, unused);
  std::string version;
  f.text("kube-version", 0, version);
  f.flag("strict", 0, o.strict);
  f.flag("quiet", 0, o.quiet);
  f.flag("with-subcharts", 0, o.with_subcharts);
  f.flag("fleet", 0, o.fleet);
  f.flag("skip-schema-validation", 0, o.skip_schema_validation);
  auto rest = f.parse(arguments);
  if (!rest) return rest.error();
  if (!version.empty()) {
    auto kube = parse_kube_version(version);
    if (!kube) return problem{"invalid kube version '" + version + "': " + kube.error().text};
    o.kube = std::move(*kube);
  }
  o.charts = std::move(*rest);
  if (o.charts.empty()) o.charts.emplace_back(".");
  return line;
}

}  // namespace helm
