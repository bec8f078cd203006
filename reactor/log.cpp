#include "reactor/log.hpp"

#include "reactor/loop.hpp"
#include "reactor/plain/printable.hpp"
#include "reactor/plain/secret.hpp"
#include "reactor/plain/write.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace reactor {
namespace {

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  append_json_escaped(out, text);
  out += '"';
}

bool is_plain(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
    return c > 0x20 && c < 0x7f && c != '"' && c != '=' && c != '\\';
  });
}

std::string number(double d) {
  if (!std::isfinite(d)) return std::isnan(d) ? "NaN" : d < 0 ? "-Inf" : "+Inf";
  std::array<char, 32> digits;
  const auto [end, ec] = std::to_chars(digits.data(), digits.data() + digits.size(), d);
  return std::string(digits.data(), end);
}

// A line is read by people; who needs more asks the cluster.
constexpr std::size_t value_limit_bytes = 8'192;

void clean(log_field& f) {
  auto* t = std::get_if<std::string>(&f.value);
  if (t == nullptr) return;
  *t = redact(std::string_view(*t).substr(0, 2 * value_limit_bytes));
  if (t->size() <= value_limit_bytes) return;
  std::size_t end = value_limit_bytes;
  while (end > 0 && (static_cast<unsigned char>((*t)[end]) & 0xc0) == 0x80) --end;
  t->resize(end);
  *t += "…";
}

class console_colours {
public:
  explicit console_colours(bool on) : on_(on) {}
  std::string_view of(log_level level) const {
    switch (level) {
      case log_level::debug: return pick("\x1b[2m");
      case log_level::info: return pick("\x1b[32m");
      case log_level::warning: return pick("\x1b[33m");
      default: return pick("\x1b[31m");
    }
  }
  std::string_view faint() const { return pick("\x1b[2m"); }
  std::string_view none() const { return pick("\x1b[0m"); }

private:
  std::string_view pick(std::string_view code) const { return on_ ? code : std::string_view(); }
  bool on_;
};

bool wants_colour(log_options::colours asked) {
  if (asked != log_options::colours::automatic) return asked == log_options::colours::always;
  const char* no_colour = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  return (no_colour == nullptr || *no_colour == '\0') && ::isatty(STDERR_FILENO) == 1 &&
         term != nullptr && std::strcmp(term, "dumb") != 0;
}

class stderr_sink final : public log_sink {
public:
  explicit stderr_sink(log_options options)
      : options_(options),
        coloured_(options.format == log_format::console && wants_colour(options.colour)) {}
  void write(const log_record& r) override {
    std::string line =
        options_.format == log_format::json ? format_json(r) : format_console(r, coloured_);
    write_all(STDERR_FILENO, line += '\n');
  }

private:
  log_options options_;
  bool coloured_;
};

}  // namespace

std::string_view name(log_level level) noexcept {
  switch (level) {
    case log_level::debug: return "debug";
    case log_level::info: return "info";
    case log_level::warning: return "warning";
    case log_level::error: return "error";
    case log_level::off: return "off";
  }
  return "off";
}

result<log_level> parse_log_level(std::string_view text) {
  for (log_level l :
       {log_level::debug, log_level::info, log_level::warning, log_level::error, log_level::off}) {
    if (text == name(l)) return l;
  }
  if (text == "warn") return log_level::warning;
  return make_fault(
      errc::malformed, "read log level",
      "\"" + std::string(text.substr(0, 64)) + "\" is none of debug, info, warning, error, off");
}

std::string text(const log_field::value_type& value) {
  return std::visit(
      [](const auto& v) -> std::string {
        using type = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<type, std::string>)
          return v;
        else if constexpr (std::is_same_v<type, bool>)
          return v ? "true" : "false";
        else if constexpr (std::is_same_v<type, double>)
          return number(v);
        else
          return std::to_string(v);
      },
      value);
}

std::string log_record::field(std::string_view key) const {
  const auto found = std::ranges::find(fields, key, &log_field::key);
  return found == fields.end() ? std::string() : text(found->value);
}

struct logger::core {
  std::function<wall_time()> clock;
  std::shared_ptr<log_sink> sink;
  log_level level;
};

logger::logger() : core_(std::make_shared<core>(core{{}, nullptr, log_level::off})) {}

