#include "signals/answer.hpp"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

/// Whatever a server of signals answers: a finite number or a reason, never both and never neither.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const reactor::wall_time now{std::chrono::seconds(1'795'428'000)};
  for (const int status : {200, 503})
    for (const auto& r : {signals::read_prometheus(status, text, now, std::chrono::minutes(1)),
                          signals::read_number(status, text)}) {
      if (r.value.has_value() != r.unknown.empty()) std::abort();
      if (r.value && (!std::isfinite(*r.value) || status != 200)) std::abort();
    }
  return 0;
}
