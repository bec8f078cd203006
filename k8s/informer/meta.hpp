#pragma once

#include "k8s/client/resource.hpp"
#include "k8s/informer/compact_string.hpp"
#include "k8s/informer/intern.hpp"
#include "k8s/informer/shared_array.hpp"
#include "reactor/plain/time.hpp"

#include <compare>
#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s {

class wire_value;
struct annotation_filter;

/// The server's counter as it wrote it. Two decimal ones compare as numbers of any size; where one
/// of them is not decimal only equality is known (KEP-5504).
class resource_version {
public:
  resource_version() = default;
  resource_version(std::string_view text);
  resource_version(const char* text) : resource_version(std::string_view(text)) {}
  resource_version(const std::string& text) : resource_version(std::string_view(text)) {}

  std::string text() const;
  bool empty() const noexcept { return number_ == 0 && opaque_.empty(); }
  std::size_t heap_bytes() const noexcept { return opaque_.heap_bytes(); }

  friend bool operator==(const resource_version& a, const resource_version& b) noexcept {
    return a.number_ == b.number_ && a.opaque_ == b.opaque_;
  }
  friend std::partial_ordering operator<=>(const resource_version& a, const resource_version& b);
  friend std::ostream& operator<<(std::ostream& out, const resource_version& v) {
    return out << v.text();
  }

private:
  std::uint64_t number_ = 0;  // 0: see opaque_
  compact_string opaque_;
};

/// Who an object is, whatever it is called: 16 bytes for what the server makes, any text otherwise.
class uid {
public:
  uid() noexcept : text_() {}
  uid(std::string_view text);
  uid(const char* text) : uid(std::string_view(text)) {}
  uid(const std::string& text) : uid(std::string_view(text)) {}
  uid(const uid& other) noexcept;
  uid& operator=(const uid& other) noexcept;
  ~uid() {
    if (!is_uuid()) text_.~interned();
  }

  std::string text() const;
  bool empty() const noexcept { return !is_uuid() && text_.empty(); }
  std::uint32_t hash() const noexcept;
  friend bool operator==(const uid& a, const uid& b) noexcept {
    return a.high_ == b.high_ && (a.is_uuid() ? a.low_ == b.low_ : a.text_ == b.text_);
  }
  friend std::ostream& operator<<(std::ostream& out, const uid& u) { return out << u.text(); }

private:
  bool is_uuid() const noexcept { return high_ != 0; }
  std::uint64_t high_ = 0;
  union {
    std::uint64_t low_;
    interned text_;
  };
};

/// Labels or annotations, sorted by key; keys and values are shared between all objects that have
/// them.
class string_map {
public:
  using member = std::pair<interned, interned>;
  string_map() = default;
  string_map(std::initializer_list<member> members) : string_map(std::vector<member>(members)) {}
  /// Of members with one key the first stays.
  explicit string_map(std::vector<member> members);

  /// The value, or empty; has() tells an empty value from none.
  std::string_view get(std::string_view key) const noexcept;
  const interned* find(std::string_view key) const noexcept;
  bool has(std::string_view key) const noexcept { return find(key) != nullptr; }

  const member* begin() const noexcept { return members_.begin(); }
  const member* end() const noexcept { return members_.end(); }
  std::size_t size() const noexcept { return members_.size(); }
  bool empty() const noexcept { return members_.empty(); }
  std::size_t heap_bytes() const noexcept { return members_.heap_bytes(); }
  friend bool operator==(const string_map&, const string_map&) = default;

private:
  friend string_map parse_string_map(wire_value map, const annotation_filter& wanted);
  shared_array<member> members_;  // by key
};

/// The owner reference with controller: true; empty uid = none.
struct controller_owner {
  interned api_version, kind, name;
  k8s::uid uid;
  explicit operator bool() const noexcept { return !uid.empty(); }
  friend bool operator==(const controller_owner&, const controller_owner&) = default;
};

/// What every view carries of metadata. Two are equal when they differ in nothing but the resource
/// version: an object whose view stayed equal wakes no reader.
struct object_meta {
  compact_string name;
  interned ns;
  k8s::uid uid;
  k8s::resource_version resource_version;
  std::int64_t generation = 0;
  reactor::wall_time deletion_timestamp{};  // the epoch = not being deleted
  string_map labels;
  string_map annotations;  // those the view asks for
  controller_owner owner;
  shared_array<interned> finalizers;

  object_key key() const { return {ns.str(), name.str()}; }
  bool deleting() const noexcept { return deletion_timestamp != reactor::wall_time{}; }
  bool has_finalizer(std::string_view finalizer) const noexcept;
  /// What it holds outside of itself, shared strings not counted.
  std::size_t heap_bytes() const noexcept;
  friend bool operator==(const object_meta& a, const object_meta& b) noexcept;
};

/// Which annotations a view keeps: exact keys, or whole prefixes when they end in '/'.
struct annotation_filter {
  bool all = false;  // but kubectl's last-applied-configuration
  std::vector<std::string_view> keys;
};
inline const annotation_filter no_annotations{};
inline const annotation_filter all_annotations{true, {}};

/// Reads `object`.metadata. Refuses an object without name, uid or resourceVersion.
object_meta parse_meta(wire_value object, const annotation_filter& annotations = no_annotations);
/// A map of strings (labels, annotations, nodeSelector); refuses duplicate keys.
string_map parse_string_map(wire_value map, const annotation_filter& wanted = all_annotations);

}  // namespace k8s
