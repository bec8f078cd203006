#include "reactor/metrics.hpp"

#include <prometheus/check_names.h>
#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <variant>

namespace reactor {
namespace metric {

// A dropped series has no metric any more; the handles that still name it then do nothing.
struct counter_series {
  prometheus::Counter* metric = nullptr;
};
struct gauge_series {
  prometheus::Gauge* metric = nullptr;
};
struct histogram_series {
  prometheus::Histogram* metric = nullptr;
};

namespace {

constexpr std::size_t max_series = 100'000;

template <class Metric, class Series>
struct family {
  family(const std::string& name, const std::string& help, std::vector<double> b = {})
      : known(name, help, {}), bounds(std::move(b)) {}
  ~family() {
    for (auto& [labels, s] : series) s->metric = nullptr;
  }
  family(const family&) = delete;
  family& operator=(const family&) = delete;

  std::size_t drop(const std::string& label, const std::string& value) {
    return std::erase_if(series, [&](auto& entry) {
      const auto found = entry.first.find(label);
      if (found == entry.first.end() || found->second != value) return false;
      known.Remove(std::exchange(entry.second->metric, nullptr));
      return true;
    });
  }

  prometheus::Family<Metric> known;
  std::vector<double> bounds;
  std::map<metric_labels, std::shared_ptr<Series>> series;
};

using counters = family<prometheus::Counter, counter_series>;
using gauges = family<prometheus::Gauge, gauge_series>;
using histograms = family<prometheus::Histogram, histogram_series>;
using any_family =
    std::variant<std::unique_ptr<counters>, std::unique_ptr<gauges>, std::unique_ptr<histograms>>;

bool label_less(const prometheus::ClientMetric& a, const prometheus::ClientMetric& b) {
  return std::ranges::lexicographical_compare(a.label, b.label, [](const auto& x, const auto& y) {
    return std::tie(x.name, x.value) < std::tie(y.name, y.value);
  });
}

}  // namespace
}  // namespace metric

void counter::add(double n) {
  if (series_ && series_->metric) series_->metric->Increment(n);
}
double counter::value() const {
  return series_ && series_->metric ? series_->metric->Value() : 0;
}

void gauge::set(double v) {
  if (series_ && series_->metric) series_->metric->Set(v);
}
void gauge::add(double n) {
  if (series_ && series_->metric) series_->metric->Increment(n);
}
double gauge::value() const {
  return series_ && series_->metric ? series_->metric->Value() : 0;
}

void histogram::observe(double v) {
  if (series_ && series_->metric) series_->metric->Observe(v);
}

struct metrics::impl {
  template <class Family>
  Family& family(const std::string& name, const std::string& help,
                 const std::vector<double>& bounds = {}) {
    auto found = families.find(name);
    if (found == families.end()) {
      if (!prometheus::CheckMetricName(name))
        throw std::logic_error("\"" + name + "\" is not a metric name");
      std::unique_ptr<Family> made;
      if constexpr (std::is_same_v<Family, metric::histograms>)
        made = std::make_unique<Family>(name, help, bounds);
      else
        made = std::make_unique<Family>(name, help);
      found = families.emplace(name, std::move(made)).first;
    }
    auto* right_type = std::get_if<std::unique_ptr<Family>>(&found->second);
    if (right_type == nullptr) throw std::logic_error("metric " + name + " has two types");
    return **right_type;
  }

  template <class Series, class Family>
  std::shared_ptr<Series> series(Family& f, metric_labels labels) {
    if (const auto found = f.series.find(labels); found != f.series.end()) return found->second;
    for (const auto& [label, value] : labels) {
      if (!prometheus::CheckLabelName(label))
        throw std::logic_error("\"" + label + "\" is not a label name");
    }
    if (f.series.size() >= metric::max_series) {
      refused->metric->Increment();
      return nullptr;
    }
    auto made = std::make_shared<Series>();
    if constexpr (std::is_same_v<Series, metric::histogram_series>)
      made->metric = &f.known.Add(labels, f.bounds);
    else
      made->metric = &f.known.Add(labels);
    f.series.emplace(std::move(labels), made);
    return made;
  }

  std::map<std::string, metric::any_family> families;
  std::vector<std::function<void()>> refreshers;
  std::shared_ptr<metric::counter_series> refused;
};

metrics::metrics() : impl_(std::make_unique<impl>()) {
  auto& family =
      impl_->family<metric::counters>("windlass_metric_series_refused_total",
                                      "Series that were not made because their family is full");
  impl_->refused = impl_->series<metric::counter_series>(family, {});
}
metrics::~metrics() = default;

counter metrics::get_counter(const std::string& name, const std::string& help,
                             metric_labels labels) {
  auto& family = impl_->family<metric::counters>(name, help);
  return counter(impl_->series<metric::counter_series>(family, std::move(labels)));
}

gauge metrics::get_gauge(const std::string& name, const std::string& help, metric_labels labels) {
  auto& family = impl_->family<metric::gauges>(name, help);
  return gauge(impl_->series<metric::gauge_series>(family, std::move(labels)));
}

histogram metrics::get_histogram(const std::string& name, const std::string& help,
                                 const std::vector<double>& bounds, metric_labels labels) {
  auto& family = impl_->family<metric::histograms>(name, help, bounds);
  return histogram(impl_->series<metric::histogram_series>(family, std::move(labels)));
}

std::size_t metrics::drop(const std::string& label, const std::string& value) {
  std::size_t dropped = 0;
  for (auto& [name, family] : impl_->families)
    dropped += std::visit([&](auto& f) { return f->drop(label, value); }, family);
  return dropped;
}

void metrics::on_collect(std::function<void()> refresh) {
  impl_->refreshers.push_back(std::move(refresh));
}

std::size_t metrics::series() const {
  std::size_t n = 0;
  for (const auto& [name, family] : impl_->families)
    n += std::visit([](const auto& f) { return f->series.size(); }, family);
  return n;
}

std::string metrics::text() {
  for (const auto& refresh : impl_->refreshers) refresh();
  std::vector<prometheus::MetricFamily> all;
  for (const auto& [name, family] : impl_->families) {
    auto collected = std::visit([](const auto& f) { return f->known.Collect(); }, family);
    for (auto& one : collected) {
      std::ranges::sort(one.metric, metric::label_less);
      all.push_back(std::move(one));
    }
  }
  const prometheus::TextSerializer serializer;
  return static_cast<const prometheus::Serializer&>(serializer).Serialize(all);
}

const std::vector<double>& latency_bounds() {
  static const std::vector<double> bounds = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25,
                                             0.5,   1,      2.5,   5,    10,    30,   60};
  return bounds;
}

}  // namespace reactor
