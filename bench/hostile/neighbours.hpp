#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace bench::hostile {

/// Good API servers, `count` of them behind one port ("/n/17"), on a thread of their own with plain
/// sockets. Their events carry the processor clock of the loop's thread at the beat, and all of
/// them are there before that thread goes on. So what the reader finds is how long the loop worked,
/// on the neighbours and on whatever came between: neither the machine's other work nor the
/// sender's own slowness counts.
class neighbours {
public:
  /// Throws std::runtime_error.
  explicit neighbours(std::size_t count);
  ~neighbours();
  neighbours(const neighbours&) = delete;
  neighbours& operator=(const neighbours&) = delete;

  std::size_t count() const noexcept;
  /// "http://127.0.0.1:4711/n/17"
  std::string url(std::size_t i) const;
  /// Each of them says that its Lease has another holder: the time of the beat, in nanoseconds.
  /// Returns once all have.
  void beat();

private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

/// Processor time of this thread so far, as in the events.
std::int64_t thread_clock();

}  // namespace bench::hostile
