// One walk over a schema and a value; the keywords refer to one another (what is evaluated, where a
// reference leads), so they are kept together.
#include "helm/schema/validator.hpp"

#include "formats/go/format.hpp"
#include "formats/json/json.hpp"
#include "formats/plain/deep_stack.hpp"
#include "helm/go.hpp"
#include "helm/schema/compiler.hpp"
#include "helm/schema/format.hpp"
#include "reactor/plain/keyed_map.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace helm::schemas {
namespace {

std::string quoted(std::string_view s) {
  auto q = quote(s);
  q = replace_all(q.substr(1, q.size() - 2), "\\\"", "\"");
  return "'" + replace_all(q, "'", "\\'") + "'";
}

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const auto& n : names) out += (out.empty() ? "" : ", ") + quoted(n);
  return out;
}

std::string display(const value& v) {
  if (v.is_string()) return quoted(v.text());
  if (v.is_list() || v.is_map()) return "value";
  if (v.kind() == type::float64) return json_number(v.real());
  return format_value(v);
}

/// Numbers in messages are written for English readers: thousands are grouped.
std::string grouped(double d) {
  auto s = format_float(d, 'f');
  auto end = s.find('.');
  if (end == s.npos) end = s.size();
  std::size_t begin = s[0] == '-' ? 1 : 0;
  for (auto at = end; at > begin + 3;) {
    at -= 3;
    s.insert(at, ",");
  }
  return s;
}

type_bit type_of(const value& v) {
  if (v.is_nil()) return null_type;
  if (v.kind() == type::boolean) return boolean_type;
  if (v.is_string()) return string_type;
  if (v.is_map()) return object_type;
  if (v.is_list()) return array_type;
  return number_type;
}

std::string type_list(unsigned types, std::string_view separator) {
  static constexpr std::string_view names[] = {"null",   "boolean", "number", "integer",
                                               "string", "array",   "object"};
  std::string out;
  for (unsigned i = 0; i < std::size(names); ++i)
    if (types & 1u << i) out.append(out.empty() ? "" : separator).append(names[i]);
  return out;
}

double number_of(const value& v) {
  return v.is_integer() ? static_cast<double>(v.integer()) : v.real();
}
bool is_number(const value& v) {
  return v.is_integer() || v.kind() == type::float64;
}

bool same(const value& a, const value& b) {
  count_steps(1);
  if (is_number(a) && is_number(b)) return number_of(a) == number_of(b);
  if (type_of(a) != type_of(b)) return false;
  if (a.is_list()) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i)
      if (!same(a.items()[i], b.items()[i])) return false;
    return true;
  }
  if (a.is_map()) {
    if (a.size() != b.size()) return false;
    for (const auto& [key, v] : a.entries()) {
      const auto* other = b.find(key);
      if (!other || !same(v, *other)) return false;
    }
    return true;
  }
  return a.is_nil() || (a.is_string() ? a.text() == b.text() : a.boolean() == b.boolean());
}

/// One reason, with the reasons behind it.
struct reason {
  enum class what : unsigned char { plain, group, reference } kind = what::plain;
  std::string where;  // JSON pointer into the values
  std::string text;
  std::vector<reason> causes;
};
using reasons = std::vector<reason>;

void write(std::string& out, const reason& r, std::size_t indent) {
  const bool skip = r.kind == reason::what::reference && r.causes.size() == 1;
  if (!skip) {
    out += '\n';
    out.append(indent * 2, ' ');
    out += "- at " + quoted(r.where) + ": " + r.text;
    ++indent;
  }
  for (const auto& c : r.causes) write(out, c, indent);
}

/// Which members of the value being looked at no keyword has claimed yet.
struct unevaluated {
  std::set<std::string> properties;
  std::set<std::size_t> items;

  bool empty() const { return properties.empty() && items.empty(); }
  void keep_only(const unevaluated& other) {
    std::erase_if(properties, [&](const auto& name) { return !other.properties.contains(name); });
    std::erase_if(items, [&](auto i) { return !other.items.contains(i); });
  }
  static unevaluated of(const value& v, const node& schema, bool wanted) {
    unevaluated out;
    if (v.is_map() && !schema.every_property && (wanted || schema.unevaluated_properties))
      for (const auto& [key, item] : v.entries()) out.properties.insert(key);
    if (v.is_list() && !schema.every_item && (wanted || schema.unevaluated_items))
      for (auto i = schema.first_items; i < v.size(); ++i) out.items.insert(i);
    return out;
  }
};

