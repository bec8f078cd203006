#include "policies/moment.hpp"

#include "formats/go/time.hpp"

#include <chrono>
#include <memory>

namespace policies {

moment moment_of(reactor::wall_time t) {
  const formats::go_time at = formats::time_of(t);
  const formats::civil_time date = formats::civil(at);
  moment m;
  m.text = reactor::format_rfc3339(t);
  m.unix_seconds = static_cast<double>(at.seconds);
  m.year = static_cast<int>(date.year);
  m.month = date.month;
  m.day = date.day;
  m.hour = date.hour;
  m.minute = date.minute;
  m.weekday = std::string(formats::weekday_name(date.weekday));
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
