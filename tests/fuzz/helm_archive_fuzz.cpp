#include "helm/chart_archive.hpp"

#include <cstdint>
#include <string_view>

/// Any bytes as a packed chart.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto files = helm::read_archive({reinterpret_cast<const char*>(data), size});
  std::vector<std::string> warnings;
  if (files) static_cast<void>(helm::load_files(std::move(*files), warnings));
  return 0;
}
