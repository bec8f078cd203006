#pragma once

#include "reactor/awaitable.hpp"
#include "reactor/net/stream.hpp"
#include "reactor/plain/time.hpp"
#include "reactor/timer_queue.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>

namespace reactor {

class loop;
class waiters;

/// Whose turn it is among those that wait: the peers one after the other, and of one peer the
/// caller that came first. So a peer for which many wait delays each other peer by one of them.
class fair_turns {
public:
  using peer = const void*;
  using ticket = std::uint64_t;

  /// Waits from now on; a peer for which none waited is the last in turn.
  ticket join(peer of);
  /// Waits no longer. Does nothing for a ticket that had its turn.
  void leave(peer of, ticket which);
  /// Takes the one whose turn it is; none waits: nothing.
  std::optional<ticket> next();
  bool empty() const noexcept { return lines_.empty(); }

private:
  struct line {
    peer of;
    std::deque<ticket> waiting;  // never empty
  };
  std::list<line> lines_;  // whose turn is next, first
  std::map<peer, std::list<line>::iterator> by_peer_;
  ticket last_ = 0;
};

/// How many connections of a loop are being made at one moment. A TLS handshake takes about a
/// millisecond of the thread, and after a network was away thousands are wanted at once: a caller
/// that needs the thread meanwhile, a kubelet that asks for /healthz, would wait for all of them.
/// One for each loop: of_loop<dial_turns>(l).
class dial_turns {
public:
  static constexpr std::size_t most_at_once = 64;
  /// A connection that takes longer waits for its peer, not for us: it no longer counts, so that
  /// peers that never answer delay the others by no more than that.
  static constexpr nanoseconds longest_place = std::chrono::milliseconds(100);

  explicit dial_turns(loop& l) noexcept : loop_(l) {}

  /// Counts as one that is being made, until it ends or longest_place is over.
  class place {
  public:
    explicit place(dial_turns& in);
    ~place();
    place(const place&) = delete;
    place& operator=(const place&) = delete;

  private:
    void give_up();
    dial_turns& in_;
    timer_id timer_;
  };
  /// A place among them, in turn by peer. precedence::essential has one at once. Null when
  /// `deadline` came first.
  awaitable<std::unique_ptr<place>> begin(fair_turns::peer of, precedence how,
                                          steady_time deadline);

  std::size_t under_way() const noexcept { return under_way_; }

private:
  struct waiter;
  void grant();

  loop& loop_;
  std::size_t under_way_ = 0;  // places that were given, taken or not
  fair_turns turns_;
  std::map<fair_turns::ticket, waiter*> waiting_;
};

}  // namespace reactor
