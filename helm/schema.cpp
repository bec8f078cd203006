// One validator for the drafts 4 to 2020-12; the keywords refer to one another (what is evaluated, where a
// reference leads), so they are kept together.
#include "helm/schema.hpp"

#include "helm/deep_stack.hpp"
#include "helm/go_format.hpp"
#include "helm/go_text.hpp"
#include "helm/json.hpp"
#include "helm/schema_format.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>

namespace helm {
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

std::string_view type_of(const value& v) {
  if (v.is_nil()) return "null";
  if (v.kind() == type::boolean) return "boolean";
  if (v.is_string()) return "string";
  if (v.is_map()) return "object";
  if (v.is_list()) return "array";
  return "number";
}

double number_of(const value& v) {
  return v.is_integer() ? static_cast<double>(v.integer()) : v.real();
}
bool is_number(const value& v) {
  return v.is_integer() || v.kind() == type::float64;
}

bool same(const value& a, const value& b) {
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

void write(std::string& out, const reason& r, int indent) {
  bool skip = r.kind == reason::what::reference && r.causes.size() == 1;
  if (!skip) {
    if (indent > 0) {
      out += '\n';
      out.append(static_cast<std::size_t>(indent - 1) * 2, ' ');
      out += "- ";
    }
    ++indent;
    out += "at " + quoted(r.where) + ": " + r.text;
  }
  for (const auto& c : r.causes) write(out, c, indent);
}

std::string pointer_step(std::string_view name) {
  return "/" + replace_all(replace_all(name, "~", "~0"), "/", "~1");
}

}  // namespace

struct json_schema::document {
  value root;
  int draft = 2020;
  std::map<std::string, value> anchors;    // "#name" and "id#name"
  std::map<std::string, value> resources;  // by $id
  std::map<std::string, value> dynamic_anchors;
  mutable std::unordered_map<std::string, std::unique_ptr<RE2>> patterns;

  const RE2* pattern(const std::string& p) const {
    auto& slot = patterns[p];
    if (!slot) {
      RE2::Options options;
      options.set_log_errors(false);
      slot = std::make_unique<RE2>(p, options);
    }
    return slot->ok() ? slot.get() : nullptr;
  }

  /// Notes anchors and ids below `v`.
  void index(const value& v, int depth) {
    if (depth > 1000) return;
    if (v.is_list())
      for (const auto& item : v.items()) index(item, depth + 1);
    if (!v.is_map()) return;
    auto text = [&](const char* key) {
      const auto* t = v.find(key);
      return t && t->is_string() ? t->text() : std::string();
    };
    if (auto id = text(draft == 4 ? "id" : "$id"); !id.empty()) {
      if (id[0] == '#')
        anchors[id] = v;
      else
        resources[id] = v;
    }
    if (auto a = text("$anchor"); !a.empty()) anchors["#" + a] = v;
    if (auto a = text("$dynamicAnchor"); !a.empty()) {
      anchors["#" + a] = v;
      dynamic_anchors.emplace(a, v);
    }
    for (const auto& [key, item] : v.entries())
      if (key != "enum" && key != "const" && key != "default" && key != "examples")
        index(item, depth + 1);
  }

