#include "formats/glob.hpp"

#include <cstddef>

namespace formats {

bool fits_glob(std::string_view pattern, std::string_view text) noexcept {
  // The last star that was met may take more: no backing up beyond it.
  std::size_t p = 0, t = 0, star = pattern.npos, taken = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != pattern.npos) {
      p = star + 1;
      t = ++taken;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace formats
