#include "policies/moment.hpp"

#include <array>
#include <chrono>
#include <memory>

namespace policies {

moment moment_of(reactor::wall_time t) {
  static constexpr std::array days{"Sunday",   "Monday", "Tuesday", "Wednesday",
                                   "Thursday", "Friday", "Saturday"};
  const auto day = std::chrono::floor<std::chrono::days>(t);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss time{t - day};
  moment m;
  m.text = reactor::format_rfc3339(t);
  m.unix_seconds = unix_seconds(t);
  m.year = static_cast<int>(date.year());
  m.month = static_cast<int>(static_cast<unsigned>(date.month()));
  m.day = static_cast<int>(static_cast<unsigned>(date.day()));
  m.hour = static_cast<int>(time.hours().count());
  m.minute = static_cast<int>(time.minutes().count());
  m.weekday = days[std::chrono::weekday(day).c_encoding()];
  return m;
}

double unix_seconds(reactor::wall_time t) {
  return static_cast<double>(
      std::chrono::floor<std::chrono::seconds>(t).time_since_epoch().count());
}

argument now_argument(reactor::wall_time now) {
  return view_of(std::make_shared<const moment>(moment_of(now)));
}

shape_member now_described() {
  return {"now", shape_of<moment>(), "when the question was asked, UTC"};
}

}  // namespace policies
