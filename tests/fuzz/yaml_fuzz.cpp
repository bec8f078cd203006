// YAML text: what is read must be printable, and read back the same; the places of its values lie
// inside of the text and of one another.
#include "formats/yaml/places.hpp"
#include "formats/yaml/yaml.hpp"

#include <boost/json/value.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace {

void check(const formats::yaml_place& p, std::size_t begin, std::size_t end) {
  if (p.begin < begin || p.begin > p.end || p.end > end) std::abort();
  for (const formats::yaml_place& one : p.items) check(one, p.begin, p.end);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto place = formats::yaml_places(text, "fuzz")) check(*place, 0, text.size());
  const auto documents = formats::parse_kubernetes_documents(text, "fuzz");
  if (!documents) return 0;
  for (const boost::json::value& one : *documents) {
    const auto back = formats::parse_kubernetes_yaml(formats::write_kubernetes_yaml(one), "fuzz");
    if (!back || !(*back == one)) std::abort();
  }
  return 0;
}