/// A step into the values; the way back is the JSON pointer.
struct step {
  const step* before = nullptr;
  std::string_view name;
  std::size_t index = 0;  // when there is no name
  bool named = true;
};

std::string pointer(const step* at) {
  if (!at) return {};
  return pointer(at->before) +
         (at->named ? pointer_step(at->name) : "/" + std::to_string(at->index));
}

/// One schema at work on one value. The frames below it are the dynamic scope that $dynamicRef
/// looks through.
struct frame {
  const node* schema;
  std::string_view keyword;  // of the reference that led here, "" for a part of the schema above
  std::size_t depth;         // of the value; the same in frames on the same value
  const frame* below;
  const step* where;
  const node* meta;  // the schema for schemas, when it is a schema that is checked
  bool quiet;        // only whether, not why
};

/// How the schema of `f` was reached from the root: "/properties/a/$ref".
std::string keywords_to(const frame& f) {
  std::string out;
  for (const frame* at = &f; at->below; at = at->below) {
    if (!at->keyword.empty()) {
      out = "/" + std::string(at->keyword) + out;
      continue;
    }
    const auto here = at->schema->at.text(), above = at->below->schema->at.text();
    out = (here.size() >= above.size() ? here.substr(above.size()) : "") + out;
  }
  return out;
}

class validator {
public:
  explicit validator(const std::map<std::string, resource>* resources) : resources_(resources) {}

  std::optional<reason> start(const node& root, const value& v, const node* meta, bool quiet) {
    frame f{&root, "", 0, nullptr, nullptr, meta, quiet};
    auto left = unevaluated::of(v, root, false);
    return check(f, v, left);
  }

private:
  static reason plain(const frame& f, std::string text) {
    return {reason::what::plain, pointer(f.where), std::move(text), {}};
  }
  /// The text is made only where it is read.
  template <class Text>
  static reason because(const frame& f, Text text) {
    return f.quiet ? reason() : plain(f, text());
  }
  static reason gathered(const frame& f, reason::what kind, std::string_view text, reasons causes) {
    if (f.quiet) return {};
    return {kind, pointer(f.where), std::string(text), std::move(causes)};
  }

  std::optional<reason> check(const frame& f, const value& v, unevaluated& left) {
    std::optional<reason> out;
    with_room([&] { out = check_here(f, v, left); });
    return out;
  }

  std::optional<reason> check_here(const frame& f, const value& v, unevaluated& left) {
    const node& s = *f.schema;
    if (s.always)
      return *s.always ? std::nullopt : std::optional(because(f, [] { return "false schema"; }));
    for (const frame* at = f.below; at && at->depth == f.depth; at = at->below)
      if (at->schema == &s)
        return because(f, [&] {
          return "both " + keywords_to(f) + " and " + keywords_to(*at) + " resolve to " +
                 quote(s.at.text()) + " causing reference cycle";
        });
    if (auto r = basics(f, v)) return r;
    reasons all;
    if (s.reference) {
      auto r = follow(f, *s.reference, "$ref", v, left);
      if (s.draft < 2019) return r;
      if (r) all.push_back(std::move(*r));
    }
    if (v.is_map()) object(f, v, left, all);
    if (v.is_list()) array(f, v, left, all);
    if (v.is_string()) string(f, v, all);
    if (is_number(v)) number(f, v, all);
    if (all.empty() || !f.quiet) {
      dynamic_references(f, v, left, all);
      conditions(f, v, left, all);
      rest(f, v, left, all);
    }
    if (all.empty()) return std::nullopt;
    if (all.size() == 1) return std::move(all[0]);
    return gathered(f, reason::what::group, "validation failed", std::move(all));
  }

