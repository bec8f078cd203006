#include "formats/yaml/reader.hpp"
#include "formats/yaml/writer.hpp"

#include <cstdint>
#include <cstdlib>
#include <string_view>

/// YAML as charts and values hold it, read in every way there is; what is written reads back as
/// what was written (but for the key "<<", which go-yaml writes without quotes: it comes back as a
/// merge).
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static_cast<void>(
      formats::read_go_yaml(text, formats::yaml_numbers::typed, formats::yaml_keys::unique));
  static constexpr std::string_view heads[] = {"apiVersion", "kind", "metadata"};
  static_cast<void>(formats::read_go_yaml_outline(text, heads));
  const auto read = formats::read_go_yaml(text);
  if (!read) return 0;
  static_cast<void>(formats::write_go_yaml_pretty(*read));
  const auto written = formats::write_go_yaml(*read);
  if (!written || written->find("<<") != written->npos) return 0;
  const auto again = formats::read_go_yaml(*written);
  if (!again) std::abort();
  const auto second = formats::write_go_yaml(*again);
  if (!second || *second != *written) std::abort();
  return 0;
}
