#include "helm/commands/flags/output_format.hpp"

#include "helm/commands/flags/command_flags.hpp"

namespace helm {

void add_output_flag(command_flags& f, output_format& into) {
  f.checked("output", 'o', "table|json|yaml", "table",
            [&into](const std::string& v) -> std::optional<std::string> {
              if (v == "table")
                into = output_format::table;
              else if (v == "json")
                into = output_format::json;
              else if (v == "yaml")
                into = output_format::yaml;
              else
                return "invalid format type";
              return std::nullopt;
            });
}

}  // namespace helm
