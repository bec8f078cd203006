#include "helm/schema/compiler.hpp"

#include "formats/plain/deep_stack.hpp"
#include "helm/go.hpp"
#include "helm/schema/metaschemas.hpp"
#include "helm/schema/validator.hpp"

#include <cmath>

namespace helm::schemas {
namespace {

constexpr std::pair<std::string_view, type_bit> type_names[] = {
    {"null", null_type},       {"boolean", boolean_type}, {"number", number_type},
    {"integer", integer_type}, {"string", string_type},   {"array", array_type},
    {"object", object_type}};

unsigned types_of(const value* v) {
  unsigned out = 0;
  const auto add = [&out](const value& name) {
    if (!name.is_string()) return;
    for (const auto& [known, bit] : type_names)
      if (name.text() == known) out |= bit;
  };
  if (!v) return out;
  if (v->is_list())
    for (const auto& name : v->items()) add(name);
  else
    add(*v);
  return out;
}

const value* list_in(const value& schema, std::string_view name) {
  const auto* v = schema.find(name);
  return v && v->is_list() ? v : nullptr;
}
const value* map_in(const value& schema, std::string_view name) {
  const auto* v = schema.find(name);
  return v && v->is_map() ? v : nullptr;
}
bool true_in(const value& schema, std::string_view name) {
  const auto* v = schema.find(name);
  return v && v->kind() == type::boolean && v->boolean();
}
std::optional<double> number_in(const value& schema, std::string_view name) {
  const auto* v = schema.find(name);
  if (!v) return std::nullopt;
  if (v->is_integer()) return static_cast<double>(v->integer());
  return v->kind() == type::float64 ? std::optional(v->real()) : std::nullopt;
}
std::optional<double> integer_in(const value& schema, std::string_view name) {
  const auto n = number_in(schema, name);
  return n && std::trunc(*n) == *n ? n : std::nullopt;
}
std::vector<std::string> texts(const value& list) {
  std::vector<std::string> out;
  for (const auto& item : list.items())
    if (item.is_string()) out.push_back(item.text());
  return out;
}

}  // namespace

/// Fills a library: takes the schemas in the order in which they are met, each once.
class compiler {
public:
  explicit compiler(library& into) : out_(into) {}

  std::optional<problem> add_document(const std::string& url, value root) {
    auto read = document::read(url, std::move(root));
    if (!read) return read.error();
    if (!describes_schemas(url))
      if (auto bad = validate(*read, "")) return bad;
    out_.documents_.emplace(url, std::move(*read));
    return std::nullopt;
  }

  std::optional<problem> compile(const place& root) {
    out_.root_ = enqueue(root);
    for (std::size_t i = 0; i < out_.nodes_.size(); ++i)
      if (auto bad = fill(out_.nodes_[i])) return bad;
    return std::nullopt;
  }

private:
  static bool describes_schemas(std::string_view url) {
    return url.starts_with("http://json-schema.org/") ||
           url.starts_with("https://json-schema.org/");
  }

  /// The draft's own schema on the schema at `pointer`.
  static std::optional<problem> validate(const document& d, const std::string& pointer) {
    const auto found = d.at(pointer);
    if (!found) return found.error();
    const auto& meta = metaschema(d.resource_of(pointer).draft);
    const auto reasons = reasons_against(meta.root(), **found, &d.resources());
    if (reasons.empty()) return std::nullopt;
    return problem{quote(place{d.url(), pointer}.text()) +
                   " is not valid against metaschema: jsonschema validation failed with '" +
                   meta.root().at.text() + "'\n" + reasons};
  }

  outcome<document*> load(const std::string& url) {
    if (const auto known = out_.documents_.find(url); known != out_.documents_.end())
      return &known->second;
    auto root = metaschema_document(url);
    // names without a place hold for everything
    if (!root && url.starts_with("urn:")) root = value(true);
    if (!root) return not_loaded(url);
    if (auto bad = add_document(url, std::move(*root))) return *bad;
    return &out_.documents_.at(url);
  }

  node* enqueue(const place& at) {
    auto& known = out_.by_place_[at];
    if (!known) {
      known = &out_.nodes_.emplace_back();
      known->at = at;
    }
    return known;
  }
  const node* below(const node& n, const std::string& path) {
    return enqueue({n.at.url, n.at.pointer + path});
  }

  std::optional<problem> fill(node& n) {
    auto d = load(n.at.url);
    if (!d) return d.error();
    document& doc = **d;
    if (!doc.holds_schema(n.at.pointer)) {
      if (auto bad = doc.add_schema(n.at.pointer)) return bad;
      if (auto bad = validate(doc, n.at.pointer)) return bad;
    }
    const auto found = doc.at(n.at.pointer);
    if (!found) return found.error();
    const value schema = **found;
    const auto& in = doc.resource_of(n.at.pointer);
    n.draft = in.draft;
    n.resource = enqueue({n.at.url, in.pointer});
    if (n.draft >= 2020 && n.resource == &n)
      for (const auto& name : in.dynamic_anchors)
        n.dynamic_anchors[name] = enqueue({n.at.url, in.anchors.at(name)});
    if (schema.kind() == type::boolean) {
      n.always = schema.boolean();
    } else if (schema.is_map()) {
      if (schema.size() == 0)
        n.always = true;
      else if (auto bad = fill(n, schema, doc, in))
        return bad;
    }
    n.every_property = n.additional_properties.kind != remainder::what::unsaid;
    n.every_item = n.items != nullptr || n.additional_items.kind != remainder::what::unsaid;
    n.first_items = n.prefix_items.size();
    return std::nullopt;
  }

