#include "reactor/http/retry_after.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace reactor::http {

std::optional<nanoseconds> retry_after(const headers& fields) {
  const std::string_view text = fields.get("Retry-After");
  std::uint32_t seconds = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (code != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return std::min<nanoseconds>(std::chrono::seconds(seconds), std::chrono::minutes(10));
}

}  // namespace reactor::http
