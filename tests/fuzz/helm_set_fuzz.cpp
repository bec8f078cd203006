#include "formats/json/json.hpp"
#include "formats/yaml/reader.hpp"
#include "helm/values/set_values.hpp"

#include <cstdint>
#include <string>
#include <string_view>

/// One line of each of the --set flags, over a map that has something on the way already. The first
/// byte says which.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view line(reinterpret_cast<const char*>(data) + 1, size - 1);
  static const auto before =
      formats::read_go_yaml_map("a: {b: 1, c: [1, {d: x}]}\nl: [1, [2, 3], null]\ns: text\n");
  auto into = formats::deep_copy(*before);
  const auto files = [](const std::string& path) -> formats::outcome<std::string> {
    if (path.empty()) return formats::problem{"open : no such file or directory"};
    return "content of " + path;
  };
  static constexpr helm::set_kind kinds[] = {helm::set_kind::typed, helm::set_kind::text,
                                             helm::set_kind::json, helm::set_kind::file,
                                             helm::set_kind::literal};
  if (helm::apply_set(into, line, kinds[data[0] % std::size(kinds)], files))
    static_cast<void>(formats::write_json(into));
  return 0;
}
