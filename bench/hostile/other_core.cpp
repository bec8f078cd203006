#include "bench/hostile/other_core.hpp"

#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <stdexcept>

namespace bench::hostile {

other_core::other_core() {
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends_) != 0)
    throw std::runtime_error("the other core cannot be kept busy: no sockets");
  thread_ = std::thread([this] {
    // Of this thread alone, on Linux.
    (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), 19);
    std::array<char, 65'536> bytes{};
    while (!ending_) {
      (void)!::write(ends_[0], bytes.data(), bytes.size());
      while (::read(ends_[1], bytes.data(), bytes.size()) > 0) {
      }
    }
  });
}

other_core::~other_core() {
  ending_ = true;
  thread_.join();
  for (const int end : ends_) ::close(end);
}

}  // namespace bench::hostile