  /// `schema`, or the schema of its own draft when a part of the schema being checked has one.
  const node* own_draft(const node* schema, const node* meta, const step* where) const {
    if (!resources_ || schema != meta) return schema;
    if (where && resources_->size() == 1) return schema;  // the head is the only one
    const auto found = resources_->find(pointer(where));
    return found == resources_->end() ? schema : &metaschema(found->second.draft).root();
  }

  /// Another schema on the same value: what it evaluates counts here too, if it holds.
  std::optional<reason> same_value(const frame& f, const node& schema, const value& v,
                                   unevaluated& left, std::string_view keyword = {},
                                   bool quiet = false) {
    auto left_inside = unevaluated::of(v, schema, !left.empty());
    frame inside{&schema, keyword, f.depth, &f, f.where, f.meta, f.quiet || quiet};
    settle(inside);
    auto r = check(inside, v, left_inside);
    if (!r) left.keep_only(left_inside);
    return r;
  }

  void member(const frame& f, const node& schema, const value& v, const step& where, reasons& all) {
    auto left = unevaluated::of(v, schema, false);
    frame inside{&schema, "", f.depth + 1, &f, &where, f.meta, f.quiet};
    settle(inside);
    if (auto r = check(inside, v, left)) all.push_back(std::move(*r));
  }

  void settle(frame& f) const {
    const auto* own = own_draft(f.schema, f.meta, f.where);
    if (own == f.schema) return;
    f.schema = own;
    f.meta = own;
  }

  std::optional<reason> follow(const frame& f, const node& to, std::string_view keyword,
                               const value& v, unevaluated& left) {
    auto r = same_value(f, to, v, left, keyword);
    if (!r || f.quiet) return r;
    reasons causes;
    if (r->kind == reason::what::group)
      causes = std::move(r->causes);
    else
      causes.push_back(std::move(*r));
    return gathered(f, reason::what::reference, "validation failed", std::move(causes));
  }

  void dynamic_references(const frame& f, const value& v, unevaluated& left, reasons& all) {
    const node& s = *f.schema;
    // The outermost schema of the scope that offers the name is meant.
    if (const node* to = s.recursive_reference) {
      if (to->recursive_anchor)
        for (const frame* at = &f; at; at = at->below)
          if (at->schema->resource->recursive_anchor) to = at->schema;
      if (auto r = follow(f, *to, "$recursiveRef", v, left)) all.push_back(std::move(*r));
    }
    if (const node* to = s.dynamic_reference) {
      const auto& name = s.dynamic_reference_anchor;
      if (!name.empty() && to->dynamic_anchor == name)
        for (const frame* at = &f; at; at = at->below)
          if (const auto found = at->schema->resource->dynamic_anchors.find(name);
              found != at->schema->resource->dynamic_anchors.end())
            to = found->second;
      if (auto r = follow(f, *to, "$dynamicRef", v, left)) all.push_back(std::move(*r));
    }
  }

  /// Type, constants and format: the first that does not fit is the only reason.
  std::optional<reason> basics(const frame& f, const value& v) {
    const node& s = *f.schema;
    const auto have = type_of(v);
    if (s.types && !(s.types & have) &&
        !((s.types & integer_type) && have == number_type &&
          std::trunc(number_of(v)) == number_of(v)))
      return because(
          f, [&] { return "got " + type_list(have, "") + ", want " + type_list(s.types, " or "); });
    if (s.constant && !same(v, *s.constant))
      return because(f, [&] {
        return s.constant->is_list() || s.constant->is_map()
                   ? "'const' failed"
                   : "value must be " + display(*s.constant);
      });
    if (s.enumerated && std::none_of(s.enumeration.begin(), s.enumeration.end(),
                                     [&](const auto& item) { return same(v, item); }))
      return because(f, [&] {
        std::string list;
        for (const auto& item : s.enumeration) {
          if (item.is_list() || item.is_map()) return std::string("'enum' failed");
          list += (list.empty() ? "" : ", ") + display(item);
        }
        return (s.enumeration.size() == 1 ? "value must be " : "value must be one of ") + list;
      });
    if (!s.format.empty() && v.is_string())
      if (const auto bad = format_problem(s.format, v.text()))
        return because(
            f, [&] { return quoted(v.text()) + " is not valid " + s.format + ": " + *bad; });
    return std::nullopt;
  }

