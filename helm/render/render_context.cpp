// Everything a template finds under its root, with the methods of each; one table of what charts
// can see.
#include "helm/render/render_context.hpp"

#include "formats/base64.hpp"
#include "formats/plain/deep_stack.hpp"
#include "formats/plain/path.hpp"
#include "formats/yaml/writer.hpp"
#include "helm/chart_types.hpp"
#include "helm/go.hpp"
#include "helm/render/struct_value.hpp"
#include "helm/template/executor.hpp"
#include "helm/template/function.hpp"

#include <algorithm>

namespace helm {
namespace {

using args = std::span<value>;
using field_list = std::vector<std::pair<std::string, value>>;

/// A plain Go struct: fields with their Go and JSON names, empty ones left out of JSON.
class structure : public object {
public:
  structure(std::string type, field_list fields, std::vector<std::string> json_names)
      : type_(std::move(type)), fields_(std::move(fields)), json_names_(std::move(json_names)) {}
  std::string type_name() const override { return type_; }
  field_list fields() const override { return fields_; }
  std::optional<value> field(std::string_view name) const override {
    for (const auto& [key, v] : fields_)
      if (key == name) return v;
    return std::nullopt;
  }
  std::optional<field_list> json_fields() const override {
    field_list out;
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      const auto& name = json_names_[i];
      bool omit_empty = name.starts_with('?');
      const auto& v = fields_[i].second;
      if (omit_empty && v.empty()) continue;
      out.emplace_back(omit_empty ? name.substr(1) : name, v);
    }
    return out;
  }
  bool equals(const object& other) const override {
    const auto& o = static_cast<const structure&>(other);
    for (std::size_t i = 0; i < fields_.size(); ++i)
      if (!deep_equal(fields_[i].second, o.fields_[i].second)) return false;
    return true;
  }

private:
  std::string type_;
  field_list fields_;
  std::vector<std::string> json_names_;
};

/// A structure reached through a pointer.
class pointer final : public structure {
public:
  using structure::structure;
  std::string kind_name() const override { return "ptr"; }
};

value m_kube_string(executor&, args a) {
  return *a[0].object()->field("Version");
}
constexpr function kube_methods[] = {make_function("String", {}, m_kube_string),
                                     make_function("GitVersion", {}, m_kube_string)};
const method_table kube_table{kube_methods};

class kube_object final : public structure {
public:
  explicit kube_object(const kube_version& v, bool addressed = true)
      : structure("chartutil.KubeVersion",
                  {{"Version", v.version}, {"Major", v.major}, {"Minor", v.minor}},
                  {"Version", "Major", "Minor"}),
        version_(v),
        addressed_(addressed) {}
  // String has a pointer receiver: only a value that is printed where it lies has it.
  std::optional<std::string> addressed_text() const override {
    return addressed_ ? std::optional(version_.version) : std::nullopt;
  }
  std::optional<value> detached() const override {
    return value::object(new kube_object(version_, false));
  }
  const method_table* methods() const override { return addressed_ ? &kube_table : nullptr; }

private:
  kube_version version_;
  bool addressed_;
};

/// struct { chart.Metadata; IsRoot bool }: the embedded fields are its own.
class chart_object final : public object {
public:
  chart_object(value m, bool is_root) : metadata_(std::move(m)), is_root_(is_root) {}
  std::string type_name() const override { return "struct { chart.Metadata; IsRoot bool }"; }
  field_list fields() const override { return {{"Metadata", metadata_}, {"IsRoot", is_root_}}; }
  std::optional<value> field(std::string_view name) const override {
    if (name == "IsRoot") return value(is_root_);
    if (name == "Metadata") return metadata_;
    return metadata_.object()->field(name);
  }
  std::optional<field_list> json_fields() const override {
    auto out = *metadata_.object()->json_fields();
    out.emplace_back("IsRoot", is_root_);
    return out;
  }
  bool equals(const object& other) const override {
    const auto& o = static_cast<const chart_object&>(other);
    return is_root_ == o.is_root_ && metadata_.object()->equals(*o.metadata_.object());
  }

private:
  value metadata_;
  bool is_root_;
};

value string_list(const std::vector<std::string>& v) {
  return v.empty() ? value::nil_of(type::string_list) : value::strings(v);
}

value maintainer_value(const maintainer& m) {
  return value::object(new pointer("*chart.Maintainer",
                                   {{"Name", m.name}, {"Email", m.email}, {"URL", m.url}},
                                   {"?name", "?email", "?url"}));
}
value dependency_value(const dependency& d) {
  return value::object(new pointer(
      "*chart.Dependency",
      {{"Name", d.name},
       {"Version", d.version},
       {"Repository", d.repository},
       {"Condition", d.condition},
       {"Tags", string_list(d.tags)},
       {"Enabled", d.enabled},
       {"ImportValues", d.import_values.is_nil() ? value::nil_of(type::list) : d.import_values},
       {"Alias", d.alias}},
      {"name", "?version", "repository", "?condition", "?tags", "?enabled", "?import-values",
       "?alias"}));
}

// Methods of chartutil.Values.

value m_as_map(executor&, args a) {
  if (a[0].size() == 0) return value::map_type{};
  return a[0].as(type::map);
}
outcome<value> table_at(value v, std::string_view path) {
  for (const auto& name : split(path, ".")) {
    const auto* found = v.find(name);
    if (!found || !found->is_any_map()) return problem{quote(name) + " is not a table"};
    value next = *found;
    v = next.as(chart_type::values);
  }
  return v;
}
value m_table(executor&, args a) {
  auto t = table_at(a[0], a[1].text());
  if (!t) throw function_error(t.error().text);
  return *t;
}
value m_path_value(executor&, args a) {
  const auto& path = a[1].text();
  if (path.empty()) throw function_error("YAML path cannot be empty");
  auto dot = path.rfind('.');
  auto key = dot == path.npos ? path : path.substr(dot + 1);
  value t = a[0];
  if (dot != path.npos) {
    auto found = table_at(a[0], std::string_view(path).substr(0, dot));
    if (!found) throw function_error(quote(key) + " is not a value");
    t = *found;
  }
  const auto* v = t.find(key);
  if (!v || v->kind() == type::map) throw function_error(quote(key) + " is not a value");
  return *v;
}
value m_yaml(executor&, args a) {
  auto out = write_go_yaml(a[0]);
  if (!out) throw function_error(out.error().text);
  return *out;
}
constexpr function values_methods[] = {
    make_function("AsMap", {}, m_as_map),
    make_function("Table", {param::string}, m_table),
    make_function("PathValue", {param::string}, m_path_value, false, true),
    make_function("YAML", {}, m_yaml),
};
const method_table values_table{values_methods};

value m_has(executor&, args a) {
  return std::any_of(a[0].items().begin(), a[0].items().end(),
                     [&](const value& v) { return v.text() == a[1].text(); });
}
constexpr function version_set_methods[] = {make_function("Has", {param::string}, m_has)};
const method_table version_set_table{version_set_methods};

// Methods of engine.files.

value m_get(executor&, args a) {
  const auto* f = a[0].find(a[1].text());
  return f ? value(f->text()) : value("");
}
value m_get_bytes(executor&, args a) {
  const auto* f = a[0].find(a[1].text());
  return f ? *f : value::bytes("");
}
value m_lines(executor&, args a) {
  const auto* f = a[0].find(a[1].text());
  if (!f || f->size() == 0) return value(value::list_type{}, type::string_list);
  std::string_view s = f->text();
  if (s.back() == '\n') s.remove_suffix(1);
  return value::strings(split(s, "\n"));
}

/// One glob of gobwas/glob with the separator '/': * and ? stay in a segment, ** crosses, [..] and
/// {a,b}. A brace that nothing closes ends with the pattern, and a backslash at its end is nothing.
class glob {
public:
  explicit glob(std::string_view pattern) : all_(pattern) {
    row_ = all_.find_first_of("*{") == all_.npos && all_.find_first_of("?[") != all_.npos;
    for (std::string_view p = all_; valid_ && !p.empty();) {
      if (p[0] == '[')
        valid_ = static_cast<bool>(take_set(p));
      else
        p.remove_prefix(p[0] == '\\' && p.size() > 1 ? 2 : 1);
    }
  }
  /// A pattern that cannot be read matches everything, as Helm has it.
  bool match(std::string_view s) const {
    if (!valid_) return true;
    return row_ ? in_a_row(s) : here(all_, s, 0);
  }

private:
  /// "[a-c]", "[!a-c]", or any characters: "[abc-]".
  struct set {
    char32_t low = 0, high = 0;
    std::string characters;
    bool negated = false;
    bool has(char32_t r) const {
      if (characters.empty()) return (low <= r && r <= high) != negated;
      std::string text;
      append_rune(text, r);
      return (characters.find(text) != characters.npos) != negated;
    }
  };
  static char32_t take_rune(std::string_view& p) {
    const auto d = decode_rune(p);
    p.remove_prefix(static_cast<std::size_t>(d.size));
    return d.rune;
  }
  /// Consumes the set that `p` begins with; nothing for one that cannot be read.
  static std::optional<set> take_set(std::string_view& p) {
    set out;
    p.remove_prefix(1);
    if (p.starts_with('!')) {
      out.negated = true;
      p.remove_prefix(1);
    }
    if (p.empty()) return std::nullopt;
    auto rest = p;
    out.low = take_rune(rest);
    if (rest.starts_with('-')) {
      rest.remove_prefix(1);
      if (rest.empty()) return std::nullopt;
      out.high = take_rune(rest);
      if (out.high < out.low || !rest.starts_with(']')) return std::nullopt;
      p = rest.substr(1);
      return out;
    }
    while (!p.empty() && p[0] != ']') {
      if (p[0] == '\\') p.remove_prefix(1);
      if (!p.empty()) append_rune(out.characters, take_rune(p));
    }
    if (p.empty() || out.characters.empty()) return std::nullopt;
    p.remove_prefix(1);
    return out;
  }
  /// Texts, ? and sets alone: gobwas takes as many runes as each matches, and of the last of them
  /// one byte, so that what is not ASCII there matches nothing.
  bool in_a_row(std::string_view s) const {
    const auto take = [&s](std::size_t runes) -> std::optional<std::string_view> {
      std::size_t at = 0;
      for (std::size_t n = 1; n < runes && at < s.size(); ++n)
        at += static_cast<std::size_t>(decode_rune(s.substr(at)).size);
      if (at >= s.size()) return std::nullopt;
      const auto taken = s.substr(0, at + 1);
      s.remove_prefix(at + 1);
      return taken;
    };
    for (std::string_view p = all_; !p.empty();) {
      count_steps(4);
      if (p[0] == '?' || p[0] == '[') {
        std::optional<set> of;
        if (p[0] == '[')
          of = take_set(p);
        else
          p.remove_prefix(1);
        const auto one = take(1);
        if (!one) return false;
        const char32_t r = decode_rune(*one).rune;
        if (of ? !of->has(r) : r == '/') return false;
        continue;
      }
      std::string text;
      while (!p.empty() && p[0] != '?' && p[0] != '[') {
        if (p[0] == '\\') p.remove_prefix(1);
        if (!p.empty()) append_rune(text, take_rune(p));
      }
      if (!text.empty() && take(rune_count(text)) != text) return false;
    }
    return s.empty();
  }
  /// The pattern's alternatives at an opening brace, and what follows the closing one.
  static std::vector<std::string> alternatives(std::string_view p, std::size_t& end) {
    count_steps(1 + p.size() / 8);
    std::vector<std::string> out(1);
    int depth = 0;
    for (std::size_t i = 0; i < p.size(); ++i) {
      char c = p[i];
      if (c == '\\' && i + 1 < p.size()) {
        out.back() += c;
        out.back() += p[++i];
        continue;
      }
      if (c == '{' && depth++ == 0) continue;
      if (c == '}' && --depth == 0) {
        end = i + 1;
        return out;
      }
      if (c == ',' && depth == 1) {
        out.emplace_back();
        continue;
      }
      out.back() += c;
    }
    end = p.size();
    return out;
  }
  static bool here(std::string_view p, std::string_view s, int depth) {
    if (depth > 200) return false;
    while (!p.empty()) {
      count_steps(4);
      if (p[0] == '*') {
        bool deep = p.starts_with("**");
        while (p.starts_with('*')) p.remove_prefix(1);
        for (std::size_t i = 0;; ++i) {
          if (here(p, s.substr(i), depth + 1)) return true;
          if (i >= s.size() || (!deep && s[i] == '/')) return false;
        }
      }
      if (p[0] == '{') {
        std::size_t end = 0;
        for (const auto& choice : alternatives(p, end))
          if (here(choice + std::string(p.substr(end)), s, depth + 1)) return true;
        return false;
      }
      if (p == "\\") return s.empty();
      if (s.empty()) return false;
      auto d = decode_rune(s);
      auto size = static_cast<std::size_t>(d.size);
      if (p[0] == '?') {
        if (d.rune == '/') return false;
        p.remove_prefix(1);
      } else if (p[0] == '[') {
        const auto of = take_set(p);
        if (!of || !of->has(d.rune)) return false;
      } else {
        if (p[0] == '\\') p.remove_prefix(1);
        auto want = decode_rune(p);
        if (want.rune != d.rune) return false;
        p.remove_prefix(static_cast<std::size_t>(want.size));
      }
      s.remove_prefix(size);
    }
    return s.empty();
  }
  std::string all_;
  bool valid_ = true, row_ = false;
};

value m_glob(executor&, args a) {
  glob g(a[1].text());
  value::map_type out;
  for (const auto& [name, data] : a[0].entries())
    if (g.match(name)) out.emplace(name, data);
  return value(std::move(out), chart_type::files);
}
std::string by_base_name(const value& files, bool encoded) {
  value::map_type out;
  for (const auto& [name, data] : files.entries())
    out[base_name(name)] = encoded ? encode_base64(data.text()) : data.text();
  auto yaml = write_go_yaml(value(std::move(out)));
  if (!yaml) return {};
  if (yaml->ends_with('\n')) yaml->pop_back();
  return *yaml;
}
value m_as_config(executor&, args a) {
  return a[0].is_nil_reference() ? value("") : value(by_base_name(a[0], false));
}
value m_as_secrets(executor&, args a) {
  return a[0].is_nil_reference() ? value("") : value(by_base_name(a[0], true));
}
constexpr function files_methods[] = {
    make_function("Get", {param::string}, m_get),
    make_function("GetBytes", {param::string}, m_get_bytes),
    make_function("Lines", {param::string}, m_lines),
    make_function("Glob", {param::string}, m_glob),
    make_function("AsConfig", {}, m_as_config),
    make_function("AsSecrets", {}, m_as_secrets),
};
const method_table files_table{files_methods};

/// By their numbers in chart_types.hpp.
constexpr const char* type_names[] = {"chartutil.Values", "engine.files", "chartutil.VersionSet",
                                      "[]*chart.Maintainer", "[]*chart.Dependency"};
[[maybe_unused]] const bool types_are_named = (formats::name_defined_types(type_names), true);

}  // namespace

