#include "helm/values/check_schemas.hpp"

#include "helm/schema/schema.hpp"

#include <string>

namespace helm {
namespace {

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

outcome<bool> check_schemas(const chart& c, const value& values) {
  std::string out;
  check_tree(c, values, out);
  if (out.empty()) return true;
  return problem{
      "values don't meet the specifications of the schema(s) in the following chart(s):\n" + out};
}

}  // namespace helm
