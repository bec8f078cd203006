#include "helm/commands/release/release_report.hpp"

#include "formats/json/json.hpp"
#include "formats/yaml/writer.hpp"
#include "helm/commands/go_table.hpp"
#include "helm/go.hpp"
#include "helm/render/render_context.hpp"
#include "helm/values/values.hpp"

#include <algorithm>

namespace helm::release {
namespace {

constexpr const char* ansic_layout = "Mon Jan _2 15:04:05 2006";
constexpr const char* second_layout = "2006-01-02T15:04:05Z07:00";

/// JSON as it is with a newline, or turned into YAML.
outcome<std::string> machine_text(std::string json, output_format f) {
  if (f == output_format::json) return json + "\n";
  auto v = read_json(json);
  if (!v) return problem{"unable to write YAML output: " + v.error().text};
  auto text = write_go_yaml(*v);
  if (!text) return problem{"unable to write YAML output: " + text.error().text};
  return std::move(*text);
}

std::string json_text(const std::string& s) {
  auto text = write_json(value(s));
  return text ? std::move(*text) : "\"\"";
}

/// A JSON object of the members in this order; the second of each pair is JSON already.
std::string json_object(const std::vector<std::pair<const char*, std::string>>& members) {
  std::string out = "{";
  for (const auto& [name, text] : members) {
    if (out.size() > 1) out += ',';
    out += '"' + std::string(name) + "\":" + text;
  }
  return out + "}";
}

std::string json_list(const std::vector<std::string>& items) {
  std::string out = "[";
  for (const auto& i : items) out += (out.size() > 1 ? "," : "") + i;
  return out + "]";
}

std::string documents(const std::vector<recorded_hook>& hooks) {
  std::string out;
  for (const auto& h : hooks) out += "---\n# Source: " + h.what.path + "\n" + h.what.content + "\n";
  return out;
}

std::string tests(const record& r) {
  std::string out;
  bool any = false;
  for (const auto& h : r.hooks)
    for (const auto& event : h.what.events) {
      if (event != "test") continue;
      any = true;
      if (is_zero(h.last_run.started)) continue;
      out += "TEST SUITE:     " + h.what.name +
             "\nLast Started:   " + format_time(h.last_run.started, ansic_layout) +
             "\nLast Completed: " + format_time(h.last_run.completed, ansic_layout) +
             "\nPhase:          " + h.last_run.phase + "\n";
    }
  return any ? out : "TEST SUITE: None\n";
}

outcome<value> computed_values(const record& r) {
  static const chart none;
  const value config = r.config.is_map() ? r.config : value(value::map_type{});
  auto all = coalesce_values(r.origin ? *r.origin : none, config, nulls::remove, {});
  if (all && all->is_nil()) return value(value::map_type{});
  return all;
}

}  // namespace

std::string hooks_report(const record& r) {
  return documents(r.hooks);
}

outcome<std::string> status_report(const record& r, output_format f, const status_shape& shape) {
  if (f != output_format::table) {
    auto text = write_record(r, record_parts::all, shape.resources);
    if (!text) return text.error();
    return machine_text(std::move(*text), f);
  }
  std::string out = "NAME: " + r.name + "\n";
  if (!is_zero(r.last_deployed))
    out += "LAST DEPLOYED: " + format_time(r.last_deployed, ansic_layout) + "\n";
  out += "NAMESPACE: " + r.ns + "\nSTATUS: " + std::string(to_string(r.state)) +
         "\nREVISION: " + std::to_string(r.revision) + "\n";
  if (shape.show_metadata && r.origin)
    out += "CHART: " + r.origin->name() + "\nVERSION: " + r.origin->meta.version +
           "\nAPP_VERSION: " + r.origin->meta.app_version + "\n";
  if (shape.show_description) out += "DESCRIPTION: " + r.description + "\n";
  out += shape.resources;
  out += tests(r);
  if (shape.debug) {
    auto given = write_go_yaml(r.config);
    if (!given) return given.error();
    out += "USER-SUPPLIED VALUES:\n" + *given + "\n";
    auto all = computed_values(r);
    if (!all) return all.error();
    auto text = write_go_yaml(*all);
    if (!text) return text.error();
    out += "COMPUTED VALUES:\n" + *text + "\n";
  }
  if (equal_fold(r.description, "Dry run complete") || shape.debug)
    out += "HOOKS:\n" + documents(r.hooks) + "MANIFEST:\n" + r.manifest + "\n";
  if (!shape.hide_notes && !r.notes.empty())
    out += "NOTES:\n" + std::string(trim_space(r.notes)) + "\n";
  return out;
}

outcome<std::string> history_report(const history& h, output_format f) {
  if (f == output_format::table) {
    go_table t;
    t.row({"REVISION", "UPDATED", "STATUS", "CHART", "APP VERSION", "DESCRIPTION"});
    for (const auto& r : h)
      t.row({std::to_string(r.revision), format_time(r.last_deployed, ansic_layout),
             std::string(to_string(r.state)), chart_label(r), app_version(r), r.description});
    return t.text() + "\n";
  }
  std::vector<std::string> items;
  for (const auto& r : h)
    items.push_back(json_object({{"revision", std::to_string(r.revision)},
                                 {"updated", json_text(json_time(r.last_deployed))},
                                 {"status", json_text(std::string(to_string(r.state)))},
                                 {"chart", json_text(chart_label(r))},
                                 {"app_version", json_text(app_version(r))},
                                 {"description", json_text(r.description)}}));
  return machine_text(json_list(items), f);
}

outcome<std::string> list_report(const history& h, output_format f, const list_command& c) {
  if (c.brief) {
    if (f == output_format::table) {
      std::string out;
      for (const auto& r : h) out += r.name + "\n";
      return out;
    }
    std::vector<std::string> names;
    for (const auto& r : h) names.push_back(json_text(r.name));
    return machine_text(json_list(names), f);
  }
  const auto updated = [&](const record& r) {
    if (is_zero(r.last_deployed)) return std::string("-");
    return c.time_format.empty() ? time_text(r.last_deployed)
                                 : format_time(r.last_deployed, c.time_format);
  };
  if (f == output_format::table) {
    go_table t;
    if (!c.no_headers)
      t.row({"NAME", "NAMESPACE", "REVISION", "UPDATED", "STATUS", "CHART", "APP VERSION"});
    for (const auto& r : h)
      t.row({r.name, r.ns, std::to_string(r.revision), updated(r), std::string(to_string(r.state)),
             chart_label(r), app_version(r)});
    return t.text() + "\n";
  }
  std::vector<std::string> items;
  for (const auto& r : h)
    items.push_back(json_object({{"name", json_text(r.name)},
                                 {"namespace", json_text(r.ns)},
                                 {"revision", json_text(std::to_string(r.revision))},
                                 {"updated", json_text(updated(r))},
                                 {"status", json_text(std::string(to_string(r.state)))},
                                 {"chart", json_text(chart_label(r))},
                                 {"app_version", json_text(app_version(r))}}));
  return machine_text(json_list(items), f);
}

outcome<std::string> values_report(const record& r, output_format f, shown_values which) {
  const bool computed = which == shown_values::computed;
  outcome<value> shown = r.config;
  if (computed) shown = computed_values(r);
  if (!shown) return shown.error();
  if (f == output_format::json) {
    auto text = write_json(*shown);
    if (!text) return problem{"unable to write JSON output: " + text.error().text};
    return *text + "\n";
  }
  auto text = write_go_yaml(*shown);
  if (!text) return problem{"unable to write YAML output: " + text.error().text};
  if (f == output_format::yaml) return *text;
  return (computed ? "COMPUTED VALUES:\n" : "USER-SUPPLIED VALUES:\n") + *text;
}

outcome<std::string> metadata_report(const record& r, output_format f) {
  static const chart none;
  const chart& c = r.origin ? *r.origin : none;
  const std::string deployed = format_time(r.last_deployed, second_layout);
  if (f == output_format::table) {
    std::string annotations, dependencies;
    for (const auto& [name, text] : c.meta.annotations)
      annotations += (annotations.empty() ? "" : ",") + name + "=" + text;
    std::vector<std::string> names;
    for (const auto& d : c.meta.dependencies)
      if (d) names.push_back(d->name);
    std::sort(names.begin(), names.end());
    for (const auto& n : names) dependencies += (dependencies.empty() ? "" : ",") + n;
    return "NAME: " + r.name + "\nCHART: " + c.name() + "\nVERSION: " + c.meta.version +
           "\nAPP_VERSION: " + c.meta.app_version + "\nANNOTATIONS: " + annotations +
           "\nDEPENDENCIES: " + dependencies + "\nNAMESPACE: " + r.ns +
           "\nREVISION: " + std::to_string(r.revision) +
           "\nSTATUS: " + std::string(to_string(r.state)) + "\nDEPLOYED_AT: " + deployed + "\n";
  }
  std::vector<std::pair<const char*, std::string>> members{
      {"name", json_text(r.name)},
      {"chart", json_text(c.name())},
      {"version", json_text(c.meta.version)},
      {"appVersion", json_text(c.meta.app_version)}};
  if (!c.meta.annotations.empty()) {
    value::map_type all;
    for (const auto& [name, text] : c.meta.annotations) all[name] = text;
    auto text = write_json(value(std::move(all)));
    if (!text) return text.error();
    members.emplace_back("annotations", *text);
  }
  if (!c.meta.dependencies.empty()) {
    const auto meta = chart_value(c, true).object()->field("Metadata");
    auto text = write_json(*meta->object()->field("Dependencies"));
    if (!text) return text.error();
    members.emplace_back("dependencies", *text);
  }
  members.emplace_back("namespace", json_text(r.ns));
  members.emplace_back("revision", std::to_string(r.revision));
  members.emplace_back("status", json_text(std::string(to_string(r.state))));
  members.emplace_back("deployedAt", json_text(deployed));
  return machine_text(json_object(members), f);
}

}  // namespace helm::release
