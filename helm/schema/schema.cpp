#include "helm/schema/schema.hpp"

#include "formats/json/json.hpp"
#include "formats/plain/deep_stack.hpp"
#include "helm/go.hpp"
#include "helm/schema/compiler.hpp"
#include "helm/schema/validator.hpp"

#include <stdexcept>

namespace helm {
namespace {

/// The address under which Helm keeps the schema of a chart; error texts show it.
constexpr const char* own_url = "file:///values.schema.json";

/// What the reference's decoder says of a text that is no JSON: it reads a value and looks whether
/// more follows.
std::string decoder_text(const std::string& error) {
  return error.ends_with("after top-level value") ? "invalid character after top-level value"
                                                  : error;
}

}  // namespace

outcome<json_schema> json_schema::compile(std::string_view text) {
  auto v = read_json(text, json_source::stream);
  if (!v) return problem{decoder_text(v.error().text)};
  auto compiled = schemas::library::compile(own_url, std::move(*v));
  if (!compiled) return compiled.error();
  json_schema out;
  out.compiled_ = std::move(*compiled);
  return out;
}

std::string json_schema::check(const value& v) const {
  try {
    const work_limit bound(schemas::check_steps_limit);
    const auto reasons = schemas::reasons_against(compiled_->root(), v);
    return reasons.empty() ? reasons : reasons + "\n";
  } catch (const std::length_error&) {
    return "the schema refers to itself too often to be checked\n";
  }
}

}  // namespace helm
