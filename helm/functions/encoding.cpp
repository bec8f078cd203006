#include "formats/base64.hpp"
#include "formats/json/json.hpp"
#include "formats/toml/toml.hpp"
#include "formats/yaml/reader.hpp"
#include "formats/yaml/writer.hpp"
#include "helm/functions/functions.hpp"
#include "helm/go.hpp"
#include "helm/template/executor.hpp"

namespace helm {
namespace {

using args = std::span<value>;

std::string without_newline(std::string s) {
  if (s.ends_with('\n')) s.pop_back();
  return s;
}

value counted_text(executor& e, std::string s) {
  e.reserve(s.size());
  return s;
}

value f_to_yaml(executor& e, args a) {
  auto out = write_go_yaml(a[0]);
  return out ? counted_text(e, without_newline(std::move(*out))) : value("");
}
value f_to_yaml_pretty(executor& e, args a) {
  auto out = write_go_yaml_pretty(a[0]);
  // The YAML library behind this one panics where the other's detour through JSON gives an error.
  if (!out && out.error().code == problem_code::no_form)
    throw function_error("cannot marshal type: complex128");
  return out ? counted_text(e, without_newline(std::move(*out))) : value("");
}
value counted_tree(executor& e, value v) {
  e.reserve(footprint(v));
  return v;
}
value error_map(const problem& p) {
  return value::map_type{{"Error", value(p.text)}};
}
value error_list(const problem& p) {
  return value(value::list_type{value(p.text)});
}
value f_from_yaml(executor& e, args a) {
  auto v = read_go_yaml_map(a[0].text());
  return v ? counted_tree(e, *v) : error_map(v.error());
}
value f_from_yaml_array(executor& e, args a) {
  auto v = read_go_yaml_list(a[0].text());
  // Nothing is an empty list here; fromJsonArray makes null of it.
  if (v && v->items().empty()) return value(value::list_type{});
  return v ? counted_tree(e, *v) : error_list(v.error());
}

value json_text(executor& e, const value& v, json_style style, bool must) {
  auto out = write_json(v, style);
  if (out) return counted_text(e, std::move(*out));
  if (must) throw function_error(out.error().text);
  return "";
}
value f_to_json(executor& e, args a) {
  return json_text(e, a[0], {}, false);
}
value f_must_to_json(executor& e, args a) {
  return json_text(e, a[0], {}, true);
}
value f_to_pretty_json(executor& e, args a) {
  return json_text(e, a[0], {.indented = true}, false);
}
value f_must_to_pretty_json(executor& e, args a) {
  return json_text(e, a[0], {.indented = true}, true);
}
value f_to_raw_json(executor& e, args a) {
  return json_text(e, a[0], {.escapes = json_escapes::none}, true);
}

/// A text that is JSON of another kind than the function gives.
problem wrong_json(const json_reading& r, const char* wanted) {
  // A number that no float64 holds is null in the value.
  const bool is_number = !r.too_large.empty() && r.read.is_nil();
  const std::string kind(is_number ? "number" : json_kind(r.read));
  return {"json: cannot unmarshal " + kind + " into Go value of type " + wanted};
}
value f_from_json(executor& e, args a) {
  auto r = read_json_with_nulls(a[0].text());
  if (!r) return error_map(r.error());
  if (r->read.is_nil() && r->too_large.empty()) return value::nil_of(type::map);
  if (!r->read.is_map()) return error_map(wrong_json(*r, "map[string]interface {}"));
  if (!r->too_large.empty()) r->read.entries().insert_or_assign("Error", r->too_large);
  return counted_tree(e, std::move(r->read));
}
value f_from_json_array(executor& e, args a) {
  auto r = read_json_with_nulls(a[0].text());
  if (!r) return error_list(r.error());
  if (r->read.is_nil() && r->too_large.empty()) return value::nil_of(type::list);
  if (!r->read.is_list()) return error_list(wrong_json(*r, "[]interface {}"));
  if (!r->too_large.empty()) return error_list(problem{r->too_large});
  return counted_tree(e, std::move(r->read));
}
value f_must_from_json(executor& e, args a) {
  auto v = read_json(a[0].text());
  if (!v) throw function_error(v.error().text);
  return counted_tree(e, *v);
}

value f_to_toml(executor& e, args a) {
  if (a[0].is_nil()) throw function_error("reflect: call of reflect.Value.Type on zero Value");
  auto out = write_toml(a[0]);
  return out ? counted_text(e, std::move(*out)) : value(out.error().text);
}
value f_from_toml(executor& e, args a) {
  auto v = read_toml(a[0].text());
  return v ? counted_tree(e, *v) : error_map(v.error());
}

value f_b64enc(executor& e, args a) {
  return counted_text(e, encode_base64(a[0].text()));
}
value f_b64dec(executor&, args a) {
  auto out = base64_decode(a[0].text());
  return out ? value(*out) : value(out.error().text);
}
value f_b32enc(executor& e, args a) {
  return counted_text(e, base32_encode(a[0].text()));
}
value f_b32dec(executor&, args a) {
  auto out = base32_decode(a[0].text());
  return out ? value(*out) : value(out.error().text);
}

constexpr auto any = param::any;
constexpr auto s = param::string;
constexpr function table[] = {
    make_function("toYaml", {any}, f_to_yaml),
    make_function("toYamlPretty", {any}, f_to_yaml_pretty),
    make_function("fromYaml", {s}, f_from_yaml),
    make_function("fromYamlArray", {s}, f_from_yaml_array),
    make_function("toJson", {any}, f_to_json),
    make_function("mustToJson", {any}, f_must_to_json),
    make_function("toPrettyJson", {any}, f_to_pretty_json),
    make_function("mustToPrettyJson", {any}, f_must_to_pretty_json),
    make_function("toRawJson", {any}, f_to_raw_json),
    make_function("mustToRawJson", {any}, f_to_raw_json),
    make_function("fromJson", {s}, f_from_json),
    make_function("fromJsonArray", {s}, f_from_json_array),
    make_function("mustFromJson", {s}, f_must_from_json, false, true),
    make_function("toToml", {any}, f_to_toml),
    make_function("fromToml", {s}, f_from_toml),
    make_function("b64enc", {s}, f_b64enc),
    make_function("b64dec", {s}, f_b64dec),
    make_function("b32enc", {s}, f_b32enc),
    make_function("b32dec", {s}, f_b32dec),
};

}  // namespace

std::span<const function> encoding_functions() {
  return table;
}

}  // namespace helm
