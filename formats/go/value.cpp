#include "formats/go/value.hpp"

#include "formats/plain/deep_stack.hpp"

#include <algorithm>
#include <cmath>

namespace formats {
namespace {

// What the parts of a value take, with the allocator's share.
constexpr std::uint64_t node_bytes = 64, entry_bytes = 96, most_inside = 15;

std::uint64_t text_bytes(std::size_t size) {
  return size > most_inside ? size + 17 : 0;
}
std::uint64_t bytes_of(const value::map_type& m) {
  std::uint64_t out = node_bytes + entry_bytes * m.size();
  for (const auto& [key, v] : m) out += text_bytes(key.size());
  return out;
}

/// Counts what a node takes as long as that lives. (Its four bytes lie where `counted` has room.)
struct weighed : counted {
  explicit weighed(std::uint64_t bytes, bool shared = false)
      : bytes_(static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, INT32_MAX)) & INT32_MAX),
        shared_(shared) {
    hold_bytes(bytes_);
  }
  ~weighed() override { let_go(bytes_); }

private:
  std::uint32_t bytes_ : 31;

protected:
  std::uint32_t shared_ : 1;
};

/// A text of its own, or one that it shares with an owner that has counted it.
class text_node final : public weighed {
public:
  explicit text_node(std::string s)
      : weighed(node_bytes + text_bytes(s.size())), own_(std::move(s)) {}
  explicit text_node(std::shared_ptr<const std::string> s)
      : weighed(node_bytes, true), other_(std::move(s)) {}
  ~text_node() override {
    if (shared_)
      other_.~shared_ptr();
    else
      own_.~basic_string();
  }
  const std::string& text() const { return shared_ ? *other_ : own_; }

private:
  union {
    std::string own_;
    std::shared_ptr<const std::string> other_;
  };
};
struct list_node final : weighed {
  explicit list_node(value::list_type l)
      : weighed(node_bytes + sizeof(value) * l.capacity()), items(std::move(l)) {}
  value::list_type items;
};
struct map_node final : weighed {
  explicit map_node(value::map_type m) : weighed(bytes_of(m)), entries(std::move(m)) {}
  value::map_type entries;
};

const std::string no_text;
const value::list_type no_items;
const value::map_type no_entries;

constinit std::span<const char* const> names_of_defined;

}  // namespace

void name_defined_types(std::span<const char* const> names) noexcept {
  names_of_defined = names;
}

value::value(std::string s) : type_(type::string) {
  bits_.shared = new text_node(std::move(s));
  retain();
}

value::value(list_type items, type t) : type_(t) {
  bits_.shared = new list_node(std::move(items));
  retain();
}

value::value(map_type entries, type t) : type_(t) {
  bits_.shared = new map_node(std::move(entries));
  retain();
}

value::value(const value& other) noexcept
    : type_(other.type_), boxed_(other.boxed_), bits_(other.bits_) {
  retain();
}

value::value(value&& other) noexcept
    : type_(other.type_), boxed_(other.boxed_), bits_(other.bits_) {
  other.type_ = type::nil;
  other.boxed_ = false;
}

value& value::operator=(const value& other) noexcept {
  other.retain();
  auto type = other.type_;
  auto boxed = other.boxed_;
  auto bits = other.bits_;
  release();
  type_ = type;
  boxed_ = boxed;
  bits_ = bits;
  return *this;
}

value& value::operator=(value&& other) noexcept {
  if (this == &other) return *this;
  // The old content may own `other`: take it out before letting go.
  auto type = other.type_;
  auto boxed = other.boxed_;
  auto bits = other.bits_;
  other.type_ = type::nil;
  other.boxed_ = false;
  release();
  type_ = type;
  boxed_ = boxed;
  bits_ = bits;
  return *this;
}

void value::release() noexcept {
  if (!counted_type() || !bits_.shared) return;
  auto* shared = bits_.shared;
  bits_.shared = nullptr;
  if (--shared->references == 0) delete shared;
}

value value::integer(std::int64_t i, type t) {
  value v;
  v.type_ = t;
  v.bits_.whole = t == type::uint8 ? (i & 0xff) : i;
  return v;
}

