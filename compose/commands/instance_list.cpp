#include "compose/commands/instance_list.hpp"

#include <boost/json.hpp>

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
  return show_list(std::move(rows), asked, "instances", {});
}

}  // namespace cli
