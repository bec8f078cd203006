#include "helm/lint/lint.hpp"

#include "formats/go/files.hpp"
#include "formats/plain/path.hpp"
#include "formats/semver.hpp"
#include "formats/yaml/reader.hpp"
#include "helm/charts/chart.hpp"
#include "helm/charts/chart_archive.hpp"
#include "helm/go.hpp"
#include "helm/lint/lint_rules.hpp"
#include "helm/render/render.hpp"
#include "helm/schema/schema.hpp"
#include "helm/values/check_schemas.hpp"
#include "helm/values/render_values.hpp"
#include "helm/values/values.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

namespace helm {
namespace {

namespace fs = std::filesystem;

bool is_request_url(std::string_view s) {
  auto colon = s.find("://");
  return colon != s.npos && colon > 0 && colon + 3 < s.size() && s.find(' ') == s.npos;
}

bool is_email(std::string_view s) {
  auto at = s.find('@');
  if (at == s.npos || at == 0 || s.find('@', at + 1) != s.npos) return false;
  auto host = s.substr(at + 1);
  return host.find('.') != host.npos && host.front() != '.' && host.back() != '.' &&
         s.find(' ') == s.npos;
}

class linter {
public:
  linter(std::string path, const value& user, const lint_options& o, const render_runtime& runtime)
      : path_(std::move(path)), user_(user), options_(o), runtime_(runtime) {
    if (runtime_.log) warn_ = runtime_.log;
  }

  lint_result run() {
    chart_file_rules();
    values_rules();
    template_rules();
    dependency_rules();
    return std::move(result_);
  }

private:
  /// True when the rule held.
  bool rule(severity level, const std::string& where, const std::string& text) {
    if (text.empty()) return true;
    result_.messages.push_back({level, where, text});
    return false;
  }

  void chart_file_rules() {
    constexpr const char* name = "Chart.yaml";
    fs::path file = fs::path(path_) / name;
    rule(severity::error, name, fs::is_directory(file) ? "should be a file, not a directory" : "");
    auto text = read_file(file.string());
    metadata m;
    std::string problem_text = text ? "" : text.error().text;
    if (text)
      if (auto read = read_metadata(*text, m); !read) problem_text = read.error().text;
    if (!rule(severity::error, name,
              problem_text.empty() ? "" : "unable to parse YAML\n\t" + problem_text))
      return;
    auto error = [&](const std::string& t) { rule(severity::error, name, t); };
    error(m.name.empty()                ? "name is required"
          : base_name(m.name) != m.name ? "chart name " + quote(m.name) + " is invalid"
                                        : "");
    if (m.api_version.empty())
      error("apiVersion is required. The value must be either \"v1\" or \"v2\"");
    else if (m.api_version != "v1" && m.api_version != "v2")
      error("apiVersion '" + m.api_version +
            "' is not valid. The value must be either \"v1\" or \"v2\"");
    auto raw = read_go_yaml_map(*text);
    auto typed = [&](const char* key) {
      const auto* v = raw ? raw->find(key) : nullptr;
      if (v && !v->is_string())
        error(std::string(key) + " should be of type string but it's of type " + v->type_name());
    };
    typed("version");
    if (m.version.empty()) {
      error("version is required");
    } else if (auto v = parse_lenient_version(m.version); !v) {
      error("version '" + m.version + "' is not a valid SemVer");
    } else if (!version_constraint::parse(">0.0.0-0")->check(*v)) {
      error("version " + quote(v->text()) + " is less than or equal to \"0.0.0-0\"");
    }
    typed("appVersion");
    for (const auto& p : m.maintainers) {
      std::string t;
      if (!p)
        t = "a maintainer entry is empty";
      else if (p->name.empty())
        t = "each maintainer requires a name";
      else if (!p->email.empty() && !is_email(p->email))
        t = "invalid email '" + p->email + "' for maintainer '" + p->name + "'";
      else if (!p->url.empty() && !is_request_url(p->url) && p->url.find('.') == std::string::npos)
        t = "invalid url '" + p->url + "' for maintainer '" + p->name + "'";
      if (!t.empty()) {
        error(t);
        break;
      }
    }
    for (const auto& s : m.sources)
      if (!is_request_url(s)) {
        error("invalid source URL '" + s + "'");
        break;
      }
    rule(severity::info, name, m.icon.empty() ? "icon is recommended" : "");
    error(!m.icon.empty() && !is_request_url(m.icon) ? "invalid icon URL '" + m.icon + "'" : "");
    error(!m.type.empty() && m.api_version != "v2"
              ? "chart type is not valid in apiVersion '" + m.api_version +
                    "'. It is valid in apiVersion 'v2'"
              : "");
    error(!m.dependencies.empty() && m.api_version != "v2"
              ? "dependencies are not valid in the Chart file with apiVersion '" + m.api_version +
                    "'. They are valid in apiVersion 'v2'"
              : "");
  }