  static std::vector<std::string> missing(const value& v, const std::vector<std::string>& names) {
    std::vector<std::string> out;
    for (const auto& n : names)
      if (!v.find(n)) out.push_back(n);
    return out;
  }

  enum class bound : bool { least, most };
  /// "minItems: got 1, want 2"
  static void limit(const frame& f, bound kind, const std::optional<double>& want,
                    std::string_view keyword, std::size_t have, reasons& all) {
    if (!want) return;
    const auto n = static_cast<double>(have);
    if (kind == bound::least ? n < *want : n > *want)
      all.push_back(because(f, [&] {
        return std::string(keyword) + ": got " + grouped(n) + ", want " + grouped(*want);
      }));
  }

  void object(const frame& f, const value& v, unevaluated& left, reasons& all) {
    const node& s = *f.schema;
    limit(f, bound::least, s.min_properties, "minProperties", v.size(), all);
    limit(f, bound::most, s.max_properties, "maxProperties", v.size(), all);
    if (const auto m = missing(v, s.required); !m.empty())
      all.push_back(because(f, [&] {
        return (m.size() == 1 ? "missing property " : "missing properties ") + joined(m);
      }));
    if (f.quiet && !all.empty()) return;
    const auto lists = [&](const auto& required) {
      for (const auto& [name, names] : required)
        if (v.find(name))
          if (const auto m = missing(v, names); !m.empty())
            all.push_back(because(f, [&, &name = name] {
              return "properties " + joined(m) + " required, if " + quoted(name) + " exists";
            }));
    };
    const auto dependents = [&](const auto& schemas) {
      for (const auto& [name, schema] : schemas)
        if (v.find(name))
          if (auto r = same_value(f, *schema, v, left)) all.push_back(std::move(*r));
    };
    lists(s.dependency_lists);
    dependents(s.dependency_schemas);
    members(f, v, left, all);
    if (s.property_names) names(f, v, all);
    dependents(s.dependent_schemas);
    lists(s.dependent_required);
  }

  void members(const frame& f, const value& v, unevaluated& left, reasons& all) {
    const node& s = *f.schema;
    if (s.properties.empty() && s.pattern_properties.empty() &&
        s.additional_properties.kind == remainder::what::unsaid)
      return;
    std::vector<std::string> extra;
    for (const auto& [name, item] : v.entries()) {
      if (f.quiet && !all.empty()) return;
      bool evaluated = false;
      const step inside{f.where, name};
      if (const auto found = s.properties.find(name); found != s.properties.end()) {
        evaluated = true;
        member(f, *found->second, item, inside, all);
      }
      for (const auto& p : s.pattern_properties) {
        if (!p.pattern->found_in(name)) continue;
        evaluated = true;
        member(f, *p.schema, item, inside, all);
      }
      if (!evaluated && s.additional_properties.kind != remainder::what::unsaid) {
        evaluated = true;
        if (s.additional_properties.kind == remainder::what::refused) extra.push_back(name);
        if (s.additional_properties.schema)
          member(f, *s.additional_properties.schema, item, inside, all);
      }
      if (evaluated) left.properties.erase(name);
    }
    if (!extra.empty())
      all.push_back(
          because(f, [&] { return "additional properties " + joined(extra) + " not allowed"; }));
  }

  void names(const frame& f, const value& v, reasons& all) {
    const auto* schema = own_draft(f.schema->property_names, f.meta, f.where);
    const auto* meta = schema == f.schema->property_names ? f.meta : schema;
    for (const auto& [name, item] : v.entries()) {
      auto r = start(*schema, value(name), meta, f.quiet);
      if (!r) continue;
      if (f.quiet) {
        all.emplace_back();
        return;
      }
      // It stands for itself: the name has no place in the values.
      reason out{reason::what::plain, "", "invalid propertyName " + quoted(name), {}};
      if (r->kind == reason::what::group)
        out.causes = std::move(r->causes);
      else
        out.causes.push_back(std::move(*r));
      all.push_back(std::move(out));
    }
  }

