#include "reactor/metrics.hpp"

#include "reactor/metric_table.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <stdexcept>
#include <utility>
#include <variant>

namespace reactor {
namespace metric {

// The handles of a dropped series do nothing.
struct counter_series {
  static constexpr std::string_view type = "counter";
  double value = 0;
  bool dropped = false;
};
struct gauge_series {
  static constexpr std::string_view type = "gauge";
  double value = 0;
  bool dropped = false;
};
struct histogram_series {
  static constexpr std::string_view type = "histogram";
  std::shared_ptr<const std::vector<double>> bounds;
  std::vector<std::uint64_t> counts;  // one more than bounds
  double sum = 0;
  bool dropped = false;
};

namespace {

constexpr std::size_t max_series = 100'000;
/// Where a piece of text ends: well below what a socket takes at once, some 50 µs of work.
constexpr std::size_t piece_bytes = 16 * 1024;

template <class Series>
struct family {
  explicit family(const metric_kind& kind)
      : help(kind.help),
        unit(kind.unit),
        bounds(std::make_shared<std::vector<double>>(kind.bounds.begin(), kind.bounds.end())) {}
  ~family() {
    for (auto& [labels, s] : series) s->dropped = true;
  }
  family(const family&) = delete;
  family& operator=(const family&) = delete;

  /// Series have the same labels and are sorted by them, so those to drop stand together behind
  /// each combination of the labels before this one: the others, a whole fleet's, are not looked
  /// at.
  std::size_t drop(const std::string& label, const std::string& value) {
    std::size_t dropped = 0;
    for (auto at = series.begin(); at != series.end();) {
      const auto here = at->first.find(label);
      if (here == at->first.end()) break;
      metric_labels sought(at->first.begin(), here);
      sought[label] = value;
      for (at = series.lower_bound(sought);
           at != series.end() && std::equal(sought.begin(), sought.end(), at->first.begin());
           at = series.erase(at)) {
        at->second->dropped = true;
        ++dropped;
      }
      sought.erase(label);
      if (sought.empty()) break;
      std::prev(sought.end())->second += '\0';  // the next text there is
      at = series.lower_bound(sought);
    }
    return dropped;
  }