  void values_rules() {
    const auto file = fs::path(path_) / "values.yaml";
    if (!rule(severity::info, "values.yaml", fs::exists(file) ? "" : "file does not exist")) return;
    auto text = read_file(file.string());
    auto v = text ? read_go_yaml_map(*text) : outcome<value>(text.error());
    auto failed = v ? "" : "unable to parse YAML: " + v.error().text;
    if (!rule(severity::error, "values.yaml",
              replace_all(failed, "type map[string]interface {}", "type chartutil.Values")))
      return;
    auto values = deep_copy(user_);
    coalesce_tables(values, *v, nulls::remove, "", warn_);
    auto schema = read_file((fs::path(path_) / "values.schema.json").string());
    if (!schema || schema->empty()) return;
    auto compiled = json_schema::compile(*schema);
    auto reasons = compiled ? compiled->check(values) : compiled.error().text;
    rule(severity::error, "values.yaml", reasons);
  }

  void template_rules() {
    fs::path directory = fs::path(path_) / "templates";
    std::error_code ec;
    if (fs::exists(directory, ec) && !fs::is_directory(directory, ec)) {
      rule(severity::warning, "templates/", "not a directory");
      return;
    }
    std::vector<std::string> notes;
    auto c = load_chart(path_, notes);
    if (!rule(severity::error, "templates/", c ? "" : c.error().text)) return;
    auto& root = **c;
    for (const auto& n : notes) warn_(n);
    auto values = values_to_render(root, user_, schema_check::skipped, warn_);
    if (!values) return;
    // Helm's linter coalesces what is coalesced already, so that a default that null deleted is
    // back, and a warning comes twice.
    values = coalesce_values(root, *values, nulls::remove, warn_);
    if (!rule(severity::error, "templates/", values ? "" : values.error().text)) return;
    if (!options_.skip_schema_validation)
      if (auto valid = check_schemas(root, *values); !valid) {
        rule(severity::error, "templates/", valid.error().text);
        return;
      }
    auto caps = default_capabilities();
    if (options_.kube) caps.kube = *options_.kube;
    release_options release;
    release.name = "test-release";
    release.name_space = options_.name_space;
    release.is_install = false;
    release.revision = 0;
    render_options how;
    how.lint = true;
    how.runtime = runtime_;
    auto parsed = parsed_chart::parse(*c);
    if (!rule(severity::error, "templates/", parsed ? "" : parsed.error().text)) return;
    auto files = parsed->render(*values, release, caps, how);
    if (!rule(severity::error, "templates/", files ? "" : files.error().text)) return;
    const lint_sink found = [&](severity level, const std::string& where, const std::string& text) {
      rule(level, where, text);
    };
    lint_templates(root, *files, std::atoi(caps.kube.minor.c_str()), found);
    if (options_.fleet) lint_for_fleets(root, *files, found);
  }

