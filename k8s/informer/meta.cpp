#include "k8s/informer/meta.hpp"

#include "k8s/client/wire.hpp"
#include "k8s/says_too_much.hpp"
#include "reactor/plain/keyed_hash.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <vector>

namespace k8s {

namespace {

bool is_decimal(std::string_view text) {
  if (text.empty() || (text.front() == '0' && text.size() > 1)) return false;
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

constexpr std::size_t uuid_length = 36;
constexpr bool is_dash_place(std::size_t i) {
  return i == 8 || i == 13 || i == 18 || i == 23;
}
constexpr std::uint64_t version_nibble = 0xf000;  // in the high word; never 0 in an RFC 9562 UUID

constexpr std::string_view last_applied = "kubectl.kubernetes.io/last-applied-configuration";

// An API server refuses more annotations on one object (TotalAnnotationSizeLimitB); labels have no
// sum of their own there, and names are at most 253 bytes.
constexpr std::size_t most_members = 2'000;  // each is looked up in the table of shared strings
constexpr std::size_t map_limit_bytes = 256 * 1024;
constexpr std::size_t name_limit_bytes = 1024;

bool is_wanted(std::string_view key, const annotation_filter& wanted) {
  if (wanted.all) return key != last_applied;
  return std::any_of(wanted.keys.begin(), wanted.keys.end(), [&](std::string_view w) {
    return w.ends_with('/') ? key.starts_with(w) : key == w;
  });
}

bool has_same_key(const string_map::member& a, const string_map::member& b) {
  return a.first == b.first;
}

/// Keeps the order of equal keys. Maps of objects are small; only a hostile one needs more than
/// insertion.
void sort_by_key(std::vector<string_map::member>& members) {
  constexpr std::size_t few = 64;
  if (members.size() <= few) {
    for (auto at = members.begin(); at != members.end(); ++at) {
      const auto place = std::upper_bound(
          members.begin(), at, *at, [](const auto& a, const auto& b) { return a.first < b.first; });
      std::rotate(place, at, at + 1);
    }
    return;
  }
  std::vector<std::size_t> order(members.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const auto by_key = members[a].first <=> members[b].first;
    return by_key == 0 ? a < b : by_key < 0;
  });
  std::vector<string_map::member> sorted;
  sorted.reserve(members.size());
  for (const std::size_t i : order) sorted.push_back(std::move(members[i]));
  members = std::move(sorted);
}

}  // namespace

resource_version::resource_version(std::string_view text) {
  if (is_decimal(text) && text != "0") {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number_);
    if (error == std::errc{}) return;
    number_ = 0;
  }
  opaque_ = text;
}

std::string resource_version::text() const {
  return number_ ? std::to_string(number_) : opaque_.str();
}

std::partial_ordering operator<=>(const resource_version& a, const resource_version& b) {
  if (a.number_ && b.number_) return a.number_ <=> b.number_;
  if (a == b) return std::partial_ordering::equivalent;
  const std::string left = a.text(), right = b.text();
  if (!is_decimal(left) || !is_decimal(right)) return std::partial_ordering::unordered;
  if (left.size() != right.size()) return left.size() <=> right.size();
  return left <=> right;
}

uid::uid(std::string_view text) : text_() {
  if (text.size() == uuid_length) {
    std::uint64_t words[2] = {0, 0};
    std::size_t digits = 0;
    for (std::size_t i = 0; i < uuid_length; ++i) {
      if (is_dash_place(i)) {
        if (text[i] != '-') break;
        continue;
      }
      const int value = hex_value(text[i]);
      if (value < 0) break;
      words[digits / 16] = words[digits / 16] << 4 | static_cast<std::uint64_t>(value);
      ++digits;
    }
    if (digits == 32 && (words[0] & version_nibble)) {
      high_ = words[0];
      low_ = words[1];
      return;
    }
  }
  text_ = interned(text);
}

uid::uid(const uid& other) noexcept : high_(other.high_), text_() {
  if (is_uuid())
    low_ = other.low_;
  else
    text_ = other.text_;
}

uid& uid::operator=(const uid& other) noexcept {
  if (this == &other) return *this;
  this->~uid();
  return *new (this) uid(other);
}

std::string uid::text() const {
  if (!is_uuid()) return text_.str();
  std::string text(uuid_length, '-');
  std::size_t digits = 0;
  for (std::size_t i = 0; i < uuid_length; ++i) {
    if (is_dash_place(i)) continue;
    const std::uint64_t word = digits < 16 ? high_ : low_;
    text[i] = "0123456789abcdef"[word >> (60 - digits % 16 * 4) & 0xf];
    ++digits;
  }
  return text;
}

std::uint32_t uid::hash() const noexcept {
  if (!is_uuid()) return static_cast<std::uint32_t>(text_.hash());
  return static_cast<std::uint32_t>(reactor::keyed_hash(high_, low_));
}

