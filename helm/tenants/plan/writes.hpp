#pragma once

#include "reactor/plain/time.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace helm::tenants {

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
write_next after_write(const write_answer& answer, int attempts_made) noexcept;

/// What is to be done about our kind on a cluster.
enum class crd_step : std::uint8_t { none, create, replace };
/// One that is there is somebody's, perhaps changed by them: it is only replaced where its
/// annotation says that it is an older one of ours. `revision` is that annotation, empty where
/// there is none; nothing at all where the kind is absent.
crd_step care_for(std::optional<std::string_view> revision) noexcept;

/// Reading or creating it failed for a moment (no connection, reset, timeout, 5xx): up to five
/// attempts, 200 ms more each time for a read, 300 ms for a create. None: give up, and try again
/// after a minute.
enum class crd_request : std::uint8_t { read, create };
std::optional<reactor::nanoseconds> crd_pause(crd_request what, const write_answer& answer,
                                              int attempts_made) noexcept;
/// "grant get/create on customresourcedefinitions.apiextensions.k8s.io": what somebody has to do
/// about a 403.
std::string crd_remedy(crd_request what);

}  // namespace helm::tenants
