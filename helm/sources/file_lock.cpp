#include "helm/sources/file_lock.hpp"

#include "reactor/loop.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>
#include <utility>

namespace helm::sources {

reactor::awaitable<outcome<file_lock>> file_lock::take(reactor::loop& l, std::string of) {
  using namespace std::chrono_literals;
  std::filesystem::path path(of);
  path.replace_extension(".lock");
  std::error_code e;
  std::filesystem::create_directories(path.parent_path(), e);
  file_lock lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (lock.fd_ < 0) co_return problem{"open " + path.string() + ": it cannot be made"};
  const auto deadline = l.now() + 30s;
  while (::flock(lock.fd_, LOCK_EX | LOCK_NB) != 0) {
    if (l.now() >= deadline)
      co_return problem{path.string() + " is locked by another process: context deadline exceeded"};
    co_await l.sleep_for(100ms);
  }
  co_return lock;
}

file_lock::file_lock(file_lock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

file_lock::~file_lock() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace helm::sources