string_map::string_map(std::vector<member> members) {
  sort_by_key(members);
  members.erase(std::unique(members.begin(), members.end(), has_same_key), members.end());
  members_ = shared_array<member>(members);
}

const interned* string_map::find(std::string_view key) const noexcept {
  // Keys differ in length more often than not: to look at each of a few costs less than to halve.
  constexpr std::size_t few = 16;
  if (size() <= few) {
    for (const member& m : *this)
      if (m.first == key) return &m.second;
    return nullptr;
  }
  const auto at = std::lower_bound(
      begin(), end(), key, [](const member& m, std::string_view k) { return m.first.view() < k; });
  return at != end() && at->first == key ? &at->second : nullptr;
}

std::string_view string_map::get(std::string_view key) const noexcept {
  const interned* value = find(key);
  return value ? value->view() : std::string_view();
}

bool object_meta::has_finalizer(std::string_view finalizer) const noexcept {
  return std::any_of(finalizers.begin(), finalizers.end(),
                     [&](const interned& f) { return f == finalizer; });
}

std::size_t object_meta::heap_bytes() const noexcept {
  return name.heap_bytes() + resource_version.heap_bytes() + labels.heap_bytes() +
         annotations.heap_bytes() + finalizers.heap_bytes();
}

bool operator==(const object_meta& a, const object_meta& b) noexcept {
  return a.uid == b.uid && a.generation == b.generation &&
         a.deletion_timestamp == b.deletion_timestamp && a.name == b.name && a.ns == b.ns &&
         a.labels == b.labels && a.annotations == b.annotations && a.owner == b.owner &&
         a.finalizers == b.finalizers;
}

string_map parse_string_map(wire_value map, const annotation_filter& wanted) {
  std::vector<string_map::member> members;
  std::size_t bytes = 0;
  map.members([&](std::string_view key, wire_value value) {
    if (!is_wanted(key, wanted) || bytes > map_limit_bytes || members.size() > most_members) return;
    const std::string_view text = value.text();
    bytes += key.size() + text.size();
    if (bytes <= map_limit_bytes) members.emplace_back(interned(key), interned(text));
  });
  if (bytes > map_limit_bytes) map.refuse(too_long_labels);
  if (members.size() > most_members) map.refuse(too_many_labels);
  sort_by_key(members);
  const auto twice = std::adjacent_find(members.begin(), members.end(), has_same_key);
  if (twice != members.end()) map.refuse("key \"" + twice->first.str() + "\" is there twice");
  string_map out;
  out.members_ = shared_array<string_map::member>(members);
  return out;
}

object_meta parse_meta(wire_value object, const annotation_filter& annotations) {
  const auto [name, ns, id, version, generation, deletion, labels, noted, owners, all_finalizers] =
      object.field("metadata")
          .fields("name", "namespace", "uid", "resourceVersion", "generation", "deletionTimestamp",
                  "labels", "annotations", "ownerReferences", "finalizers");
  object_meta m;
  m.name = name.text();
  m.ns = ns.text();
  m.uid = uid(id.text());
  m.resource_version = version.text();
  m.generation = generation.integer();
  if (std::max(m.name.size(), m.ns.view().size()) > name_limit_bytes)
    object.refuse("a name that no API server takes");
  if (m.name.empty()) object.refuse("an object without metadata.name");
  if (m.uid.empty()) object.refuse("object " + m.name.str() + " has no metadata.uid");
  if (m.resource_version.empty())
    object.refuse("object " + m.name.str() + " has no metadata.resourceVersion");
  if (const std::string_view text = deletion.text(); !text.empty()) {
    const auto when = reactor::parse_rfc3339(text);
    if (when)
      m.deletion_timestamp = *when;
    else
      object.refuse("deletionTimestamp of " + m.name.str() + " is not a time");
  }
  m.labels = parse_string_map(labels);
  if (annotations.all || !annotations.keys.empty())
    m.annotations = parse_string_map(noted, annotations);
  owners.elements([&](wire_value reference) {
    const auto [controls, api_version, kind, its_name, its_uid] =
        reference.fields("controller", "apiVersion", "kind", "name", "uid");
    if (!controls.boolean()) return;
    if (m.owner) object.refuse("object " + m.name.str() + " has two controllers");
    m.owner.api_version = api_version.text();
    m.owner.kind = kind.text();
    m.owner.name = its_name.text();
    m.owner.uid = uid(its_uid.text());
  });
  std::vector<interned> finalizers;
  all_finalizers.elements([&](wire_value f) { finalizers.emplace_back(f.text()); });
  m.finalizers = shared_array<interned>(finalizers);
  return m;
}

}  // namespace k8s
