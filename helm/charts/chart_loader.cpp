#include "formats/go/files.hpp"
#include "formats/plain/path.hpp"
#include "formats/semver.hpp"
#include "formats/yaml/reader.hpp"
#include "helm/charts/bounded.hpp"
#include "helm/charts/chart.hpp"
#include "helm/charts/chart_archive.hpp"
#include "helm/charts/chart_ignore.hpp"
#include "helm/charts/content_type.hpp"
#include "helm/go.hpp"
#include "helm/schema/schema.hpp"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <map>
#include <set>

namespace helm {
namespace {

/// A member of a decoded struct: by exact name, else by any case.
const value* member(const value& v, std::string_view name) {
  if (const auto* exact = v.find(name)) return exact;
  for (const auto& [key, item] : v.entries())
    if (equal_fold(key, name)) return &item;
  return nullptr;
}

problem mismatch(const value& v, const std::string& field, const std::string& wanted) {
  return {"error unmarshaling JSON: while decoding JSON: json: cannot unmarshal " +
          std::string(json_kind(v)) + " into Go struct field " + field + " of type " + wanted};
}

/// Decodes members of one struct, keeping the first problem.
class decoder {
public:
  decoder(const value& v, std::string type) : v_(v), type_(std::move(type)) {}
  problem failure;

