#include "compose/commands/instance_list.hpp"

#include "app/exit_code.hpp"

#include <boost/json.hpp>
#include <unistd.h>

namespace cli {

namespace json = boost::json;

int show_instances(const std::vector<listed_instance>& all, const list_request& asked,
                   colours tint) {
  listing rows(
      {{"NAMESPACE"}, {"NAME"}, {"ASKS FOR"}, {"RUNS"}, {"READY"}, {"WHY", 1}, {"PROBLEM", 2}});
  const auto shown = [](const std::string& text) { return page(text.empty() ? "-" : text); };
  for (const listed_instance& i : all) {
    listed_object one{.kind = "trusteeconfig", .cluster = {}, .ns = i.ns, .name = i.name};
    one.labels = i.labels;
    one.cells = {i.ns,
                 i.name,
                 shown(i.asked),
                 shown(i.runs),
                 toned(i.ready, i.ready == "True" ? tone::good : tone::busy, tint),
                 i.message,
                 toned(i.problem, tone::bad, tint)};
    one.body = {{"namespace", i.ns},
                {"name", i.name},
                {"requestedVersion", i.asked},
                {"effectiveVersion", i.runs},
                {"ready", i.ready},
                {"reason", i.reason},
                {"message", i.message},
                {"problem", i.problem.empty() ? json::value() : json::value(i.problem)}};
    one.trouble = i.ready == "True" && i.problem.empty() ? 0 : 1;
    rows.add(std::move(one));
  }
  if (auto chosen = rows.choose(asked); !chosen) return complain(chosen.error());
  const bool wide = asked.output == output_format::wide;
  if (!asked.output.is_machine())
    return write_out(STDOUT_FILENO, rows.text(asked, wide ? any_width : output_columns()))
               ? success
               : failure;
  json::array instances;
  for (const listed_object& one : rows.objects()) instances.push_back(one.body);
  json::object body{{"instances", std::move(instances)}};
  body["items"] = rows.items();
  return write_document(body, asked.output);
}

}  // namespace cli
