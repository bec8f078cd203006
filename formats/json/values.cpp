#include "formats/json/values.hpp"

namespace formats {

std::size_t json_values_in(std::string_view text) noexcept {
  std::size_t values = 1;
  for (std::size_t i = 0; i < text.size(); ++i) {
    switch (text[i]) {
      case '"':
        for (++i; i < text.size() && text[i] != '"'; ++i)
          if (text[i] == '\\') ++i;
        break;
      case ',':
      case ':':
      case '[':
      case '{': ++values; break;
      default: break;
    }
  }
  return values;
}

}  // namespace formats
