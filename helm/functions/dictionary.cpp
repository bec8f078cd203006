#include "formats/go/format.hpp"
#include "formats/plain/deep_stack.hpp"
#include "helm/chart_types.hpp"
#include "helm/functions/functions.hpp"
#include "helm/go.hpp"
#include "helm/template/executor.hpp"

namespace helm {
namespace {

using args = std::span<value>;

constexpr std::uint64_t entry_bytes = 96;  // about what an entry of a map takes

value f_dict(executor& e, args a) {
  e.reserve(entry_bytes * (a.size() / 2));
  value::map_type out;
  for (std::size_t i = 0; i < a.size(); i += 2)
    out[text_form(a[i])] = i + 1 < a.size() ? a[i + 1] : value("");
  return out;
}
value f_get(executor&, args a) {
  const auto* found = a[0].find(a[1].text());
  return found ? *found : value("");
}
value f_set(executor& e, args a) {
  if (a[0].is_nil_reference()) throw function_error("assignment to entry in nil map");
  // Scalars cannot tie a knot.
  if (a[2].is_map() || a[2].is_list()) e.changed(a[0]);
  e.reserve(entry_bytes + a[1].text().size());
  a[0].entries()[a[1].text()] = a[2];
  return a[0];
}
value f_unset(executor&, args a) {
  if (!a[0].is_nil_reference()) a[0].entries().erase(a[1].text());
  return a[0];
}
value f_has_key(executor&, args a) {
  return a[0].find(a[1].text()) != nullptr;
}
value f_pluck(executor&, args a) {
  value::list_type out;
  for (const auto& m : a.subspan(1))
    if (const auto* found = m.find(a[0].text())) out.push_back(*found);
  return value(std::move(out));
}
value f_keys(executor&, args a) {
  value::list_type out;
  for (const auto& m : a)
    for (const auto& [key, v] : m.entries()) out.emplace_back(key);
  return value(std::move(out), type::string_list);
}
value f_values(executor&, args a) {
  value::list_type out;
  for (const auto& [key, v] : a[0].entries()) out.push_back(v);
  return value(std::move(out));
}
value f_pick(executor& e, args a) {
  e.reserve(entry_bytes * a.size());
  value::map_type out;
  for (const auto& key : a.subspan(1))
    if (const auto* found = a[0].find(key.text())) out[key.text()] = *found;
  return out;
}
value f_omit(executor& e, args a) {
  e.reserve(entry_bytes * a[0].size());
  value::map_type out = std::as_const(a[0]).entries();
  for (const auto& key : a.subspan(1)) out.erase(key.text());
  return out;
}

[[noreturn]] void bad_conversion(const value& v, const char* wanted) {
  if (v.is_nil())
    throw function_error(std::string("interface conversion: interface {} is nil, not ") + wanted);
  throw function_error("interface conversion: interface {} is " + v.type_name() + ", not " +
                       wanted);
}

value f_dig(executor&, args a) {
  if (a.size() < 3) throw function_error("dig needs at least three arguments");
  value m = a.back();
  if (m.kind() != type::map) bad_conversion(m, "map[string]interface {}");
  auto keys = a.first(a.size() - 2);
  for (const auto& key : keys)
    if (!key.is_string()) bad_conversion(key, "string");
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (m.kind() != type::map) bad_conversion(m, "map[string]interface {}");
    const auto* found = m.find(keys[i].text());
    if (!found) return a[a.size() - 2];
    value next = *found;
    m = next;
  }
  return m;
}

/// mergo's way of filling maps: what is empty, or with `overwrite` everything. Nested maps are
/// shared with the source.
class merger {
public:
  merger(executor& e, bool overwrite) : e_(e), overwrite_(overwrite) {}

  /// False where mergo gives up half way: a pointer that should become something else.
  bool merge(value& into, const value& from) {
    count_steps(1 + from.size());
    if (!from.is_map()) return true;
    e_.reserve(entry_bytes * from.size());
    const std::vector<std::pair<std::string, value>> source(from.entries().begin(),
                                                            from.entries().end());
    e_.changed(into);
    for (const auto& [key, v] : source)
      if (!merge_entry(into, key, v, element_type(from))) return false;
    return true;
  }

private:
  /// The static type of a map's entries, by which Go refuses what the map cannot hold.
  static const char* element_type(const value& map) {
    return map.kind() == type::string_map    ? "string"
           : map.kind() == chart_type::files ? "[]uint8"
                                             : "interface {}";
  }
  static void put(value& into, const std::string& key, const value& v, const std::string& as) {
    const std::string wanted = element_type(into);
    if (wanted != "interface {}" && wanted != as)
      throw function_error("reflect.Value.SetMapIndex: value of type " + as +
                           " is not assignable to type " + wanted);
    into.entries().insert_or_assign(key, v);
  }