  void text(const char* name, std::string& out) {
    const auto* v = find(name);
    if (!v) return;
    auto s = text_of_scalar(*v);
    if (s.is_string())
      out = s.text();
    else
      fail(*v, name, "string");
  }
  void texts(const char* name, std::vector<std::string>& out) {
    const auto* v = find(name);
    if (!v) return;
    if (!v->is_list()) {
      fail(*v, name, "[]string");
      return;
    }
    out.clear();
    for (const auto& item : v->items()) {
      auto s = text_of_scalar(item);
      if (s.is_string() || s.is_nil())
        out.push_back(s.text());
      else
        fail(item, name, "string");
    }
  }
  void flag(const char* name, bool& out) {
    const auto* v = find(name);
    if (!v) return;
    if (v->kind() == type::boolean)
      out = v->boolean();
    else
      fail(*v, name, "bool");
  }
  const value* find(const char* name) {
    const auto* v = member(v_, name);
    return v && !v->is_nil() ? v : nullptr;
  }
  void fail(const value& v, const char* name, const std::string& wanted) {
    if (failure.text.empty()) failure = mismatch(v, type_ + "." + name, wanted);
  }

private:
  const value& v_;
  std::string type_;
};

problem decode_dependency(const value& v, dependency& out) {
  decoder d(v, "Metadata.dependencies");
  d.text("name", out.name);
  d.text("version", out.version);
  d.text("repository", out.repository);
  d.text("condition", out.condition);
  d.texts("tags", out.tags);
  d.flag("enabled", out.enabled);
  d.text("alias", out.alias);
  if (const auto* imports = d.find("import-values")) {
    if (imports->is_list())
      out.import_values = *imports;
    else
      d.fail(*imports, "import-values", "[]interface {}");
  }
  return d.failure;
}

problem decode_maintainer(const value& v, maintainer& m) {
  decoder d(v, "Metadata.maintainers");
  d.text("name", m.name);
  d.text("email", m.email);
  d.text("url", m.url);
  return d.failure;
}

/// A list of pointers to structs: null stays null, and the first failure is the one that counts.
template <class T>
void decode_structs(decoder& d, const char* name, const std::string& type,
                    std::vector<std::shared_ptr<T>>& into, problem (*decode)(const value&, T&)) {
  const value* list = d.find(name);
  if (!list) return;
  if (!list->is_list()) d.fail(*list, name, "[]*chart." + type);
  into.clear();
  for (const auto& item : list->items()) {
    if (item.is_nil()) {
      into.push_back(nullptr);
      continue;
    }
    if (!item.is_map()) {
      d.fail(item, name, "chart." + type);
      break;
    }
    auto one = std::make_shared<T>();
    problem failure = decode(item, *one);
    if (!failure.text.empty() && d.failure.text.empty()) d.failure = std::move(failure);
    into.push_back(std::move(one));
  }
}

problem decode_metadata(const value& v, metadata& m) {
  decoder d(v, "Metadata");
  d.text("name", m.name);
  d.text("home", m.home);
  d.texts("sources", m.sources);
  d.text("version", m.version);
  d.text("description", m.description);
  d.texts("keywords", m.keywords);
  decode_structs(d, "maintainers", "Maintainer", m.maintainers, decode_maintainer);
  d.text("icon", m.icon);
  d.text("apiVersion", m.api_version);
  d.text("condition", m.condition);
  d.text("tags", m.tags);
  d.text("appVersion", m.app_version);
  d.flag("deprecated", m.deprecated);
  if (const auto* map = d.find("annotations")) {
    if (!map->is_map()) d.fail(*map, "annotations", "map[string]string");
    m.has_annotations = true;
    for (const auto& [key, item] : map->entries()) {
      auto s = text_of_scalar(item);
      if (s.is_string() || s.is_nil())
        m.annotations[key] = s.text();
      else
        d.fail(item, "annotations", "string");
    }
  }
  d.text("kubeVersion", m.kube_version);
  decode_structs(d, "dependencies", "Dependency", m.dependencies, decode_dependency);
  if (d.find("dependencies")) m.has_dependencies = true;
  d.text("type", m.type);
  return d.failure;
}

outcome<chart_lock> read_lock(const std::string& text) {
  auto v = read_go_yaml(text, yaml_numbers::typed);
  if (!v) return problem{"error converting YAML to JSON: " + v.error().text};
  chart_lock out;
  if (!v->is_map()) return out;
  decoder d(*v, "Lock");
  d.text("digest", out.digest);
  d.text("generated", out.generated);
  if (const auto* list = d.find("dependencies"))
    for (const auto& item : list->items()) {
      locked_dependency l;
      decoder inner(item, "Lock.dependencies");
      inner.text("name", l.name);
      inner.text("version", l.version);
      inner.text("repository", l.repository);
      out.dependencies.push_back(std::move(l));
    }
  if (!d.failure.text.empty()) return d.failure;
  return out;
}

/// Printable text with plain spaces.
void sanitize(std::string& s) {
  std::string out;
  for (std::string_view rest = s; !rest.empty();) {
    auto d = decode_rune(rest);
    if (is_space(d.rune))
      out += ' ';
    else if (is_print(d.rune))
      append_rune(out, d.rune);
    rest.remove_prefix(static_cast<std::size_t>(d.size));
  }
  s = out;
}

std::string extension(std::string_view name) {
  auto at = name.find_last_of("./");
  return at != name.npos && name[at] == '.' ? std::string(name.substr(at)) : std::string();
}

/// What Go's filepath.EvalSymlinks says of a link that cannot be followed: it names the first part
/// of the way that is not there.
std::string why_it_leads_nowhere(const std::filesystem::path& link) {
  namespace fs = std::filesystem;
  constexpr int most_links = 255;
  fs::path at;
  std::deque<fs::path> ahead(link.begin(), link.end());
  for (int links = 0; !ahead.empty();) {
    const fs::path part = std::move(ahead.front());
    ahead.pop_front();
    if (part == "..") at = at.parent_path();
    if (part.empty() || part == "." || part == "..") continue;
    const fs::path next = at / part;
    std::error_code ec;
    const auto status = fs::symlink_status(next, ec);
    if (!fs::exists(status)) return "lstat " + next.string() + ": no such file or directory";
    if (!fs::is_symlink(status)) {
      at = next;
      continue;
    }
    if (++links > most_links) break;
    const fs::path to = fs::read_symlink(next, ec);
    ahead.insert(ahead.begin(), to.begin(), to.end());
  }
  return "EvalSymlinks: too many links";
}

outcome<std::vector<chart_file>> read_directory(const std::string& directory,
                                                std::vector<std::string>& warnings) {
  namespace fs = std::filesystem;
  ignore_rules rules;
  if (const auto path = fs::path(directory) / ".helmignore"; fs::exists(path)) {
    auto text = read_file(path.string(), chart_file_bytes_limit);
    if (!text) return text.error();
    auto parsed = ignore_rules::parse(*text);
    if (!parsed) return parsed.error();
    rules = std::move(*parsed);
  }
  rules.add_defaults();
  std::vector<chart_file> out;
  problem failure;
  std::set<fs::path> open;
  auto walk = [&](auto&& self, const fs::path& at, const std::string& prefix) -> bool {
    std::error_code ec;
    // Links may lead back to where the walk came from.
    auto real = fs::canonical(at, ec);
    if (ec || !open.insert(real).second) return true;
    std::vector<fs::path> names;
    for (const auto& e : fs::directory_iterator(at, ec)) names.push_back(e.path().filename());
    std::sort(names.begin(), names.end());
    for (const auto& n : names) {
      auto full = at / n;
      auto name = prefix + n.string();
      auto status = fs::status(full, ec);
      if (ec || !fs::exists(status)) {
        failure = {"error evaluating symlink " + full.string() + ": " + why_it_leads_nowhere(full)};
        return false;
      }
      if (fs::is_symlink(fs::symlink_status(full, ec)))
        warnings.push_back("found symbolic link in path: " + full.string() + " resolves to " +
                           fs::canonical(full, ec).string() +
                           ". Contents of linked file included and used");
      if (fs::is_directory(status)) {
        if (!rules.ignored(name, true) && !self(self, full, name + "/")) return false;
        continue;
      }
      if (rules.ignored(name, false)) continue;
      if (!fs::is_regular_file(status)) {
        failure = {"cannot load irregular file " + full.string() +
                   " as it has file mode type bits set"};
        return false;
      }
      if (fs::file_size(full, ec) > chart_file_bytes_limit) {
        failure = {"chart file " + quote(n.string()) + " is larger than the maximum file size " +
                   std::to_string(chart_file_bytes_limit)};
        return false;
      }
      auto data = read_file(full.string(), chart_file_bytes_limit);
      if (!data) {
        failure = {"error reading " + name + ": " + data.error().text};
        return false;
      }
      out.push_back({name, without_bom(std::move(*data))});
    }
    open.erase(real);
    return true;
  };
  if (!walk(walk, clean_path(fs::absolute(directory).string()), "")) return failure;
  return out;
}

}  // namespace

outcome<bool> read_metadata(std::string_view yaml, metadata& out) {
  auto v = read_go_yaml(yaml, yaml_numbers::typed);
  if (!v) return problem{"error converting YAML to JSON: " + v.error().text};
  return metadata_from(*v, out);
}

outcome<bool> metadata_from(const value& v, metadata& out) {
  if (v.is_nil()) return true;
  if (!v.is_map())
    return problem{"error unmarshaling JSON: while decoding JSON: json: cannot unmarshal " +
                   std::string(json_kind(v)) + " into Go value of type chart.Metadata"};
  auto failure = decode_metadata(v, out);
  if (!failure.text.empty()) return failure;
  return true;
}

outcome<bool> validate_metadata(metadata& m) {
  auto fail = [](const std::string& text) { return problem{"validation: " + text}; };
  for (auto* s : {&m.name, &m.description, &m.home, &m.icon, &m.condition, &m.tags, &m.app_version,
                  &m.kube_version})
    sanitize(*s);
  for (auto* list : {&m.sources, &m.keywords})
    for (auto& s : *list) sanitize(s);
  if (m.api_version.empty()) return fail("chart.metadata.apiVersion is required");
  if (m.name.empty()) return fail("chart.metadata.name is required");
  if (m.name == "." || m.name == "..")
    return fail("chart.metadata.name " + quote(m.name) + " is not allowed");
  if (m.name != base_name(m.name))
    return fail("chart.metadata.name " + quote(m.name) + " is invalid");
  if (m.version.empty()) return fail("chart.metadata.version is required");
  if (!parse_lenient_version(m.version))
    return fail("chart.metadata.version " + quote(m.version) + " is invalid");
  if (!m.type.empty() && m.type != "application" && m.type != "library")
    return fail("chart.metadata.type must be application or library");
  for (const auto& p : m.maintainers) {
    if (!p) return fail("maintainers must not contain empty or null nodes");
    for (auto* s : {&p->name, &p->email, &p->url}) sanitize(*s);
  }
  std::set<std::string> names;
  for (const auto& d : m.dependencies) {
    if (!d) return fail("dependencies must not contain empty or null nodes");
    for (auto* s : {&d->name, &d->version, &d->repository, &d->condition}) sanitize(*s);
    for (auto& s : d->tags) sanitize(s);
    for (char c : d->alias)
      if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
            c == '_' || c == '-'))
        return fail("dependency " + quote(d->name) + " has disallowed characters in the alias");
    const auto& key = d->alias.empty() ? d->name : d->alias;
    if (!names.insert(key).second)
      return problem{"validation: more than one dependency with name or alias " + quote(key),
                     problem_code::duplicate};
  }
  return true;
}

