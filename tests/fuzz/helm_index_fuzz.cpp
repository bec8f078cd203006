#include "helm/sources/index.hpp"
#include "registry/url.hpp"

#include <cstdint>
#include <cstdlib>
#include <string_view>

/// index.yaml: what was read is written and read again as the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace sources = helm::sources;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto read = sources::read_index(text, "fuzz");
  if (!read) return 0;
  for (const auto& [name, versions] : read->index.entries) {
    static_cast<void>(read->index.find(name, ""));
    for (const auto& v : versions)
      for (const auto& u : v.urls)
        static_cast<void>(registry::resolve_reference("https://host/charts?x=1", u));
  }
  const auto json = sources::write_index(read->index, sources::index_form::json);
  if (!json) return 0;
  const auto again = sources::read_index(*json, "fuzz");
  if (again && sources::write_index(again->index, sources::index_form::json).has_value() &&
      *sources::write_index(again->index, sources::index_form::json) != *json)
    std::abort();
  return 0;
}
