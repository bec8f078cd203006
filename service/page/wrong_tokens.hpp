#pragma once

#include "reactor/awaitable.hpp"
#include "reactor/log.hpp"

#include <cstddef>
#include <string>

namespace web {

/// What a listener does with requests that show another token than its own: it logs them, and
/// answers each of them late. The right token never waits for them.
/// Lifetime  the loop outlives it, and it outlives each wait().
class wrong_tokens {
public:
  static constexpr std::size_t most_waiting = 8;
  static constexpr reactor::nanoseconds waits = std::chrono::milliseconds(500),
                                        are_told_every = std::chrono::seconds(10);

  /// `shown_to` is named in the log: "the page".
  wrong_tokens(reactor::loop& l, std::string shown_to, reactor::logger log);

  /// One was shown by `peer`. False at once where most_waiting wait already: refuse the request.
  reactor::awaitable<bool> wait(std::string peer);

private:
  reactor::loop& loop_;
  std::string shown_to_;
  reactor::logger log_;
  reactor::repeats told_;
  std::size_t waiting_ = 0;
};

}  // namespace web
