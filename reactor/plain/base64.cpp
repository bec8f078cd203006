#include "reactor/plain/base64.hpp"

namespace reactor {

void append_base64(std::string& out, std::string_view bytes) {
  constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    unsigned group = 0;
    for (std::size_t b = 0; b < 3; ++b)
      group = group << 8 | (i + b < bytes.size() ? static_cast<unsigned char>(bytes[i + b]) : 0u);
    for (std::size_t d = 0; d < 4; ++d)
      out += i + d > bytes.size() ? '=' : digits[group >> (18 - 6 * d) & 63];
  }
}

}  // namespace reactor