  std::string help, unit;
  std::shared_ptr<const std::vector<double>> bounds;
  std::map<metric_labels, std::shared_ptr<Series>> series;
};

using counters = family<counter_series>;
using gauges = family<gauge_series>;
using histograms = family<histogram_series>;
using any_family =
    std::variant<std::unique_ptr<counters>, std::unique_ptr<gauges>, std::unique_ptr<histograms>>;

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/// Prometheus' data model; names that begin with two underscores are its own.
bool is_name(std::string_view name, std::string_view also) {
  const auto fits = [also](char c) { return is_letter(c) || also.find(c) != also.npos; };
  if (name.empty() || name.starts_with("__") || !fits(name.front())) return false;
  return std::ranges::all_of(name, [&](char c) { return fits(c) || (c >= '0' && c <= '9'); });
}

void append_number(std::string& out, double v) {
  if (std::isnan(v)) {
    out += "NaN";
  } else if (std::isinf(v)) {
    out += v > 0 ? "+Inf" : "-Inf";
  } else {
    std::array<char, 32> text{};
    // Whole numbers as people write them; the format would allow 1e+06.
    constexpr double largest_whole = 9'007'199'254'740'992;  // 2^53
    const bool whole = v == std::trunc(v) && std::abs(v) <= largest_whole;
    const auto end =
        whole ? std::to_chars(text.data(), text.data() + text.size(), static_cast<std::int64_t>(v))
              : std::to_chars(text.data(), text.data() + text.size(), v);
    out.append(text.data(), end.ptr);
  }
}

void append_escaped(std::string& out, std::string_view text, bool quoted) {
  for (const char c : text) {
    if (c == '\\')
      out += "\\\\";
    else if (c == '\n')
      out += "\\n";
    else if (c == '"' && quoted)
      out += "\\\"";
    else
      out += c;
  }
}

struct label {
  std::string_view name, value;
};

/// `extra` goes last, as the bounds of buckets do.
void append_line(std::string& out, std::string_view name, std::string_view suffix,
                 const metric_labels& labels, const label* extra, double value) {
  out.append(name).append(suffix);
  char before = '{';
  const auto append = [&](std::string_view label_name, std::string_view text) {
    out += std::exchange(before, ',');
    out.append(label_name).append("=\"");
    append_escaped(out, text, true);
    out += '"';
  };
  for (const auto& [label_name, text] : labels) append(label_name, text);
  if (extra) append(extra->name, extra->value);
  if (before == ',') out += '}';
  out += ' ';
  append_number(out, value);
  out += '\n';
}

template <class Series>
void append_series(std::string& out, std::string_view name, const metric_labels& labels,
                   const Series& s) {
  append_line(out, name, "", labels, nullptr, s.value);
}

void append_series(std::string& out, std::string_view name, const metric_labels& labels,
                   const histogram_series& s) {
  std::uint64_t below = 0;
  std::string bound;
  for (std::size_t i = 0; i < s.counts.size(); ++i) {
    below += s.counts[i];
    bound.clear();
    append_number(bound, i < s.bounds->size() ? (*s.bounds)[i] : INFINITY);
    const label le{"le", bound};
    append_line(out, name, "_bucket", labels, &le, static_cast<double>(below));
  }
  append_line(out, name, "_sum", labels, nullptr, s.sum);
  append_line(out, name, "_count", labels, nullptr, static_cast<double>(below));
}

/// What follows `last`, until the piece is full. True when the family is through.
template <class Series>
bool append_family(std::string& out, const std::string& name, const family<Series>& f,
                   std::optional<metric_labels>& last, metrics::format format) {
  auto at = last ? f.series.upper_bound(*last) : f.series.begin();
  if (!last && !f.series.empty()) {
    constexpr std::string_view total = "_total";
    const bool open = format == metrics::format::open_metrics;
    std::string_view told = name;
    if (open && std::is_same_v<Series, counter_series> && told.ends_with(total))
      told.remove_suffix(total.size());
    out.append("# HELP ").append(told).append(" ");
    append_escaped(out, f.help, false);
    out.append("\n# TYPE ").append(told).append(" ").append(Series::type).append("\n");
    if (open && !f.unit.empty())
      out.append("# UNIT ").append(told).append(" ").append(f.unit).append("\n");
  }
  while (at != f.series.end()) {
    append_series(out, name, at->first, *at->second);
    const auto written = at++;
    if (out.size() < piece_bytes || at == f.series.end()) continue;
    last = written->first;
    return false;
  }
  return true;
}

}  // namespace
}  // namespace metric

void counter::add(double n) {
  if (series_ && !series_->dropped && n > 0) series_->value += n;
}
double counter::value() const {
  return series_ && !series_->dropped ? series_->value : 0;
}

void gauge::set(double v) {
  if (series_ && !series_->dropped) series_->value = v;
}
void gauge::add(double n) {
  if (series_ && !series_->dropped) series_->value += n;
}
double gauge::value() const {
  return series_ && !series_->dropped ? series_->value : 0;
}

void histogram::observe(double v) {
  if (!series_ || series_->dropped) return;
  const auto& bounds = *series_->bounds;
  ++series_->counts[static_cast<std::size_t>(std::ranges::lower_bound(bounds, v) - bounds.begin())];
  series_->sum += v;
}

struct metrics::impl {
  template <class Family>
  Family& family(const metric_kind& kind) {
    const std::string name(kind.name);
    auto found = families.find(name);
    if (found == families.end()) {
      if (!metric::is_name(name, ":"))
        throw std::logic_error("\"" + name + "\" is not a metric name");
      found = families.emplace(name, std::make_unique<Family>(kind)).first;
    }
    auto* right_type = std::get_if<std::unique_ptr<Family>>(&found->second);
    if (right_type == nullptr) throw std::logic_error("metric " + name + " has two types");
    return **right_type;
  }

