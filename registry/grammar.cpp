#include "registry/grammar.hpp"

#include <algorithm>

namespace registry {
namespace {

constexpr std::size_t tag_limit = 128;

bool is_lower_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

}  // namespace

bool is_path_component(std::string_view s) noexcept {
  if (s.empty() || !is_lower_or_digit(s.front()) || !is_lower_or_digit(s.back())) return false;
  for (std::size_t i = 0; i < s.size();) {
    if (is_lower_or_digit(s[i])) {
      ++i;
      continue;
    }
    const auto end = std::min(s.find_first_not_of(s[i], i), s.size());
    const auto length = end - i;
    const bool fits = s[i] == '-' || (s[i] == '.' && length == 1) || (s[i] == '_' && length <= 2);
    if (!fits || !is_lower_or_digit(s[end])) return false;
    i = end;
  }
  return true;
}

bool is_tag(std::string_view s) noexcept {
  const auto word = [](char c) {
    return is_lower_or_digit(c) || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !s.empty() && s.size() <= tag_limit && word(s.front()) &&
         std::all_of(s.begin(), s.end(), [&](char c) { return word(c) || c == '.' || c == '-'; });
}

}  // namespace registry
