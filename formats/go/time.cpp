// Layouts, parsing and zones belong together: each knows the same table of layout words.
#include "formats/go/time.hpp"

#include "formats/go/files.hpp"
#include "formats/go/literal.hpp"
#include "formats/plain/text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <vector>

namespace formats {
namespace {

constexpr std::int64_t nano = 1000000000;
constexpr std::array<std::string_view, 12> months{"January",   "February", "March",    "April",
                                                  "May",       "June",     "July",     "August",
                                                  "September", "October",  "November", "December"};
constexpr std::array<std::string_view, 7> days{"Sunday",   "Monday", "Tuesday", "Wednesday",
                                               "Thursday", "Friday", "Saturday"};

std::int64_t days_from_civil(std::int64_t y, int m, int d) {
  y -= m <= 2;
  auto era = (y >= 0 ? y : y - 399) / 400;
  auto yoe = y - era * 400;
  auto doy = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
  auto doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
  return era * 146097 + doe - 719468;
}

void civil_from_days(std::int64_t z, std::int64_t& year, int& month, int& day) {
  z += 719468;
  auto era = (z >= 0 ? z : z - 146096) / 146097;
  auto doe = z - era * 146097;
  auto yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
  auto doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
  auto mp = (5 * doy + 2) / 153;
  day = static_cast<int>(doy - (153 * mp + 2) / 5 + 1);
  month = static_cast<int>(mp < 10 ? mp + 3 : mp - 9);
  year = yoe + era * 400 + (month <= 2);
}

bool leap(std::int64_t y) {
  return (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;
}
int days_in(int month, std::int64_t year) {
  static constexpr std::array<int, 12> lengths{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return lengths[static_cast<std::size_t>(month - 1)] + (month == 2 && leap(year) ? 1 : 0);
}

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  return a / b - ((a % b != 0) && ((a < 0) != (b < 0)));
}

/// One zone of the system's database (RFC 8536), read once per process.
struct zone {
  struct kind {
    std::int32_t offset;
    bool daylight;
    std::string name;
  };
  std::vector<std::int64_t> times;
  std::vector<std::uint8_t> indexes;
  std::vector<kind> kinds;
  std::string rule;

  const kind& at(std::int64_t seconds) const {
    auto after = std::upper_bound(times.begin(), times.end(), seconds);
    if (after == times.begin()) {
      for (const auto& k : kinds)
        if (!k.daylight) return k;
      return kinds[0];
    }
    return kinds[indexes[static_cast<std::size_t>(after - times.begin()) - 1]];
  }
};

std::int64_t big_endian(const std::string& s, std::size_t at, std::size_t n) {
  std::uint64_t v = (static_cast<unsigned char>(s[at]) & 0x80) ? ~std::uint64_t{0} : 0;
  for (std::size_t i = 0; i < n; ++i) v = v << 8 | static_cast<unsigned char>(s[at + i]);
  return static_cast<std::int64_t>(v);
}

constexpr std::uint64_t zone_bytes_limit = 1u << 20;
constexpr const char* zone_folder = "/usr/share/zoneinfo/";

std::optional<zone> load_zone(const std::string& name) {
  if (name.empty() || name[0] == '/' || name[0] == '\\' || name.find("..") != name.npos)
    return std::nullopt;
  const auto read = read_file(zone_folder + name, zone_bytes_limit);
  if (!read) return std::nullopt;
  const std::string& s = *read;
  if (s.size() < 44 || !s.starts_with("TZif")) return std::nullopt;
  std::size_t at = 0;
  std::size_t time_size = 4;
  auto count = [&](std::size_t field) {
    return static_cast<std::size_t>(big_endian(s, at + 20 + field * 4, 4));
  };
  if (s[4] >= '2') {
    at = 44 + count(3) * 5 + count(4) * 6 + count(5) + count(2) * 8 + count(1) + count(0);
    time_size = 8;
    if (s.size() < at + 44) return std::nullopt;
  }
  auto isut = count(0), isstd = count(1), leaps = count(2), transitions = count(3),
       kinds = count(4), letters = count(5);
  std::size_t p = at + 44;
  if (s.size() < p + transitions * (time_size + 1) + kinds * 6 + letters + leaps * (time_size + 4) +
                     isstd + isut ||
      kinds == 0)
    return std::nullopt;
  zone z;
  for (std::size_t i = 0; i < transitions; ++i, p += time_size)
    z.times.push_back(big_endian(s, p, time_size));
  for (std::size_t i = 0; i < transitions; ++i, ++p)
    z.indexes.push_back(static_cast<std::uint8_t>(s[p]));
  auto names = p + kinds * 6;
  for (std::size_t i = 0; i < kinds; ++i, p += 6)
    z.kinds.push_back({static_cast<std::int32_t>(big_endian(s, p, 4)), s[p + 4] != 0,
                       std::string(s.c_str() + names + static_cast<unsigned char>(s[p + 5]))});
  for (auto i : z.indexes)
    if (i >= z.kinds.size()) return std::nullopt;
  return z;
}

/// Those of keep_all_zones().
std::map<std::string, zone>& kept_zones() {
  static std::map<std::string, zone> all;
  return all;
}

/// Zones that there are stay in memory; a name of none is looked for again.
const zone* find_zone(const std::string& name) {
  if (const auto kept = kept_zones().find(name); kept != kept_zones().end()) return &kept->second;
  static thread_local std::map<std::string, zone> known;
  if (const auto found = known.find(name); found != known.end()) return &found->second;
  auto z = load_zone(name);
  return z ? &known.emplace(name, std::move(*z)).first->second : nullptr;
}

/// The words of a layout.
enum class word : std::uint8_t {
  none,
  long_month,
  month,
  num_month,
  zero_month,
  long_weekday,
  weekday,
  day,
  under_day,
  zero_day,
  under_year_day,
  zero_year_day,
  hour,
  hour12,
  zero_hour12,
  minute,
  zero_minute,
  second,
  zero_second,
  long_year,
  year,
  pm_upper,
  pm_lower,
  zone_name,
  iso_zone,
  iso_seconds,
  iso_short,
  iso_colon,
  iso_colon_seconds,
  num_zone,
  num_seconds,
  num_short,
  num_colon,
  num_colon_seconds,
  fraction_zeros,
  fraction_nines,
};

struct layout_part {
  std::string_view prefix;
  word what = word::none;
  int digits = 0;
  char mark = '.';
  std::string_view suffix;
};

bool digit_at(std::string_view s, std::size_t i) {
  return i < s.size() && s[i] >= '0' && s[i] <= '9';
}

layout_part next_part(std::string_view s) {
  struct entry {
    std::string_view text;
    word what;
  };
  // Longer words first where one begins another.
  static constexpr std::array<entry, 33> words{{
      {"January", word::long_month},
      {"Jan", word::month},
      {"Monday", word::long_weekday},
      {"Mon", word::weekday},
      {"MST", word::zone_name},
      {"002", word::zero_year_day},
      {"01", word::zero_month},
      {"02", word::zero_day},
      {"03", word::zero_hour12},
      {"04", word::zero_minute},
      {"05", word::zero_second},
      {"06", word::year},
      {"15", word::hour},
      {"1", word::num_month},
      {"2006", word::long_year},
      {"2", word::day},
      {"__2", word::under_year_day},
      {"_2", word::under_day},
      {"3", word::hour12},
      {"4", word::minute},
      {"5", word::second},
      {"PM", word::pm_upper},
      {"pm", word::pm_lower},
      {"-070000", word::num_seconds},
      {"-07:00:00", word::num_colon_seconds},
      {"-0700", word::num_zone},
      {"-07:00", word::num_colon},
      {"-07", word::num_short},
      {"Z070000", word::iso_seconds},
      {"Z07:00:00", word::iso_colon_seconds},
      {"Z0700", word::iso_zone},
      {"Z07:00", word::iso_colon},
      {"Z07", word::iso_short},
  }};
  for (std::size_t i = 0; i < s.size(); ++i) {
    auto rest = s.substr(i);
    if (rest.starts_with("_2006"))
      return {s.substr(0, i + 1), word::long_year, 0, '.', s.substr(i + 5)};
    for (const auto& [text, what] : words) {
      if (!rest.starts_with(text)) continue;
      // Letters that go on after a short month or weekday make it an ordinary word.
      if ((what == word::month || what == word::weekday) && rest.size() > 3 && rest[3] >= 'a' &&
          rest[3] <= 'z')
        continue;
      return {s.substr(0, i), what, 0, '.', rest.substr(text.size())};
    }
    if ((s[i] == '.' || s[i] == ',') && i + 1 < s.size() && (s[i + 1] == '0' || s[i + 1] == '9')) {
      char c = s[i + 1];
      std::size_t j = i + 1;
      while (j < s.size() && s[j] == c) ++j;
      if (!digit_at(s, j))
        return {s.substr(0, i), c == '0' ? word::fraction_zeros : word::fraction_nines,
                static_cast<int>(j - i - 1), s[i], s.substr(j)};
    }
  }
  return {s, word::none, 0, '.', {}};
}

void append_number(std::string& out, std::int64_t n, int width, char pad = '0') {
  if (n < 0) {
    out += '-';
    n = -n;
  }
  auto s = std::to_string(n);
  if (static_cast<int>(s.size()) < width)
    out.append(static_cast<std::size_t>(width) - s.size(), pad);
  out += s;
}

void append_fraction(std::string& out, std::int32_t nanoseconds, int digits, bool trims,
                     char mark) {
  char buffer[16];
  std::snprintf(buffer, sizeof buffer, "%09d", nanoseconds);
  std::string s(buffer, static_cast<std::size_t>(std::min(digits, 9)));
  if (trims) {
    while (!s.empty() && s.back() == '0') s.pop_back();
    if (s.empty()) return;
  }
  out += mark;
  out += s;
}

void append_zone(std::string& out, word what, const civil_time& c) {
  auto offset = c.offset;
  bool iso = what >= word::iso_zone && what <= word::iso_colon_seconds;
  if (iso && offset == 0) {
    out += 'Z';
    return;
  }
  auto minutes = offset / 60;
  out += minutes < 0 || offset < 0 ? '-' : '+';
  minutes = std::abs(minutes);
  auto seconds = std::abs(offset);
  append_number(out, minutes / 60, 2);
  bool colon = what == word::iso_colon || what == word::num_colon ||
               what == word::iso_colon_seconds || what == word::num_colon_seconds;
  if (colon) out += ':';
  if (what != word::num_short && what != word::iso_short) append_number(out, minutes % 60, 2);
  bool with_seconds = what == word::iso_seconds || what == word::num_seconds ||
                      what == word::iso_colon_seconds || what == word::num_colon_seconds;
  if (with_seconds) {
    if (colon) out += ':';
    append_number(out, seconds % 60, 2);
  }
}

}  // namespace

void keep_all_zones() {
  namespace fs = std::filesystem;
  std::error_code failed;
  const std::string root = zone_folder;
  fs::recursive_directory_iterator at(root, failed), end;
  for (; !failed && at != end; at.increment(failed)) {
    const std::string name = at->path().string().substr(root.size());
    if (name == "posix" || name == "right") {  // the same zones once more
      at.disable_recursion_pending();
      continue;
    }
    if (auto z = load_zone(name)) kept_zones().emplace(name, std::move(*z));
  }
}

go_time time_at(std::int64_t seconds, std::int32_t nanoseconds, std::string zone_name) {
  go_time t;
  t.seconds = seconds;
  t.nanoseconds = nanoseconds;
  t.zone = std::move(zone_name);
  return t;
}

go_time time_of(std::chrono::system_clock::time_point t) {
  auto n = std::chrono::duration_cast<std::chrono::nanoseconds>(t.time_since_epoch()).count();
  auto seconds = floor_div(n, nano);
  return time_at(seconds, static_cast<std::int32_t>(n - seconds * nano));
}

go_time in_zone(go_time t, std::string_view name) {
  t.fixed_offset = 0;
  t.fixed_name.clear();
  std::string n(name);
  t.zone = n == "Local" || n.empty() || n == "UTC" || !find_zone(n) ? "UTC" : n;
  return t;
}

civil_time civil(const go_time& t) {
  civil_time c{};
  c.abbreviation = "UTC";
  if (t.zone.empty()) {
    c.offset = t.fixed_offset;
    c.abbreviation = t.fixed_name;
  } else if (t.zone != "UTC") {
    if (const auto* z = find_zone(t.zone)) {
      const auto& k = z->at(t.seconds);
      c.offset = k.offset;
      c.abbreviation = k.name;
    }
  }
  auto local = t.seconds + c.offset;
  auto day = floor_div(local, 86400);
  auto second = local - day * 86400;
  civil_from_days(day, c.year, c.month, c.day);
  c.hour = static_cast<int>(second / 3600);
  c.minute = static_cast<int>(second / 60 % 60);
  c.second = static_cast<int>(second % 60);
  c.weekday = static_cast<int>(((day % 7) + 11) % 7);
  c.year_day = static_cast<int>(day - days_from_civil(c.year, 1, 1)) + 1;
  return c;
}

std::string format_time(const go_time& t, std::string_view layout) {
  auto c = civil(t);
  std::string out;
  while (!layout.empty()) {
    auto part = next_part(layout);
    out += part.prefix;
    if (part.what == word::none) break;
    layout = part.suffix;
    int hour12 = c.hour % 12 == 0 ? 12 : c.hour % 12;
    switch (part.what) {
      case word::long_month: out += months[static_cast<std::size_t>(c.month - 1)]; break;
      case word::month: out += months[static_cast<std::size_t>(c.month - 1)].substr(0, 3); break;
      case word::num_month: append_number(out, c.month, 0); break;
      case word::zero_month: append_number(out, c.month, 2); break;
      case word::long_weekday: out += days[static_cast<std::size_t>(c.weekday)]; break;
      case word::weekday: out += days[static_cast<std::size_t>(c.weekday)].substr(0, 3); break;
      case word::day: append_number(out, c.day, 0); break;
      case word::under_day: append_number(out, c.day, 2, ' '); break;
      case word::zero_day: append_number(out, c.day, 2); break;
      case word::under_year_day: append_number(out, c.year_day, 3, ' '); break;
      case word::zero_year_day: append_number(out, c.year_day, 3); break;
      case word::hour: append_number(out, c.hour, 2); break;
      case word::hour12: append_number(out, hour12, 0); break;
      case word::zero_hour12: append_number(out, hour12, 2); break;
      case word::minute: append_number(out, c.minute, 0); break;
      case word::zero_minute: append_number(out, c.minute, 2); break;
      case word::second: append_number(out, c.second, 0); break;
      case word::zero_second: append_number(out, c.second, 2); break;
      case word::long_year: append_number(out, c.year, 4); break;
      case word::year: append_number(out, std::abs(c.year) % 100, 2); break;
      case word::pm_upper: out += c.hour >= 12 ? "PM" : "AM"; break;
      case word::pm_lower: out += c.hour >= 12 ? "pm" : "am"; break;
      case word::zone_name:
        if (!c.abbreviation.empty()) {
          out += c.abbreviation;
        } else {
          append_zone(out, word::num_zone, c);
        }
        break;
      case word::fraction_zeros:
        append_fraction(out, t.nanoseconds, part.digits, false, part.mark);
        break;
      case word::fraction_nines:
        append_fraction(out, t.nanoseconds, part.digits, true, part.mark);
        break;
      default: append_zone(out, part.what, c);
    }
  }
  return out;
}

std::string time_text(const go_time& t) {
  return format_time(t, "2006-01-02 15:04:05.999999999 -0700 MST");
}

namespace {

/// time's own quoting: every control and non-ASCII byte as \\x.
std::string time_quote(std::string_view s) {
  std::string out = "\"";
  for (char ch : s) {
    auto c = static_cast<unsigned char>(ch);
    if (c >= 0x80 || c < ' ') {
      out += "\\x";
      out += "0123456789abcdef"[c >> 4];
      out += "0123456789abcdef"[c & 15];
    } else {
      if (ch == '"' || ch == '\\') out += '\\';
      out += ch;
    }
  }
  return out + '"';
}

}  // namespace

outcome<go_time> parse_time(std::string_view whole_layout, std::string_view whole) {
  auto layout = whole_layout;
  auto text = whole;
  std::string_view element;
  auto bad = [&](std::string_view rest, std::string_view layout_element, std::string_view message) {
    std::string out = "parsing time " + time_quote(whole);
    if (message.empty())
      out += " as " + time_quote(whole_layout) + ": cannot parse " + time_quote(rest) + " as " +
             time_quote(layout_element);
    else
      out += std::string(message);
    return problem{out};
  };
  std::int64_t year = 0;
  int month = -1, day = -1, year_day = -1, hour = 0, minute = 0, second = 0;
  std::int32_t nanoseconds = 0;
  bool pm = false, am = false, utc = false, offset_set = false;
  std::int32_t offset = 0;
  std::string name, range;
  auto number = [&](int least, int most, int& out) {
    int n = 0, have = 0;
    while (have < most && digit_at(text, 0)) {
      n = n * 10 + (text[0] - '0');
      text.remove_prefix(1);
      ++have;
    }
    out = n;
    return have >= least;
  };
  // Nine digits at most count. Where the layout says how many there are, one may be a sign.
  auto take_fraction = [&](std::string_view digits) {
    digits = digits.substr(0, 9);
    std::size_t have = digits.size();
    const bool negative = digits.starts_with('-');
    if (negative || digits.starts_with('+')) digits.remove_prefix(1);
    std::int32_t f = 0;
    for (const char c : digits) {
      if (c < '0' || c > '9') return false;
      f = f * 10 + (c - '0');
    }
    for (; have < 9; ++have) f *= 10;
    if (negative && f > 0) range = "fractional second";
    nanoseconds = f;
    return true;
  };
  auto lookup = [&](auto& names, bool brief, int& out) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      auto n = brief ? names[i].substr(0, 3) : names[i];
      if (text.size() >= n.size() && equal_fold(text.substr(0, n.size()), n)) {
        text.remove_prefix(n.size());
        out = static_cast<int>(i);
        return true;
      }
    }
    return false;
  };
  for (;;) {
    auto part = next_part(layout);
    element =
        layout.substr(part.prefix.size(), layout.size() - part.suffix.size() - part.prefix.size());
    // Blanks in the layout's literal text match any number of blanks.
    auto prefix = part.prefix;
    while (!prefix.empty()) {
      if (prefix[0] == ' ') {
        if (!text.empty() && text[0] != ' ') return bad(text, part.prefix, "");
        while (!prefix.empty() && prefix[0] == ' ') prefix.remove_prefix(1);
        while (!text.empty() && text[0] == ' ') text.remove_prefix(1);
        continue;
      }
      if (text.empty() || text[0] != prefix[0]) return bad(text, part.prefix, "");
      prefix.remove_prefix(1);
      text.remove_prefix(1);
    }
    if (part.what == word::none) {
      if (!text.empty()) return bad(text, "", ": extra text: " + time_quote(text));
      break;
    }
    layout = part.suffix;
    auto hold = text;
    bool ok = true;
    int n = 0;
    switch (part.what) {
      case word::year:
        ok = number(2, 2, n);
        year = n + (n >= 69 ? 1900 : 2000);
        break;
      case word::long_year:
        ok = number(4, 4, n);
        year = n;
        break;
      case word::month:
      case word::long_month:
        ok = lookup(months, part.what == word::month, month);
        ++month;
        break;
      case word::num_month:
      case word::zero_month:
        ok = number(part.what == word::zero_month ? 2 : 1, 2, month);
        if (ok && (month < 1 || month > 12)) range = "month";
        break;
      case word::weekday:
      case word::long_weekday: ok = lookup(days, part.what == word::weekday, n); break;
      case word::day:
      case word::under_day:
      case word::zero_day:
        if (part.what == word::under_day && !text.empty() && text[0] == ' ') text.remove_prefix(1);
        ok = number(part.what == word::zero_day ? 2 : 1, 2, day);
        break;
      case word::under_year_day:
      case word::zero_year_day:
        for (int i = 0;
             i < 2 && part.what == word::under_year_day && !text.empty() && text[0] == ' '; ++i)
          text.remove_prefix(1);
        ok = number(part.what == word::zero_year_day ? 3 : 1, 3, year_day);
        break;
      case word::hour:
        ok = number(1, 2, hour);
        if (ok && hour >= 24) range = "hour";
        break;
      case word::hour12:
      case word::zero_hour12:
        ok = number(part.what == word::zero_hour12 ? 2 : 1, 2, hour);
        if (ok && hour > 12) range = "hour";
        break;
      case word::minute:
      case word::zero_minute:
        ok = number(part.what == word::zero_minute ? 2 : 1, 2, minute);
        if (ok && minute >= 60) range = "minute";
        break;
      case word::second:
      case word::zero_second: {
        ok = number(part.what == word::zero_second ? 2 : 1, 2, second);
        if (ok && second >= 60) range = "second";
        // A fraction may follow though the layout does not mention one.
        if (ok && range.empty() && text.size() >= 2 && (text[0] == '.' || text[0] == ',') &&
            digit_at(text, 1)) {
          auto next = next_part(layout);
          if (!(next.prefix.empty() &&
                (next.what == word::fraction_zeros || next.what == word::fraction_nines))) {
            std::size_t i = 1;
            while (digit_at(text, i)) ++i;
            ok = take_fraction(text.substr(1, i - 1));
            text.remove_prefix(i);
          }
        }
        break;
      }
      case word::pm_upper:
      case word::pm_lower: {
        auto two = text.substr(0, 2);
        bool upper_case = part.what == word::pm_upper;
        if (two == (upper_case ? "PM" : "pm"))
          pm = true;
        else if (two == (upper_case ? "AM" : "am"))
          am = true;
        else
          ok = false;
        if (ok) text.remove_prefix(2);
        break;
      }
      case word::fraction_zeros:
      case word::fraction_nines: {
        bool zeros = part.what == word::fraction_zeros;
        if (!zeros && (text.size() < 2 || (text[0] != '.' && text[0] != ',') || !digit_at(text, 1)))
          break;
        if (text.empty() || (text[0] != '.' && text[0] != ',')) {
          ok = false;
          break;
        }
        std::size_t i = 1;
        if (zeros)
          i += static_cast<std::size_t>(part.digits);
        else
          while (digit_at(text, i)) ++i;
        ok = i <= text.size() && take_fraction(text.substr(1, i - 1));
        if (!ok) break;
        text.remove_prefix(i);
        break;
      }
      case word::zone_name: {
        if (text.starts_with("UTC")) {
          utc = true;
          text.remove_prefix(3);
          break;
        }
        std::size_t i = 0;
        while (i < text.size() && i < 6 && text[i] >= 'A' && text[i] <= 'Z') ++i;
        if (i < 3 || i > 5) {
          ok = false;
          break;
        }
        name = text.substr(0, i);
        text.remove_prefix(i);
        break;
      }
      default: {
        bool iso = part.what >= word::iso_zone && part.what <= word::iso_colon_seconds;
        if (iso && text.starts_with('Z')) {
          text.remove_prefix(1);
          utc = true;
          break;
        }
        if (text.empty() || (text[0] != '+' && text[0] != '-')) {
          ok = false;
          break;
        }
        int sign = text[0] == '-' ? -1 : 1;
        text.remove_prefix(1);
        bool colon = part.what == word::iso_colon || part.what == word::num_colon ||
                     part.what == word::iso_colon_seconds || part.what == word::num_colon_seconds;
        bool with_minutes = part.what != word::num_short && part.what != word::iso_short;
        bool with_seconds = part.what == word::iso_seconds || part.what == word::num_seconds ||
                            part.what == word::iso_colon_seconds ||
                            part.what == word::num_colon_seconds;
        int h = 0, m = 0, s = 0;
        auto separator = [&] {
          if (!colon) return true;
          if (!text.starts_with(':')) return false;
          text.remove_prefix(1);
          return true;
        };
        ok = number(2, 2, h) && (!with_minutes || (separator() && number(2, 2, m))) &&
             (!with_seconds || (separator() && number(2, 2, s)));
        if (ok && h > 24) range = "time zone offset hour";
        if (ok && m > 60) range = "time zone offset minute";
        if (ok && s > 60) range = "time zone offset second";
        offset = sign * (h * 3600 + m * 60 + s);
        offset_set = true;
      }
    }
    if (!range.empty()) return bad(hold, element, ": " + range + " out of range");
    if (!ok) return bad(hold, element, "");
  }
  if (pm && hour < 12) hour += 12;
  if (am && hour == 12) hour = 0;
  if (year_day >= 0) {
    if (year_day < 1 || year_day > 365 + leap(year))
      return bad("", "", ": day-of-year out of range");
    std::int64_t y = 0;
    int m = 0, d = 0;
    civil_from_days(days_from_civil(year, 1, 1) + year_day - 1, y, m, d);
    if (month >= 0 && month != m) return bad("", "", ": day-of-year does not match month");
    month = m;
    if (day >= 0 && day != d) return bad("", "", ": day-of-year does not match day");
    day = d;
  }
  if (month < 0) month = 1;
  if (day < 0) day = 1;
  if (day < 1 || day > days_in(month, year)) return bad("", "", ": day out of range");
  go_time t = time_at(
      days_from_civil(year, month, day) * 86400 + hour * 3600 + minute * 60 + second, nanoseconds);
  if (utc) return t;
  if (offset_set) {
    t.seconds -= offset;
    if (offset != 0 || !name.empty()) {
      t.zone.clear();
      t.fixed_offset = offset;
      t.fixed_name = name;
    }
    return t;
  }
  if (!name.empty()) {
    t.zone.clear();
    t.fixed_name = name;
    if (name.size() > 3 && name.starts_with("GMT")) {
      auto n = parse_int(name.substr(3), 10);
      if (n.error == int_error::none) t.fixed_offset = static_cast<std::int32_t>(n.number * 3600);
    }
  }
  return t;
}

