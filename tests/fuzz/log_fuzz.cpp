#include "reactor/log.hpp"
#include "reactor/plain/secret.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

/// Foreign text in a log line: one line, no control character, and what was redacted once stays as
/// it is.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const reactor::log_record r{{}, reactor::log_level::info, text, {{text, text}, {"n", 1}}};
  for (const std::string& line : {reactor::format_json(r), reactor::format_console(r, false)}) {
    for (unsigned char c : line) {
      if (c < 0x20 || c == 0x7f) std::abort();
    }
  }
  const std::string once = reactor::redact(text);
  if (reactor::redact(once) != once) std::abort();
  return 0;
}