  /// Keyword by keyword. Up to draft 7 a reference stands alone, but for `const`: so does the
  /// reference's compiler.
  std::optional<problem> fill(node& n, const value& schema, document& doc, const resource& in) {
    const auto refer = [&](std::string_view name, const node*& to) -> std::optional<problem> {
      auto target = reference(schema, name, doc, in);
      if (!target) return target.error();
      to = *target;
      return std::nullopt;
    };
    if (auto bad = refer("$ref", n.reference)) return bad;
    if (const auto* v = n.draft >= 6 ? schema.find("const") : nullptr) n.constant = *v;
    if (n.draft < 2019 && n.reference) return std::nullopt;
    if (n.draft >= 2019) {
      if (auto bad = refer("$recursiveRef", n.recursive_reference)) return bad;
      n.recursive_anchor = true_in(schema, "$recursiveAnchor");
    }
    if (n.draft >= 2020) {
      if (auto bad = refer("$dynamicRef", n.dynamic_reference)) return bad;
      if (n.dynamic_reference) {
        const auto address = join_address(in.id, schema.find("$dynamicRef")->text());
        if (address && !address->fragment.starts_with('/'))
          n.dynamic_reference_anchor = address->fragment;
      }
      if (const auto* a = schema.find("$dynamicAnchor"); a && a->is_string())
        n.dynamic_anchor = a->text();
    }
    combine(n, schema);
    if (auto bad = describe_object(n, schema)) return bad;
    describe_array(n, schema);
    return describe_scalar(n, schema);
  }

  outcome<const node*> reference(const value& schema, std::string_view name, document& doc,
                                 const resource& in) {
    const auto* text = schema.find(name);
    if (!text || !text->is_string()) return static_cast<const node*>(nullptr);
    const auto target = join_address(in.id, text->text());
    if (!target) return target.error();
    document* holder = &doc;
    const resource* r = doc.find(target->url);
    if (!r) {
      auto other = load(target->url);
      if (!other) return other.error();
      holder = *other;
      r = &holder->resource_of("");
    }
    auto pointer = holder->resolve(*r, target->fragment);
    if (!pointer) return pointer.error();
    return static_cast<const node*>(enqueue({holder->url(), *pointer}));
  }

  const node* one(const node& n, const value& schema, std::string_view name) {
    return schema.find(name) ? below(n, pointer_step(name)) : nullptr;
  }
  std::vector<const node*> list(const node& n, const value& schema, std::string_view name) {
    std::vector<const node*> out;
    if (const auto* items = list_in(schema, name))
      for (std::size_t i = 0; i < items->size(); ++i)
        out.push_back(below(n, pointer_step(name) + "/" + std::to_string(i)));
    return out;
  }
  remainder rest(const node& n, const value& schema, std::string_view name) {
    const auto* v = schema.find(name);
    if (!v) return {};
    if (v->kind() == type::boolean)
      return {v->boolean() ? remainder::what::allowed : remainder::what::refused, nullptr};
    return {remainder::what::schema, below(n, pointer_step(name))};
  }
  /// Errors   "invalid regex … at …"
  static outcome<std::shared_ptr<const formats::regex>> expression(const std::string& text,
                                                                   const std::string& where) {
    std::string why;
    auto out = formats::regex::compile(text, &why);
    if (!out) return problem{"invalid regex " + quote(text) + " at " + quote(where) + ": " + why};
    return out;
  }

  void combine(node& n, const value& schema) {
    n.all_of = list(n, schema, "allOf");
    n.any_of = list(n, schema, "anyOf");
    n.one_of = list(n, schema, "oneOf");
    n.negated = one(n, schema, "not");
    if (n.draft < 7) return;
    n.condition = one(n, schema, "if");
    if (!n.condition) return;
    const auto* known = schema.find("if");
    const bool constant = known->kind() == type::boolean;
    if (!constant || known->boolean()) n.consequence = one(n, schema, "then");
    if (!constant || !known->boolean()) n.alternative = one(n, schema, "else");
  }

