#include "formats/wire.hpp"

#include <bit>

namespace formats {
namespace {

/// Beside the type: whether the value is boxed, and whether it is a nil of its type.
constexpr std::uint64_t boxed_bit = 1u << 8, nil_bit = 1u << 9, type_mask = 0xff;

constexpr std::size_t value_node_bytes = 96;  // of a map, with its key's own head

bool holds_values(type t) {
  return t == type::list || t == type::string_list || t == type::int_list || t == type::list_list ||
         t == type::map_list;
}
bool holds_entries(type t) {
  return t == type::map || t == type::string_map;
}

}  // namespace

void wire_writer::tree(const value& v, int depth) {
  if (depth > wire_depth) throw wire_damage{"a value is nested too deep"};
  const type t = v.kind();
  number(static_cast<std::uint64_t>(t) | (v.boxed() ? boxed_bit : 0) |
         (v.is_nil_reference() ? nil_bit : 0));
  if (t == type::nil || v.is_nil_reference()) return;
  if (t == type::boolean) return number(v.boolean());
  if (v.is_integer()) return number(static_cast<std::uint64_t>(v.integer()));
  if (t == type::float64) return number(std::bit_cast<std::uint64_t>(v.real()));
  if (t == type::string || t == type::bytes) return text(v.text());
  if (holds_values(t)) {
    number(v.items().size());
    for (const value& one : v.items()) tree(one, depth + 1);
    return;
  }
  if (!holds_entries(t)) throw wire_damage{"a value is none of a file"};
  number(v.entries().size());
  for (const auto& [key, one] : v.entries()) {
    text(key);
    tree(one, depth + 1);
  }
}

value wire_reader::tree(int depth) {
  if (depth > wire_depth) throw wire_damage{"a value is nested too deep"};
  const std::uint64_t head = number();
  const std::uint64_t kind = head & type_mask;
  if ((head & ~(type_mask | boxed_bit | nil_bit)) != 0 ||
      kind > static_cast<std::uint64_t>(type::object))
    throw wire_damage{"a value is of no kind"};
  const auto t = static_cast<type>(kind);
  const auto whole = [&]() -> value {
    if (t == type::nil && (head & nil_bit) == 0) return {};
    if ((head & nil_bit) != 0) {
      if (!holds_values(t) && !holds_entries(t) && t != type::bytes)
        throw wire_damage{"a value is of no kind"};
      return value::nil_of(t);
    }
    if (t == type::boolean) return value(flag());
    if (t >= type::int_ && t <= type::uint64)
      return value::integer(static_cast<std::int64_t>(number()), t);
    if (t == type::float64) return value(std::bit_cast<double>(number()));
    if (t == type::string) return value(text());
    if (t == type::bytes) return value::bytes(text());
    if (holds_values(t)) {
      const std::size_t n = count(sizeof(value));
      value::list_type items;
      for (std::size_t i = 0; i < n; ++i) items.push_back(tree(depth + 1));
      return value(std::move(items), t);
    }
    if (!holds_entries(t)) throw wire_damage{"a value is none of a file"};
    const std::size_t n = count(value_node_bytes);
    value::map_type entries;
    for (std::size_t i = 0; i < n; ++i) {
      std::string key = text();
      value one = tree(depth + 1);
      if (!entries.empty() && !(entries.rbegin()->first < key))
        throw wire_damage{"keys are not in their order"};
      entries.emplace_hint(entries.end(), std::move(key), std::move(one));
    }
    return value(std::move(entries), t);
  };
  value out = whole();
  return (head & boxed_bit) != 0 ? out.box() : out;
}

}  // namespace formats
