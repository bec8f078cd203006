#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace reactor {

using metric_labels = std::map<std::string, std::string>;

namespace metric {
struct counter_series;
struct gauge_series;
struct histogram_series;
}  // namespace metric

/// Counts up. Copies name the same series; after the series was dropped, or without one, it does nothing.
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
/// Shape   a family has one type and one help text; each label set is a series, made at its first use and shared after.
/// Limits  a family holds 100,000 series; beyond that a new one is inert and counted in windlass_metric_series_refused_total.
/// Errors  a name or label that Prometheus forbids, or a family of another type, is a programming error: std::logic_error.
class metrics {
public:
  metrics();
  ~metrics();
  metrics(const metrics&) = delete;
  metrics& operator=(const metrics&) = delete;

  counter get_counter(const std::string& name, const std::string& help, metric_labels labels = {});
  gauge get_gauge(const std::string& name, const std::string& help, metric_labels labels = {});
  /// `bounds`: upper ends of the buckets, ascending; those of the family's first series count.
  histogram get_histogram(const std::string& name, const std::string& help,
                          const std::vector<double>& bounds, metric_labels labels = {});

  /// Removes every series whose label has this value (a cluster that was disengaged); returns how many.
  std::size_t drop(const std::string& label, const std::string& value);
  /// Called at the beginning of each reading, to set gauges that are cheaper to read than to maintain.
  void on_collect(std::function<void()> refresh);
  std::size_t series() const;
  /// Everything in Prometheus text format 0.0.4, families and their series sorted. For tests; a fleet's is read in pieces.
  std::string text();
  static constexpr std::string_view content_type = "text/plain; version=0.0.4; charset=utf-8";

  /// The same text piece by piece, each well below a millisecond's work, so that others may run between two of them.
  /// Shape    what changes meanwhile is in it as it was or as it is; each series is whole.
  /// Lifetime the metrics outlive it.
  class reading {
  public:
    explicit reading(metrics& from) noexcept : from_(from) {}
    /// Some more of it, perhaps nothing yet; none at the end.
    std::optional<std::string> next();

  private:
    metrics& from_;
    std::size_t refreshed_ = 0;
    std::string family_;  // under way; empty before the first
    std::optional<metric_labels> last_;
  };

private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

/// 1 ms … 60 s: for requests and reconciles, in seconds.
const std::vector<double>& latency_bounds();

}  // namespace reactor
