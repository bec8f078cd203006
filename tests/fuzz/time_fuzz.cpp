#include "reactor/plain/time.hpp"

#include <cstdint>
#include <cstdlib>
#include <string_view>

/// What is accepted must come back the same after it was written and read again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto d = reactor::parse_duration(text)) {
    const auto again = reactor::parse_duration(reactor::format_duration(*d));
    if (!again || *again != *d) std::abort();
  }
  if (const auto t = reactor::parse_rfc3339(text)) {
    const auto micro = std::chrono::floor<std::chrono::microseconds>(*t);
    const auto again = reactor::parse_rfc3339(reactor::format_rfc3339_micro(*t));
    // A time zone can move the first and the last day out of the years that are accepted.
    if (again && *again != micro) std::abort();
  }
  return 0;
}
