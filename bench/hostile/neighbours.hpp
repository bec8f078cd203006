#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace bench::hostile {

/// Good API servers, `count` of them behind one port ("/n/17"), on a thread of their own with plain sockets. They stand in
/// the measuring process, because only there can they read the processor clock of the loop's thread: each event is
/// stamped with it when it is written, so what the reader finds is how long the loop worked on something else, and
/// neither the machine's other work nor the sender's own slowness counts.
class neighbours {
public:
  /// On the thread whose clock is read. Throws std::runtime_error.
  explicit neighbours(std::size_t count);
  ~neighbours();
  neighbours(const neighbours&) = delete;
  neighbours& operator=(const neighbours&) = delete;

  std::size_t count() const noexcept;
  /// "http://127.0.0.1:4711/n/17"
  std::string url(std::size_t i) const;
  /// Each of them says that its Lease has another holder: the stamp, in nanoseconds.
  void beat();

private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

/// Processor time of this thread so far, as in the stamps.
std::int64_t thread_clock();

}  // namespace bench::hostile
