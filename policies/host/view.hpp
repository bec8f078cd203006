#pragma once

#include "policies/host/shape.hpp"

#include <concepts>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace policies {

/// How Lua sees plain C++ structs without copying them: a policy that reads two fields of 5,000
/// units pays for those, and the fleet never lives in the Lua heap.
///
/// A record names its fields by specialising `view_record`:
///     template <> struct view_record<unit> {
///       static constexpr const char* name = "unit";
///       static constexpr field fields[] = {field_of<&unit::name>("name", "its Node"), …};
///     };
/// What a field is follows from its C++ type, what it means and its unit are said beside its name:
/// shape_of<unit>() is both. Fields may be booleans, numbers, strings, other records, vectors and
/// string maps, and optionals and smart pointers to them.
struct view_type;

/// What a field holds: a scalar, or a view of something inside. Views and text borrow from the
/// snapshot.
struct slot {
  enum class kind { nil, boolean, number, text, view };
  kind is = kind::nil;
  bool boolean = false;
  double number = 0;
  std::string_view text;
  const view_type* type = nullptr;
  const void* object = nullptr;
};

/// One C++ type as Lua sees it. None of the functions may throw.
struct view_type {
  enum class form { record, array, map };
  const char* name;
  form is;
  /// Records and maps; nothing when there is no such key.
  std::optional<slot> (*find)(const void* object, std::string_view key);
  /// Arrays, from 0.
  slot (*at)(const void* object, std::size_t index);
  std::size_t (*size)(const void* object);
  /// Records and maps: the key after `key` in iteration order, the first one without.
  std::optional<std::string_view> (*next)(const void* object, std::optional<std::string_view> key);
};

/// A snapshot handed to a hook: kept alive until the call ended.
struct view {
  const view_type* type = nullptr;
  std::shared_ptr<const void> object;
};

struct field {
  std::string_view name;
  slot (*get)(const void* object);
  std::string_view about, unit;
  shape (*is)();
  bool optional;
};

template <class T>
struct view_record;

template <class T>
concept viewed_record = requires { view_record<T>::fields; };

template <class T>
const view_type& view_type_of();

/// The slot for a C++ value that lives in the snapshot.
template <class T>
slot slot_of(const T& v) {
  slot s;
  if constexpr (std::same_as<T, bool>) {
    s.is = slot::kind::boolean;
    s.boolean = v;
  } else if constexpr (std::is_arithmetic_v<T>) {
    s.is = slot::kind::number;
    s.number = static_cast<double>(v);
  } else if constexpr (std::convertible_to<const T&, std::string_view>) {
    s.is = slot::kind::text;
    s.text = v;
  } else if constexpr (requires {
                         v.has_value();
                         *v;
                       }) {
    if (v.has_value()) return slot_of(*v);
  } else if constexpr (requires {
                         v.get();
                         *v;
                       }) {
    if (v != nullptr) return slot_of(*v);
  } else {
    s.is = slot::kind::view;
    s.type = &view_type_of<T>();
    s.object = &v;
  }
  return s;
}

template <class T>
struct member_of;
template <class Class, class Member>
struct member_of<Member Class::*> {
  using owner = Class;
  using type = Member;
};

/// What Lua may find in a field of that type.
template <class T>
shape shape_of();

template <class T>
concept may_be_absent = requires(const T& v) {
  v.has_value();
  *v;
} || requires(const T& v) {
  v.get();
  *v;
};

template <auto Member>
constexpr field field_of(std::string_view name, std::string_view about = {},
                         std::string_view unit = {}) {
  using owner = typename member_of<decltype(Member)>::owner;
  using type = typename member_of<decltype(Member)>::type;
  return {name,
          [](const void* object) { return slot_of(static_cast<const owner*>(object)->*Member); },
          about,
          unit,
          [] { return shape_of<type>(); },
          may_be_absent<type>};
}

template <class T>
struct view_adapter;

