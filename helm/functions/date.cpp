#include "formats/go/time.hpp"
#include "helm/functions/functions.hpp"
#include "helm/go.hpp"
#include "helm/template/executor.hpp"

#include <array>
#include <cmath>

namespace helm {
namespace {

constexpr std::int64_t nano = 1000000000;

/// A named integer type: time.Month, time.Weekday, time.Duration.
class named_integer final : public object {
public:
  named_integer(std::string type, std::string kind, std::int64_t n, std::string shown)
      : type_(std::move(type)), kind_(std::move(kind)), number_(n), shown_(std::move(shown)) {}
  std::string type_name() const override { return type_; }
  std::string kind_name() const override { return kind_; }
  std::optional<std::string> text() const override { return shown_; }
  value json() const override { return value::integer(number_, type::int64); }
  bool equals(const object& other) const override {
    return number_ == static_cast<const named_integer&>(other).number_;
  }

private:
  std::string type_, kind_;
  std::int64_t number_;
  std::string shown_;
};

using args = std::span<value>;
const go_time& self(args a) {
  return static_cast<const time_object*>(a[0].object())->time;
}
value number(std::int64_t n) {
  return value::integer(n, type::int_);
}
value month_value(int m) {
  return value::object(new named_integer("time.Month", "int", m, std::string(month_name(m))));
}
value weekday_value(int d) {
  return value::object(new named_integer("time.Weekday", "int", d, std::string(weekday_name(d))));
}
value duration_value(std::int64_t n) {
  return value::object(new named_integer("time.Duration", "int64", n, duration_text(n)));
}

value m_format(executor&, args a) {
  return format_time(self(a), a[1].text());
}
value m_string(executor&, args a) {
  return time_text(self(a));
}
value m_unix(executor&, args a) {
  return value::integer(self(a).seconds, type::int64);
}
value m_unix_nano(executor&, args a) {
  return value::integer(self(a).seconds * nano + self(a).nanoseconds, type::int64);
}
value m_unix_milli(executor&, args a) {
  return value::integer(self(a).seconds * 1000 + self(a).nanoseconds / 1000000, type::int64);
}
value m_unix_micro(executor&, args a) {
  return value::integer(self(a).seconds * 1000000 + self(a).nanoseconds / 1000, type::int64);
}
value m_year(executor&, args a) {
  return number(civil(self(a)).year);
}
value m_month(executor&, args a) {
  return month_value(civil(self(a)).month);
}
value m_day(executor&, args a) {
  return number(civil(self(a)).day);
}
value m_hour(executor&, args a) {
  return number(civil(self(a)).hour);
}
value m_minute(executor&, args a) {
  return number(civil(self(a)).minute);
}
value m_second(executor&, args a) {
  return number(civil(self(a)).second);
}
value m_nanosecond(executor&, args a) {
  return number(self(a).nanoseconds);
}
value m_weekday(executor&, args a) {
  return weekday_value(civil(self(a)).weekday);
}
value m_year_day(executor&, args a) {
  return number(civil(self(a)).year_day);
}
value m_utc(executor&, args a) {
  return time_value(in_zone(self(a), "UTC"));
}
value m_is_zero(executor&, args a) {
  return self(a).seconds == -62135596800 && self(a).nanoseconds == 0;
}
value m_before(executor&, args a) {
  return nanoseconds_between(self(a), *time_in(a[1])) > 0;
}
value m_after(executor&, args a) {
  return nanoseconds_between(self(a), *time_in(a[1])) < 0;
}
value m_equal(executor&, args a) {
  return nanoseconds_between(self(a), *time_in(a[1])) == 0;
}
value m_sub(executor&, args a) {
  return duration_value(nanoseconds_between(*time_in(a[1]), self(a)));
}
value m_add_date(executor&, args a) {
  return time_value(add_date(self(a), a[1].integer(), a[2].integer(), a[3].integer()));
}

constexpr auto i = param::int_;
constexpr function time_methods[] = {
    make_function("Format", {param::string}, m_format),
    make_function("String", {}, m_string),
    make_function("Unix", {}, m_unix),
    make_function("UnixNano", {}, m_unix_nano),
    make_function("UnixMilli", {}, m_unix_milli),
    make_function("UnixMicro", {}, m_unix_micro),
    make_function("Year", {}, m_year),
    make_function("Month", {}, m_month),
    make_function("Day", {}, m_day),
    make_function("Hour", {}, m_hour),
    make_function("Minute", {}, m_minute),
    make_function("Second", {}, m_second),
    make_function("Nanosecond", {}, m_nanosecond),
    make_function("Weekday", {}, m_weekday),
    make_function("YearDay", {}, m_year_day),
    make_function("UTC", {}, m_utc),
    make_function("Local", {}, m_utc),
    make_function("IsZero", {}, m_is_zero),
    make_function("Before", {param::time}, m_before),
    make_function("After", {param::time}, m_after),
    make_function("Equal", {param::time}, m_equal),
    make_function("Sub", {param::time}, m_sub),
    make_function("AddDate", {i, i, i}, m_add_date),
};
const method_table time_table{time_methods};

// Template functions.

go_time moment(executor& e, const value& v) {
  if (auto t = time_in(v)) return *t;
  if (v.is_signed()) return time_at(v.integer());
  return time_of(e.now());
}
value shown(executor& e, const std::string& layout, const value& v, const std::string& zone_name) {
  return format_time(in_zone(moment(e, v), zone_name), layout);
}
value f_now(executor& e, args) {
  return time_value(time_of(e.now()));
}
value f_date(executor& e, args a) {
  return shown(e, a[0].text(), a[1], "Local");
}
value f_date_in_zone(executor& e, args a) {
  return shown(e, a[0].text(), a[1], a[2].text());
}
value f_html_date(executor& e, args a) {
  return shown(e, "2006-01-02", a[0], "Local");
}
value f_html_date_in_zone(executor& e, args a) {
  return shown(e, "2006-01-02", a[0], a[1].text());
}
value f_date_modify(executor&, args a) {
  auto d = parse_duration(a[0].text());
  return d ? time_value(add_nanoseconds(*time_in(a[1]), *d)) : a[1];
}
value f_must_date_modify(executor&, args a) {
  auto d = parse_duration(a[0].text());
  if (!d) throw function_error(d.error().text);
  return time_value(add_nanoseconds(*time_in(a[1]), *d));
}
value f_to_date(executor&, args a) {
  auto t = parse_time(a[0].text(), a[1].text());
  return time_value(t ? *t : go_time{});
}
value f_must_to_date(executor&, args a) {
  auto t = parse_time(a[0].text(), a[1].text());
  if (!t) throw function_error(t.error().text);
  return time_value(*t);
}
value f_ago(executor& e, args a) {
  auto n = nanoseconds_between(moment(e, a[0]), time_of(e.now()));
  // Rounded to seconds, halves away from zero.
  auto rest = n % nano;
  n -= rest;
  if (std::abs(rest) * 2 >= nano) n += rest > 0 ? nano : -nano;
  return duration_text(n);
}
value f_duration(executor&, args a) {
  std::int64_t n = 0;
  if (a[0].is_string()) n = parse_int(a[0].text(), 10).number;
  if (a[0].kind() == type::int64) n = a[0].integer();
  return duration_text(
      static_cast<std::int64_t>(static_cast<std::uint64_t>(n) * static_cast<std::uint64_t>(nano)));
}
value f_duration_round(executor& e, args a) {
  std::int64_t n = 0;
  if (a[0].is_string()) {
    auto d = parse_duration(a[0].text());
    n = d ? *d : 0;
  } else if (a[0].kind() == type::int64) {
    n = a[0].integer();
  } else if (auto t = time_in(a[0])) {
    n = nanoseconds_between(*t, time_of(e.now()));
  }
  auto u = n < 0 ? 0 - static_cast<std::uint64_t>(n) : static_cast<std::uint64_t>(n);
  constexpr std::uint64_t hour = 3600ull * nano;
  static constexpr std::array<std::pair<std::uint64_t, const char*>, 6> units{
      {{hour * 24 * 365, "y"},
       {hour * 24 * 30, "mo"},
       {hour * 24, "d"},
       {hour, "h"},
       {hour / 60, "m"},
       {static_cast<std::uint64_t>(nano), "s"}}};
  for (const auto& [size, name] : units)
    if (u > size) return std::to_string(u / size) + name;
  return "0s";
}
value f_unix_epoch(executor&, args a) {
  return std::to_string(time_in(a[0])->seconds);
}

constexpr auto any = param::any;
constexpr auto s = param::string;
constexpr auto t = param::time;
constexpr function table[] = {
    make_function("now", {}, f_now),
    make_function("date", {s, any}, f_date),
    make_function("dateInZone", {s, any, s}, f_date_in_zone),
    make_function("date_in_zone", {s, any, s}, f_date_in_zone),
    make_function("htmlDate", {any}, f_html_date),
    make_function("htmlDateInZone", {any, s}, f_html_date_in_zone),
    make_function("dateModify", {s, t}, f_date_modify),
    make_function("date_modify", {s, t}, f_date_modify),
    make_function("mustDateModify", {s, t}, f_must_date_modify),
    make_function("must_date_modify", {s, t}, f_must_date_modify),
    make_function("toDate", {s, s}, f_to_date),
    make_function("mustToDate", {s, s}, f_must_to_date),
    make_function("ago", {any}, f_ago),
    make_function("duration", {any}, f_duration),
    make_function("durationRound", {any}, f_duration_round),
    make_function("unixEpoch", {t}, f_unix_epoch),
};

}  // namespace

std::span<const function> date_functions() {
  return table;
}

const method_table* methods_of(const object& o) {
  if (const auto* own = o.methods()) return own;
  return dynamic_cast<const time_object*>(&o) ? &time_table : nullptr;
}

}  // namespace helm