  std::optional<problem> describe_object(node& n, const value& schema) {
    if (const auto* map = map_in(schema, "properties"))
      for (const auto& [name, item] : map->entries())
        n.properties[name] = below(n, "/properties" + pointer_step(name));
    if (const auto* map = map_in(schema, "patternProperties"))
      for (const auto& [text, item] : map->entries()) {
        const auto* s = below(n, "/patternProperties" + pointer_step(text));
        auto re = expression(text, place{n.at.url, n.at.pointer + "/patternProperties"}.text());
        if (!re) return re.error();
        n.pattern_properties.push_back({std::move(*re), s});
      }
    n.additional_properties = rest(n, schema, "additionalProperties");
    if (const auto* map = map_in(schema, "dependencies"))
      for (const auto& [name, item] : map->entries()) {
        if (item.is_list())
          n.dependency_lists[name] = texts(item);
        else
          n.dependency_schemas[name] = below(n, "/dependencies" + pointer_step(name));
      }
    if (const auto* names = list_in(schema, "required")) n.required = texts(*names);
    n.min_properties = integer_in(schema, "minProperties");
    n.max_properties = integer_in(schema, "maxProperties");
    if (n.draft >= 6) n.property_names = one(n, schema, "propertyNames");
    if (n.draft < 2019) return std::nullopt;
    if (const auto* map = map_in(schema, "dependentRequired"))
      for (const auto& [name, item] : map->entries())
        if (item.is_list()) n.dependent_required[name] = texts(item);
    if (const auto* map = map_in(schema, "dependentSchemas"))
      for (const auto& [name, item] : map->entries())
        n.dependent_schemas[name] = below(n, "/dependentSchemas" + pointer_step(name));
    n.unevaluated_properties = one(n, schema, "unevaluatedProperties");
    return std::nullopt;
  }

  void describe_array(node& n, const value& schema) {
    if (n.draft >= 2020) {
      n.prefix_items = list(n, schema, "prefixItems");
      n.items = one(n, schema, "items");
    } else if (list_in(schema, "items")) {
      n.prefix_items = list(n, schema, "items");
      n.additional_items = rest(n, schema, "additionalItems");
    } else {
      n.items = one(n, schema, "items");
    }
    n.min_items = integer_in(schema, "minItems");
    n.max_items = integer_in(schema, "maxItems");
    n.unique_items = true_in(schema, "uniqueItems");
    if (n.draft >= 6) n.contains = one(n, schema, "contains");
    if (n.draft < 2019) return;
    if (n.contains) {
      n.min_contains = integer_in(schema, "minContains");
      n.max_contains = integer_in(schema, "maxContains");
    }
    n.unevaluated_items = one(n, schema, "unevaluatedItems");
  }

  std::optional<problem> describe_scalar(node& n, const value& schema) {
    n.types = types_of(schema.find("type"));
    if (const auto* v = list_in(schema, "enum")) {
      n.enumerated = true;
      n.enumeration = v->items();
    }
    n.multiple_of = number_in(schema, "multipleOf");
    n.minimum = number_in(schema, "minimum");
    n.maximum = number_in(schema, "maximum");
    n.exclusive_minimum = number_in(schema, "exclusiveMinimum");
    n.exclusive_maximum = number_in(schema, "exclusiveMaximum");
    // In draft 4 the exclusive forms are flags.
    if (true_in(schema, "exclusiveMinimum")) std::swap(n.exclusive_minimum, n.minimum);
    if (true_in(schema, "exclusiveMaximum")) std::swap(n.exclusive_maximum, n.maximum);
    n.min_length = integer_in(schema, "minLength");
    n.max_length = integer_in(schema, "maxLength");
    if (const auto* p = schema.find("pattern"); p && p->is_string()) {
      auto re = expression(p->text(), place{n.at.url, n.at.pointer + "/pattern"}.text());
      if (!re) return re.error();
      n.pattern = std::move(*re);
    }
    // Later drafts take the format for a remark, but not in what they say of themselves.
    if (const auto* f = schema.find("format");
        f && f->is_string() && (n.draft < 2019 || describes_schemas(n.at.url)))
      n.format = f->text();
    return std::nullopt;
  }

  library& out_;
};

outcome<std::shared_ptr<const library>> library::compile(const std::string& url, value root) {
  std::shared_ptr<library> out(new library);
  try {
    const work_limit bound(check_steps_limit);
    compiler work(*out);
    if (auto bad = work.add_document(url, std::move(root))) return *bad;
    if (auto bad = work.compile({url, ""})) return *bad;
  } catch (const std::length_error&) {
    return problem{"the schema refers to itself too often to be checked"};
  }
  return std::shared_ptr<const library>(std::move(out));
}

const library& metaschema(int draft) {
  thread_local std::map<int, std::shared_ptr<const library>> known;
  auto& slot = known[draft];
  if (!slot) {
    const unlimited_work here;
    const std::string url =
        draft == 2020   ? "https://json-schema.org/draft/2020-12/schema"
        : draft == 2019 ? "https://json-schema.org/draft/2019-09/schema"
                        : "http://json-schema.org/draft-0" + std::to_string(draft) + "/schema";
    auto compiled = library::compile(url, *metaschema_document(url));
    if (!compiled) std::abort();  // our own tables are wrong
    slot = std::move(*compiled);
  }
  return *slot;
}

}  // namespace helm::schemas
