#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace formats {

class value;
struct method_table;

/// The static Go type of a value. Charts see these through `typeOf`, `kindOf` and error texts, so
/// each is kept apart.
enum class type : std::uint8_t {
  nil,
  boolean,
  int_,
  int64,
  uint8,
  uint64,
  float64,
  string,
  bytes,
  list,
  string_list,
  int_list,
  list_list,
  map_list,
  map,
  string_map,
  object,
};

/// What a type that a package defines is made of: a slice, a map whose entries have a type of their
/// own, or a map of interfaces.
enum class defined_over : std::uint8_t { list = 0x40, typed_map = 0x80, map = 0xc0 };
/// Such a type, by a number of the package's, below 64 and another one for each. One package
/// defines types.
constexpr type defined(defined_over what, std::uint8_t number) {
  return static_cast<type>(static_cast<std::uint8_t>(what) | number);
}
/// What they are called, by number ("chartutil.Values"). Before the first is printed; the names
/// outlive every value.
void name_defined_types(std::span<const char* const> names) noexcept;

/// Shared storage, counted without atomics: values never cross threads while they are in use.
struct counted {
  counted() = default;
  counted(const counted&) = delete;
  counted& operator=(const counted&) = delete;
  virtual ~counted() = default;
  std::uint32_t references = 0;
};

/// A value as a template sees it: 16 bytes, copied by reference like Go's maps and slices.
/// Lists are never changed once shared; maps are, and every alias sees it.
/// `boxed` says that the static type is `interface {}`: a boxed nil is Go's typed nil, a plain one
/// is invalid.
class value {
public:
  using list_type = std::vector<value>;
  using map_type = std::map<std::string, value, std::less<>>;

  value() noexcept { bits_.whole = 0; }
  value(bool b) noexcept : type_(type::boolean) { bits_.whole = b; }
  value(int i) noexcept : type_(type::int_) { bits_.whole = i; }
  value(double d) noexcept : type_(type::float64) { bits_.real = d; }
  value(std::string s);
  value(std::string_view s) : value(std::string(s)) {}
  value(const char* s) : value(std::string(s)) {}
  value(list_type items, type t = type::list);
  value(map_type entries, type t = type::map);
  value(const value& other) noexcept;
  value(value&& other) noexcept;
  value& operator=(const value& other) noexcept;
  value& operator=(value&& other) noexcept;
  ~value() { release(); }

  static value integer(std::int64_t i, type t);
  static value bytes(std::string s);
  static value bytes(std::shared_ptr<const std::string> shared);  // not copied
  static value object(counted* o);
  static value strings(const std::vector<std::string>& items);
  /// A Go nil of a slice or map type: has the type, holds nothing, is written as null.
  static value nil_of(type t);

  type kind() const noexcept { return type_; }
  bool boxed() const noexcept { return boxed_; }
  value box() const noexcept;
  value unbox() const noexcept;
  value as(type t) const noexcept;  // the same storage under another type name

  bool is_nil() const noexcept { return type_ == type::nil; }
  bool is_invalid() const noexcept { return type_ == type::nil && !boxed_; }
  bool is_integer() const noexcept { return type_ >= type::int_ && type_ <= type::uint64; }
  bool is_signed() const noexcept { return type_ == type::int_ || type_ == type::int64; }
  bool is_string() const noexcept { return type_ == type::string; }
  bool is_list() const noexcept {
    return (type_ >= type::bytes && type_ <= type::map_list) || is_over(defined_over::list);
  }
  bool is_map() const noexcept {
    return is_any_map() || type_ == type::string_map || is_over(defined_over::typed_map);
  }
  /// Of interfaces: what it gives out is boxed.
  bool is_any_map() const noexcept { return type_ == type::map || is_over(defined_over::map); }
  bool is_nil_reference() const noexcept;  // a nil slice or map

  bool boolean() const noexcept { return bits_.whole != 0; }
  std::int64_t integer() const noexcept { return bits_.whole; }
  double real() const noexcept { return bits_.real; }
  // Of another type these are empty; the last makes the value a map.
  const std::string& text() const noexcept;  // string and bytes
  const list_type& items() const noexcept;   // lists other than bytes
  const map_type& entries() const noexcept;
  map_type& entries();
  const void* identity() const noexcept { return counted_type() ? bits_.shared : nullptr; }
  class object* object() const noexcept;

  std::size_t size() const noexcept;  // of strings, bytes, lists, maps
  value at(std::size_t i) const;      // element, boxed when the list holds interfaces
  const value* find(std::string_view key) const;
  bool truth() const;             // text/template's idea of it
  bool empty() const;             // Sprig's idea of it
  std::string type_name() const;  // %T
  std::string kind_name() const;  // reflect's Kind

private:
  bool is_over(defined_over what) const noexcept {
    return (static_cast<std::uint8_t>(type_) & 0xc0) == static_cast<std::uint8_t>(what);
  }
  bool counted_type() const noexcept { return type_ >= type::string; }
  void retain() const noexcept {
    if (counted_type() && bits_.shared) ++bits_.shared->references;
  }
  void release() noexcept;
  type type_ = type::nil;
  bool boxed_ = false;
  union {
    std::int64_t whole;
    double real;
    counted* shared;
  } bits_;
};

/// A Go struct or pointer that templates can look into: chart metadata, versions, times,
/// certificates.
class object : public counted {
public:
  virtual std::string type_name() const = 0;
  virtual std::string kind_name() const { return "struct"; }
  /// A field by its Go name.
  virtual std::optional<value> field(std::string_view name) const;
  /// Go's String or Error method, when the type has one.
  virtual std::optional<std::string> text() const { return std::nullopt; }
  /// Fields in declaration order with their Go names, as %v prints them.
  virtual std::vector<std::pair<std::string, value>> fields() const { return {}; }
  /// Go's String method where only the pointer has it, so that it shows only when the value is
  /// printed in place.
  virtual std::optional<std::string> addressed_text() const { return std::nullopt; }
  /// The copy that an interface holds of a value whose methods need its address; nothing where it
  /// makes no difference.
  virtual std::optional<value> detached() const { return std::nullopt; }
  /// What a copy made field by field through reflection has: private fields stay empty.
  virtual std::optional<value> reflected_copy() const { return std::nullopt; }
  /// A struct's members in the order encoding/json writes them; nothing when json() says it all.
  virtual std::optional<std::vector<std::pair<std::string, value>>> json_fields() const {
    return std::nullopt;
  }
  /// What encoding/json makes of it, as plain values.
  virtual value json() const;
  virtual bool equals(const object& other) const { return this == &other; }
  virtual bool truth() const { return true; }
  virtual const method_table* methods() const { return nullptr; }
};

/// Deep, type-strict equality (reflect.DeepEqual).
bool deep_equal(const value& a, const value& b);
/// A copy that shares no map with the original.
value deep_copy(const value& v);
/// About how many bytes the maps, lists and texts of a tree take. Requires that none holds itself.
std::uint64_t footprint(const value& v);
/// A copy that shares nothing with the original, strings neither: for another thread. Of plain
/// values only, no objects.
value detached_copy(const value& v);

}  // namespace formats
