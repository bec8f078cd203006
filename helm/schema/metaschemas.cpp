// What each draft says about its own keywords, as tables from which the documents are put together.
// The order of parts and what stands behind a reference show in error texts; titles, defaults and
// remarks do not, and are left out.
#include "helm/schema/metaschemas.hpp"

#include "formats/json/json.hpp"
#include "helm/go.hpp"

#include <array>
#include <cstdlib>
#include <span>
#include <string_view>

namespace helm::schemas {
namespace {

enum class rule : unsigned char {
  anything,
  text,
  flag,
  number,
  above_zero,
  count,
  count_or_zero,  // `count` with a default, which most drafts spell as two schemas
  schema,
  schema_or_flag,
  schemas,
  schema_or_schemas,
  schema_map,
  pattern_map,
  dependencies,
  texts,
  lists_of_texts,
  values,
  some_values,
  types,
  expression,
  address,
  reference,
  id,
  anchor,
  vocabulary,
};

struct keyword {
  std::string_view name;
  rule what;
};

constexpr std::array draft4{
    keyword{"id", rule::text},
    keyword{"$schema", rule::address},
    keyword{"$ref", rule::text},
    keyword{"exclusiveMaximum", rule::flag},
    keyword{"exclusiveMinimum", rule::flag},
    keyword{"additionalItems", rule::schema_or_flag},
    keyword{"additionalProperties", rule::schema_or_flag},
};
constexpr std::array draft6{
    keyword{"$id", rule::reference},
    keyword{"$schema", rule::address},
    keyword{"$ref", rule::reference},
    keyword{"exclusiveMaximum", rule::number},
    keyword{"exclusiveMinimum", rule::number},
    keyword{"additionalItems", rule::schema},
    keyword{"additionalProperties", rule::schema},
    keyword{"contains", rule::schema},
    keyword{"propertyNames", rule::schema},
    keyword{"const", rule::anything},
};
/// What drafts 4, 6 and 7 have in common.
constexpr std::array early{
    keyword{"title", rule::text},
    keyword{"description", rule::text},
    keyword{"default", rule::anything},
    keyword{"multipleOf", rule::above_zero},
    keyword{"maximum", rule::number},
    keyword{"minimum", rule::number},
    keyword{"maxLength", rule::count},
    keyword{"minLength", rule::count_or_zero},
    keyword{"pattern", rule::expression},
    keyword{"items", rule::schema_or_schemas},
    keyword{"maxItems", rule::count},
    keyword{"minItems", rule::count_or_zero},
    keyword{"uniqueItems", rule::flag},
    keyword{"maxProperties", rule::count},
    keyword{"minProperties", rule::count_or_zero},
    keyword{"required", rule::texts},
    keyword{"definitions", rule::schema_map},
    keyword{"properties", rule::schema_map},
    keyword{"dependencies", rule::dependencies},
    keyword{"enum", rule::some_values},
    keyword{"type", rule::types},
    keyword{"format", rule::text},
    keyword{"allOf", rule::schemas},
    keyword{"anyOf", rule::schemas},
    keyword{"oneOf", rule::schemas},
    keyword{"not", rule::schema},
};
constexpr std::array draft7{
    keyword{"$comment", rule::text},
    keyword{"readOnly", rule::flag},
    keyword{"writeOnly", rule::flag},
    keyword{"examples", rule::values},
    keyword{"contentMediaType", rule::text},
    keyword{"contentEncoding", rule::text},
    keyword{"if", rule::schema},
    keyword{"then", rule::schema},
    keyword{"else", rule::schema},
};

// The later drafts are made of vocabularies.
constexpr std::array core2019{
    keyword{"$id", rule::id},
    keyword{"$schema", rule::address},
    keyword{"$anchor", rule::anchor},
    keyword{"$ref", rule::reference},
    keyword{"$recursiveRef", rule::reference},
    keyword{"$recursiveAnchor", rule::flag},
    keyword{"$vocabulary", rule::vocabulary},
    keyword{"$comment", rule::text},
    keyword{"$defs", rule::schema_map},
};
constexpr std::array core2020{
    keyword{"$id", rule::id},
    keyword{"$schema", rule::address},
    keyword{"$ref", rule::reference},
    keyword{"$anchor", rule::anchor},
    keyword{"$dynamicRef", rule::reference},
    keyword{"$dynamicAnchor", rule::anchor},
    keyword{"$vocabulary", rule::vocabulary},
    keyword{"$comment", rule::text},
    keyword{"$defs", rule::schema_map},
};
constexpr std::array applicator{
    keyword{"contains", rule::schema},
    keyword{"additionalProperties", rule::schema},
    keyword{"properties", rule::schema_map},
    keyword{"patternProperties", rule::pattern_map},
    keyword{"dependentSchemas", rule::schema_map},
    keyword{"propertyNames", rule::schema},
    keyword{"if", rule::schema},
    keyword{"then", rule::schema},
    keyword{"else", rule::schema},
    keyword{"allOf", rule::schemas},
    keyword{"anyOf", rule::schemas},
    keyword{"oneOf", rule::schemas},
    keyword{"not", rule::schema},
};
constexpr std::array applicator2019{
    keyword{"additionalItems", rule::schema},
    keyword{"unevaluatedItems", rule::schema},
    keyword{"items", rule::schema_or_schemas},
    keyword{"unevaluatedProperties", rule::schema},
};
constexpr std::array applicator2020{
    keyword{"prefixItems", rule::schemas},
    keyword{"items", rule::schema},
};
constexpr std::array unevaluated_words{
    keyword{"unevaluatedItems", rule::schema},
    keyword{"unevaluatedProperties", rule::schema},
};
constexpr std::array validation{
    keyword{"multipleOf", rule::above_zero},
    keyword{"maximum", rule::number},
    keyword{"exclusiveMaximum", rule::number},
    keyword{"minimum", rule::number},
    keyword{"exclusiveMinimum", rule::number},
    keyword{"maxLength", rule::count},
    keyword{"minLength", rule::count_or_zero},
    keyword{"pattern", rule::expression},
    keyword{"maxItems", rule::count},
    keyword{"minItems", rule::count_or_zero},
    keyword{"uniqueItems", rule::flag},
    keyword{"maxContains", rule::count},
    keyword{"minContains", rule::count},
    keyword{"maxProperties", rule::count},
    keyword{"minProperties", rule::count_or_zero},
    keyword{"required", rule::texts},
    keyword{"dependentRequired", rule::lists_of_texts},
    keyword{"const", rule::anything},
    keyword{"enum", rule::values},
    keyword{"type", rule::types},
};
constexpr std::array meta_data{
    keyword{"title", rule::text},       keyword{"description", rule::text},
    keyword{"default", rule::anything}, keyword{"deprecated", rule::flag},
    keyword{"readOnly", rule::flag},    keyword{"writeOnly", rule::flag},
    keyword{"examples", rule::values},
};
constexpr std::array format{keyword{"format", rule::text}};
constexpr std::array content{
    keyword{"contentMediaType", rule::text},
    keyword{"contentEncoding", rule::text},
    keyword{"contentSchema", rule::schema},
};
/// Keywords that left the drafts and may still stand in a schema.
constexpr std::array former{keyword{"definitions", rule::schema_map},
                            keyword{"dependencies", rule::dependencies}};
constexpr std::array former2020{keyword{"$recursiveAnchor", rule::anchor},
                                keyword{"$recursiveRef", rule::reference}};

/// The JSON of a schema for schemas.
std::string_view self(int draft) {
  return draft == 2020   ? R"({"$dynamicRef":"#meta"})"
         : draft == 2019 ? R"({"$recursiveRef":"#"})"
                         : R"({"$ref":"#"})";
}

/// What several keywords share stands behind a reference, under these names.
std::string shared_schemas(int draft) {
  return R"("definitions":{"schemas":{"type":"array","minItems":1,"items":)" +
         std::string(self(draft)) +
         R"(},"count":{"type":"integer","minimum":0},"texts":{"type":"array","items":{"type":"string"},)" +
         (draft == 4 ? R"("minItems":1,)" : "") +
         R"("uniqueItems":true},"type":{"enum":["array","boolean","integer","null","number","object","string"]},)"
         R"("address":{"type":"string","format":"uri"},"reference":{"type":"string","format":"uri-reference"},)"
         R"("anchor":{"type":"string","pattern":"^[A-Za-z_][-A-Za-z0-9._]*$"}})";
}

std::string shared(std::string_view name) {
  return R"({"$ref":"#/definitions/)" + std::string(name) + R"("})";
}
std::string map_of(const std::string& schema) {
  return R"({"type":"object","additionalProperties":)" + schema + "}";
}
std::string either(const std::string& a, const std::string& b) {
  return R"({"anyOf":[)" + a + "," + b + "]}";
}

/// The JSON of a schema for what a keyword may hold.
std::string schema_of(rule r, int draft) {
  const std::string schema(self(draft));
  switch (r) {
    case rule::anything: return "true";
    case rule::text: return R"({"type":"string"})";
    case rule::flag: return R"({"type":"boolean"})";
    case rule::number: return R"({"type":"number"})";
    case rule::above_zero:
      return draft == 4 ? R"({"type":"number","minimum":0,"exclusiveMinimum":true})"
                        : R"({"type":"number","exclusiveMinimum":0})";
    case rule::count: return shared("count");
    case rule::count_or_zero:
      return draft < 2019 ? R"({"allOf":[)" + shared("count") + ",{}]}" : shared("count");
    case rule::schema: return schema;
    case rule::schema_or_flag: return either(R"({"type":"boolean"})", schema);
    case rule::schemas: return shared("schemas");
    case rule::schema_or_schemas: return either(schema, shared("schemas"));
    case rule::schema_map: return map_of(schema);
    case rule::pattern_map:
      return R"({"type":"object","additionalProperties":)" + schema +
             R"(,"propertyNames":{"format":"regex"}})";
    case rule::dependencies: return map_of(either(schema, shared("texts")));
    case rule::texts: return shared("texts");
    case rule::lists_of_texts: return map_of(shared("texts"));
    case rule::values: return R"({"type":"array","items":true})";
    case rule::some_values: return R"({"type":"array","minItems":1,"uniqueItems":true})";
    case rule::types:
      return either(shared("type"), R"({"type":"array","items":)" + shared("type") +
                                        R"(,"minItems":1,"uniqueItems":true})");
    case rule::expression: return R"({"type":"string","format":"regex"})";
    case rule::address:
      return draft == 2020 ? shared("address") : R"({"type":"string","format":"uri"})";
    case rule::reference:
      return draft == 2020 ? shared("reference") : R"({"type":"string","format":"uri-reference"})";
    case rule::id:
      return draft == 2020 ? R"({"$ref":"#/definitions/reference","pattern":"^[^#]*#?$"})"
                           : R"({"type":"string","format":"uri-reference","pattern":"^[^#]*#?$"})";
    case rule::anchor:
      return draft == 2020 ? shared("anchor")
                           : R"({"type":"string","pattern":"^[A-Za-z][-A-Za-z0-9.:_]*$"})";
    case rule::vocabulary:
      return R"({"type":"object","propertyNames":{"type":"string","format":"uri"},"additionalProperties":{"type":"boolean"}})";
  }
  std::abort();
}

void add(std::string& out, std::span<const keyword> keywords, int draft) {
  for (const auto& k : keywords) {
    if (!out.empty()) out += ',';
    out += '"';
    out += k.name;
    out += "\":" + schema_of(k.what, draft);
  }
}

std::string early_draft(int draft) {
  std::string properties;
  add(properties, draft == 4 ? std::span<const keyword>(draft4) : std::span<const keyword>(draft6),
      draft);
  add(properties, early, draft);
  properties += R"(,"patternProperties":)" +
                schema_of(draft == 7 ? rule::pattern_map : rule::schema_map, draft);
  if (draft == 7) add(properties, draft7, draft);
  std::string out =
      R"({"$schema":"http://json-schema.org/draft-0)" + std::to_string(draft) + R"(/schema#",)";
  if (draft == 4)
    out +=
        R"("type":"object","dependencies":{"exclusiveMaximum":["maximum"],"exclusiveMinimum":["minimum"]},)";
  else
    out += R"("type":["object","boolean"],)";
  return out + shared_schemas(draft) + R"(,"properties":{)" + properties + "}}";
}

/// A vocabulary, or the whole when `part` is "schema"; empty for a name that there is not.
std::string late_draft(int draft, std::string_view part) {
  const std::string year = draft == 2019 ? "2019-09" : "2020-12";
  std::string properties, parts;
  if (part == "schema") {
    add(properties, former, draft);
    if (draft == 2020) add(properties, former2020, draft);
    for (const std::string_view name :
         {"core", "applicator", "unevaluated", "validation", "meta-data", "format", "content"}) {
      if (draft == 2019 && name == "unevaluated") continue;
      parts += (parts.empty() ? R"({"$ref":"meta/)" : R"(,{"$ref":"meta/)") + std::string(name);
      parts += name == "format" && draft == 2020 ? R"(-annotation"})" : R"("})";
    }
  } else if (part == "meta/core") {
    add(properties,
        draft == 2019 ? std::span<const keyword>(core2019) : std::span<const keyword>(core2020),
        draft);
  } else if (part == "meta/applicator") {
    add(properties, applicator, draft);
    add(properties,
        draft == 2019 ? std::span<const keyword>(applicator2019)
                      : std::span<const keyword>(applicator2020),
        draft);
  } else if (part == "meta/unevaluated" && draft == 2020) {
    add(properties, unevaluated_words, draft);
  } else if (part == "meta/validation") {
    add(properties, validation, draft);
  } else if (part == "meta/meta-data") {
    add(properties, meta_data, draft);
  } else if (part == (draft == 2019 ? "meta/format" : "meta/format-annotation") ||
             (part == "meta/format-assertion" && draft == 2020)) {
    add(properties, format, draft);
  } else if (part == "meta/content") {
    add(properties, content, draft);
  } else {
    return {};
  }
  const std::string here = "https://json-schema.org/draft/" + year + "/";
  return R"({"$schema":")" + here + R"(schema","$id":")" + here + std::string(part) + R"(",)" +
         (draft == 2019 ? R"("$recursiveAnchor":true,)" : R"("$dynamicAnchor":"meta",)") +
         (parts.empty() ? "" : R"("allOf":[)" + parts + "],") + R"("type":["object","boolean"],)" +
         shared_schemas(draft) + R"(,"properties":{)" + properties + "}}";
}

}  // namespace

std::optional<value> metaschema_document(const std::string& url) {
  std::string_view name = url;
  for (const std::string_view prefix : {"http://json-schema.org/", "https://json-schema.org/"})
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  if (name.size() == url.size()) return std::nullopt;
  if (name == "schema") name = "draft/2020-12/schema";
  std::string text;
  for (const int draft : {4, 6, 7})
    if (name == "draft-0" + std::to_string(draft) + "/schema") text = early_draft(draft);
  for (const auto& [folder, draft] :
       {std::pair<std::string_view, int>{"draft/2019-09/", 2019}, {"draft/2020-12/", 2020}})
    if (name.starts_with(folder)) text = late_draft(draft, name.substr(folder.size()));
  if (text.empty()) return std::nullopt;
  auto document = read_json(text);
  if (!document) std::abort();  // the tables above are wrong
  return std::move(*document);
}

}  // namespace helm::schemas