  void dependency_rules() {
    std::vector<std::string> notes;
    auto c = load_chart(path_, notes);
    for (const auto& n : notes) warn_(n);
    if (!rule(severity::error, "", c ? "" : "unable to load chart\n\t" + c.error().text)) return;
    const auto& declared = (*c)->meta.dependencies;
    const auto& loaded = (*c)->dependencies;
    auto listed = [&](std::string& list, const std::string& name) {
      list += (list.empty() ? "" : ",") + name;
    };
    std::string missing, undeclared, repeated;
    for (const auto& l : loaded)
      if (std::none_of(declared.begin(), declared.end(),
                       [&](const auto& d) { return d->name == l->name(); }))
        listed(undeclared, l->name());
    std::set<std::string> names;
    for (const auto& d : declared) {
      if (std::none_of(loaded.begin(), loaded.end(),
                       [&](const auto& l) { return l->name() == d->name; }))
        listed(missing, d->name);
      const auto& key = d->alias.empty() ? d->name : d->alias;
      if (!names.insert(key).second) listed(repeated, key);
    }
    auto report = [&](severity level, const char* what, const std::string& list) {
      if (!list.empty()) rule(level, path_, what + list);
    };
    report(severity::error, "chart metadata is missing these dependencies: ", undeclared);
    report(severity::error, "multiple dependencies with name or alias: ", repeated);
    report(severity::warning, "chart directory is missing these dependencies: ", missing);
  }

  std::string path_;
  const value& user_;
  const lint_options& options_;
  const render_runtime& runtime_;
  warning_sink warn_ = [](const std::string&) {};
  lint_result result_;
};

}  // namespace

outcome<std::string> unpack_for_lint(const std::string& archive, const std::string& into) {
  auto bytes = read_file(archive);
  if (!bytes) return problem{"unable to open tarball: " + bytes.error().text};
  const auto failed = [](const std::string& why) {
    return problem{"unable to extract tarball: " + why};
  };
  auto files = read_archive(*bytes);
  if (!files) return failed(files.error().text);
  metadata m;
  for (const auto& f : *files)
    if (f.name == "Chart.yaml")
      if (auto read = read_metadata(f.data, m); !read)
        return failed("cannot load Chart.yaml: " + read.error().text);
  if (m.name.empty()) return failed("chart name not specified");
  if (m.name == "." || m.name == "..")
    return failed("chart name " + quote(m.name) + " is not allowed");
  if (m.name != base_name(m.name))
    return failed("chart name " + quote(m.name) + " must not contain path separators");
  const auto chart = fs::path(into) / m.name;
  for (const auto& f : *files) {
    const auto to = chart / f.name;  // read_archive refuses names that lead out
    std::error_code ec;
    fs::create_directories(to.parent_path(), ec);
    std::ofstream out(to, std::ios::binary);
    out << f.data;
    if (!out.flush()) return failed("open " + to.string() + ": it cannot be written");
  }
  return chart.string();
}

lint_result lint_chart(const std::string& folder, const value& values, const lint_options& o,
                       const render_runtime& runtime) {
  const auto file = clean_path(folder + "/Chart.yaml");
  std::error_code ec;
  static_cast<void>(fs::status(file, ec));
  if (ec)
    return {{},
            "unable to check Chart.yaml file in chart: stat " + file + ": " + lower(ec.message())};
  // Messages name the chart by its absolute path, as Helm's do.
  return linter(clean_path(fs::absolute(folder, ec).string()), values, o, runtime).run();
}

std::vector<std::string> charts_within(const std::string& path) {
  std::vector<std::string> out;
  const auto walk = [&](auto&& self, const std::string& at) -> void {
    std::error_code ec;
    std::vector<std::string> names;
    for (const auto& e : fs::directory_iterator(at, ec))
      names.push_back(e.path().filename().string());
    std::sort(names.begin(), names.end());
    for (const auto& n : names) {
      const auto full = at + "/" + n;
      if (n == "Chart.yaml")
        out.push_back(at);
      else if (n.ends_with(".tgz") || n.ends_with(".tar.gz"))
        out.push_back(full);
      if (fs::is_directory(fs::symlink_status(full, ec))) self(self, full);
    }
  };
  walk(walk, clean_path(path + "/charts"));
  return out;
}

std::string message_text(const lint_message& m) {
  static constexpr const char* names[] = {"UNKNOWN", "INFO", "WARNING", "ERROR"};
  return std::string("[") + names[static_cast<unsigned>(m.level)] + "] " + m.path + ": " + m.text;
}

}  // namespace helm