go_time add_nanoseconds(go_time t, std::int64_t n) {
  auto whole = floor_div(n, nano);
  t.seconds += whole;
  auto part = t.nanoseconds + (n - whole * nano);
  if (part >= nano) {
    ++t.seconds;
    part -= nano;
  }
  t.nanoseconds = static_cast<std::int32_t>(part);
  return t;
}

std::int64_t nanoseconds_between(const go_time& a, const go_time& b) {
  auto d = (static_cast<__int128>(b.seconds) - a.seconds) * nano + (b.nanoseconds - a.nanoseconds);
  return static_cast<std::int64_t>(std::clamp<__int128>(d, INT64_MIN, INT64_MAX));
}

outcome<std::int64_t> parse_duration(std::string_view whole) {
  auto s = whole;
  auto bad = [&] { return problem{"time: invalid duration " + time_quote(whole)}; };
  bool negative = false;
  if (!s.empty() && (s[0] == '-' || s[0] == '+')) {
    negative = s[0] == '-';
    s.remove_prefix(1);
  }
  if (s == "0") return std::int64_t{0};
  if (s.empty()) return bad();
  __int128 total = 0;
  static constexpr std::array<std::pair<std::string_view, std::int64_t>, 8> units{
      {{"ns", 1},
       {"us", 1000},
       {"µs", 1000},
       {"μs", 1000},
       {"ms", 1000000},
       {"s", nano},
       {"m", 60 * nano},
       {"h", 3600 * nano}}};
  while (!s.empty()) {
    __int128 number = 0;
    std::uint64_t fraction = 0;
    double scale = 1;
    bool some = false, counts = true;
    while (digit_at(s, 0)) {
      number = number * 10 + (s[0] - '0');
      if (number > (static_cast<__int128>(1) << 63)) return bad();
      s.remove_prefix(1);
      some = true;
    }
    if (s.starts_with('.')) {
      s.remove_prefix(1);
      while (digit_at(s, 0)) {
        // Digits that a number of 63 bits has no room for say nothing.
        constexpr std::uint64_t most = std::uint64_t{1} << 63;
        const auto digit = static_cast<std::uint64_t>(s[0] - '0');
        counts = counts && fraction <= (most - 1) / 10 && fraction * 10 + digit <= most;
        if (counts) {
          fraction = fraction * 10 + digit;
          scale *= 10;
        }
        s.remove_prefix(1);
        some = true;
      }
    }
    if (!some) return bad();
    std::size_t n = 0;
    while (n < s.size() && s[n] != '.' && !digit_at(s, n)) ++n;
    if (n == 0) return problem{"time: missing unit in duration " + time_quote(whole)};
    auto name = s.substr(0, n);
    std::int64_t unit = 0;
    for (const auto& [text, size] : units)
      if (text == name) unit = size;
    if (unit == 0)
      return problem{"time: unknown unit " + time_quote(name) + " in duration " +
                     time_quote(whole)};
    s.remove_prefix(n);
    total += number * unit;
    // In floating point, as Go does it.
    total += static_cast<std::uint64_t>(static_cast<double>(fraction) *
                                        (static_cast<double>(unit) / scale));
    if (total > (static_cast<__int128>(1) << 63)) return bad();
  }
  if (negative) return static_cast<std::int64_t>(-total);
  if (total > INT64_MAX) return bad();
  return static_cast<std::int64_t>(total);
}

