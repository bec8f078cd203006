#pragma once

namespace reactor {

/// While one lives, what OpenSSL gives back on this thread is overwritten first: it decodes a
/// private key in several steps and frees what each has made. Works after
/// end_when_memory_is_lost(). Never across a co_await.
class key_memory_is_wiped {
public:
  key_memory_is_wiped() noexcept { ++depth(); }
  ~key_memory_is_wiped() { --depth(); }
  key_memory_is_wiped(const key_memory_is_wiped&) = delete;
  key_memory_is_wiped& operator=(const key_memory_is_wiped&) = delete;
  static int& depth() noexcept;
};

}  // namespace reactor
