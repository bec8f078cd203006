// YAML text: what is read must be printable, and read back the same.
#include "formats/yaml/yaml.hpp"

#include <boost/json/value.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto documents = formats::parse_yaml_documents(text, "fuzz");
  if (!documents) return 0;
  for (const boost::json::value& one : *documents) {
    const auto back = formats::parse_yaml(formats::to_yaml(one), "fuzz");
    if (!back || !(*back == one)) std::abort();
  }
  return 0;
}
