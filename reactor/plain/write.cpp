#include "reactor/plain/write.hpp"

#include <unistd.h>

#include <cerrno>

namespace reactor {

bool write_all(int fd, std::string_view bytes) noexcept {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

void show_on_standard_error(std::string_view bytes) noexcept {
  (void)write_all(STDERR_FILENO, bytes);
}

}  // namespace reactor
