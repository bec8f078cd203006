#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace reactor {

using metric_labels = std::map<std::string, std::string>;

enum class metric_type { counter, gauge, histogram };
std::string_view name_of(metric_type t) noexcept;

/// One family: a row of a table that its layer has in a file named metric_table.hpp. What the
/// reference, the dashboard and the alerts know is checked against these tables
/// (`cli::metric_tables`), and nothing else can be emitted.
struct metric_kind {
  static constexpr std::size_t most_labels = 4;
  std::string_view name;  // "windlass_drains_total"
  metric_type type;
  std::string_view unit;  // the name's last word but _total: "seconds", "bytes"; empty = none
  std::array<std::string_view, most_labels> labels;  // of every series; the first empty one ends it
  std::string_view help;
  std::span<const double> bounds = {};  // of a histogram: upper ends of the buckets, ascending
};

/// The row of that name. One that the table does not have does not compile.
consteval metric_kind metric_in(std::span<const metric_kind> table, std::string_view name) {
  for (const metric_kind& k : table)
    if (k.name == name) return k;
  throw "no such metric";
}

/// 1 ms … 60 s: for requests and reconciles, in seconds.
inline constexpr std::array<double, 15> latency_bounds = {
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60};

namespace metric {
struct counter_series;
struct gauge_series;
struct histogram_series;
}  // namespace metric

/// Counts up. Copies name the same series; after the series was dropped, or without one, it does
/// nothing.
class counter {
public:
  counter() = default;
  void add(double n = 1);
  double value() const;

private:
  friend class metrics;
  explicit counter(std::shared_ptr<metric::counter_series> s) : series_(std::move(s)) {}
  std::shared_ptr<metric::counter_series> series_;
};

/// Goes up and down. Otherwise as counter.
class gauge {
public:
  gauge() = default;
  void set(double v);
  void add(double n = 1);
  double value() const;

private:
  friend class metrics;
  explicit gauge(std::shared_ptr<metric::gauge_series> s) : series_(std::move(s)) {}
  std::shared_ptr<metric::gauge_series> series_;
};

/// Counts observations in buckets. Otherwise as counter.
class histogram {
public:
  histogram() = default;
  void observe(double v);

private:
  friend class metrics;
  explicit histogram(std::shared_ptr<metric::histogram_series> s) : series_(std::move(s)) {}
  std::shared_ptr<metric::histogram_series> series_;
};

/// The process's Prometheus metrics.
/// Shape   a family has one type and one help text; each label set is a series, made at its first
///         use and shared after.
/// Limits  a family holds 100,000 series; beyond that a new one is inert and counted in
///         windlass_metric_series_refused_total.
/// Errors  a name or label that Prometheus forbids, labels other than the kind's, or a family of
///         another type, is a programming error: std::logic_error.
class metrics {
public:
  metrics();
  ~metrics();
  metrics(const metrics&) = delete;
  metrics& operator=(const metrics&) = delete;

  counter get_counter(const metric_kind& kind, metric_labels labels = {});
  gauge get_gauge(const metric_kind& kind, metric_labels labels = {});
  histogram get_histogram(const metric_kind& kind, metric_labels labels = {});

  /// Removes this series, unless it was dropped before and another one has its labels now.
  void drop(const metric_kind& kind, const metric_labels& labels, const gauge& series);
  /// Removes every series whose label has this value (a cluster that was disengaged); returns how
  /// many.
  std::size_t drop(const std::string& label, const std::string& value);
  /// Called at the beginning of each reading, to set gauges that are cheaper to read than to
  /// maintain.
  void on_collect(std::function<void()> refresh);
  std::size_t series() const;
  /// Prometheus' text format 0.0.4, or OpenMetrics 1.0: counters lose _total in TYPE and HELP,
  /// units are told, an end is.
  enum class format { prometheus, open_metrics };
  /// What the Accept field of a scrape asks for.
  static format wanted(std::string_view accept) noexcept;
  static std::string_view content_type(format f) noexcept;
  /// Everything, families and their series sorted. For tests; a fleet's is read in pieces.
  std::string text(format f = format::prometheus);

  /// The same text piece by piece, each well below a millisecond's work, so that others may run
  /// between two of them.
  /// Shape    what changes meanwhile is in it as it was or as it is; each series is whole.
  /// Lifetime the metrics outlive it.
  class reading {
  public:
    explicit reading(metrics& from, format f = format::prometheus) noexcept
        : from_(from), format_(f) {}
    /// Some more of it, perhaps nothing yet; none at the end.
    std::optional<std::string> next();

  private:
    metrics& from_;
    format format_;
    bool ended_ = false;
    std::size_t refreshed_ = 0;
    std::string family_;  // under way; empty before the first
    std::optional<metric_labels> last_;
  };

private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace reactor