  /// The schema a reference names, or nothing when it leads out of the document or nowhere.
  const value* resolve(const std::string& ref) const {
    auto hash = ref.find('#');
    auto base = ref.substr(0, hash);
    auto fragment = hash == ref.npos ? "" : ref.substr(hash + 1);
    const value* at = &root;
    if (!base.empty()) {
      auto found = resources.find(base);
      if (found == resources.end()) {
        // A relative id names the end of an absolute one.
        found = std::find_if(resources.begin(), resources.end(),
                             [&](const auto& r) { return r.first.ends_with("/" + base); });
        if (found == resources.end()) return nullptr;
      }
      at = &found->second;
    }
    if (fragment.empty()) return at;
    if (fragment[0] != '/') {
      auto found = anchors.find("#" + fragment);
      return found == anchors.end() ? nullptr : &found->second;
    }
    for (auto& step : split(std::string_view(fragment).substr(1), "/")) {
      std::string name;
      for (std::size_t i = 0; i < step.size(); ++i) {
        if (step[i] == '%' && i + 2 < step.size()) {
          name += static_cast<char>(parse_uint(step.substr(i + 1, 2), 16).number);
          i += 2;
        } else {
          name += step[i];
        }
      }
      name = replace_all(replace_all(name, "~1", "/"), "~0", "~");
      if (at->is_list()) {
        auto n = parse_uint(name, 10);
        if (n.error != int_error::none || n.number >= at->size()) return nullptr;
        at = &at->items()[n.number];
      } else {
        at = at->find(name);
        if (!at) return nullptr;
      }
    }
    return at;
  }
};

namespace {

/// Which members of the value being looked at nobody has claimed yet.
struct unevaluated {
  bool wanted = false;
  std::set<std::string> properties;
  std::set<std::size_t> items;
};

template <class Document>
class validator {
public:
  explicit validator(const Document& d) : d_(d) {}

  /// The reason why `v` is not valid, if any.
  std::optional<reason> check(const value& schema, const value& v, const std::string& where,
                              unevaluated& left) {
    std::optional<reason> out;
    with_room([&] { out = check_here(schema, v, where, left); });
    return out;
  }

private:
  using reasons = std::vector<reason>;
  static reason plain(const std::string& where, std::string text) {
    return {reason::what::plain, where, std::move(text), {}};
  }

  std::optional<reason> check_here(const value& schema, const value& v, const std::string& where,
                                   unevaluated& left) {
    if (schema.kind() == type::boolean)
      return schema.boolean() ? std::nullopt : std::optional(plain(where, "false schema"));
    if (!schema.is_map()) return std::nullopt;
    // A schema that leads back to itself on the same value would never end.
    auto active =
        std::make_pair(static_cast<const void*>(schema.identity()), static_cast<const void*>(&v));
    if (!active_.insert(active).second) return plain(where, "reference cycle");
    struct leave {
      std::set<std::pair<const void*, const void*>>& set;
      std::pair<const void*, const void*> item;
      ~leave() { set.erase(item); }
    } on_exit{active_, active};
    bool own = schema.find("unevaluatedProperties") || schema.find("unevaluatedItems");
    if (own && !left.wanted) {
      left.wanted = true;
      if (v.is_map())
        for (const auto& [key, item] : v.entries()) left.properties.insert(key);
      if (v.is_list())
        for (std::size_t i = 0; i < v.size(); ++i) left.items.insert(i);
    }
    if (auto r = basics(schema, v, where)) return r;
    // Later drafts take the format for a remark.
    if (const auto* f = d_.draft < 2019 && v.is_string() ? schema.find("format") : nullptr)
      if (auto bad = format_problem(f->text(), v.text()))
        return plain(where, quoted(v.text()) + " is not valid " + f->text() + ": " + *bad);
    reasons all;
    if (const auto* ref = schema.find("$ref"); ref && ref->is_string()) {
      auto r = follow(ref->text(), v, where, left);
      if (d_.draft < 2019) return r;
      if (r) all.push_back(std::move(*r));
    }
    if (v.is_map()) object(schema, v, where, left, all);
    if (v.is_list()) array(schema, v, where, left, all);
    if (v.is_string()) string(schema, v, where, all);
    if (is_number(v)) number(schema, v, where, all);
    if (d_.draft >= 2019) {
      for (const char* key : {"$recursiveRef", "$dynamicRef"})
        if (const auto* ref = schema.find(key); ref && ref->is_string())
          if (auto r = follow(ref->text(), v, where, left)) all.push_back(std::move(*r));
    }
    conditions(schema, v, where, left, all);
    if (own) rest(schema, v, where, left, all);
    if (all.empty()) return std::nullopt;
    if (all.size() == 1) return std::move(all[0]);
    return reason{reason::what::group, where, "validation failed", std::move(all)};
  }