  void array(const frame& f, const value& v, unevaluated& left, reasons& all) {
    const node& s = *f.schema;
    limit(f, bound::least, s.min_items, "minItems", v.size(), all);
    limit(f, bound::most, s.max_items, "maxItems", v.size(), all);
    if (s.unique_items) unique(f, v, all);
    const auto one = [&](const node& schema, std::size_t i, std::size_t shown) {
      member(f, schema, v.items()[i], step{f.where, {}, shown, false}, all);
    };
    const auto fixed = std::min(s.prefix_items.size(), v.size());
    for (std::size_t i = 0; i < fixed; ++i) one(*s.prefix_items[i], i, i);
    const auto* others = s.items ? s.items : s.additional_items.schema;
    // After fixed items the reference counts from zero again.
    if (others)
      for (auto i = fixed; i < v.size(); ++i) one(*others, i, i - fixed);
    if (s.additional_items.kind == remainder::what::refused && fixed < v.size())
      all.push_back(because(f, [&] {
        return "last " + grouped(static_cast<double>(v.size() - fixed)) +
               " additionalItem(s) not allowed";
      }));
    if (s.contains) contains(f, v, left, all);
  }

  /// Few are compared one by one; many by their text, which is the same for equal values.
  static void unique(const frame& f, const value& v, reasons& all) {
    const auto equal = [&](std::size_t i, std::size_t j) {
      all.push_back(because(f, [&] {
        return "items at " + grouped(static_cast<double>(i)) + " and " +
               grouped(static_cast<double>(j)) + " are equal";
      }));
    };
    if (v.size() > few_items) {
      reactor::keyed_map<std::string, std::size_t> seen;
      for (std::size_t j = 0; j < v.size(); ++j) {
        const auto text = write_json(v.items()[j]);
        if (!text) continue;  // not a number: equal to nothing
        if (const auto [first, fresh] = seen.try_emplace(*text, j); !fresh) return equal(*first, j);
      }
      return;
    }
    for (std::size_t j = 1; j < v.size(); ++j)
      for (std::size_t i = 0; i < j; ++i)
        if (same(v.items()[i], v.items()[j])) return equal(i, j);
  }
  static constexpr std::size_t few_items = 20;

  void contains(const frame& f, const value& v, unevaluated& left, reasons& all) {
    const node& s = *f.schema;
    reasons failed;
    std::string matched;
    std::size_t count = 0;
    for (std::size_t i = 0; i < v.size(); ++i) {
      const auto before = failed.size();
      member(f, *s.contains, v.items()[i], step{f.where, {}, i, false}, failed);
      if (failed.size() != before) continue;
      matched += (count++ == 0 ? "" : " ") + std::to_string(i);
      if (s.draft >= 2020) left.items.erase(i);
    }
    const auto have = static_cast<double>(count);
    const auto matches = [&] { return "matched " + grouped(have) + " items at " + matched; };
    if (s.min_contains && have < *s.min_contains)
      all.push_back(gathered(f, reason::what::plain,
                             "min " + grouped(*s.min_contains) +
                                 " items required to match contains schema, but " +
                                 (count == 0 ? "none matched" : matches()),
                             std::move(failed)));
    else if (!s.min_contains && count == 0)
      all.push_back(
          gathered(f, reason::what::plain, "no items match contains schema", std::move(failed)));
    if (s.max_contains && have > *s.max_contains)
      all.push_back(because(f, [&] {
        return "max " + grouped(*s.max_contains) +
               " items required to match contains schema, but " + matches();
      }));
  }

  static void string(const frame& f, const value& v, reasons& all) {
    const node& s = *f.schema;
    if (s.min_length || s.max_length) {
      const auto n = rune_count(v.text());
      limit(f, bound::least, s.min_length, "minLength", n, all);
      limit(f, bound::most, s.max_length, "maxLength", n, all);
    }
    if (s.pattern && !s.pattern->found_in(v.text()))
      all.push_back(because(f, [&] {
        return quoted(v.text()) + " does not match pattern " + quoted(s.pattern->source());
      }));
  }

