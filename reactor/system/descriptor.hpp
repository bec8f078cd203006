#pragma once

#include "reactor/plain/result.hpp"
#include "reactor/plain/write.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

// What the functions on files share.
namespace reactor {

class file_descriptor {
public:
  explicit file_descriptor(int fd) : fd_(fd) {}
  ~file_descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  file_descriptor(file_descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  file_descriptor& operator=(file_descriptor&&) = delete;
  int get() const noexcept { return fd_; }
  /// Some file systems report a failed write only here.
  int close() noexcept { return ::close(std::exchange(fd_, -1)); }

private:
  int fd_;
};

inline fault system_fault(const std::string& doing) {
  if (errno == ENOENT) return make_fault(errc::not_found, doing, "there is no such file");
  return make_fault(error_code(errno, boost::system::system_category()), doing);
}

/// All of an open file. Errors as load_file().
template <class Text>
result<Text> read_all(int fd, const std::string& doing, std::size_t limit_bytes) {
  struct stat info;
  if (::fstat(fd, &info) != 0) return system_fault(doing);
  if (!S_ISREG(info.st_mode)) return make_fault(errc::refused, doing, "it is not a regular file");
  const auto too_big = [&] {
    return make_fault(errc::limit, doing,
                      "it is bigger than " + std::to_string(limit_bytes) + " bytes");
  };
  const auto size = static_cast<std::size_t>(std::max<off_t>(info.st_size, 0));
  if (size > limit_bytes) return too_big();
  Text bytes;
  std::size_t used = 0;
  for (;
       // until the end rather than for st_size: the file may grow, and files in /proc have no size
       ;) {
    bytes.resize(std::max(size + 1, used + 4096));
    const ssize_t n = ::read(fd, bytes.data() + used, bytes.size() - used);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return system_fault(doing);
    if (n == 0) break;
    used += static_cast<std::size_t>(n);
    if (used > limit_bytes) return too_big();
  }
  bytes.resize(used);
  return bytes;
}

}  // namespace reactor
