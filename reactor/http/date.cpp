#include "reactor/http/date.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <ctime>

namespace reactor::http {
namespace {

constexpr std::array<std::string_view, 7> days = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
constexpr std::array<std::string_view, 12> months = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
/// Every place of the form; 'd' is a digit, '*' is checked otherwise.
constexpr std::string_view form = "***, dd *** dddd dd:dd:dd GMT";

}  // namespace

std::string format_date(wall_time t) {
  using namespace std::chrono;
  const auto day = floor<std::chrono::days>(t);
  const year_month_day date(day);
  const hh_mm_ss time(floor<seconds>(t - day));
  std::string out(form);
  const auto put = [&](std::size_t at, std::size_t width, int value) {
    for (std::size_t i = at + width; i-- > at; value /= 10)
      out[i] = static_cast<char>('0' + value % 10);
  };
  http::days[weekday(day).c_encoding()].copy(out.data(), 3);
  put(5, 2, static_cast<int>(static_cast<unsigned>(date.day())));
  months[static_cast<unsigned>(date.month()) - 1].copy(out.data() + 8, 3);
  put(12, 4, static_cast<int>(date.year()));
  put(17, 2, static_cast<int>(time.hours().count()));
  put(20, 2, static_cast<int>(time.minutes().count()));
  put(23, 2, static_cast<int>(time.seconds().count()));
  return out;
}

std::optional<wall_time> parse_date(std::string_view text) {
  using namespace std::chrono;
  if (text.size() != form.size()) return std::nullopt;
  for (std::size_t i = 0; i < form.size(); ++i) {
    const bool fits = form[i] == '*'   ? true
                      : form[i] == 'd' ? text[i] >= '0' && text[i] <= '9'
                                       : text[i] == form[i];
    if (!fits) return std::nullopt;
  }
  const auto number = [&](std::size_t at, std::size_t width) {
    int value = 0;
    std::from_chars(text.data() + at, text.data() + at + width, value);
    return value;
  };
  const auto month = std::ranges::find(months, text.substr(8, 3));
  if (month == months.end()) return std::nullopt;
  const year_month_day date(year(number(12, 4)),
                            std::chrono::month(static_cast<unsigned>(month - months.begin()) + 1),
                            day(static_cast<unsigned>(number(5, 2))));
  const int hour = number(17, 2), minute = number(20, 2), second = number(23, 2);
  // Nanoseconds in 64 bits reach to 2262.
  const bool in_reach = date.year() >= year(1970) && date.year() < year(2200);
  if (!date.ok() || !in_reach || hour > 23 || minute > 59 || second > 60) return std::nullopt;
  return wall_time(sys_days(date) + hours(hour) + minutes(minute) + seconds(second));
}

}  // namespace reactor::http
