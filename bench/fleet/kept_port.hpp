#pragma once

#include <cstdint>
#include <string>

namespace bench {

/// A port of loopback that the kernel gives to no other process: bound and never listened at, and
/// a program that is started may bind it beside this one, since both say SO_REUSEADDR.
class kept_port {
public:
  /// Throws std::runtime_error where none is free.
  kept_port();
  ~kept_port();
  kept_port(const kept_port&) = delete;
  kept_port& operator=(const kept_port&) = delete;
  std::uint16_t number() const noexcept { return number_; }
  std::string address() const { return "127.0.0.1:" + std::to_string(number_); }

private:
  const int fd_;
  std::uint16_t number_ = 0;
};

}  // namespace bench
