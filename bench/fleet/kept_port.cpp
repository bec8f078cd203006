#include "bench/fleet/kept_port.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>

namespace bench {

kept_port::kept_port() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  const int shared = 1;
  auto* const name = reinterpret_cast<sockaddr*>(&at);
  if (::setsockopt(fd_, SOL_SOCKET, SO_REUSEADDR, &shared, sizeof shared) != 0 ||
      ::bind(fd_, name, size) != 0 || ::getsockname(fd_, name, &size) != 0)
    throw std::runtime_error("no port of loopback is free");
  number_ = ntohs(at.sin_port);
}

kept_port::~kept_port() {
  ::close(fd_);
}

}  // namespace bench
