#include "reactor/plain/time.hpp"

#include <optional>

namespace reactor {
namespace {

std::string format(wall_time t, int decimals) {
  if (t == zero_time) return decimals == 6 ? "0001-01-01T00:00:00.000000Z" : "0001-01-01T00:00:00Z";
  const auto seconds = std::chrono::floor<std::chrono::seconds>(t);
  const auto day = std::chrono::floor<std::chrono::days>(seconds);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{seconds - day};
  std::string out;
  out.reserve(32);
  const auto add = [&](auto number, std::size_t digits, char after) {
    const std::size_t at = out.size();
    out.resize(at + digits, '0');
    auto left = static_cast<std::uint64_t>(number);
    for (std::size_t i = at + digits; i-- > at; left /= 10)
      out[i] = static_cast<char>('0' + left % 10);
    out += after;
  };
  add(static_cast<int>(date.year()), 4, '-');
  add(static_cast<unsigned>(date.month()), 2, '-');
  add(static_cast<unsigned>(date.day()), 2, 'T');
  add(clock.hours().count(), 2, ':');
  add(clock.minutes().count(), 2, ':');
  add(clock.seconds().count(), 2, decimals == 6 ? '.' : 'Z');
  if (decimals == 6)
    add(std::chrono::duration_cast<std::chrono::microseconds>(t - seconds).count(), 6, 'Z');
  return out;
}

/// Takes exactly `digits` decimal digits off the front.
bool take_number(std::string_view& text, std::size_t digits, int& value) {
  if (text.size() < digits) return false;
  int read = 0;
  for (const char c : text.substr(0, digits)) {
    if (c < '0' || c > '9') return false;
    read = 10 * read + (c - '0');
  }
  value = read;
  text.remove_prefix(digits);
  return true;
}

bool take(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

fault bad(std::string_view what, std::string_view text) {
  return make_fault(errc::malformed, what,
                    "\"" + std::string(text.substr(0, 64)) + "\" is not valid");
}

/// The decimal number at the front of `text` in units of `unit` nanoseconds, taken off with its
/// unit. Integers, so that what format_duration() wrote comes back exactly.
std::optional<std::uint64_t> take_term(std::string_view& text) {
  using wide = unsigned __int128;
  constexpr std::uint64_t most = std::uint64_t{1} << 63;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::uint64_t whole = 0, fraction = 0, scale = 1;
  bool any = false;
  for (; !text.empty() && is_digit(text.front()); text.remove_prefix(1), any = true) {
    if (whole > most / 10) return std::nullopt;
    whole = whole * 10 + static_cast<std::uint64_t>(text.front() - '0');
  }
  if (take(text, '.')) {
    for (; !text.empty() && is_digit(text.front()); text.remove_prefix(1), any = true) {
      if (scale > most / 10) continue;  // below what can matter
      fraction = fraction * 10 + static_cast<std::uint64_t>(text.front() - '0');
      scale *= 10;
    }
  }
  if (!any) return std::nullopt;
  std::size_t letters = 0;
  while (letters < text.size() && text[letters] != '.' && !is_digit(text[letters])) ++letters;
  const std::string_view name = text.substr(0, letters);
  text.remove_prefix(letters);
  std::uint64_t unit = 0;
  if (name == "h")
    unit = 3'600'000'000'000;
  else if (name == "m")
    unit = 60'000'000'000;
  else if (name == "s")
    unit = 1'000'000'000;
  else if (name == "ms")
    unit = 1'000'000;
  else if (name == "us" || name == "µs" || name == "μs")
    unit = 1'000;
  else if (name == "ns")
    unit = 1;
  else
    return std::nullopt;
  const wide total = wide{whole} * unit + wide{fraction} * unit / scale;
  if (total > most) return std::nullopt;
  return static_cast<std::uint64_t>(total);
}

}  // namespace

std::string format_rfc3339(wall_time t) {
  return format(t, 0);
}
std::string format_rfc3339_micro(wall_time t) {
  return format(t, 6);
}

result<wall_time> parse_rfc3339(std::string_view text) {
  const auto fail = [all = text] { return bad("parse time", all); };
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
  if (!take_number(text, 4, year) || !take(text, '-') || !take_number(text, 2, month) ||
      !take(text, '-') || !take_number(text, 2, day) || !(take(text, 'T') || take(text, 't')) ||
      !take_number(text, 2, hour) || !take(text, ':') || !take_number(text, 2, minute) ||
      !take(text, ':') || !take_number(text, 2, second))
    return fail();
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  const bool first_day = year == 1 && month == 1 && day == 1;
  const bool reachable = year >= 1678 && year <= 2261;
  if (!date.ok() || hour > 23 || minute > 59 || second > 60 || !(reachable || first_day))
    return fail();
  nanoseconds fraction{0};
  if (take(text, '.')) {
    std::int64_t unit = 100'000'000;
    std::size_t digits = 0;
    for (; !text.empty() && text.front() >= '0' && text.front() <= '9';
         text.remove_prefix(1), ++digits) {
      fraction += nanoseconds(unit * (text.front() - '0'));
      unit /= 10;
    }
    if (digits == 0) return fail();
  }
  std::chrono::minutes offset{0};
  if (!take(text, 'Z') && !take(text, 'z')) {
    const bool minus = !text.empty() && text.front() == '-';
    int hours = 0, minutes = 0;
    if (!(take(text, '+') || take(text, '-')) || !take_number(text, 2, hours) || !take(text, ':') ||
        !take_number(text, 2, minutes) || hours > 23 || minutes > 59)
      return fail();
    offset = std::chrono::minutes((hours * 60 + minutes) * (minus ? -1 : 1));
  }
  if (!text.empty()) return fail();
  if (first_day) {
    const bool midnight = hour == 0 && minute == 0 && second == 0;
    if (!midnight || fraction != nanoseconds(0) || offset != std::chrono::minutes(0)) return fail();
    return zero_time;
  }
  return wall_time(std::chrono::sys_days(date) + std::chrono::hours(hour) +
                   std::chrono::minutes(minute) + std::chrono::seconds(second) - offset + fraction);
}

std::string format_duration(nanoseconds d) {
  if (d.count() == 0) return "0s";
  std::string text = d.count() < 0 ? "-" : "";
  // Unsigned, so that the most negative duration has a magnitude too.
  std::uint64_t n = d.count() < 0 ? 0 - static_cast<std::uint64_t>(d.count())
                                  : static_cast<std::uint64_t>(d.count());
  const auto with_fraction = [&text](std::uint64_t value, std::uint64_t unit,
                                     std::string_view name) {
    text += std::to_string(value / unit);
    if (std::uint64_t rest = value % unit) {
      std::string digits = std::to_string(unit + rest).substr(1);
      while (digits.back() == '0') digits.pop_back();
      text += "." + digits;
    }
    text += name;
  };
  if (n < 1'000) {
    with_fraction(n, 1, "ns");
  } else if (n < 1'000'000) {
    with_fraction(n, 1'000, "µs");
  } else if (n < 1'000'000'000) {
    with_fraction(n, 1'000'000, "ms");
  } else {
    const std::uint64_t hour = 3'600'000'000'000, minute = 60'000'000'000;
    if (n >= hour) text += std::to_string(n / hour) + "h";
    if (n >= minute) text += std::to_string(n % hour / minute) + "m";
    with_fraction(n % minute, 1'000'000'000, "s");
  }
  return text;
}

result<nanoseconds> parse_duration(std::string_view text) {
  const auto fail = [all = text] { return bad("parse duration", all); };
  bool minus = false;
  if (take(text, '-'))
    minus = true;
  else
    take(text, '+');
  if (text == "0") return nanoseconds(0);
  if (text.empty()) return fail();
  std::uint64_t total = 0;
  const std::uint64_t most = (std::uint64_t{1} << 63) - (minus ? 0 : 1);
  while (!text.empty()) {
    const auto term = take_term(text);
    if (!term || *term > most - total) return fail();
    total += *term;
  }
  // Unsigned, because the most negative duration has no positive counterpart.
  return nanoseconds(static_cast<std::int64_t>(minus ? 0 - total : total));
}

}  // namespace reactor
