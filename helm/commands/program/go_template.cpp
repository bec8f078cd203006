// -o go-template: Go's templates on documents, by the engine that renders charts.
#include "formats/json/json.hpp"
#include "helm/commands/program/helm_command.hpp"
#include "helm/template/executor.hpp"
#include "helm/template/parser.hpp"

#include <boost/json.hpp>

#include <chrono>
#include <exception>

namespace cli {

reactor::result<std::string, std::string> apply_go_template(const std::string& text,
                                                            const boost::json::value& data) {
  const auto failed = [](const std::string& why) {
    return reactor::result<std::string, std::string>(boost::system::in_place_error,
                                                     "error executing template: " + why);
  };
  const auto read = formats::read_json(boost::json::serialize(data));
  if (!read) return failed("the document is no JSON");
  try {
    helm::template_set templates;
    for (const helm::template_ptr& one : helm::parse_template(
             "output", text, [](std::string_view name) { return helm::find_function(name); }))
      templates.add(one);
    const helm::render_runtime runtime = machine_runtime();
    helm::render_limits limits;
    limits.output_bytes = 64u << 20;
    limits.time = std::chrono::seconds(30);
    helm::executor run(templates, runtime, limits, helm::missing_keys::zero, false);
    std::string out;
    run.run(out, "output", *read);
    return reactor::result<std::string, std::string>(boost::system::in_place_value, std::move(out));
  } catch (const std::exception& e) {
    return failed(e.what());
  }
}

}  // namespace cli
