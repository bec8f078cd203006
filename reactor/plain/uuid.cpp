#include "reactor/plain/uuid.hpp"

namespace reactor {

std::string uuid_text(std::array<unsigned char, 16> b) {
  b[6] = (b[6] & 0x0f) | 0x40;
  b[8] = (b[8] & 0x3f) | 0x80;
  constexpr char hex[] = "0123456789abcdef";
  std::string text;
  text.reserve(36);
  for (std::size_t i = 0; i < b.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += hex[b[i] >> 4];
    text += hex[b[i] & 15];
  }
  return text;
}

}  // namespace reactor
