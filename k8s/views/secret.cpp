#include "k8s/views/secret.hpp"

#include "formats/base64.hpp"

#include <algorithm>

namespace k8s {

secret secret::parse(wire_value object) {
  secret s;
  s.meta = parse_meta(object, all_annotations);
  s.type = object["type"].text();
  object["data"].members([&](std::string_view key, wire_value value) {
    auto bytes = formats::decode_base64(value.text());
    if (!bytes) {
      object.refuse("data of secret " + s.meta.name.str() + " under \"" + std::string(key) +
                    "\" is not base64");
      return;
    }
    s.data.emplace_back(key, reactor::secret(std::move(*bytes)));
  });
  std::sort(s.data.begin(), s.data.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  const auto twice =
      std::adjacent_find(s.data.begin(), s.data.end(),
                         [](const auto& a, const auto& b) { return a.first == b.first; });
  if (twice != s.data.end())
    object.refuse("secret " + s.meta.name.str() + " has \"" + twice->first.str() + "\" twice");
  return s;
}

const reactor::secret* secret::find(std::string_view key) const noexcept {
  for (const auto& [name, bytes] : data)
    if (name == key) return &bytes;
  return nullptr;
}

std::size_t secret::heap_bytes() const noexcept {
  std::size_t total = meta.heap_bytes() + data.capacity() * sizeof(data[0]);
  for (const auto& [name, bytes] : data) total += bytes.reveal().capacity();
  return total;
}

}  // namespace k8s
