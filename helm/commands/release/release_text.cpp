#include "helm/commands/release/release_text.hpp"

#include "formats/json/json.hpp"
#include "helm/render/render_context.hpp"
#include "helm/render/struct_value.hpp"
#include "helm/render/text_template.hpp"

namespace helm::release {
namespace {

value list_of(const file_list& files) {
  value::list_type out;
  for (const auto& f : files)
    out.push_back(pointer_value("*chart.File", {{"Name", f.name}, {"Data", value::bytes(f.data)}},
                                {"name", "data"}));
  return out;
}

value chart_of(const record& r) {
  if (!r.origin) return {};
  const chart& c = *r.origin;
  const value metadata = *chart_value(c, true).object()->field("Metadata");
  struct_fields fields = {{"Metadata", metadata},
                          {"Templates", list_of(c.templates)},
                          {"Values", c.values.is_map() ? c.values : value(value::map_type{})},
                          {"Files", list_of(c.files)},
                          {"Name", c.name()}};  // a method of Go's
  return pointer_value("*chart.Chart", std::move(fields),
                       {"metadata", "templates", "values", "files", "?-"});
}

value hook_of(const recorded_hook& h) {
  struct_fields run = {{"StartedAt", time_value(h.last_run.started)},
                       {"CompletedAt", time_value(h.last_run.completed)},
                       {"Phase", h.last_run.phase}};
  struct_fields fields = {{"Name", h.what.name},
                          {"Kind", h.what.kind},
                          {"Path", h.what.path},
                          {"Manifest", h.what.content},
                          {"Events", value::strings(h.what.events)},
                          {"LastRun", struct_value("release.HookExecution", std::move(run),
                                                   {"?started_at", "?completed_at", "phase"})},
                          {"Weight", h.what.weight},
                          {"DeletePolicies", value::strings(h.what.delete_policies)},
                          {"OutputLogPolicies", value::strings(h.what.output_log_policies)}};
  return pointer_value("*release.Hook", std::move(fields),
                       {"?name", "?kind", "?path", "?manifest", "?events", "?last_run", "?weight",
                        "?delete_policies", "?output_log_policies"});
}

}  // namespace

outcome<std::string> print_record(const record& r, const std::string& form) {
  struct_fields info = {{"FirstDeployed", time_value(r.first_deployed)},
                        {"LastDeployed", time_value(r.last_deployed)},
                        {"Deleted", time_value(r.deleted)},
                        {"Description", r.description},
                        {"Status", std::string(to_string(r.state))},
                        {"Notes", r.notes},
                        {"Resources", value::nil_of(type::map)}};
  value::list_type hooks;
  for (const auto& h : r.hooks) hooks.push_back(hook_of(h));
  value::map_type labels;
  for (const auto& [name, text] : r.labels) labels[name] = text;
  struct_fields fields = {
      {"Name", r.name},
      {"Info", pointer_value("*release.Info", std::move(info),
                             {"?first_deployed", "?last_deployed", "deleted", "?description",
                              "?status", "?notes", "?resources"})},
      {"Chart", chart_of(r)},
      {"Config", r.config.is_map() ? r.config : value::nil_of(type::map)},
      {"Manifest", r.manifest},
      {"Hooks", value(std::move(hooks))},
      {"Version", r.revision},
      {"Namespace", r.ns},
      {"Labels", value(std::move(labels), type::string_map)}};
  const value whole = pointer_value("*release.Release", std::move(fields),
                                    {"?name", "?info", "?chart", "?config", "?manifest", "?hooks",
                                     "?version", "?namespace", "?-"});
  return print_template(form, value::map_type{{"Release", whole}});
}

}  // namespace helm::release
