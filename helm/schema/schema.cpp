#include "helm/schema/schema.hpp"

#include "helm/deep_stack.hpp"
#include "helm/json.hpp"
#include "helm/schema/compiler.hpp"
#include "helm/schema/validator.hpp"

#include <stdexcept>

namespace helm {
namespace {

/// The address under which Helm keeps the schema of a chart; error texts show it.
constexpr const char* own_url = "file:///values.schema.json";

/// What the reference's decoder says of a text that is no JSON: it reads a value and looks whether more follows.
std::string decoder_text(const std::string& error) {
  return error.ends_with("after top-level value") ? "invalid character after top-level value"
                                                  : error;
}

void check_tree(const chart& c, const value& values, std::string& out) {
  if (c.schema) {
    schema_memo own;
    auto& memo = c.compiled ? *c.compiled : own;
    if (!memo.compiled) memo.compiled = json_schema::compile(*c.schema);
    const auto& s = *memo.compiled;
    auto reasons = s ? s->check(values) : s.error().text;
    if (!reasons.empty()) out += c.name() + ":\n" + reasons;
  }
  for (const auto& d : c.dependencies) {
    const auto* section = values.find(d->name());
    if (!section || section->is_nil()) continue;
    if (section->kind() != type::map)
      out += d->name() + ":\ninvalid type for values: expected object (map), got " +
             section->type_name() + "\n";
    else
      check_tree(*d, *section, out);
  }
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
    const walk_limit bound(schemas::check_steps_limit);
    const auto reasons = schemas::reasons_against(compiled_->root(), v);
    return reasons.empty() ? reasons : reasons + "\n";
  } catch (const std::length_error&) {
    return "the schema refers to itself too often to be checked\n";
  }
}

outcome<bool> check_schemas(const chart& c, const value& values) {
  std::string out;
  check_tree(c, values, out);
  if (out.empty()) return true;
  return problem{
      "values don't meet the specifications of the schema(s) in the following chart(s):\n" + out};
}

}  // namespace helm
