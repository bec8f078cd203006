#pragma once

#include "helm/go.hpp"
#include "reactor/awaitable.hpp"

#include <string>

namespace reactor {
class loop;
}

namespace helm::sources {

/// Keeps other processes, stock helm too, from changing a file between our reading and writing it:
/// flock on "<file without extension>.lock" beside it. Given back at the end of the object's life.
class file_lock {
public:
  /// Waits up to 30 s.
  static reactor::awaitable<outcome<file_lock>> take(reactor::loop& l, std::string of);
  file_lock(file_lock&& other) noexcept;
  file_lock& operator=(file_lock&&) = delete;
  ~file_lock();

private:
  explicit file_lock(int fd) noexcept : fd_(fd) {}
  int fd_ = -1;
};

}  // namespace helm::sources
