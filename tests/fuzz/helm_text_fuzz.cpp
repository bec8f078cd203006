#include "formats/go/time.hpp"
#include "formats/json/json.hpp"
#include "formats/toml/toml.hpp"
#include "helm/render/manifests.hpp"
#include "helm/schema/schema.hpp"

#include <cstdint>
#include <string_view>

/// The smaller grammars: JSON, TOML, durations, layouts, schemas, documents.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto half = text.substr(0, size / 2), rest = text.substr(size / 2);
  static_cast<void>(formats::read_json(text));
  if (auto v = formats::read_toml(text)) static_cast<void>(formats::write_toml(*v));
  static_cast<void>(formats::parse_duration(text));
  static_cast<void>(formats::parse_time(half, rest));
  if (auto s = helm::json_schema::compile(text)) static_cast<void>(s->check(formats::value("x")));
  static_cast<void>(helm::sort_manifests({{"c/templates/x.yaml", std::string(text)}},
                                         helm::kind_order::install, {}));
  return 0;
}