template <viewed_record T>
struct view_adapter<T> {
  static constexpr std::span<const field> fields{view_record<T>::fields};
  static std::optional<slot> find(const void* object, std::string_view key) {
    for (const field& f : fields) {
      if (f.name == key) return f.get(object);
    }
    return std::nullopt;
  }
  static std::size_t size(const void*) { return fields.size(); }
  static std::optional<std::string_view> next(const void*, std::optional<std::string_view> key) {
    std::size_t i = 0;
    if (key) {
      while (i < fields.size() && fields[i].name != *key) ++i;
      ++i;
    }
    if (i >= fields.size()) return std::nullopt;
    return fields[i].name;
  }
  static constexpr view_type type{
      view_record<T>::name, view_type::form::record, find, nullptr, size, next};
};

template <class T>
struct view_adapter<std::vector<T>> {
  static slot at(const void* object, std::size_t i) {
    return slot_of((*static_cast<const std::vector<T>*>(object))[i]);
  }
  static std::size_t size(const void* object) {
    return static_cast<const std::vector<T>*>(object)->size();
  }
  static constexpr view_type type{"list", view_type::form::array, nullptr, at, size, nullptr};
};

template <class T, class Compare>
struct view_adapter<std::map<std::string, T, Compare>> {
  using map = std::map<std::string, T, Compare>;
  static const map& of(const void* object) { return *static_cast<const map*>(object); }
  // Without a transparent comparison a lookup would allocate a string, so it walks: such maps are
  // small.
  static auto position(const map& m, std::string_view key) {
    if constexpr (requires { typename Compare::is_transparent; }) {
      return m.find(key);
    } else {
      auto i = m.begin();
      while (i != m.end() && i->first != key) ++i;
      return i;
    }
  }
  static std::optional<slot> find(const void* object, std::string_view key) {
    const auto found = position(of(object), key);
    if (found == of(object).end()) return std::nullopt;
    return slot_of(found->second);
  }
  static std::size_t size(const void* object) { return of(object).size(); }
  static std::optional<std::string_view> next(const void* object,
                                              std::optional<std::string_view> key) {
    const map& m = of(object);
    auto i = m.begin();
    if (key) {
      i = position(m, *key);
      if (i != m.end()) ++i;
    }
    if (i == m.end()) return std::nullopt;
    return i->first;
  }
  static constexpr view_type type{"map", view_type::form::map, find, nullptr, size, next};
};

template <class T>
const view_type& view_type_of() {
  return view_adapter<T>::type;
}

template <viewed_record T>
shape record_shape_of() {
  shape s = record_shape(view_record<T>::name, {});
  for (const field& f : view_record<T>::fields) {
    shape_member m{std::string(f.name), f.is(),     std::string(f.about),
                   std::string(f.unit), f.optional, {}};
    // What a test leaves out is what a fresh record has.
    if constexpr (std::default_initializable<T>) {
      const T fresh{};
      const slot has = f.get(&fresh);
      if (has.is == slot::kind::boolean) m.otherwise = has.boolean;
      if (has.is == slot::kind::number) m.otherwise = has.number;
      if (has.is == slot::kind::text) m.otherwise = has.text;
    }
    s.members.push_back(std::move(m));
  }
  return s;
}

template <class T>
shape shape_of() {
  if constexpr (std::same_as<T, bool>) {
    return flag_shape();
  } else if constexpr (std::is_arithmetic_v<T>) {
    return number_shape();
  } else if constexpr (std::convertible_to<const T&, std::string_view>) {
    return text_shape();
  } else if constexpr (may_be_absent<T>) {
    return shape_of<std::remove_cvref_t<decltype(*std::declval<const T&>())>>();
  } else if constexpr (viewed_record<T>) {
    return record_shape_of<T>();
  } else if constexpr (view_adapter<T>::type.is == view_type::form::array) {
    return list_shape(shape_of<typename T::value_type>());
  } else if constexpr (requires { typename view_adapter<T>::element; }) {
    return map_shape(shape_of<typename view_adapter<T>::element>());
  } else {
    return map_shape(shape_of<typename T::mapped_type>());
  }
}

/// A view that owns its snapshot.
template <class T>
view view_of(std::shared_ptr<const T> snapshot) {
  return {&view_type_of<T>(), std::move(snapshot)};
}

}  // namespace policies
