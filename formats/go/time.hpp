#pragma once

#include "formats/go/value.hpp"
#include "formats/plain/problem.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace formats {

/// A moment and the zone it is shown in, as Go's time.Time.
struct go_time {
  std::int64_t seconds = -62135596800;  // since 1970; the zero time is year 1
  std::int32_t nanoseconds = 0;
  std::string zone = "UTC";       // a name of the zone database, "" for a fixed offset
  std::int32_t fixed_offset = 0;  // seconds east, when zone is empty
  std::string fixed_name;

  friend bool operator==(const go_time&, const go_time&) = default;
};

/// The zero time as Go prints it: what was never set.
inline constexpr std::string_view zero_time_text = "0001-01-01T00:00:00Z";

struct civil_time {
  std::int64_t year;
  int month, day, hour, minute, second;
  int weekday;   // 0 is Sunday
  int year_day;  // from 1
  std::int32_t offset;
  std::string abbreviation;
};

go_time time_at(std::int64_t seconds, std::int32_t nanoseconds = 0, std::string zone = "UTC");
go_time time_of(std::chrono::system_clock::time_point t);
/// The same moment in another zone; unknown names give UTC. "Local" is UTC, "" too.
go_time in_zone(go_time t, std::string_view zone);
civil_time civil(const go_time& t);
/// Time.Format
std::string format_time(const go_time& t, std::string_view layout);
/// "2006-01-02 15:04:05.999999999 -0700 MST"
std::string time_text(const go_time& t);
/// time.Parse; without a zone in the text the time is UTC.
/// Errors   Go's: parsing time "x" as "2006": cannot parse "x" as "2006"
outcome<go_time> parse_time(std::string_view layout, std::string_view text);

/// Reads the machine's whole zone database, for a process that will open no more files. Before any
/// other thread asks for a zone.
void keep_all_zones();
/// Time.AddDate
go_time add_date(go_time t, std::int64_t years, std::int64_t months, std::int64_t days);
std::string_view month_name(int month);
std::string_view weekday_name(int day);
go_time add_nanoseconds(go_time t, std::int64_t n);
/// b − a in nanoseconds, as Duration saturates.
std::int64_t nanoseconds_between(const go_time& a, const go_time& b);

/// time.ParseDuration, in nanoseconds. Errors: time: invalid duration "x"
outcome<std::int64_t> parse_duration(std::string_view text);
/// Duration.String
std::string duration_text(std::int64_t nanoseconds);

/// A time as a value, and back. The methods that templates call on it are in helm/functions.
class time_object final : public object {
public:
  explicit time_object(go_time t) : time(std::move(t)) {}
  std::string type_name() const override { return "time.Time"; }
  std::optional<std::string> text() const override { return time_text(time); }
  value json() const override { return format_time(time, "2006-01-02T15:04:05.999999999Z07:00"); }
  bool equals(const object& other) const override {
    return time == static_cast<const time_object&>(other).time;
  }

  go_time time;
};
value time_value(go_time t);
std::optional<go_time> time_in(const value& v);

}  // namespace formats