  template <class Series>
  std::shared_ptr<Series> series(const metric_kind& kind, metric_labels labels) {
    auto& f = family<metric::family<Series>>(kind);
    if (const auto found = f.series.find(labels); found != f.series.end()) return found->second;
    const auto none = std::ranges::find(kind.labels, std::string_view());
    for (const auto& [label, value] : labels) {
      if (!metric::is_name(label, ""))
        throw std::logic_error("\"" + label + "\" is not a label name");
      if (std::find(kind.labels.begin(), none, label) == none)
        throw std::logic_error(std::string(kind.name) + " has no label \"" + label + "\"");
    }
    if (labels.size() != static_cast<std::size_t>(none - kind.labels.begin()))
      throw std::logic_error(std::string(kind.name) + " lacks a label");
    if (f.series.size() >= metric::max_series) {
      refused->value += 1;
      return nullptr;
    }
    auto made = std::make_shared<Series>();
    if constexpr (std::is_same_v<Series, metric::histogram_series>) {
      made->bounds = f.bounds;
      made->counts.resize(f.bounds->size() + 1);
    }
    f.series.emplace(std::move(labels), made);
    return made;
  }

  std::map<std::string, metric::any_family> families;
  std::vector<std::function<void()>> refreshers;
  std::shared_ptr<metric::counter_series> refused;
};

std::string_view name_of(metric_type t) noexcept {
  switch (t) {
    case metric_type::counter: return metric::counter_series::type;
    case metric_type::gauge: return metric::gauge_series::type;
    case metric_type::histogram: return metric::histogram_series::type;
  }
  return "";
}

metrics::metrics() : impl_(std::make_unique<impl>()) {
  impl_->refused = impl_->series<metric::counter_series>(metric_table::series_refused, {});
}
metrics::~metrics() = default;

counter metrics::get_counter(const metric_kind& kind, metric_labels labels) {
  return counter(impl_->series<metric::counter_series>(kind, std::move(labels)));
}

gauge metrics::get_gauge(const metric_kind& kind, metric_labels labels) {
  return gauge(impl_->series<metric::gauge_series>(kind, std::move(labels)));
}

histogram metrics::get_histogram(const metric_kind& kind, metric_labels labels) {
  return histogram(impl_->series<metric::histogram_series>(kind, std::move(labels)));
}

void metrics::drop(const metric_kind& kind, const metric_labels& labels, const gauge& series) {
  auto& f = impl_->family<metric::gauges>(kind);
  const auto found = f.series.find(labels);
  if (found == f.series.end() || found->second != series.series_) return;
  found->second->dropped = true;
  f.series.erase(found);
}

metrics::format metrics::wanted(std::string_view accept) noexcept {
  return accept.find("application/openmetrics-text") == std::string_view::npos
             ? format::prometheus
             : format::open_metrics;
}

std::string_view metrics::content_type(format f) noexcept {
  return f == format::prometheus ? "text/plain; version=0.0.4; charset=utf-8"
                                 : "application/openmetrics-text; version=1.0.0; charset=utf-8";
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

std::optional<std::string> metrics::reading::next() {
  const impl& all = *from_.impl_;
  if (refreshed_ < all.refreshers.size()) {
    all.refreshers[refreshed_++]();
    return std::string();
  }
  std::optional<std::string> made(std::in_place);
  std::string& out = *made;
  auto at = last_ ? all.families.lower_bound(family_) : all.families.upper_bound(family_);
  while (at != all.families.end()) {
    if (at->first != family_) last_.reset();  // also when the one under way has gone
    family_ = at->first;
    const bool through = std::visit(
        [&](const auto& f) { return metric::append_family(out, family_, *f, last_, format_); },
        at->second);
    if (!through) return made;
    last_.reset();
    ++at;
    if (out.size() >= metric::piece_bytes) return made;
  }
  if (out.empty() && format_ == format::open_metrics && !std::exchange(ended_, true))
    out = "# EOF\n";
  if (out.empty()) made.reset();
  return made;
}

std::string metrics::text(format f) {
  std::string all;
  for (reading r(*this, f);;) {
    const auto piece = r.next();
    if (!piece) return all;
    all += *piece;
  }
}

}  // namespace reactor
