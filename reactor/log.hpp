#pragma once

#include "reactor/plain/result.hpp"
#include "reactor/plain/time.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace reactor {

class secret;
class loop;

enum class log_level { debug, info, warning, error, off };
/// "debug", "info", "warning" (or "warn"), "error", "off". Errors: errc::malformed.
result<log_level> parse_log_level(std::string_view text);
std::string_view name(log_level level) noexcept;

/// One key and its value. Values are copied; durations read "1m30s", times RFC 3339, faults their
/// message.
struct log_field {
  using value_type = std::variant<std::string, std::int64_t, std::uint64_t, double, bool>;

  log_field(std::string k, std::string v) : key(std::move(k)), value(std::move(v)) {}
  log_field(std::string k, std::string_view v) : key(std::move(k)), value(std::string(v)) {}
  log_field(std::string k, const char* v) : key(std::move(k)), value(std::string(v)) {}
  log_field(std::string k, bool v) : key(std::move(k)), value(v) {}
  log_field(std::string k, std::signed_integral auto v)
      : key(std::move(k)), value(std::int64_t{v}) {}
  log_field(std::string k, std::unsigned_integral auto v)
      : key(std::move(k)), value(std::uint64_t{v}) {}
  log_field(std::string k, std::floating_point auto v) : key(std::move(k)), value(double{v}) {}
  log_field(std::string k, nanoseconds v) : key(std::move(k)), value(format_duration(v)) {}
  log_field(std::string k, wall_time v) : key(std::move(k)), value(format_rfc3339(v)) {}
  log_field(std::string k, const fault& v) : key(std::move(k)), value(v.message()) {}
  log_field(std::string k, const secret&) = delete;

  std::string key;
  value_type value;
};

/// The value as text, without quotes.
std::string text(const log_field::value_type& value);

struct log_record {
  wall_time at;
  log_level level;
  std::string message;
  std::vector<log_field> fields;

  /// The field's value as text; empty when there is none of that name.
  std::string field(std::string_view key) const;
};

/// Where records go.
class log_sink {
public:
  virtual ~log_sink() = default;
  virtual void write(const log_record& r) = 0;
};

/// Says what happened: a constant message and what varies as fields, so that records can be
/// searched and counted. Passed by reference or copied; copies share the sink and the level. Text
/// from elsewhere is passed through redact().
class logger {
public:
  /// Writes nowhere.
  logger();
  logger(std::function<wall_time()> clock, std::shared_ptr<log_sink> sink,
         log_level level = log_level::info);

  using fields = std::initializer_list<log_field>;
  void debug(std::string_view message, fields f = {}) const { write(log_level::debug, message, f); }
  void info(std::string_view message, fields f = {}) const { write(log_level::info, message, f); }
  void warning(std::string_view message, fields f = {}) const {
    write(log_level::warning, message, f);
  }
  void error(std::string_view message, fields f = {}) const { write(log_level::error, message, f); }
  void write(log_level level, std::string_view message, fields f) const;

  /// The same logger with fields that each record carries.
  logger with(fields f) const;
  bool enabled(log_level level) const noexcept;
  log_level level() const noexcept;

private:
  struct core;
  std::shared_ptr<core> core_;
  std::vector<log_field> with_;
};

enum class log_format { console, json };
struct log_options {
  log_format format = log_format::console;
  log_level level = log_level::info;
  /// Console only. Automatic: when standard error is a terminal and NO_COLOR is not set.
  enum class colours { automatic, always, none };
  colours colour = colours::automatic;
};
/// Writes to standard error, one line per record.
logger make_logger(loop& l, log_options options = {});

/// One line without its end, as the sinks above write it.
std::string format_console(const log_record& r, bool coloured);
std::string format_json(const log_record& r);

/// Keeps records for tests and for the page of recent messages; the oldest go when there are more
/// than `limit`.
class log_capture final : public log_sink {
public:
  explicit log_capture(std::size_t limit = 10'000) : limit_(limit) {}
  void write(const log_record& r) override;
  const std::vector<log_record>& records() const noexcept { return records_; }
  /// How many records have exactly this message.
  std::size_t count(std::string_view message) const;
  const log_record* last(std::string_view message) const;
  void clear() { records_.clear(); }

private:
  std::size_t limit_;
  std::vector<log_record> records_;
};

/// Lets the first of several equal messages through and counts the others until `interval` has
/// passed.
class repeats {
public:
  explicit repeats(loop& l, nanoseconds interval = 60s) : loop_(l), interval_(interval) {}
  /// None: say nothing. Else how many were swallowed since the last one that was let through.
  std::optional<std::uint64_t> pass(const std::string& key);

private:
  // Beyond, the one that was silent longest is forgotten.
  static constexpr std::size_t max_keys = 1'000;
  struct seen {
    steady_time last;
    std::uint64_t swallowed;
  };
  loop& loop_;
  nanoseconds interval_;
  std::map<std::string, seen> seen_;
};

}  // namespace reactor