value value::bytes(std::string s) {
  value v(std::move(s));
  v.type_ = type::bytes;
  return v;
}

value value::bytes(std::shared_ptr<const std::string> shared) {
  value v;
  v.type_ = type::bytes;
  v.bits_.shared = new text_node(std::move(shared));
  v.retain();
  return v;
}

value value::object(counted* o) {
  value v;
  v.type_ = type::object;
  v.bits_.shared = o;
  v.retain();
  return v;
}

value value::strings(const std::vector<std::string>& items) {
  return value(list_type(items.begin(), items.end()), type::string_list);
}

value value::nil_of(type t) {
  value v;
  v.type_ = t;
  v.bits_.shared = nullptr;
  return v;
}

value value::box() const noexcept {
  value v = *this;
  v.boxed_ = true;
  return v;
}

value value::unbox() const noexcept {
  value v = *this;
  v.boxed_ = false;
  return v;
}

value value::as(type t) const noexcept {
  value v = *this;
  v.type_ = t;
  return v;
}

bool value::is_nil_reference() const noexcept {
  return (is_list() || is_map()) && bits_.shared == nullptr;
}

const std::string& value::text() const noexcept {
  return (type_ == type::string || type_ == type::bytes) && bits_.shared
             ? static_cast<text_node*>(bits_.shared)->text()
             : no_text;
}

const value::list_type& value::items() const noexcept {
  return is_list() && type_ != type::bytes && bits_.shared
             ? static_cast<list_node*>(bits_.shared)->items
             : no_items;
}

const value::map_type& value::entries() const noexcept {
  return is_map() && bits_.shared ? static_cast<map_node*>(bits_.shared)->entries : no_entries;
}

value::map_type& value::entries() {
  if (!is_map()) *this = value(map_type{});
  if (!bits_.shared) {
    bits_.shared = new map_node({});
    retain();
  }
  return static_cast<map_node*>(bits_.shared)->entries;
}

object* value::object() const noexcept {
  return type_ == type::object ? static_cast<class object*>(bits_.shared) : nullptr;
}

std::size_t value::size() const noexcept {
  if (type_ == type::string || type_ == type::bytes) return text().size();
  return is_map() ? entries().size() : items().size();
}

value value::at(std::size_t i) const {
  if (type_ == type::bytes || type_ == type::string)
    return integer(static_cast<unsigned char>(text()[i]), type::uint8);
  const auto& item = items()[i];
  return type_ == type::list ? item.box() : item;
}

const value* value::find(std::string_view key) const {
  const auto& all = entries();
  auto found = all.find(key);
  return found == all.end() ? nullptr : &found->second;
}

bool value::truth() const {
  switch (type_) {
    case type::nil: return false;
    case type::boolean: return boolean();
    case type::float64: return real() != 0;
    case type::object: return object()->truth();
    default: return is_integer() ? integer() != 0 : size() > 0;
  }
}

bool value::empty() const {
  // Differs from truth only in that a non-nil pointer is not empty either, which objects never are.
  return !truth();
}

std::string value::type_name() const {
  switch (type_) {
    case type::nil: return "<nil>";
    case type::boolean: return "bool";
    case type::int_: return "int";
    case type::int64: return "int64";
    case type::uint8: return "uint8";
    case type::uint64: return "uint64";
    case type::float64: return "float64";
    case type::string: return "string";
    case type::bytes: return "[]uint8";
    case type::list: return "[]interface {}";
    case type::string_list: return "[]string";
    case type::int_list: return "[]int";
    case type::list_list: return "[][]interface {}";
    case type::map_list: return "[]map[string]interface {}";
    case type::map: return "map[string]interface {}";
    case type::string_map: return "map[string]string";
    case type::object: return object()->type_name();
  }
  return names_of_defined[static_cast<std::uint8_t>(type_) & 0x3f];
}

std::string value::kind_name() const {
  if (type_ == type::nil) return "invalid";
  if (type_ == type::object) return object()->kind_name();
  return is_list() ? "slice" : is_map() ? "map" : type_name();
}

std::optional<value> object::field(std::string_view name) const {
  for (auto& [key, v] : fields())
    if (key == name) return v;
  return std::nullopt;
}