  std::optional<reason> follow(const std::string& ref, const value& v, const std::string& where,
                               unevaluated& left) {
    // Unknown names behave as `true`, as unresolved urn: references do.
    const auto* target = d_.resolve(ref);
    if (!target) return std::nullopt;
    auto r = same_value(*target, v, where, left);
    if (!r) return r;
    reason out{reason::what::reference, where, "validation failed", {}};
    if (r->kind == reason::what::group)
      out.causes = std::move(r->causes);
    else
      out.causes.push_back(std::move(*r));
    return out;
  }

  /// Another schema on the same value: what it evaluates counts here too, if it holds.
  std::optional<reason> same_value(const value& schema, const value& v, const std::string& where,
                                   unevaluated& left) {
    unevaluated inner;
    inner.wanted = left.wanted;
    inner.properties = left.properties;
    inner.items = left.items;
    auto r = check(schema, v, where, inner);
    if (!r && left.wanted) {
      left.properties = std::move(inner.properties);
      left.items = std::move(inner.items);
    }
    return r;
  }

  void inner(const value& schema, const value& v, const std::string& where, reasons& all) {
    unevaluated left;
    if (auto r = check(schema, v, where, left)) all.push_back(std::move(*r));
  }

  std::optional<reason> basics(const value& schema, const value& v, const std::string& where) {
    if (const auto* t = schema.find("type")) {
      std::set<std::string> wanted;
      if (t->is_string()) wanted.insert(t->text());
      for (const auto& item : t->items()) wanted.insert(item.text());
      auto have = std::string(type_of(v));
      bool ok = wanted.contains(have) || (have == "number" && wanted.contains("integer") &&
                                          std::trunc(number_of(v)) == number_of(v));
      if (!ok && !wanted.empty()) {
        std::string list;
        for (const char* name :
             {"null", "boolean", "number", "integer", "string", "array", "object"})
          if (wanted.contains(name)) list += (list.empty() ? "" : " or ") + std::string(name);
        return plain(where, "got " + have + ", want " + list);
      }
    }
    if (const auto* c = schema.find("const"); c && d_.draft > 4 && !same(v, *c))
      return plain(where,
                   c->is_list() || c->is_map() ? "'const' failed" : "value must be " + display(*c));
    if (const auto* e = schema.find("enum"); e && e->is_list()) {
      bool found = false, primitive = true;
      std::string list;
      for (const auto& item : e->items()) {
        found = found || same(v, item);
        primitive = primitive && !item.is_list() && !item.is_map();
        list += (list.empty() ? "" : ", ") + display(item);
      }
      if (!found)
        return plain(where, !primitive       ? "'enum' failed"
                            : e->size() == 1 ? "value must be " + list
                                             : "value must be one of " + list);
    }
    return std::nullopt;
  }

  static std::vector<std::string> missing(const value& v, const value& names) {
    std::vector<std::string> out;
    for (const auto& n : names.items())
      if (n.is_string() && !v.find(n.text())) out.push_back(n.text());
    return out;
  }

  static std::optional<double> limit(const value& schema, const char* key) {
    const auto* v = schema.find(key);
    return v && is_number(*v) ? std::optional(number_of(*v)) : std::nullopt;
  }

  /// "minItems: got 1, want 2"
  static void bound(const value& schema, const char* key, std::size_t have, bool least,
                    const std::string& where, reasons& all) {
    auto n = limit(schema, key);
    if (!n) return;
    if (least ? static_cast<double>(have) < *n : static_cast<double>(have) > *n)
      all.push_back(plain(where, std::string(key) + ": got " + grouped(static_cast<double>(have)) +
                                     ", want " + grouped(*n)));
  }