  bool merge_entry(value& into, const std::string& key, const value& v, const char* as) {
    auto& target = into.entries();
    const auto found = target.find(key);
    const bool known = found != target.end();
    if (v.is_nil()) {
      if (overwrite_) put(into, key, v, as);
      return true;
    }
    if (v.is_list()) {
      // Go first puts in a list of the right type, then decides; a map of texts already refuses
      // that.
      if (!known || found->second.is_nil() || overwrite_) put(into, key, v, v.type_name());
      if (!known || found->second.empty()) put(into, key, v, as);
      return true;
    }
    if (known && (v.is_map() || v.object())) {
      value inner = found->second;
      if (!merge_inner(inner, v)) return false;
      if (inner.is_map() && v.is_map() && !inner.empty()) return true;
    }
    if (overwrite_ || !known || found->second.empty()) put(into, key, v, as);
    return true;
  }

  bool merge_inner(value& inner, const value& v) {
    if (inner.is_map()) return inner.is_nil_reference() || merge(inner, v);
    if (!inner.object()) return true;
    const std::string kind = inner.object()->kind_name();
    if (kind == "struct") look_into(*inner.object(), v);
    return kind != "ptr" || v.kind_name() == "ptr" || overwrite_;
  }
  /// A struct's fields are merged by their place, whatever the other is; that changes nothing and
  /// can fail.
  static void look_into(const object& into, const value& from) {
    const auto fields = into.fields();
    if (fields.empty()) return;
    if (from.kind_name() != "struct")
      throw function_error("reflect: call of reflect.Value.Field on " + from.kind_name() +
                           " Value");
    const auto others = from.object()->fields();
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (i >= others.size()) throw function_error("reflect: Field index out of range");
      const value& inner = fields[i].second;
      if (inner.kind_name() == "struct") look_into(*inner.object(), others[i].second);
    }
  }

  executor& e_;
  bool overwrite_;
};

enum class on_failure : bool { say_nothing, fail };

value merge_all(executor& e, args a, bool overwrite, on_failure then) {
  merger m(e, overwrite);
  value into = a[0];
  for (const auto& source : a.subspan(1)) {
    if (into.is_nil_reference()) {
      if (source.is_nil_reference()) continue;
      into = value(value::map_type{});
    }
    if (m.merge(into, source)) continue;
    if (then == on_failure::fail) throw function_error("src and dst must be of same type");
    return "";
  }
  return into;
}
value f_merge(executor& e, args a) {
  return merge_all(e, a, false, on_failure::say_nothing);
}
value f_must_merge(executor& e, args a) {
  return merge_all(e, a, false, on_failure::fail);
}
value f_merge_overwrite(executor& e, args a) {
  return merge_all(e, a, true, on_failure::say_nothing);
}
value f_must_merge_overwrite(executor& e, args a) {
  return merge_all(e, a, true, on_failure::fail);
}
value f_deep_copy(executor& e, args a) {
  if (a[0].is_nil()) throw function_error("reflect: call of reflect.Value.Type on zero Value");
  auto out = deep_copy(a[0]);
  e.reserve(footprint(out));
  return out;
}
value f_deep_equal(executor&, args a) {
  return deep_equal(a[0], a[1]);
}

constexpr auto any = param::any;
constexpr auto m = param::map;
constexpr auto s = param::string;
constexpr function table[] = {
    make_function("dict", {any}, f_dict, true),
    make_function("get", {m, s}, f_get, false, true),
    make_function("set", {m, s, any}, f_set),
    make_function("unset", {m, s}, f_unset),
    make_function("hasKey", {m, s}, f_has_key),
    make_function("pluck", {s, m}, f_pluck, true),
    make_function("keys", {m}, f_keys, true),
    make_function("values", {m}, f_values),
    make_function("pick", {m, s}, f_pick, true),
    make_function("omit", {m, s}, f_omit, true),
    make_function("dig", {any}, f_dig, true, true),
    make_function("merge", {m, m}, f_merge, true, true),
    make_function("mustMerge", {m, m}, f_must_merge, true, true),
    make_function("mergeOverwrite", {m, m}, f_merge_overwrite, true, true),
    make_function("mustMergeOverwrite", {m, m}, f_must_merge_overwrite, true, true),
    make_function("deepCopy", {any}, f_deep_copy, false, true),
    make_function("mustDeepCopy", {any}, f_deep_copy, false, true),
    make_function("deepEqual", {any, any}, f_deep_equal),
};

}  // namespace

std::span<const function> dictionary_functions() {
  return table;
}

}  // namespace helm