logger::logger(std::function<wall_time()> clock, std::shared_ptr<log_sink> sink, log_level level)
    : core_(std::make_shared<core>(core{std::move(clock), std::move(sink), level})) {}

bool logger::enabled(log_level level) const noexcept {
  return core_->sink && level >= core_->level;
}
log_level logger::level() const noexcept {
  return core_->level;
}

void logger::write(log_level level, std::string_view message, fields f) const {
  if (!enabled(level)) return;
  log_record r{core_->clock(), level, std::string(message), with_};
  r.fields.insert(r.fields.end(), f.begin(), f.end());
  std::ranges::for_each(r.fields, clean);
  core_->sink->write(r);
}

logger logger::with(fields f) const {
  logger more = *this;
  more.with_.insert(more.with_.end(), f.begin(), f.end());
  return more;
}

logger make_logger(loop& l, log_options options) {
  return logger([&l] { return l.wall(); }, std::make_shared<stderr_sink>(options), options.level);
}

std::string format_console(const log_record& r, bool coloured) {
  const console_colours colours(coloured);
  std::string line(colours.faint());
  line += format_rfc3339_micro(r.at).substr(0, 23) + "Z";  // to the millisecond
  line += colours.none();
  line += ' ';
  line += colours.of(r.level);
  line += r.level == log_level::debug     ? "DEBUG"
          : r.level == log_level::info    ? "INFO "
          : r.level == log_level::warning ? "WARN "
                                          : "ERROR";
  line += colours.none();
  line += ' ';
  append_json_escaped(line, r.message);
  for (const log_field& f : r.fields) {
    line += ' ';
    line += colours.faint();
    append_json_escaped(line, f.key);
    line += '=';
    line += colours.none();
    const std::string value = text(f.value);
    if (is_plain(value))
      line += value;
    else
      append_quoted(line, value);
  }
  return line;
}

std::string format_json(const log_record& r) {
  std::string line = "{\"time\":\"" + format_rfc3339_micro(r.at) + "\",\"level\":\"";
  line += name(r.level);
  line += "\",\"message\":";
  append_quoted(line, r.message);
  std::vector<std::string_view> used = {"time", "level", "message"};
  for (const log_field& f : r.fields) {
    // The last field of a name wins; readers disagree about what a repeated name means.
    const bool again =
        std::ranges::any_of(&f + 1, r.fields.data() + r.fields.size(),
                            [&](const log_field& later) { return later.key == f.key; });
    if (again) continue;
    line += ',';
    append_quoted(
        line, std::ranges::find(used, std::string_view(f.key)) == used.end() ? f.key : f.key + "_");
    line += ':';
    const auto* d = std::get_if<double>(&f.value);
    if (std::holds_alternative<std::string>(f.value) || (d != nullptr && !std::isfinite(*d)))
      append_quoted(line, text(f.value));
    else
      line += text(f.value);
  }
  return line + "}";
}

void log_capture::write(const log_record& r) {
  if (records_.size() >= limit_)
    records_.erase(records_.begin(),
                   records_.begin() + static_cast<std::ptrdiff_t>(records_.size() - limit_ + 1));
  if (limit_ > 0) records_.push_back(r);
}

std::size_t log_capture::count(std::string_view message) const {
  return static_cast<std::size_t>(std::ranges::count(records_, message, &log_record::message));
}

const log_record* log_capture::last(std::string_view message) const {
  const auto found = std::find_if(records_.rbegin(), records_.rend(),
                                  [&](const log_record& r) { return r.message == message; });
  return found == records_.rend() ? nullptr : &*found;
}

std::optional<std::uint64_t> repeats::pass(const std::string& key) {
  const steady_time now = loop_.now();
  const auto found = seen_.find(key);
  if (found == seen_.end()) {
    if (seen_.size() >= max_keys)
      seen_.erase(
          std::ranges::min_element(seen_, {}, [](const auto& entry) { return entry.second.last; }));
    seen_.emplace(key, seen{now, 0});
    return 0;
  }
  if (now - found->second.last < interval_) {
    ++found->second.swallowed;
    return std::nullopt;
  }
  found->second.last = now;
  return std::exchange(found->second.swallowed, 0);
}

}  // namespace reactor