  void object(const value& schema, const value& v, const std::string& where, unevaluated& left,
              reasons& all) {
    bound(schema, "minProperties", v.size(), true, where, all);
    bound(schema, "maxProperties", v.size(), false, where, all);
    if (const auto* names = schema.find("required"); names && names->is_list()) {
      auto m = missing(v, *names);
      if (m.size() == 1) all.push_back(plain(where, "missing property " + quoted(m[0])));
      if (m.size() > 1) all.push_back(plain(where, "missing properties " + joined(m)));
    }
    auto requires_others = [&](const std::string& name, const value& names) {
      auto m = missing(v, names);
      if (!m.empty())
        all.push_back(
            plain(where, "properties " + joined(m) + " required, if " + quoted(name) + " exists"));
    };
    auto each_present = [&](const char* key, auto apply) {
      if (const auto* map = schema.find(key); map && map->is_map())
        for (const auto& [name, item] : map->entries())
          if (v.find(name)) apply(name, item);
    };
    auto whole = [&](const std::string&, const value& s) {
      if (auto r = same_value(s, v, where, left)) all.push_back(std::move(*r));
    };
    each_present("dependencies", [&](const std::string& name, const value& item) {
      item.is_list() ? requires_others(name, item) : whole(name, item);
    });
    const auto* properties = schema.find("properties");
    const auto* patterns = schema.find("patternProperties");
    const auto* additional = schema.find("additionalProperties");
    std::vector<std::string> extra;
    for (const auto& [name, item] : v.entries()) {
      bool evaluated = false;
      auto inside = where + pointer_step(name);
      if (const auto* s = properties && properties->is_map() ? properties->find(name) : nullptr) {
        evaluated = true;
        inner(*s, item, inside, all);
      }
      if (patterns && patterns->is_map())
        for (const auto& [pattern, s] : patterns->entries()) {
          const auto* re = d_.pattern(pattern);
          if (!re || !RE2::PartialMatch(name, *re)) continue;
          evaluated = true;
          inner(s, item, inside, all);
        }
      if (!evaluated && additional) {
        evaluated = true;
        if (additional->kind() == type::boolean) {
          if (!additional->boolean()) extra.push_back(name);
        } else {
          inner(*additional, item, inside, all);
        }
      }
      if (evaluated) left.properties.erase(name);
    }
    if (!extra.empty())
      all.push_back(plain(where, "additional properties " + joined(extra) + " not allowed"));
    if (d_.draft == 4) return;
    if (const auto* names = schema.find("propertyNames"))
      for (const auto& [name, item] : v.entries()) {
        unevaluated none;
        auto r = check(*names, value(name), "", none);
        if (!r) continue;
        reason out = plain("", "invalid propertyName " + quoted(name));
        if (r->kind == reason::what::group)
          out.causes = std::move(r->causes);
        else
          out.causes.push_back(std::move(*r));
        all.push_back(std::move(out));
      }
    if (d_.draft == 6) return;
    each_present("dependentSchemas", whole);
    each_present("dependentRequired", requires_others);
  }

