#include "formats/dns_name.hpp"

#include <algorithm>
#include <cstddef>

namespace formats {
namespace {

constexpr std::size_t longest_name = 253;

bool is_lower(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

}  // namespace

bool is_dns_subdomain(std::string_view text) noexcept {
  if (text.empty() || text.size() > longest_name) return false;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t dot = std::min(text.find('.', from), text.size());
    const std::string_view part = text.substr(from, dot - from);
    if (part.empty() || !is_lower(part.front()) || !is_lower(part.back()) ||
        !std::all_of(part.begin(), part.end(), [](char c) { return is_lower(c) || c == '-'; }))
      return false;
    from = dot + 1;
  }
  return true;
}

}  // namespace formats