outcome<chart_ptr> load_files(std::vector<chart_file> files, std::vector<std::string>& warnings) {
  chart_budget left;
  return load_files(std::move(files), warnings, left);
}

outcome<chart_ptr> load_files(std::vector<chart_file> files, std::vector<std::string>& warnings,
                              chart_budget& left) {
  auto c = std::make_shared<chart>();
  bool has_metadata = false;
  for (const auto& f : files) {
    if (f.name != "Chart.yaml") continue;
    has_metadata = true;
    auto read = read_metadata(f.data, c->meta);
    if (!read) return problem{"cannot load Chart.yaml: " + read.error().text};
    if (c->meta.api_version.empty()) c->meta.api_version = "v1";
  }
  std::map<std::string, std::vector<chart_file>> subcharts;
  for (auto& f : files) {
    if (f.name == "Chart.yaml") continue;
    if (f.name == "Chart.lock" || f.name == "requirements.lock") {
      auto lock = read_lock(f.data);
      if (!lock) return problem{"cannot load " + f.name + ": " + lock.error().text};
      c->lock = std::move(*lock);
      if (f.name == "Chart.lock") continue;
      has_metadata = true;
      if (c->meta.api_version != "v1")
        warnings.push_back(
            "Warning: Dependency locking is handled in Chart.lock since apiVersion \"v2\". We "
            "recommend migrating to Chart.lock.");
      else
        c->files.push_back(std::move(f));
    } else if (f.name == "values.yaml") {
      auto v = read_go_yaml_map(f.data);
      if (!v) return problem{"cannot load values.yaml: " + v.error().text};
      c->values = std::move(*v);
      c->values_files.push_back(std::move(f));
    } else if (f.name == "values.schema.json") {
      c->schema = std::move(f.data);
      c->compiled = std::make_shared<schema_memo>();
    } else if (f.name == "requirements.yaml") {
      has_metadata = true;
      if (c->meta.api_version != "v1")
        warnings.push_back(
            "Warning: Dependencies are handled in Chart.yaml since apiVersion \"v2\". We recommend "
            "migrating dependencies to Chart.yaml.");
      auto read = read_metadata(f.data, c->meta);
      if (!read) return problem{"cannot load requirements.yaml: " + read.error().text};
      if (c->meta.api_version == "v1") c->files.push_back(std::move(f));
    } else if (f.name.starts_with("templates/")) {
      c->templates.push_back(std::move(f));
    } else if (f.name.starts_with("charts/")) {
      if (extension(f.name) == ".prov") {
        c->files.push_back(std::move(f));
        continue;
      }
      auto name = f.name.substr(7);
      subcharts[name.substr(0, name.find('/'))].push_back({name, std::move(f.data)});
    } else {
      c->files.push_back(std::move(f));
    }
  }
  if (!has_metadata) return problem{"Chart.yaml file is missing"};
  if (auto valid = validate_metadata(c->meta); !valid) return valid.error();
  for (auto& [name, parts] : subcharts) {
    if (name.starts_with('_') || name.starts_with('.')) continue;
    outcome<chart_ptr> sub = problem{};
    if (extension(name) == ".tgz") {
      if (parts[0].name != name)
        return problem{"error unpacking subchart tar in " + c->name() + ": expected " + name +
                       ", got " + parts[0].name};
      --left.nesting;
      auto unpacked = read_archive(parts[0].data, left);
      sub = unpacked ? load_files(std::move(*unpacked), warnings, left)
                     : outcome<chart_ptr>(unpacked.error());
      ++left.nesting;
    } else {
      std::vector<chart_file> inner;
      for (auto& p : parts)
        if (auto slash = p.name.find('/'); slash != p.name.npos)
          inner.push_back({p.name.substr(slash + 1), std::move(p.data)});
      // A folder in charts/ of a folder in charts/ names what lies in it once a level.
      for (const auto& f : inner) {
        count_steps(1 + f.name.size() / 256);
        hold_bytes(bytes_per_file + f.name.size());
      }
      sub = load_files(std::move(inner), warnings, left);
    }
    if (!sub)
      return problem{"error unpacking subchart " + name + " in " + c->name() + ": " +
                     sub.error().text};
    c->dependencies.push_back(std::move(*sub));
  }
  return c;
}

