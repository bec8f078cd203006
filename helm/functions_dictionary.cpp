#include "helm/deep_stack.hpp"
#include "helm/executor.hpp"
#include "helm/functions.hpp"
#include "helm/go_format.hpp"

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

/// Fills `into` from `from`: what is empty, or with `overwrite` everything. Nested maps are shared with the source.
void merge(executor& e, value& into, const value& from, bool overwrite) {
  count_steps(1 + from.size());
  if (!from.is_map()) return;
  e.reserve(entry_bytes * from.size());
  std::vector<std::pair<std::string, value>> source(from.entries().begin(), from.entries().end());
  e.changed(into);
  auto& target = into.entries();
  for (auto& [key, v] : source) {
    auto found = target.find(key);
    if (v.is_nil() || v.is_nil_reference()) {
      if (overwrite) target.insert_or_assign(key, v);
      continue;
    }
    if (v.is_map() && found != target.end() && found->second.is_map()) {
      value inner = found->second;
      if (inner.is_nil_reference()) {
        inner = value(value::map_type{}, inner.kind());
      }
      merge(e, inner, v, overwrite);
      if (!found->second.empty()) continue;
      target.insert_or_assign(key, v);
      continue;
    }
    if (v.is_list()) {
      // An empty target takes the list; with overwrite every target does.
      if (found == target.end() || found->second.empty() || overwrite)
        target.insert_or_assign(key, v);
      continue;
    }
    if (overwrite || found == target.end() || found->second.empty())
      target.insert_or_assign(key, v);
  }
}

value merge_all(executor& e, args a, bool overwrite) {
  value into = a[0];
  for (const auto& source : a.subspan(1)) {
    if (into.is_nil_reference()) {
      if (source.is_nil_reference()) continue;
      into = value(value::map_type{});
    }
    merge(e, into, source, overwrite);
  }
  return into;
}
value f_merge(executor& e, args a) {
  return merge_all(e, a, false);
}
value f_merge_overwrite(executor& e, args a) {
  return merge_all(e, a, true);
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
    make_function("mustMerge", {m, m}, f_merge, true, true),
    make_function("mergeOverwrite", {m, m}, f_merge_overwrite, true, true),
    make_function("mustMergeOverwrite", {m, m}, f_merge_overwrite, true, true),
    make_function("deepCopy", {any}, f_deep_copy, false, true),
    make_function("mustDeepCopy", {any}, f_deep_copy, false, true),
    make_function("deepEqual", {any, any}, f_deep_equal),
};

}  // namespace

std::span<const function> dictionary_functions() {
  return table;
}

}  // namespace helm
