#pragma once

#include "reactor/awaitable.hpp"
#include "reactor/plain/result.hpp"
#include "reactor/plain/time.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace reactor {

class allowance;

/// A byte stream in both directions: TCP, TLS over another stream, or an in-memory pipe.
/// Lifetime: buffers are borrowed until the operation ends. One read and one write may be pending
/// at once.
/// Errors:   errc::timed_out past expire_at, operation_aborted after cancellation or close(), else
///           the transport's own.
class stream {
public:
  virtual ~stream() = default;

  /// Reads at least one byte; 0 means that the peer ended the stream in order.
  virtual awaitable<result<std::size_t>> read_some(std::span<char> into) = 0;
  /// Waits until try_read has something to say. An idle stream waits here and owns no buffer
  /// meanwhile.
  virtual awaitable<result<void>> wait_readable() = 0;
  /// Reads what is there without waiting: nothing = would block, 0 = ended in order.
  virtual result<std::optional<std::size_t>> try_read(std::span<char> into) = 0;
  virtual awaitable<result<void>> write_all(std::span<const char> bytes) = 0;
  /// Writes what fits without waiting and returns how much; also 0 where that is not possible or an
  /// error is due, which write_all then reports. Not while a write_all is pending.
  virtual std::size_t try_write(std::span<const char> bytes) noexcept {
    (void)bytes;
    return 0;
  }

  /// Operations that are still pending at `deadline` fail with errc::timed_out, running ones too.
  /// `never` lifts it.
  virtual void expire_at(steady_time deadline) = 0;
  /// Ends both directions at once; pending operations fail. Idempotent.
  virtual void close() noexcept = 0;
  /// What it reads from now on is done at that peer's expense.
  virtual void charge_to(std::shared_ptr<allowance> peer) { (void)peer; }
  /// "10.0.0.1:6443" or the pipe's name; for messages.
  virtual std::string peer() const = 0;
};

struct endpoint {
  std::string host;  // name or address, IPv6 without brackets
  std::uint16_t port = 0;
  std::string text() const;
  friend auto operator<=>(const endpoint&, const endpoint&) = default;
};

/// Waits for connections. Closing it makes a pending accept fail.
class acceptor {
public:
  virtual ~acceptor() = default;
  virtual awaitable<result<std::unique_ptr<stream>>> accept() = 0;
  /// Where it listens, with the port that was chosen when 0 was asked for.
  virtual endpoint local() const = 0;
  virtual void close() noexcept = 0;
};

/// What becomes of a connection where there is no room for all.
enum class precedence {
  usual,
  essential,  // the process can do nothing without it: it waits behind no other, and may have a
              // descriptor of those that are kept back
};

/// Where streams come from: sockets of this machine, or pipes in memory.
class network {
public:
  virtual ~network() = default;
  /// Resolves and connects; every address is tried before it gives up. `doing` of the fault names
  /// the endpoint.
  virtual awaitable<result<std::unique_ptr<stream>>> connect(endpoint to, steady_time deadline,
                                                             precedence how) = 0;
  awaitable<result<std::unique_ptr<stream>>> connect(endpoint to, steady_time deadline) {
    return connect(std::move(to), deadline, precedence::usual);
  }
  virtual result<std::unique_ptr<acceptor>> listen(endpoint at) = 0;
};

}  // namespace reactor