const method_table* methods_of(type t) {
  return t == chart_type::values        ? &values_table
         : t == chart_type::version_set ? &version_set_table
         : t == chart_type::files       ? &files_table
                                        : nullptr;
}

value chart_value(const chart& c, bool is_root) {
  const auto& m = c.meta;
  value::list_type maintainers, dependencies;
  for (const auto& p : m.maintainers) maintainers.push_back(p ? maintainer_value(*p) : value());
  for (const auto& d : m.dependencies) dependencies.push_back(d ? dependency_value(*d) : value());
  value::map_type annotations;
  for (const auto& [key, v] : m.annotations) annotations.emplace(key, v);
  field_list fields{
      {"Name", m.name},
      {"Home", m.home},
      {"Sources", string_list(m.sources)},
      {"Version", m.version},
      {"Description", m.description},
      {"Keywords", string_list(m.keywords)},
      {"Maintainers", maintainers.empty()
                          ? value::nil_of(chart_type::maintainer_list)
                          : value(std::move(maintainers), chart_type::maintainer_list)},
      {"Icon", m.icon},
      {"APIVersion", m.api_version},
      {"Condition", m.condition},
      {"Tags", m.tags},
      {"AppVersion", m.app_version},
      {"Deprecated", m.deprecated},
      {"Annotations", m.has_annotations ? value(std::move(annotations), type::string_map)
                                        : value::nil_of(type::string_map)},
      {"KubeVersion", m.kube_version},
      {"Dependencies", dependencies.empty()
                           ? value::nil_of(chart_type::dependency_list)
                           : value(std::move(dependencies), chart_type::dependency_list)},
      {"Type", m.type},
  };
  auto content = value::object(
      new structure("chart.Metadata", std::move(fields),
                    {"?name", "?home", "?sources", "?version", "?description", "?keywords",
                     "?maintainers", "?icon", "?apiVersion", "?condition", "?tags", "?appVersion",
                     "?deprecated", "?annotations", "?kubeVersion", "?dependencies", "?type"}));
  return value::object(new chart_object(std::move(content), is_root));
}

