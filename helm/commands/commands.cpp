#include "helm/commands/commands.hpp"

#include "formats/go/files.hpp"
#include "formats/go/function_error.hpp"
#include "formats/go/url.hpp"
#include "formats/json/path.hpp"
#include "formats/plain/path.hpp"
#include "formats/yaml/reader.hpp"
#include "formats/yaml/writer.hpp"
#include "helm/charts/chart.hpp"
#include "helm/charts/chart_ignore.hpp"
#include "helm/commands/create_command.hpp"
#include "helm/commands/flags/command_flags.hpp"
#include "helm/commands/log_lines.hpp"
#include "helm/commands/post_renderer.hpp"
#include "helm/go.hpp"
#include "helm/lint/lint.hpp"
#include "helm/objects/manifest_reader.hpp"
#include "helm/render/installation.hpp"
#include "helm/render/manifest_text.hpp"
#include "helm/render/manifests.hpp"
#include "helm/render/render.hpp"
#include "helm/schema/schema.hpp"
#include "helm/values/render_values.hpp"
#include "helm/values/set_values.hpp"
#include "reactor/system/private_folder.hpp"

#include <boost/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>

namespace helm {
namespace {

/// Whether Helm would ask a server for what -f or --set-file names.
/// Errors   as url.Parse words them: it reads every name as a URL first.
outcome<bool> is_address(const std::string& name) {
  try {
    const auto scheme = lower(parse_url(name).scheme);
    return scheme == "http" || scheme == "https" || scheme == "oci";
  } catch (const function_error& e) {
    return problem{e.what()};
  }
}

/// A file, with "-" standard input, or what was fetched from an address.
outcome<std::string> read_input(const std::string& name, const value_options& o) {
  if (trim_space(name) == "-") return read_file("/dev/stdin");
  auto address = is_address(name);
  if (!address) return address.error();
  if (!*address) return read_file(name);
  const auto found = o.fetched.find(name);
  if (found == o.fetched.end()) return problem{"failed to fetch " + name};
  return found->second;
}

outcome<value> values_of(value_options o, const peers& ask) {
  for (const auto& address : addresses_in(o)) {
    if (!ask.fetch) break;  // read_values says which one is missing
    auto text = ask.fetch(address);
    if (!text) return text.error();
    o.fetched[address] = std::move(*text);
  }
  return read_values(o);
}

command_result failure(const std::string& text, std::string warnings = {}) {
  command_result r{"", std::move(warnings)};
  r.fail(text);
  return r;
}

/// Where a chart lies. Without a locator it is a path, and names that only a repository could
/// resolve are told apart as Helm does.
outcome<std::string> find_chart(const std::string& name, const chart_flags& how,
                                const chart_locator& locate, std::vector<std::string>& notes) {
  if (locate) return locate(name, how, notes);
  auto trimmed = std::string(trim_space(name));
  if (std::filesystem::exists(trimmed)) return trimmed;
  if (trimmed.starts_with('/') || trimmed.starts_with('.'))
    return problem{"path " + quote(trimmed) + " not found"};
  auto slash = trimmed.find('/');
  if (slash == trimmed.npos)
    return problem{"non-absolute URLs should be in form of repo_name/path_to_chart, got: " +
                   trimmed};
  return problem{"repo " + trimmed.substr(0, slash) + " not found"};
}

std::string namespace_of(const cluster_flags& f, const peers& ask) {
  if (!f.ns.empty()) return f.ns;
  auto home = ask.home_namespace ? ask.home_namespace(f) : std::string();
  return home.empty() ? "default" : home;
}

/// --output-dir: documents of one path go into one file.
class output_directory {
public:
  explicit output_directory(std::string root) : root_(std::move(root)) {}
  outcome<bool> write(const std::string& path, const std::string& text, std::string& log) {
    auto full = std::filesystem::path(root_) / path;
    std::error_code ec;
    std::filesystem::create_directories(full.parent_path(), ec);
    bool again = !written_.insert(path).second;
    std::ofstream out(full, again ? std::ios::binary | std::ios::app : std::ios::binary);
    if (!out) return problem{"open " + full.string() + ": no such file or directory"};
    out << source_block(path, text);
    log += "wrote " + full.string() + "\n";
    return true;
  }

private:
  std::string root_;
  std::set<std::string> written_;
};

outcome<std::string> only(const std::vector<std::string>& wanted, const std::string& all) {
  auto documents = split_documents(all);
  std::string out;
  for (const auto& pattern : wanted) {
    bool missing = true;
    for (const auto& d : documents) {
      auto at = d.find("# Source: ");
      // The path below the chart's name.
      while (at != d.npos) {
        auto line = d.substr(at + 10, d.find('\n', at) - at - 10);
        auto slash = line.find('/');
        if (slash != line.npos && slash > 0 && slash + 1 < line.size()) {
          if (glob_match(pattern, line.substr(slash + 1)) == glob_result::yes) {
            out += "---\n" + d + "\n";
            missing = false;
          }
          break;
        }
        at = d.find("# Source: ", at + 1);
      }
    }
    if (missing) return problem{"could not find template " + pattern + " in chart"};
  }
  return out;
}

}  // namespace

std::string absolute_path(const std::string& path) {
  std::error_code ec;
  return clean_path(std::filesystem::absolute(path, ec).string());
}

std::vector<std::string> addresses_in(const value_options& o) {
  std::vector<std::string> out;
  const auto note = [&](const std::string& name) -> outcome<std::string> {
    if (const auto address = is_address(name); trim_space(name) != "-" && address && *address)
      out.push_back(name);
    return std::string();
  };
  for (const auto& name : o.files) static_cast<void>(note(name));
  value unused(value::map_type{});
  for (const auto& line : o.set_file)
    static_cast<void>(apply_set(unused, line, set_kind::file, note));
  return out;
}

outcome<value> read_values(const value_options& o) {
  value out(value::map_type{});
  const auto read = [&](const std::string& name) { return read_input(name, o); };
  for (const auto& path : o.files) {
    auto text = read(path);
    if (!text) return text.error();
    auto v = read_go_yaml_map(*text);
    if (!v) return problem{"failed to parse " + path + ": " + v.error().text};
    merge_maps(out, *v);
  }
  auto apply = [&](const std::vector<std::string>& lines, set_kind kind,
                   auto prefix) -> outcome<bool> {
    for (const auto& line : lines)
      if (auto done = apply_set(out, line, kind, read); !done)
        return problem{kind == set_kind::json ? prefix(line)
                                              : prefix(line) + ": " + done.error().text};
    return true;
  };
  auto fixed = [](const char* flag) {
    return [flag](const std::string&) { return std::string("failed parsing ") + flag + " data"; };
  };
  if (auto r =
          apply(o.set_json, set_kind::json,
                [](const std::string& line) { return "failed parsing --set-json data " + line; });
      !r)
    return r.error();
  if (auto r = apply(o.set, set_kind::typed, fixed("--set")); !r) return r.error();
  if (auto r = apply(o.set_string, set_kind::text, fixed("--set-string")); !r) return r.error();
  if (auto r = apply(o.set_file, set_kind::file, fixed("--set-file")); !r) return r.error();
  if (auto r = apply(o.set_literal, set_kind::literal, fixed("--set-literal")); !r)
    return r.error();
  return out;
}

void command_result::fail(const std::string& text) {
  error_at = err.size();
  err += "Error: " + text + "\n";
  exit_code = 1;
}

std::array<command_result::part, 3> command_result::in_order() const& {
  const std::string_view all = err;
  const std::size_t split = std::min(error_at, all.size());
  return {{{STDERR_FILENO, all.substr(0, split)},
           {STDOUT_FILENO, out},
           {STDERR_FILENO, all.substr(split)}}};
}

namespace {

/// `wrote`: a line for each file of --output-dir; `text`: what goes to standard output instead.
struct shown_manifests {
  std::string wrote, text;
  std::optional<problem> unwritten;  // the first file that could not be written
};

/// What `helm template` makes of sorted manifests. `name`: the release's.
outcome<shown_manifests> show_manifests(const template_options& o, const std::string& name,
                                        const render_runtime& runtime, const chart& root,
                                        const sorted_manifests& sorted) {
  shown_manifests out;
  const auto folder = std::filesystem::path(o.output_dir);
  output_directory directory(o.use_release_name ? (folder / name).string() : o.output_dir);
  output_directory crd_directory(o.output_dir);  // Helm leaves the release's name out of their path
  const auto store_in = [&](output_directory& into, const std::string& path,
                            const std::string& text) {
    auto done = into.write(path, text, out.wrote);
    if (!done && !out.unwritten) out.unwritten = done.error();
  };
  manifest_options how;
  how.after = step_of(o.after);
  how.steady = runtime.steady;
  if (!o.output_dir.empty())
    how.put = [&](const std::string& path, const std::string& text) {
      store_in(directory, path, text);
    };
  std::string before, hooks;
  if (o.include_crds)
    for (const auto& f : crd_files(root)) {
      if (how.put)
        store_in(crd_directory, f.path, *f.data);
      else
        before += source_block(f.path, *f.data);
    }
  auto manifest = manifest_of(sorted, std::move(before), how);
  if (!manifest) return manifest.error();
  if (!o.no_hooks)
    for (const auto& h : sorted.hooks) {
      const bool test = std::find(h.events.begin(), h.events.end(), "test") != h.events.end();
      if (o.skip_tests && test) continue;
      if (how.put)
        how.put(h.path, h.content);
      else
        hooks += source_block(h.path, h.content);
    }
  out.text = std::string(trim_space(*manifest)) + "\n" + hooks;
  return out;
}

}  // namespace

command_result template_command(const template_options& o, const render_runtime& runtime,
                                const peers& ask) {
  std::string warnings;
  auto warn = [&](const std::string& line) { warnings += log_line(line); };
  auto caps = default_capabilities();
  if (!o.kube_version.empty()) {
    auto v = parse_kube_version(o.kube_version);
    if (!v) return failure("invalid kube version '" + o.kube_version + "': " + v.error().text);
    caps.kube = *v;
  }
  caps.api_versions.insert(caps.api_versions.end(), o.api_versions.begin(), o.api_versions.end());
  auto name = choose_release_name({o.release_name.empty() ? "release-name" : o.release_name,
                                   o.name_template, o.generate_name, o.chart},
                                  runtime);
  if (!name) return failure(name.error().text);
  std::vector<std::string> notes;
  const auto began = runtime.steady ? runtime.steady() : std::chrono::nanoseconds();
  const auto debug = [&](const std::string& text) {
    if (!o.debug) return;
    const auto at = runtime.now ? runtime.now() : std::chrono::system_clock::time_point();
    warnings += debug_line(text, at, runtime.steady ? runtime.steady() - began : began);
  };
  debug("Original chart version: " + quote(o.origin.version));
  auto path = find_chart(o.chart, o.origin, ask.locate, notes);
  for (const auto& n : notes) warn(n);
  if (!path) return failure(path.error().text, warnings);
  debug("CHART PATH: " + absolute_path(*path) + "\n");
  auto user = values_of(o.values, ask);
  if (!user) return failure(user.error().text, warnings);
  notes.clear();
  auto c = load_chart(*path, notes);
  for (const auto& n : notes) warn(n);
  if (!c) return failure(c.error().text, warnings);
  auto& root = **c;
  if (root.meta.deprecated && root.meta.type != "library")
    warn("WARNING: This chart is deprecated");
  if (auto ok = check_installable(root); !ok) return failure(ok.error().text, warnings);
  if (auto bad = release_name_problem(*name)) return failure(*bad, warnings);
  auto values = values_to_render(
      root, *user, o.skip_schema_validation ? schema_check::skipped : schema_check::done, warn);
  if (!values) return failure(values.error().text, warnings);
  constexpr const char* hint = "\n\nUse --debug flag to render out invalid YAML";
  auto render_failure = [&](const std::string& text) {
    return failure(o.debug ? text : text + hint, warnings);
  };
  if (auto bad = kube_version_problem(root, caps)) return render_failure(*bad);
  auto parsed = parsed_chart::parse(*c);
  if (!parsed) return render_failure(parsed.error().text);
  release_options release;
  release.name = *name;
  release.name_space = o.name_space;
  release.is_install = !o.is_upgrade;
  release.is_upgrade = o.is_upgrade;
  render_options options;
  options.runtime = runtime;
  if (!options.runtime.log) options.runtime.log = warn;
  if (o.asks_cluster && ask.lookups) options.runtime.lookup = ask.lookups(o.cluster);
  auto files = parsed->render(*values, release, caps, options);
  if (!files) return render_failure(files.error().text);
  take_notes(*files, root.name(), notes_of::chart);  // not shown
  auto sorted = sort_manifests(*files, kind_order::install, warn);
  if (!sorted) {
    auto r = render_failure(sorted.error().text);
    if (o.debug) {
      std::string all;
      for (const auto& [path, text] : *files)
        if (!trim_space(text).empty()) all += source_block(path, text);
      r.out = std::string(trim_space(all)) + "\n";
    }
    return r;
  }
  auto shown = show_manifests(o, *name, runtime, root, *sorted);
  if (!shown) return render_failure(shown.error().text);
  if (shown->unwritten) return failure(shown->unwritten->text, warnings);
  command_result result;
  result.err = warnings;
  result.out = std::move(shown->wrote);
  if (o.show_only.empty()) {
    result.out += shown->text;
    return result;
  }
  auto chosen = only(o.show_only, shown->text);
  if (!chosen) return failure(chosen.error().text, warnings);
  result.out += *chosen;
  return result;
}

namespace {

/// As Helm does: a path that does not fit the values shows nothing.
outcome<std::string> values_at(const std::string& path, const value& values) {
  const auto read = formats::json_path::parse(path);
  if (!read) return problem{"error parsing jsonpath " + path + ": " + read.error()};
  const auto text = read->text(objects::to_json(values), formats::json_path::numbers::all_float);
  return text ? *text : std::string();
}

}  // namespace

command_result show_command(const show_options& o, const peers& ask) {
  std::vector<std::string> notes;
  auto path = find_chart(o.chart, o.origin, ask.locate, notes);
  command_result r;
  for (const auto& n : notes) r.err += n + "\n";
  if (!path) return failure(path.error().text, r.err);
  notes.clear();
  auto c = load_chart(*path, notes);
  if (!c) return failure(c.error().text, r.err);
  for (const auto& n : notes) r.err += log_line(n);
  if (!o.json_path.empty() && !(*c)->values.is_nil()) {
    auto shown = values_at(o.json_path, (*c)->values);
    if (!shown) return failure(shown.error().text, r.err);
    r.out = *std::move(shown);
    return r;
  }
  bool all = o.part == show_part::all;
  if (all || o.part == show_part::chart) {
    auto meta = chart_value(**c, true).object()->field("Metadata");
    r.out += write_go_yaml(*meta) ? *write_go_yaml(*meta) + "\n" : "";
  }
  if ((all || o.part == show_part::values) && !(*c)->values.is_nil()) {
    if (all) r.out += "---\n";
    for (const auto& f : (*c)->values_files) r.out += f.data + "\n";
  }
  if (all || o.part == show_part::readme) {
    for (const auto& f : (*c)->files) {
      auto name = lower(f.name);
      if (name != "readme.md" && name != "readme.txt" && name != "readme") continue;
      if (all) r.out += "---\n";
      r.out += f.data + "\n";
      break;
    }
  }
  if (all || o.part == show_part::crds) {
    const auto files = crd_files(**c);
    if (all && !files.empty() && !files.front().data->starts_with("---")) r.out += "---\n";
    for (const auto& f : files) r.out += *f.data + "\n";
  }
  return r;
}

namespace {

/// A folder, or an archive as the folder that it unpacks to.
lint_result lint_one(const std::string& path, const value& values, const lint_options& o,
                     const render_runtime& runtime) {
  if (!path.ends_with(".tgz") && !path.ends_with(".tar.gz"))
    return lint_chart(path, values, o, runtime);
  const reactor::private_folder unpacked("lint");
  if (unpacked.path().empty()) return {{}, "unable to create temp dir to extract tarball"};
  auto folder = unpack_for_lint(path, unpacked.path());
  if (!folder) return {{}, folder.error().text};
  return lint_chart(*folder, values, o, runtime);
}

}  // namespace

command_result lint_command(const lint_options& o, const render_runtime& runtime,
                            const peers& ask) {
  auto values = values_of(o.values, ask);
  if (!values) return failure(values.error().text);
  std::vector<std::string> charts = o.charts;
  if (o.with_subcharts)
    for (const auto& path : o.charts)
      for (auto& inner : charts_within(path)) charts.push_back(std::move(inner));
  command_result result;
  render_runtime told = runtime;
  if (!told.log) told.log = [&](const std::string& line) { result.err += log_line(line); };
  int failed = 0;
  bool told_of_any = false;
  for (const auto& path : charts) {
    auto found = lint_one(path, *values, o, told);
    auto worst = severity::unknown;
    for (const auto& m : found.messages) worst = std::max(worst, m.level);
    const bool unread = !found.failure.empty();
    if (unread || worst >= (o.strict ? severity::warning : severity::error)) ++failed;
    told_of_any = told_of_any || unread || worst > severity::info;
    if (o.quiet && !unread && worst < severity::warning) continue;
    result.out += "==> Linting " + path + "\n";
    if (unread) result.out += "Error " + found.failure + "\n";
    for (const auto& m : found.messages)
      if (!o.quiet || m.level > severity::info) result.out += message_text(m) + "\n";
    result.out += "\n";
  }
  auto summary = std::to_string(charts.size()) + " chart(s) linted, " + std::to_string(failed) +
                 " chart(s) failed";
  if (failed > 0) {
    result.fail(summary);
  } else if (!o.quiet || told_of_any) {
    result.out += summary + "\n";
  }
  return result;
}

command_result usage_end(const problem& p) {
  if (p.code == problem_code::described) return {p.text, "", 0};
  command_result r = failure(p.text);
  if (is_unsupported(p)) r.exit_code = 2;
  return r;
}

command_result run_command(std::span<const std::string> arguments, const render_runtime& runtime,
                           const peers& ask, const variables& of) {
  if (arguments.empty()) return failure("a command is needed: template, show, lint or create");
  auto rest = arguments.subspan(1);
  if (arguments[0] == "template") {
    auto o = parse_template_arguments(rest, of);
    if (!o) return usage_end(o.error());
    o->name_space = namespace_of(o->cluster, ask);
    return template_command(*o, runtime, ask);
  }
  if (arguments[0] == "show" || arguments[0] == "inspect") {
    auto o = parse_show_arguments(rest);
    return o ? show_command(*o, ask) : usage_end(o.error());
  }
  if (arguments[0] == "lint") {
    auto o = parse_lint_arguments(rest, of);
    if (!o) return usage_end(o.error());
    o->lint.name_space = namespace_of(o->cluster, ask);
    return lint_command(o->lint, runtime, ask);
  }
  if (arguments[0] == "create") return create_command(rest);
  return failure("unknown command " + quote(arguments[0]) + " for \"helm\"");
}

}  // namespace helm
