#pragma once

#include <new>
#include <utility>

namespace reactor {

/// From now on memory that is not there ends the process with one sentence on standard error and
/// exit code 1, for every caller: by operator new, by Asio, by OpenSSL. The API servers
/// hold everything that matters, so that costs the time of a start, while going on would mean that
/// every line between here and main() may be left half done (docs/adr/0005). Call it first in
/// main(): OpenSSL takes its allocator only before it has used one.
void end_when_memory_is_lost() noexcept;
/// Says the sentence and ends the process; allocates nothing. For allocators and for C libraries
/// that say "no memory".
[[noreturn]] void memory_lost() noexcept;

/// While one lives, operator new throws std::bad_alloc on this thread as usual. Never across a
/// co_await.
class memory_may_be_refused {
public:
  memory_may_be_refused() noexcept { ++depth(); }
  ~memory_may_be_refused() { --depth(); }
  memory_may_be_refused(const memory_may_be_refused&) = delete;
  memory_may_be_refused& operator=(const memory_may_be_refused&) = delete;
  static int& depth() noexcept;
};

/// Runs `f`, a plain function whose allocations are as large as a peer likes: an answer's
/// body, text that unpacks to more. False when there was not enough memory; what `f` has changed by
/// then is for the caller to throw away.
template <class F>
[[nodiscard]] bool memory_allows(F&& f) {
  const memory_may_be_refused here;
  try {
    std::forward<F>(f)();
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

}  // namespace reactor