  static void number(const frame& f, const value& v, reasons& all) {
    const node& s = *f.schema;
    const double d = number_of(v);
    const auto fail = [&](std::string_view keyword, double want) {
      all.push_back(because(f, [&] {
        return std::string(keyword) + ": got " + grouped(d) + ", want " + grouped(want);
      }));
    };
    if (s.minimum && d < *s.minimum) fail("minimum", *s.minimum);
    if (s.maximum && d > *s.maximum) fail("maximum", *s.maximum);
    if (s.exclusive_minimum && d <= *s.exclusive_minimum)
      fail("exclusiveMinimum", *s.exclusive_minimum);
    if (s.exclusive_maximum && d >= *s.exclusive_maximum)
      fail("exclusiveMaximum", *s.exclusive_maximum);
    if (s.multiple_of && *s.multiple_of != 0) {
      const double q = d / *s.multiple_of;
      if (std::fabs(q - std::round(q)) > 1e-9 * std::max(1.0, std::fabs(q)))
        fail("multipleOf", *s.multiple_of);
    }
  }

  void conditions(const frame& f, const value& v, unevaluated& left, reasons& all) {
    const node& s = *f.schema;
    if (s.negated && !same_value(f, *s.negated, v, left, {}, true))
      all.push_back(because(f, [] { return "'not' failed"; }));
    if (!s.all_of.empty()) {
      reasons failed;
      for (const auto* part : s.all_of)
        if (auto r = same_value(f, *part, v, left)) {
          failed.push_back(std::move(*r));
          if (f.quiet) break;
        }
      if (!failed.empty())
        all.push_back(gathered(f, reason::what::plain, "'allOf' failed", std::move(failed)));
    }
    if (!s.any_of.empty()) {
      reasons failed;
      bool matched = false;
      for (const auto* part : s.any_of) {
        if (auto r = same_value(f, *part, v, left)) {
          failed.push_back(std::move(*r));
        } else {
          matched = true;
          if (left.empty()) break;  // else the others may evaluate more
        }
      }
      if (!matched)
        all.push_back(gathered(f, reason::what::plain, "'anyOf' failed", std::move(failed)));
    }
    if (!s.one_of.empty()) exactly_one(f, v, left, all);
    if (!s.condition) return;
    const auto* branch =
        same_value(f, *s.condition, v, left, {}, true) ? s.alternative : s.consequence;
    if (branch)
      if (auto r = same_value(f, *branch, v, left)) all.push_back(std::move(*r));
  }

  void exactly_one(const frame& f, const value& v, unevaluated& left, reasons& all) {
    const auto& parts = f.schema->one_of;
    reasons failed;
    std::optional<std::size_t> matched;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      auto r = same_value(f, *parts[i], v, left, {}, matched.has_value());
      if (r) {
        if (!matched) failed.push_back(std::move(*r));
      } else if (!matched) {
        matched = i;
      } else {
        all.push_back(because(f, [&] {
          return "'oneOf' failed, subschemas " + std::to_string(*matched) + ", " +
                 std::to_string(i) + " matched";
        }));
        return;
      }
    }
    if (!matched)
      all.push_back(
          gathered(f, reason::what::plain, "'oneOf' failed, none matched", std::move(failed)));
  }

  void rest(const frame& f, const value& v, unevaluated& left, reasons& all) {
    const node& s = *f.schema;
    if (s.unevaluated_properties && v.is_map()) {
      for (const auto& name : left.properties)
        if (const auto* item = v.find(name))
          member(f, *s.unevaluated_properties, *item, step{f.where, name}, all);
      left.properties.clear();
    }
    if (s.unevaluated_items && v.is_list()) {
      for (const auto i : left.items)
        member(f, *s.unevaluated_items, v.items()[i], step{f.where, {}, i, false}, all);
      left.items.clear();
    }
  }

  const std::map<std::string, resource>* resources_;
};

}  // namespace

std::string reasons_against(const node& root, const value& v,
                            const std::map<std::string, resource>* resources) {
  validator check(resources);
  const auto r = check.start(root, v, resources ? &root : nullptr, false);
  if (!r) return {};
  std::string out;
  if (r->kind == reason::what::group)
    for (const auto& c : r->causes) write(out, c, 0);
  else
    write(out, *r, 0);
  return out.substr(1);
}

}  // namespace helm::schemas
