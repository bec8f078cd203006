#include "releases/rules/document.hpp"

#include "formats/digest.hpp"
#include "formats/version_range.hpp"
#include "formats/yaml/yaml.hpp"
#include "reactor/plain/time.hpp"
#include "releases/rules/fields.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <map>

namespace policies::releases {
namespace {

namespace json = boost::json;
using reactor::errc;
using reactor::make_fault;
using reactor::result;
using need = yaml_source::need;

constexpr std::size_t most_entries_of_a_list = 2'000;
constexpr std::string_view default_app_catalog = "default",
                           default_component_catalog = "control-plane-catalog";

enum class part { component, app };

std::string subject_of(part p, std::string_view name) {
  return (p == part::app ? "app/" : "component/") + std::string(name);
}

/// "aws-34.5.0" or "v14.1.0": a word in front, three numbers, letters, digits and dots behind a
/// dash. Which words there are is for the tables of the policy to say.
bool good_name(std::string_view name) {
  const std::size_t digit = name.find_first_of("0123456789");
  if (digit == name.npos || digit == 0) return false;
  const std::string_view word = name.substr(0, digit);
  if (word != "v" && (!word.ends_with('-') || word.size() < 2)) return false;
  for (const char c : word) {
    if (!(c >= 'a' && c <= 'z') && c != '-') return false;
  }
  std::string_view version = name.substr(digit);
  // Narrower than a version of SemVer there, wider here: "-01" and "-" have always been good.
  if (const std::size_t dash = version.find('-'); dash != version.npos) {
    for (const char c : version.substr(dash + 1)) {
      const bool good =
          (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.';
      if (!good) return false;
    }
    version = version.substr(0, dash);
  }
  return version.find('+') == version.npos && formats::view_strict_version(version).has_value();
}

entry read_entry(yaml_source& from, const json::object& o, part p, std::size_t index,
                 const place& list) {
  entry e;
  const json::value* name = o.if_contains("name");
  const bool named = name != nullptr && name->is_string() && !name->get_string().empty();
  const place here =
      list.entry(index, named ? std::string_view(name->get_string()) : std::string_view());
  const std::string subject =
      subject_of(p, named ? std::string(name->get_string()) : std::to_string(index + 1));
  e.name = from.text(o, "name", here, subject, need::required).value_or("");
  if (const auto v =
          from.text(o, "version", here, subject, need::required, "release.version-not-string")) {
    e.version = *v;
    const bool text = o.at("version").is_string();
    if (text && (e.version.starts_with('v') || !formats::view_strict_version(e.version)))
      from.note("release.schema", subject, here / "version",
                "version " + quoted(e.version) + " is not of the form 1.2.3, without a v",
                e.version);
  }
  e.catalog =
      from.text(o, "catalog", here, subject, need::optional)
          .value_or(std::string(p == part::app ? default_app_catalog : default_component_catalog));
  if (p == part::app) {
    e.component_version =
        from.text(o, "componentVersion", here, subject, need::optional).value_or("");
    if (const json::array* names = from.list(o, "dependsOn", here, subject, need::optional)) {
      for (std::size_t i = 0; i < names->size(); ++i) {
        if ((*names)[i].is_string()) {
          e.depends_on.emplace_back((*names)[i].get_string());
        } else {
          from.note("release.schema", subject, (here / "dependsOn").entry(i, ""),
                    "dependsOn: expected the name of an app");
        }
      }
    }
    e.unknown = from.unknown(o, {"name", "version", "catalog", "componentVersion", "dependsOn"},
                             here, subject);
  } else {
    e.reference = from.text(o, "reference", here, subject, need::optional).value_or("");
    if (const json::value* flag = o.if_contains("releaseOperatorDeploy");
        flag != nullptr && !flag->is_null()) {
      if (flag->is_bool()) {
        e.operator_deploys = flag->get_bool();
      } else {
        from.note("release.schema", subject, here / "releaseOperatorDeploy",
                  "releaseOperatorDeploy: expected true or false");
      }
    }
    e.unknown = from.unknown(
        o, {"name", "version", "catalog", "reference", "releaseOperatorDeploy"}, here, subject);
  }
  return e;
}

result<std::vector<entry>> read_entries(yaml_source& from, const json::object& spec, part p,
                                        const place& at, const std::string& release) {
  std::vector<entry> found;
  const std::string_view field = p == part::app ? "apps" : "components";
  const json::array* list = from.list(spec, field, at, release, need::required);
  if (list == nullptr) return found;
  if (list->size() > most_entries_of_a_list)
    return make_fault(errc::limit, "read " + from.file(),
                      "spec." + std::string(field) + " has more than " +
                          std::to_string(most_entries_of_a_list) + " entries");
  const place here = at / field;
  if (p == part::component && list->empty())
    from.note("release.schema", release, here, "components: expected one at least");
  std::map<std::string, std::size_t, std::less<>> seen;
  for (std::size_t i = 0; i < list->size(); ++i) {
    const json::object* o = from.object((*list)[i], here.entry(i, ""), release);
    if (o == nullptr) continue;
    found.push_back(read_entry(from, *o, p, i, here));
    const std::string& name = found.back().name;
    if (!name.empty() && ++seen[name] == 2)
      from.note(p == part::app ? "app.duplicate" : "component.duplicate", subject_of(p, name),
                here.entry(i, name), name + " is there twice, and only one can count");
  }
  return found;
}

void check_state(yaml_source& from, const document& d, const place& spec,
                 const std::string& subject) {
  const std::initializer_list<std::string_view> known = {"active", "deprecated", "wip", "preview"};
  if (!d.state.empty() && std::find(known.begin(), known.end(), d.state) == known.end())
    from.note("release.schema", subject, spec / "state",
              "state: " + expected_one_of(known, d.state), d.state);
  const auto date = [&](const std::string& text, std::string_view field) {
    if (!text.empty() && !reactor::parse_rfc3339(text))
      from.note("release.schema", subject, spec / field,
                std::string(field) + ": expected a time such as 2026-07-23T09:17:35Z, got " +
                    quoted(text),
                text);
  };
  date(d.date, "date");
  date(d.end_of_life, "endOfLifeDate");
}

void add_unknown(json::object& to, const std::vector<unknown_field>& fields) {
  for (const unknown_field& f : fields) {
    // Not by Boost, whose reading of 2538e31 is another double than it writes.
    auto v = formats::parse_kubernetes_yaml(f.json, "an unknown field");
    if (v) to[f.name] = std::move(*v);
  }
}

/// An entry as it is written; `complete` spells out the default of the catalog.
json::object entry_json(const entry& e, part p, bool complete) {
  json::object o;
  o["name"] = e.name;
  const auto usual = p == part::app ? default_app_catalog : default_component_catalog;
  if (complete || e.catalog != usual) o["catalog"] = e.catalog;
  o["version"] = e.version;
  if (!e.component_version.empty()) o["componentVersion"] = e.component_version;
  if (!e.reference.empty()) o["reference"] = e.reference;
  if (e.operator_deploys) o["releaseOperatorDeploy"] = true;
  if (!e.depends_on.empty()) {
    json::array names;
    for (const std::string& n : e.depends_on) names.emplace_back(n);
    o["dependsOn"] = std::move(names);
  }
  add_unknown(o, e.unknown);
  return o;
}

json::array entries_json(const std::vector<entry>& entries, part p) {
  json::array list;
  for (const entry& e : entries) list.push_back(entry_json(e, p, false));
  return list;
}

/// One line an entry, sorted: order means nothing.
std::string canonical(const std::vector<entry>& entries, part p) {
  std::vector<std::string> lines;
  lines.reserve(entries.size());
  for (entry e : entries) {
    std::sort(e.depends_on.begin(), e.depends_on.end());
    lines.push_back((p == part::app ? "app " : "component ") +
                    json::serialize(entry_json(e, p, true)) + "\n");
  }
  std::sort(lines.begin(), lines.end());
  std::string text;
  for (const std::string& line : lines) text += line;
  return text;
}

}  // namespace

std::string_view default_catalog(bool app) {
  return app ? default_app_catalog : default_component_catalog;
}

void renew_hash(document& d) {
  std::string text = canonical(d.components, part::component) + canonical(d.apps, part::app);
  json::object rest;
  if (!d.end_of_life.empty()) rest["endOfLifeDate"] = d.end_of_life;
  if (!d.notice.empty()) rest["notice"] = d.notice;
  add_unknown(rest, d.unknown);  // sorted by name
  d.hash = formats::sha256_hex(text + json::serialize(rest) + "\n");
}

result<document> read_document(std::string_view text, std::string file) {
  auto source = yaml_source::read(text, std::move(file));
  if (!source) return source.error();
  yaml_source& from = *source;
  const json::object& root = from.root();
  const std::string doing = "read " + from.file();
  const auto field = [&](std::string_view name) {
    const json::value* v = root.if_contains(name);
    return v != nullptr && v->is_string() ? std::string_view(v->get_string()) : std::string_view();
  };
  if (field("kind") != "Release")
    return make_fault(errc::malformed, doing,
                      "kind: expected Release, got " +
                          (field("kind").empty() ? "nothing" : quoted(field("kind"))));
  if (!field("apiVersion").starts_with("release.giantswarm.io/"))
    return make_fault(errc::malformed, doing,
                      "apiVersion: expected release.giantswarm.io/v1alpha1, got " +
                          (field("apiVersion").empty() ? "nothing" : quoted(field("apiVersion"))));
  document d;
  d.file = from.file();
  const json::object nothing;
  const auto inside = [&](std::string_view name) -> const json::object& {
    const json::value* v = root.if_contains(name);
    return v != nullptr && v->is_object() ? v->get_object() : nothing;
  };
  const place top;
  const json::object &metadata = inside("metadata"), &spec = inside("spec");
  d.name = from.text(metadata, "name", top / "metadata", "release/" + d.file, need::required)
               .value_or("");
  const std::string subject = "release/" + (d.name.empty() ? d.file : d.name);
  if (!d.name.empty() && !good_name(d.name))
    from.note("release.schema", subject, top / "metadata" / "name",
              "metadata.name: expected <provider>-1.2.3 or v1.2.3, got " + quoted(d.name), d.name);
  if (const json::value* a = metadata.if_contains("annotations"); a != nullptr && a->is_object())
    d.annotations = from.others(a->get_object(), {});
  const place at = top / "spec";
  if (&spec == &nothing) from.note("release.schema", subject, at, "spec is missing");
  for (auto [p, into] : {std::pair{part::component, &d.components}, {part::app, &d.apps}}) {
    auto entries = read_entries(from, spec, p, at, subject);
    if (!entries) return entries.error();
    *into = std::move(*entries);
  }
  d.date = from.text(spec, "date", at, subject, need::required).value_or("");
  d.state = from.text(spec, "state", at, subject, need::required).value_or("");
  d.end_of_life = from.text(spec, "endOfLifeDate", at, subject, need::optional).value_or("");
  d.notice = from.text(spec, "notice", at, subject, need::optional).value_or("");
  check_state(from, d, at, subject);
  d.unknown = from.unknown(spec, {"apps", "components", "date", "state", "endOfLifeDate", "notice"},
                           at, subject);
  (void)from.unknown(root, {"apiVersion", "kind", "metadata", "spec", "status"}, top, subject);
  if (from.too_long) return *from.too_long;
  d.problems = std::move(from.problems);
  renew_hash(d);
  return d;
}

std::string write_document(const document& d) {
  json::object metadata;
  if (!d.annotations.empty()) {
    json::object annotations;
    add_unknown(annotations, d.annotations);
    metadata["annotations"] = std::move(annotations);
  }
  metadata["name"] = d.name;
  json::object spec;
  spec["apps"] = entries_json(d.apps, part::app);
  spec["components"] = entries_json(d.components, part::component);
  if (!d.date.empty()) spec["date"] = d.date;
  if (!d.end_of_life.empty()) spec["endOfLifeDate"] = d.end_of_life;
  if (!d.notice.empty()) spec["notice"] = d.notice;
  if (!d.state.empty()) spec["state"] = d.state;
  add_unknown(spec, d.unknown);
  json::object root;
  root["apiVersion"] = "release.giantswarm.io/v1alpha1";
  root["kind"] = "Release";
  root["metadata"] = std::move(metadata);
  root["spec"] = std::move(spec);
  return formats::write_kubernetes_yaml(root, formats::key_order::kept);
}

}  // namespace policies::releases
