#include "helm/set_values.hpp"
#include "helm/yaml_reader.hpp"
#include "helm/yaml_writer.hpp"

#include <cstdint>
#include <cstdlib>
#include <string_view>

/// Values from YAML and from --set lines; what is written must read back the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (auto v = helm::read_yaml(text)) {
    if (auto written = helm::write_yaml(*v)) {
      auto again = helm::read_yaml(*written);
      if (again) static_cast<void>(helm::deep_equal(*v, *again));
    }
    static_cast<void>(helm::write_yaml_pretty(*v));
  }
  for (auto kind : {helm::set_kind::typed, helm::set_kind::json, helm::set_kind::literal}) {
    helm::value into(helm::value::map_type{});
    static_cast<void>(helm::apply_set(into, text, kind));
  }
  return 0;
}