outcome<chart_ptr> load_archive(std::string_view bytes, std::vector<std::string>& warnings,
                                const chart_limits& limits) {
  return bounded("the chart cannot be loaded", limits, [&]() -> outcome<chart_ptr> {
    chart_budget left(limits);
    auto files = read_archive(bytes, left);
    if (!files) return files.error();
    return load_files(std::move(*files), warnings, left);
  });
}

std::string chart_path(const chart& c, const std::string& above) {
  if (!c.place) return above.empty() ? c.name() : above + "/charts/" + c.name();
  std::string path = c.place->name;
  for (const auto* p = c.place->parent.get(); p; p = p->parent.get())
    path.insert(0, p->name + "/charts/");
  return path;
}

outcome<chart_ptr> load_chart(const std::string& path, std::vector<std::string>& warnings) {
  std::error_code ec;
  auto status = std::filesystem::status(path, ec);
  if (!std::filesystem::exists(status))
    return problem{"stat " + path + ": no such file or directory"};
  if (std::filesystem::is_directory(status)) {
    auto files = read_directory(path, warnings);
    if (!files) return files.error();
    return bounded("the chart cannot be loaded", chart_limits(),
                   [&] { return load_files(std::move(*files), warnings); });
  }
  auto data = read_file(path);
  if (!data) return data.error();
  if (const auto type = content_type(*data); type != "application/x-gzip") {
    if (path.ends_with(".yml") || path.ends_with(".yaml"))
      return problem{"file '" + path + "' seems to be a YAML file, but expected a gzipped archive"};
    return problem{"file '" + path + "' does not appear to be a gzipped archive; got '" +
                   std::string(type) + "'"};
  }
  return load_archive(*data, warnings);
}

}  // namespace helm
