#pragma once

#include "reactor/plain/time.hpp"

#include <cstdint>
#include <optional>

namespace helm::placed {

/// How a server answered a write of ours.
struct write_answer {
  int http_status = 0;  // 0: no answer, or none in time
  std::optional<reactor::nanoseconds> retry_after;
};

/// What comes after it: for the fingerprint's annotation and for status.
struct write_next {
  enum class is : std::uint8_t {
    done,
    gone,      // the object is not there any more: stop, say nothing
    again,     // after `pause`; a conflict of status reads it and puts our conditions into it first
    given_up,  // tell it, and try again after 45 s
  };
  is what = is::done;
  reactor::nanoseconds pause{};
  friend bool operator==(const write_next&, const write_next&) = default;
};

/// Five attempts with pauses of 100 ms doubling to 2 s (before jitter), or as the server says, on
/// 409, 429, 5xx and silence; everything else is final.
inline constexpr int write_attempts = 5;
inline constexpr reactor::nanoseconds write_timeout = std::chrono::seconds(5);
/// Whether silence or the server itself was in the way, so that the same may go well later.
bool is_passing(int http_status) noexcept;
write_next after_write(const write_answer& answer, int attempts_made) noexcept;

}  // namespace helm::placed