std::string duration_text(std::int64_t n) {
  if (n == 0) return "0s";
  bool negative = n < 0;
  auto u = negative ? 0 - static_cast<std::uint64_t>(n) : static_cast<std::uint64_t>(n);
  auto with_fraction = [](std::uint64_t whole, std::uint64_t part, int digits) {
    auto out = std::to_string(whole);
    if (part != 0) {
      auto f = std::to_string(part);
      f.insert(0, static_cast<std::size_t>(digits) - f.size(), '0');
      while (f.back() == '0') f.pop_back();
      out += "." + f;
    }
    return out;
  };
  std::string out;
  if (u < 1000) {
    out = std::to_string(u) + "ns";
  } else if (u < 1000000) {
    out = with_fraction(u / 1000, u % 1000, 3) + "µs";
  } else if (u < static_cast<std::uint64_t>(nano)) {
    out = with_fraction(u / 1000000, u % 1000000, 6) + "ms";
  } else {
    auto seconds = u / nano;
    out = with_fraction(seconds % 60, u % nano, 9) + "s";
    if (seconds >= 60) {
      out = std::to_string(seconds / 60 % 60) + "m" + out;
      if (seconds >= 3600) out = std::to_string(seconds / 3600) + "h" + out;
    }
  }
  return negative ? "-" + out : out;
}

go_time add_date(go_time t, std::int64_t years, std::int64_t months_more, std::int64_t days_more) {
  auto c = civil(t);
  auto m = c.month - 1 + months_more;
  auto y = c.year + years + floor_div(m, 12);
  m -= floor_div(m, 12) * 12;
  auto local = (days_from_civil(y, static_cast<int>(m) + 1, 1) + c.day - 1 + days_more) * 86400 +
               c.hour * 3600 + c.minute * 60 + c.second;
  t.seconds = local - c.offset;
  // The offset may differ on the new day.
  t.seconds = local - civil(t).offset;
  return t;
}

std::string_view month_name(int month) {
  return months[static_cast<std::size_t>(month - 1)];
}
std::string_view weekday_name(int day) {
  return days[static_cast<std::size_t>(day)];
}

value time_value(go_time t) {
  return value::object(new time_object(std::move(t)));
}

std::optional<go_time> time_in(const value& v) {
  if (auto* o = v.object())
    if (const auto* t = dynamic_cast<const time_object*>(o)) return t->time;
  return std::nullopt;
}

}  // namespace formats
