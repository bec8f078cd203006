// One walk over schema and value prunes, defaults and checks: its parts call one another.
#include "k8s/sim/objects/schema.hpp"

#include "k8s/sim/objects/admission.hpp"
#include "reactor/plain/time.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace k8s::sim {

namespace {

std::string type_name(const json::value& v) {
  switch (v.kind()) {
    case json::kind::null: return "null";
    case json::kind::bool_: return "boolean";
    case json::kind::int64:
    case json::kind::uint64: return "integer";
    case json::kind::double_: return "number";
    case json::kind::string: return "string";
    case json::kind::array: return "array";
    case json::kind::object: return "object";
  }
  return "null";
}

std::optional<double> as_number(const json::value& v) {
  if (v.is_int64()) return static_cast<double>(v.get_int64());
  if (v.is_uint64()) return static_cast<double>(v.get_uint64());
  if (v.is_double()) return v.get_double();
  return std::nullopt;
}

bool is_integer(const json::value& v) {
  return v.is_int64() || v.is_uint64() ||
         (v.is_double() && std::trunc(v.get_double()) == v.get_double());
}

std::string number_text(double d) {
  if (std::trunc(d) == d && std::abs(d) < 1e15) return std::to_string(static_cast<long long>(d));
  return json::serialize(json::value(d));
}

std::size_t rune_count(std::string_view s) {
  return static_cast<std::size_t>(std::count_if(
      s.begin(), s.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

bool implicit_at_root(std::string_view name) {
  return name == "apiVersion" || name == "kind" || name == "metadata";
}

bool format_fits(std::string_view format, std::string_view s) {
  if (format == "date-time") return static_cast<bool>(reactor::parse_rfc3339(s));
  return true;
}

}  // namespace

std::string schema::place::text() const {
  std::string out = within ? within->text() : std::string();
  if (is_element) return out + "[" + std::to_string(index) + "]";
  return out.empty() ? std::string(name) : out + "." + std::string(name);
}

std::shared_ptr<schema> schema::read(const json::object& p) {
  auto s = std::make_shared<schema>();
  s->type = std::string(text(p, {"type"}));
  s->format = std::string(text(p, {"format"}));
  s->int_or_string = flag(p, {"x-kubernetes-int-or-string"});
  s->preserve_unknown = flag(p, {"x-kubernetes-preserve-unknown-fields"});
  s->embedded = flag(p, {"x-kubernetes-embedded-resource"});
  s->nullable = flag(p, {"nullable"});
  s->list_type = std::string(text(p, {"x-kubernetes-list-type"}));
  s->map_type = std::string(text(p, {"x-kubernetes-map-type"}));
  auto names = [&](std::string_view member, std::vector<std::string>& into) {
    if (const json::array* all = find_array(p, {member})) {
      for (const json::value& v : *all) {
        if (v.is_string()) into.emplace_back(v.get_string());
      }
    }
  };
  names("required", s->required);
  names("x-kubernetes-list-map-keys", s->list_keys);
  if (const json::object* all = find_object(p, {"properties"})) {
    for (const auto& [name, v] : *all) {
      if (v.is_object()) s->properties[std::string(name)] = read(v.get_object());
    }
  }
  if (const json::value* v = p.if_contains("additionalProperties")) {
    if (v->is_object())
      s->additional = read(v->get_object());
    else if (v->is_bool())
      s->additional_any = v->get_bool();
  }
  if (const json::object* v = find_object(p, {"items"})) s->items = read(*v);
  if (const json::object* v = find_object(p, {"not"})) s->negated = read(*v);
  auto several = [&](std::string_view member, std::vector<std::shared_ptr<schema>>& into) {
    if (const json::array* all = find_array(p, {member})) {
      for (const json::value& v : *all) {
        if (v.is_object()) into.push_back(read(v.get_object()));
      }
    }
  };
  several("allOf", s->all_of);
  several("anyOf", s->any_of);
  several("oneOf", s->one_of);
  if (const json::value* v = p.if_contains("default")) s->fallback = *v;
  if (const json::array* v = find_array(p, {"enum"})) s->allowed = *v;
  auto limit = [&](std::string_view member, auto& into) {
    if (const json::value* v = p.if_contains(member)) {
      if (auto n = as_number(*v))
        into = static_cast<typename std::decay_t<decltype(into)>::value_type>(*n);
    }
  };
  limit("minimum", s->minimum);
  limit("maximum", s->maximum);
  limit("multipleOf", s->multiple_of);
  limit("minLength", s->min_length);
  limit("maxLength", s->max_length);
  limit("minItems", s->min_items);
  limit("maxItems", s->max_items);
  limit("minProperties", s->min_properties);
  limit("maxProperties", s->max_properties);
  s->exclusive_minimum = flag(p, {"exclusiveMinimum"});
  s->exclusive_maximum = flag(p, {"exclusiveMaximum"});
  s->unique_items = flag(p, {"uniqueItems"});
  if (std::string_view source = text(p, {"pattern"}); !source.empty())
    s->matches = formats::regex::compile(source);
  if (const json::array* all = find_array(p, {"x-kubernetes-validations"}))
    for (const json::value& one : *all) {
      const std::string_view source = one.is_object() ? text(one.get_object(), {"rule"}) : "";
      auto compiled = rule::compile(source);
      if (!compiled) continue;
      const std::string_view message = text(one.get_object(), {"message"});
      s->rules.push_back({std::move(*compiled), message.empty()
                                                    ? "failed rule: " + std::string(source)
                                                    : std::string(message)});
    }
  s->rules_below =
      !s->rules.empty() || (s->items && s->items->rules_below) ||
      (s->additional && s->additional->rules_below) ||
      std::ranges::any_of(s->properties, [](const auto& one) { return one.second->rules_below; });
  return s;
}

void schema::prune(json::object& o, std::vector<std::string>* unknown) const {
  json::value v(std::move(o));
  prune_value(v, {}, true, unknown);
  o = std::move(v.get_object());
}

void schema::prune_value(json::value& v, const place& where, bool root,
                         std::vector<std::string>* unknown) const {
  if (v.is_array()) {
    if (!items) return;
    std::size_t i = 0;
    for (json::value& e : v.get_array())
      items->prune_value(e, {&where, {}, i++, true}, false, unknown);
    return;
  }
  if (!v.is_object()) return;
  json::object& o = v.get_object();
  std::vector<std::string> drop;
  for (auto& member : o) {
    const std::string_view name = member.key();
    if ((root || embedded) && implicit_at_root(name)) continue;
    if (auto p = properties.find(name); p != properties.end()) {
      p->second->prune_value(member.value(), {&where, name}, false, unknown);
    } else if (additional) {
      additional->prune_value(member.value(), {&where, name}, false, unknown);
    } else if (!preserve_unknown && !additional_any) {
      drop.emplace_back(name);
    }
  }
  for (const std::string& name : drop) {
    erase(o, name);
    if (unknown) unknown->push_back(place{&where, name}.text());
  }
}

void schema::set_defaults(json::object& o) const {
  json::value v(std::move(o));
  default_value(v, true);
  o = std::move(v.get_object());
}

void schema::default_value(json::value& v, bool root) const {
  if (v.is_array()) {
    if (!items) return;
    for (json::value& e : v.get_array()) {
      if (e.is_null() && !items->nullable && items->fallback) e = *items->fallback;
      items->default_value(e, false);
    }
    return;
  }
  if (!v.is_object()) return;
  json::object& o = v.get_object();
  for (const auto& [name, p] : properties) {
    if (root && implicit_at_root(name)) continue;
    json::value* member = o.if_contains(name);
    if (p->fallback && (!member || (member->is_null() && !p->nullable))) {
      o[name] = *p->fallback;
      member = o.if_contains(name);
    }
    if (!member) continue;
    if (member->is_null() && !p->nullable) {
      // A null where none may be counts as absent once defaults had their chance.
      erase(o, name);
      continue;
    }
    p->default_value(*member, false);
  }
  if (additional) {
    for (auto& member : o) {
      if (!properties.contains(member.key())) additional->default_value(member.value(), false);
    }
  }
}

bool schema::type_fits(const json::value& v) const {
  if (v.is_null()) return nullable || (type.empty() && !int_or_string);
  if (int_or_string) return v.is_string() || is_integer(v);
  if (type.empty()) return true;
  if (type == "integer") return is_integer(v);
  if (type == "number") return v.is_number();
  return type_name(v) == type;
}

void schema::validate(json::object& o, field_errors& errors, const json::object* old) const {
  json::value v(std::move(o));
  const std::size_t before = errors.size();
  validate_value(v, {}, true, errors, {old, nullptr});
  // Rules are written for objects of the right form.
  if (rules_below && errors.size() == before) {
    const json::value was = old ? json::value(*old) : json::value();
    judge_rules(v, {}, errors, old ? &was : nullptr);
  }
  o = std::move(v.get_object());
}

/// What is as it was has been judged before, and a rule that compares with the state before needs
/// one.
void schema::judge_rules(const json::value& v, const place& where, field_errors& errors,
                         const json::value* was) const {
  if (!rules_below || v.is_null() || (was && same(*was, v))) return;
  for (const validation& one : rules) {
    if (one.is.is_transition() && !was) continue;
    const auto holds = one.is.holds(v, one.is.is_transition() ? was : nullptr);
    if (holds && *holds) continue;
    const std::string message = holds ? one.message : "rule evaluation error: " + holds.error();
    // As a real server has it: an object is not repeated.
    if (v.is_object() || v.is_array())
      errors.push_back({field_error::type::invalid, where.text(), "Invalid value: " + message});
    else
      errors.push_back(field_error::invalid(where.text(), v, message));
  }
  if (v.is_array() && items) {
    by_key known;
    const former before = former::of(was);
    for (std::size_t i = 0; i < v.get_array().size(); ++i) {
      const json::value& element = v.get_array()[i];
      items->judge_rules(element, {&where, {}, i, true}, errors,
                         twin_of(element, i, before, known));
    }
  }
  if (!v.is_object()) return;
  for (const auto& member : v.get_object()) {
    const auto p = properties.find(member.key());
    const schema* of = p != properties.end() ? p->second.get() : additional.get();
    const json::value* there =
        was && was->is_object() ? was->get_object().if_contains(member.key()) : nullptr;
    if (of) of->judge_rules(member.value(), {&where, member.key()}, errors, there);
  }
}

void schema::validate_value(const json::value& v, const place& where, bool root,
                            field_errors& errors, former before) const {
  const auto at = [&where] { return where.text(); };
  if (!type_fits(v)) {
    const std::string want = int_or_string ? "integer,string" : type;
    const std::string got = type_name(v);
    errors.push_back(field_error::wrong_type(
        at(), json::string(got), at() + " in body must be of type " + want + ": " + quoted(got)));
    return;
  }
  if (v.is_null()) return;
  if (allowed && std::find(allowed->begin(), allowed->end(), v) == allowed->end()) {
    std::vector<std::string> words;
    for (const json::value& a : *allowed)
      words.push_back(a.is_string() ? std::string(a.get_string()) : json::serialize(a));
    errors.push_back(field_error::unsupported(at(), v, words));
  }
  if (v.is_string()) {
    const std::string_view s = v.get_string();
    const std::size_t length = rune_count(s);
    if (max_length && length > *max_length)
      errors.push_back(field_error::too_long(at(), *max_length));
    if (min_length && length < *min_length) {
      errors.push_back(field_error::invalid(
          at(), v,
          at() + " in body should be at least " + std::to_string(*min_length) + " chars long"));
    }
    if (matches && !matches->found_in(s)) {
      errors.push_back(field_error::invalid(
          at(), v, at() + " in body should match '" + matches->source() + "'"));
    }
    if (!format.empty() && !format_fits(format, s)) {
      errors.push_back(field_error::invalid(
          at(), v, at() + " in body must be of type " + format + ": " + quoted(s)));
    }
  } else if (v.is_number()) {
    const double n = *as_number(v);
    if (minimum && (exclusive_minimum ? n <= *minimum : n < *minimum)) {
      errors.push_back(field_error::invalid(at(), v,
                                            at() + " in body should be greater than " +
                                                (exclusive_minimum ? "" : "or equal to ") +
                                                number_text(*minimum)));
    }
    if (maximum && (exclusive_maximum ? n >= *maximum : n > *maximum)) {
      errors.push_back(field_error::invalid(at(), v,
                                            at() + " in body should be less than " +
                                                (exclusive_maximum ? "" : "or equal to ") +
                                                number_text(*maximum)));
    }
    if (multiple_of && *multiple_of != 0 && std::fmod(n, *multiple_of) != 0) {
      errors.push_back(field_error::invalid(
          at(), v, at() + " in body should be a multiple of " + number_text(*multiple_of)));
    }
    if (format == "int32" && (n < -2147483648.0 || n > 2147483647.0)) {
      errors.push_back(field_error::invalid(
          at(), v, at() + " in body must be of type int32: " + quoted(number_text(n))));
    }
  } else if (v.is_array()) {
    const json::array& all = v.get_array();
    if (max_items && all.size() > *max_items)
      errors.push_back(field_error::too_many(at(), all.size(), *max_items));
    if (min_items && all.size() < *min_items) {
      errors.push_back(field_error::invalid(
          at(), all.size(),
          at() + " in body should have at least " + std::to_string(*min_items) + " items"));
    }
    by_key known;
    for (std::size_t i = 0; items && i < all.size(); ++i) {
      const json::value* was = twin_of(all[i], i, before, known);
      if (was && same(*was, all[i])) continue;
      items->validate_value(all[i], {&where, {}, i, true}, false, errors, former::of(was));
    }
    if (list_type == "map" || list_type == "set" || unique_items) validate_keys(all, where, errors);
  } else if (v.is_object()) {
    const json::object& o = v.get_object();
    for (const std::string& name : required) {
      if (!o.contains(name)) errors.push_back(field_error::required(place{&where, name}.text()));
    }
    if (max_properties && o.size() > *max_properties) {
      errors.push_back(field_error::too_many(at(), o.size(), *max_properties));
    }
    if (min_properties && o.size() < *min_properties) {
      errors.push_back(field_error::invalid(at(), o.size(),
                                            at() + " in body should have at least " +
                                                std::to_string(*min_properties) + " properties"));
    }
    for (const auto& member : o) {
      if (root && implicit_at_root(member.key())) continue;
      const json::value* was = before.object ? before.object->if_contains(member.key()) : nullptr;
      if (was && same(*was, member.value())) continue;
      const auto p = properties.find(member.key());
      const schema* of = p != properties.end() ? p->second.get() : additional.get();
      if (of)
        of->validate_value(member.value(), {&where, member.key()}, false, errors, former::of(was));
    }
  }
  for (const auto& s : all_of) s->validate_value(v, where, root, errors);
  auto fits = [&](const schema& s) {
    field_errors ignored;
    s.validate_value(v, where, root, ignored);
    return ignored.empty();
  };
  if (!any_of.empty() &&
      std::none_of(any_of.begin(), any_of.end(), [&](const auto& s) { return fits(*s); })) {
    errors.push_back(field_error::invalid(
        at(), json::string(), quoted(at()) + " must validate at least one schema (anyOf)"));
  }
  if (!one_of.empty() &&
      std::count_if(one_of.begin(), one_of.end(), [&](const auto& s) { return fits(*s); }) != 1) {
    errors.push_back(field_error::invalid(
        at(), json::string(), quoted(at()) + " must validate one and only one schema (oneOf)"));
  }
  if (negated && fits(*negated)) {
    errors.push_back(field_error::invalid(at(), json::string(),
                                          quoted(at()) + " must not validate the schema (not)"));
  }
}

/// What tells an element from the others: of a "map" its keys, else all of it.
json::value schema::key_of(const json::value& element) const {
  if (list_type != "map" || !element.is_object()) return element;
  json::object key;
  for (const std::string& k : list_keys)
    if (const json::value* part = element.get_object().if_contains(k)) key[k] = *part;
  return key;
}

/// The element with the same key before; only those of a "map" have one. It is where it was, as a
/// rule: `known` is filled for the first that is not.
const json::value* schema::twin_of(const json::value& element, std::size_t at, former before,
                                   by_key& known) const {
  if (list_type != "map" || !before.array) return nullptr;
  const json::array& all = *before.array;
  const json::value key = key_of(element);
  if (at < all.size() && same(key_of(all[at]), key)) return &all[at];
  if (known.empty())
    for (const json::value& v : all) known.emplace(json::serialize(key_of(v)), &v);
  const auto found = known.find(json::serialize(key));
  return found == known.end() ? nullptr : found->second;
}

/// No two elements are the same, or have the same key.
void schema::validate_keys(const json::array& all, const place& where, field_errors& errors) const {
  std::set<std::string> seen;
  for (std::size_t i = 0; i < all.size(); ++i) {
    json::value key = key_of(all[i]);
    if (!seen.insert(json::serialize(key)).second)
      errors.push_back(field_error::duplicate(place{&where, {}, i, true}.text(), std::move(key)));
  }
}

std::shared_ptr<shape> schema::merge_shape(bool root) const {
  auto s = std::make_shared<shape>();
  s->atomic = map_type == "atomic" || (!root && type == "object" && properties.empty() &&
                                       !additional && preserve_unknown && map_type == "atomic");
  for (const auto& [name, p] : properties) s->fields[name] = p->merge_shape(false);
  if (additional) {
    s->is_map = true;
    s->element = additional->merge_shape(false);
  }
  if (items) {
    s->element = items->merge_shape(false);
    if (list_type == "map") {
      s->list = shape::list_kind::map;
      s->keys = list_keys;
      for (const std::string& k : list_keys) {
        auto p = items->properties.find(k);
        if (p != items->properties.end() && p->second->fallback &&
            p->second->fallback->is_string()) {
          s->key_defaults[k] = std::string(p->second->fallback->get_string());
        }
      }
    } else if (list_type == "set") {
      s->list = shape::list_kind::set;
    }
  }
  if (root) s->fields["metadata"] = metadata_shape();
  return s;
}

field_errors validate_crd(const json::object& crd) {
  field_errors errors;
  const std::string group(text(crd, {"spec", "group"})),
      plural(text(crd, {"spec", "names", "plural"})), kind(text(crd, {"spec", "names", "kind"})),
      name(text(crd, {"metadata", "name"}));
  if (name != plural + "." + group) {
    errors.push_back(field_error::invalid("metadata.name", json::string(name),
                                          "must be spec.names.plural+\".\"+spec.group"));
  }
  if (group.empty())
    errors.push_back(field_error::required("spec.group"));
  else if (!is_dns_subdomain(group) || group.find('.') == std::string::npos) {
    errors.push_back(field_error::invalid("spec.group", json::string(group),
                                          "should be a domain with at least one dot"));
  }
  if (plural.empty()) errors.push_back(field_error::required("spec.names.plural"));
  if (kind.empty()) errors.push_back(field_error::required("spec.names.kind"));
  const std::string_view scope = text(crd, {"spec", "scope"});
  if (scope != "Namespaced" && scope != "Cluster") {
    if (scope.empty())
      errors.push_back(field_error::required("spec.scope"));
    else
      errors.push_back(
          field_error::unsupported("spec.scope", json::string(scope), {"Cluster", "Namespaced"}));
  }
  const json::array* versions = find_array(crd, {"spec", "versions"});
  int storage = 0;
  for (std::size_t i = 0; versions && i < versions->size(); ++i) {
    const std::string at = "spec.versions[" + std::to_string(i) + "]";
    const json::object* v = (*versions)[i].if_object();
    if (!v) {
      errors.push_back(field_error::required(at));
      continue;
    }
    if (flag(*v, {"storage"})) ++storage;
    if (!is_dns_label(text(*v, {"name"}))) {
      errors.push_back(field_error::invalid(at + ".name", json::string(text(*v, {"name"})),
                                            "must be a DNS label"));
    }
    const json::object* root = find_object(*v, {"schema", "openAPIV3Schema"});
    if (!root) {
      errors.push_back(
          field_error::required(at + ".schema.openAPIV3Schema", "schemas are required"));
    } else if (text(*root, {"type"}) != "object") {
      const json::value* type = root->if_contains("type");
      if (!type)
        errors.push_back(field_error::required(at + ".schema.openAPIV3Schema.type",
                                               "must not be empty at the root"));
      else
        errors.push_back(field_error::invalid(at + ".schema.openAPIV3Schema.type", *type,
                                              "must be object at the root"));
    }
    const json::object* metadata = root ? find_object(*root, {"properties", "metadata"}) : nullptr;
    if (metadata && std::ranges::any_of(*metadata, [](const auto& member) {
          return member.key() != "type" && member.key() != "properties";
        }))
      errors.push_back(field_error::forbidden(
          at + ".schema.openAPIV3Schema.properties[metadata]",
          "must not specify anything other than name and generateName, but metadata is implicitly "
          "specified"));
  }
  if (storage != 1) {
    errors.push_back(field_error::invalid(
        "spec.versions", versions ? json::value(*versions) : json::value(nullptr),
        "must have exactly one version marked as storage version"));
  }
  return errors;
}

}  // namespace k8s::sim