value struct_value(std::string type, struct_fields fields, std::vector<std::string> json_names) {
  return value::object(new structure(std::move(type), std::move(fields), std::move(json_names)));
}
value pointer_value(std::string type, struct_fields fields, std::vector<std::string> json_names) {
  return value::object(new pointer(std::move(type), std::move(fields), std::move(json_names)));
}

value files_value(const file_list& files) {
  value::map_type out;
  for (std::size_t i = 0; i < files.size(); ++i) out[files[i].name] = value::bytes(files.text(i));
  return value(std::move(out), chart_type::files);
}

value capabilities_value(const capabilities& c) {
  value::list_type versions(c.api_versions.begin(), c.api_versions.end());
  auto build = value::object(new structure(
      "version.BuildInfo",
      {{"Version", "v3.21"}, {"GitCommit", ""}, {"GitTreeState", ""}, {"GoVersion", "go1.26"}},
      {"?version", "?git_commit", "?git_tree_state", "?go_version"}));
  return value::object(
      new pointer("*chartutil.Capabilities",
                  {{"KubeVersion", value::object(new kube_object(c.kube))},
                   {"APIVersions", value(std::move(versions), chart_type::version_set)},
                   {"HelmVersion", build}},
                  {"KubeVersion", "APIVersions", "HelmVersion"}));
}