  void array(const value& schema, const value& v, const std::string& where, unevaluated& left,
             reasons& all) {
    bound(schema, "minItems", v.size(), true, where, all);
    bound(schema, "maxItems", v.size(), false, where, all);
    if (const auto* unique = schema.find("uniqueItems"); unique && unique->truth()) {
      bool done = false;
      for (std::size_t j = 1; j < v.size() && !done; ++j)
        for (std::size_t i = 0; i < j && !done; ++i)
          if (same(v.items()[i], v.items()[j])) {
            all.push_back(plain(where, "items at " + std::to_string(i) + " and " +
                                           std::to_string(j) + " are equal"));
            done = true;
          }
    }
    auto one = [&](const value& s, std::size_t i, std::size_t shown) {
      inner(s, v.items()[i], where + "/" + std::to_string(shown), all);
      left.items.erase(i);
    };
    const auto* items = schema.find("items");
    const auto* prefix = d_.draft >= 2020            ? schema.find("prefixItems")
                         : items && items->is_list() ? items
                                                     : nullptr;
    const auto* others = d_.draft >= 2020             ? items
                         : items && !items->is_list() ? items
                         : prefix                     ? schema.find("additionalItems")
                                                      : nullptr;
    auto fixed = prefix ? std::min(prefix->size(), v.size()) : 0;
    for (std::size_t i = 0; i < fixed; ++i) one(prefix->items()[i], i, i);
    if (others && others->kind() == type::boolean && d_.draft < 2020 && prefix) {
      if (!others->boolean() && fixed < v.size())
        all.push_back(plain(
            where, "last " + std::to_string(v.size() - fixed) + " additionalItem(s) not allowed"));
      if (others->boolean()) left.items.clear();
    } else if (others) {
      // After fixed items the reference counts from zero again.
      for (std::size_t i = fixed; i < v.size(); ++i) one(*others, i, i - fixed);
    }
    if (const auto* contains = d_.draft > 4 ? schema.find("contains") : nullptr) {
      reasons failed;
      std::string matched;
      std::size_t count = 0;
      for (std::size_t i = 0; i < v.size(); ++i) {
        auto before = failed.size();
        inner(*contains, v.items()[i], where + "/" + std::to_string(i), failed);
        if (failed.size() != before) continue;
        matched += (count++ == 0 ? "" : " ") + std::to_string(i);
        if (d_.draft >= 2020) left.items.erase(i);
      }
      const bool counts = d_.draft >= 2019;
      const double least = counts ? limit(schema, "minContains").value_or(-1) : -1;
      const double most = counts ? limit(schema, "maxContains").value_or(HUGE_VAL) : HUGE_VAL;
      std::string text;
      if (least >= 0 && static_cast<double>(count) < least)
        text = "min " + grouped(least) + " items required to match contains schema, but " +
               (count == 0 ? "none matched"
                           : "matched " + std::to_string(count) + " items at " + matched);
      else if (least < 0 && count == 0)
        text = "no items match contains schema";
      if (!text.empty()) all.push_back({reason::what::plain, where, text, std::move(failed)});
      if (static_cast<double>(count) > most)
        all.push_back(plain(where, "max " + grouped(most) +
                                       " items required to match contains schema, but matched " +
                                       std::to_string(count) + " items at " + matched));
    }
  }

  void string(const value& schema, const value& v, const std::string& where, reasons& all) {
    auto n = rune_count(v.text());
    bound(schema, "minLength", n, true, where, all);
    bound(schema, "maxLength", n, false, where, all);
    if (const auto* p = schema.find("pattern"); p && p->is_string())
      if (const auto* re = d_.pattern(p->text()); re && !RE2::PartialMatch(v.text(), *re))
        all.push_back(
            plain(where, quoted(v.text()) + " does not match pattern " + quoted(p->text())));
  }

  void number(const value& schema, const value& v, const std::string& where, reasons& all) {
    double d = number_of(v);
    auto fail = [&](const char* key, double want) {
      all.push_back(
          plain(where, std::string(key) + ": got " + grouped(d) + ", want " + grouped(want)));
    };
    auto minimum = limit(schema, "minimum"), maximum = limit(schema, "maximum");
    auto above = limit(schema, "exclusiveMinimum"), below = limit(schema, "exclusiveMaximum");
    if (d_.draft == 4) {
      // There the exclusive forms are flags.
      auto flag = [&](const char* key) {
        const auto* f = schema.find(key);
        return f && f->truth();
      };
      if (flag("exclusiveMinimum")) std::swap(above, minimum);
      if (flag("exclusiveMaximum")) std::swap(below, maximum);
    }
    if (minimum && d < *minimum) fail("minimum", *minimum);
    if (maximum && d > *maximum) fail("maximum", *maximum);
    if (above && d <= *above) fail("exclusiveMinimum", *above);
    if (below && d >= *below) fail("exclusiveMaximum", *below);
    if (auto m = limit(schema, "multipleOf"); m && *m != 0) {
      double q = d / *m;
      if (std::fabs(q - std::round(q)) > 1e-9 * std::max(1.0, std::fabs(q))) fail("multipleOf", *m);
    }
  }