value object::json() const {
  value::map_type out;
  if (auto members = json_fields()) {
    for (auto& [key, v] : *members) out.insert_or_assign(key, v);
  } else {
    for (auto& [key, v] : fields()) out.emplace(key, v);
  }
  return out;
}

namespace {

bool equal_here(const value& a, const value& b);

}  // namespace

bool deep_equal(const value& a, const value& b) {
  bool same = false;
  with_room([&] { same = equal_here(a, b); });
  return same;
}

namespace {

bool equal_here(const value& a, const value& b) {
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case type::nil: return true;
    case type::float64: return a.real() == b.real();
    case type::string: return a.text() == b.text();
    case type::bytes: return a.is_nil_reference() == b.is_nil_reference() && a.text() == b.text();
    case type::object: {
      auto* x = a.object();
      auto* y = b.object();
      return x == y || (x->type_name() == y->type_name() && x->equals(*y));
    }
    default: break;
  }
  count_steps(a.size() / 4);
  if (a.is_list()) {
    if (a.is_nil_reference() != b.is_nil_reference() || a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i)
      if (!deep_equal(a.items()[i], b.items()[i])) return false;
    return true;
  }
  if (a.is_map()) {
    if (a.is_nil_reference() != b.is_nil_reference() || a.size() != b.size()) return false;
    if (a.identity() == b.identity()) return true;
    auto other = b.entries().begin();
    for (const auto& [key, v] : a.entries()) {
      if (key != other->first || !deep_equal(v, other->second)) return false;
      ++other;
    }
    return true;
  }
  return a.integer() == b.integer();
}

// A copied map or list takes memory, where others only take time.
constexpr std::uint64_t steps_per_copy = 8;

value copy_here(const value& v) {
  count_steps(steps_per_copy + v.size() / 4);
  if (v.is_nil_reference()) return v;
  if (v.kind() == type::bytes) return v.unbox();
  if (v.is_list()) {
    const auto& items = v.items();
    // Lists never change: one of texts and numbers is its own copy.
    if (std::none_of(items.begin(), items.end(), [](const value& item) {
          return item.is_map() || item.is_list() || item.object() != nullptr;
        }))
      return v.unbox();
    value::list_type out;
    out.reserve(v.size());
    for (const auto& item : items) out.push_back(deep_copy(item));
    return value(std::move(out), v.kind());
  }
  if (v.is_map()) {
    value::map_type out;
    for (const auto& [key, item] : v.entries()) out.emplace_hint(out.end(), key, deep_copy(item));
    return value(std::move(out), v.kind());
  }
  if (auto* o = v.object())
    if (auto copy = o->reflected_copy()) return *copy;
  return v;
}

}  // namespace

value deep_copy(const value& v) {
  value out;
  with_room([&] { out = copy_here(v); });
  return out;
}

std::uint64_t footprint(const value& v) {
  constexpr std::uint64_t per_entry = 96, per_container = 48;
  if (v.is_string() || v.kind() == type::bytes) return v.text().size();
  if (!v.is_map() && !v.is_list()) return 0;
  std::uint64_t out = per_container + sizeof(value) * v.size();
  with_room([&] {
    if (v.is_map())
      for (const auto& [key, item] : v.entries()) out += per_entry + key.size() + footprint(item);
    else
      for (const auto& item : v.items()) out += footprint(item);
  });
  return out;
}

value detached_copy(const value& v) {
  if (v.is_string()) return value(v.text());
  if (v.is_nil_reference() || (!v.is_map() && !v.is_list())) return v;
  value out = v;
  with_room([&] {
    if (v.is_map()) {
      value::map_type entries;
      for (const auto& [key, item] : v.entries())
        entries.emplace_hint(entries.end(), key, detached_copy(item));
      out = value(std::move(entries), v.kind());
    } else if (v.kind() == type::bytes) {
      out = value::bytes(v.text());
    } else {
      value::list_type items;
      items.reserve(v.size());
      for (const auto& item : v.items()) items.push_back(detached_copy(item));
      out = value(std::move(items), v.kind());
    }
  });
  return out;
}

}  // namespace formats