value release_value(const release_options& r) {
  return value::map_type{{"Name", r.name},
                         {"Namespace", r.name_space},
                         {"IsInstall", r.is_install},
                         {"IsUpgrade", r.is_upgrade},
                         {"Revision", r.revision},
                         {"Service", "Helm"}};
}

outcome<kube_version> parse_kube_version(const std::string& text) {
  auto s = trim_space(text);
  if (s.starts_with('v')) s.remove_prefix(1);
  std::size_t i = 0;
  std::vector<std::string> parts;
  for (;;) {
    auto start = i;
    while (i < s.size() && s[i] >= '0' && s[i] <= '9') ++i;
    if (i == start) break;
    parts.emplace_back(s.substr(start, i - start));
    if (i >= s.size() || s[i] != '.') break;
    ++i;
  }
  if (parts.empty()) return problem{"could not parse " + quote(text) + " as version"};
  if (parts.size() < 2) return problem{"illegal version string " + quote(text)};
  if (parts[0].size() > 1 && parts[0][0] == '0')
    return problem{"illegal zero-prefixed version component " + quote(parts[0]) + " in " +
                   quote(text)};
  std::string out = "v";
  for (auto& part : parts) {
    const auto n = parse_uint(part, 10);
    if (n.error != int_error::none)
      return problem{"illegal non-numeric version component " + quote(part) + " in " + quote(text) +
                     ": strconv.ParseUint: parsing " + quote(part) + ": value out of range"};
    part = std::to_string(n.number);
    out += (out.size() > 1 ? "." : "") + part;
  }
  return kube_version{out, parts[0], parts[1]};
}