  void conditions(const value& schema, const value& v, const std::string& where, unevaluated& left,
                  reasons& all) {
    if (const auto* s = schema.find("not"); s && !same_value(*s, v, where, left))
      all.push_back(plain(where, "'not' failed"));
    if (const auto* list = schema.find("allOf"); list && list->is_list()) {
      reasons failed;
      for (const auto& s : list->items())
        if (auto r = same_value(s, v, where, left)) failed.push_back(std::move(*r));
      if (!failed.empty())
        all.push_back({reason::what::plain, where, "'allOf' failed", std::move(failed)});
    }
    if (const auto* list = schema.find("anyOf"); list && list->size() > 0) {
      reasons failed;
      bool matched = false;
      for (const auto& s : list->items()) {
        if (auto r = same_value(s, v, where, left)) {
          failed.push_back(std::move(*r));
        } else {
          matched = true;
          if (left.properties.empty() && left.items.empty()) break;
        }
      }
      if (!matched)
        all.push_back({reason::what::plain, where, "'anyOf' failed", std::move(failed)});
    }
    if (const auto* list = schema.find("oneOf"); list && list->size() > 0) {
      reasons failed;
      std::optional<std::size_t> matched;
      for (std::size_t i = 0; i < list->size(); ++i) {
        auto r = same_value(list->items()[i], v, where, left);
        if (r) {
          if (!matched) failed.push_back(std::move(*r));
        } else if (!matched) {
          matched = i;
        } else {
          all.push_back(plain(where, "'oneOf' failed, subschemas " + std::to_string(*matched) +
                                         ", " + std::to_string(i) + " matched"));
          break;
        }
      }
      if (!matched)
        all.push_back(
            {reason::what::plain, where, "'oneOf' failed, none matched", std::move(failed)});
    }
    if (const auto* test = d_.draft >= 7 ? schema.find("if") : nullptr) {
      bool holds = !same_value(*test, v, where, left);
      if (const auto* branch = schema.find(holds ? "then" : "else"))
        if (auto r = same_value(*branch, v, where, left)) all.push_back(std::move(*r));
    }
  }

  void rest(const value& schema, const value& v, const std::string& where, unevaluated& left,
            reasons& all) {
    if (const auto* s = schema.find("unevaluatedProperties"); s && v.is_map()) {
      for (const auto& name : left.properties)
        if (const auto* item = v.find(name)) inner(*s, *item, where + pointer_step(name), all);
      left.properties.clear();
    }
    if (const auto* s = schema.find("unevaluatedItems"); s && v.is_list()) {
      for (auto i : left.items) inner(*s, v.items()[i], where + "/" + std::to_string(i), all);
      left.items.clear();
    }
  }

  const Document& d_;
  std::set<std::pair<const void*, const void*>> active_;
};

int draft_of(const value& root) {
  const auto* s = root.is_map() ? root.find("$schema") : nullptr;
  if (!s || !s->is_string()) return 2020;
  const auto& text = s->text();
  for (auto [name, number] :
       {std::pair{"draft-04", 4}, {"draft-06", 6}, {"draft-07", 7}, {"2019-09", 2019}})
    if (text.find(name) != text.npos) return number;
  return 2020;
}

}  // namespace

outcome<json_schema> json_schema::compile(std::string_view text) {
  auto v = read_json(text);
  if (!v) return v.error();
  auto d = std::make_shared<document>();
  d->root = std::move(*v);
  d->draft = draft_of(d->root);
  d->index(d->root, 0);
  json_schema out;
  out.document_ = d;
  return out;
}

std::string json_schema::check(const value& v) const {
  validator<document> validate(*document_);
  unevaluated left;
  auto r = validate.check(document_->root, v, "", left);
  if (!r) return {};
  std::string out;
  if (r->kind == reason::what::group)
    for (const auto& c : r->causes) write(out, c, 1);
  else
    write(out, *r, 1);
  if (out.starts_with('\n')) out.erase(0, 1);
  return out + "\n";
}

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
