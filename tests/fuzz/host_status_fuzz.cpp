#include "bootc/daemon/host_status.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto status = bootc::parse_host_status({reinterpret_cast<const char*>(data), size});
  if (!status) return 0;
  for (const auto* entry : {&status->staged, &status->booted, &status->rollback})
    (void)bootc::published(*entry);
  return 0;
}