const std::vector<std::string>& default_api_versions() {
  static const std::vector<std::string> all{"v1",
                                            "admissionregistration.k8s.io/v1",
                                            "admissionregistration.k8s.io/v1alpha1",
                                            "admissionregistration.k8s.io/v1beta1",
                                            "internal.apiserver.k8s.io/v1alpha1",
                                            "apps/v1",
                                            "apps/v1beta1",
                                            "apps/v1beta2",
                                            "authentication.k8s.io/v1",
                                            "authentication.k8s.io/v1alpha1",
                                            "authentication.k8s.io/v1beta1",
                                            "authorization.k8s.io/v1",
                                            "authorization.k8s.io/v1beta1",
                                            "autoscaling/v1",
                                            "autoscaling/v2",
                                            "batch/v1",
                                            "batch/v1beta1",
                                            "certificates.k8s.io/v1",
                                            "certificates.k8s.io/v1beta1",
                                            "certificates.k8s.io/v1alpha1",
                                            "coordination.k8s.io/v1alpha2",
                                            "coordination.k8s.io/v1beta1",
                                            "coordination.k8s.io/v1",
                                            "discovery.k8s.io/v1",
                                            "discovery.k8s.io/v1beta1",
                                            "events.k8s.io/v1",
                                            "events.k8s.io/v1beta1",
                                            "extensions/v1beta1",
                                            "flowcontrol.apiserver.k8s.io/v1",
                                            "flowcontrol.apiserver.k8s.io/v1beta1",
                                            "flowcontrol.apiserver.k8s.io/v1beta2",
                                            "flowcontrol.apiserver.k8s.io/v1beta3",
                                            "networking.k8s.io/v1",
                                            "networking.k8s.io/v1beta1",
                                            "node.k8s.io/v1",
                                            "node.k8s.io/v1alpha1",
                                            "node.k8s.io/v1beta1",
                                            "policy/v1",
                                            "policy/v1beta1",
                                            "rbac.authorization.k8s.io/v1",
                                            "rbac.authorization.k8s.io/v1beta1",
                                            "rbac.authorization.k8s.io/v1alpha1",
                                            "resource.k8s.io/v1",
                                            "resource.k8s.io/v1beta2",
                                            "resource.k8s.io/v1beta1",
                                            "resource.k8s.io/v1alpha3",
                                            "scheduling.k8s.io/v1alpha2",
                                            "scheduling.k8s.io/v1beta1",
                                            "scheduling.k8s.io/v1",
                                            "storage.k8s.io/v1beta1",
                                            "storage.k8s.io/v1",
                                            "storage.k8s.io/v1alpha1",
                                            "storagemigration.k8s.io/v1beta1",
                                            "apiextensions.k8s.io/v1beta1",
                                            "apiextensions.k8s.io/v1"};
  return all;
}

capabilities default_capabilities() {
  capabilities c;
  c.api_versions = default_api_versions();
  return c;
}

}  // namespace helm
