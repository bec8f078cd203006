#pragma once

#include "policies/host/sandbox.hpp"
#include "reactor/plain/time.hpp"

#include <string>

namespace policies {

/// A time as hooks see it, taken apart in UTC.
struct moment {
  std::string text;  // RFC 3339
  double unix_seconds = 0;
  int year = 1970, month = 1, day = 1, hour = 0, minute = 0;
  std::string weekday = "Thursday";
};

moment moment_of(reactor::wall_time t);

/// Whole seconds since 1970, as every time that hooks see beside `now`.
double unix_seconds(reactor::wall_time t);

template <>
struct view_record<moment> {
  static constexpr const char* name = "time";
  static constexpr field fields[] = {
      field_of<&moment::text>("text", "such as 2026-11-21T10:00:00Z"),
      field_of<&moment::unix_seconds>("unix", "", "unix seconds"),
      field_of<&moment::year>("year"),
      field_of<&moment::month>("month", "1 to 12"),
      field_of<&moment::day>("day", "of the month, from 1"),
      field_of<&moment::hour>("hour", "0 to 23, UTC"),
      field_of<&moment::minute>("minute"),
      field_of<&moment::weekday>("weekday", "Monday, Tuesday … in English"),
  };
};

/// `now`, the last argument of every hook that decides by time.
argument now_argument(reactor::wall_time now);
shape_member now_described();

}  // namespace policies
