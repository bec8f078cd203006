#include "app/api/row_figures.hpp"

#include "app/api/hold.hpp"
#include "app/api/metric_table.hpp"

#include <chrono>

namespace units {

row_budget::row_budget(reactor::metrics& into, const std::string& api, std::size_t most)
    : without_(into.get_gauge(unit_metrics::without_series, {{"api", api}})), most_(most) {
  without_.set(0);
}

bool row_budget::take() noexcept {
  const bool own_name = named_ < most_;
  ++(own_name ? named_ : others_);
  without_.set(static_cast<double>(others_));
  return own_name;
}

void row_budget::give_back(bool own_name) noexcept {
  --(own_name ? named_ : others_);
  without_.set(static_cast<double>(others_));
}

row_figures::row_figures(reactor::metrics& into, row_budget& budget, std::string api,
                         std::string cluster)
    : metrics_(into),
      budget_(budget),
      api_(std::move(api)),
      cluster_(std::move(cluster)),
      started_(into.get_counter(unit_metrics::started, {{"api", api_}, {"cluster", cluster_}})),
      completed_(into.get_counter(unit_metrics::completed, {{"api", api_}, {"cluster", cluster_}})),
      took_(into.get_histogram(unit_metrics::duration, {{"api", api_}})) {}

row_figures::~row_figures() {
  while (!rows_.empty()) forget(std::string(rows_.begin()->first));
  drop(states_, unit_metrics::by_state, std::string(row_budget::other));
  drop(held_, unit_metrics::held, std::string(row_budget::other));
}

reactor::metric_labels row_figures::labels(const reactor::metric_kind& kind, const std::string& row,
                                           const std::string& value) const {
  const bool states = kind.name == unit_metrics::by_state.name;
  return {{"api", api_}, {"cluster", cluster_}, {"pool", row}, {states ? "state" : "code", value}};
}

/// Each series is a sum over the rows of its label.
void row_figures::change(gauges& all, const reactor::metric_kind& kind, const std::string& label,
                         const counts& before, const counts& now) {
  const auto add = [&](const std::string& value, double by) {
    const auto [at, fresh] = all.try_emplace({label, value});
    auto& [series, sum] = at->second;
    if (fresh) series = metrics_.get_gauge(kind, labels(kind, label, value));
    series.set(sum += by);
  };
  for (const auto& [value, n] : before) add(value, -static_cast<double>(n));
  for (const auto& [value, n] : now) add(value, static_cast<double>(n));
}

void row_figures::drop(gauges& all, const reactor::metric_kind& kind, const std::string& label) {
  for (auto at = all.lower_bound({label, std::string()});
       at != all.end() && at->first.first == label; at = all.erase(at))
    metrics_.drop(kind, labels(kind, label, at->first.second), at->second.first);
}

void row_figures::show(const std::string& row, counts states, const counts& held) {
  counts codes;
  for (const auto& [code, n] : held) codes[std::string(kind_in(code))] += n;
  const auto [at, fresh] = rows_.try_emplace(row);
  entry& e = at->second;
  if (fresh) e.own_name = budget_.take();
  const std::string label = e.own_name ? row : std::string(row_budget::other);
  if (e.states != states) {
    change(states_, unit_metrics::by_state, label, e.states, states);
    e.states = std::move(states);
  }
  if (e.held == codes) return;
  change(held_, unit_metrics::held, label, e.held, codes);
  e.held = std::move(codes);
}

void row_figures::forget(const std::string& row) {
  const auto at = rows_.find(row);
  if (at == rows_.end()) return;
  const entry gone = std::move(at->second);
  rows_.erase(at);
  budget_.give_back(gone.own_name);
  const std::string other(row_budget::other);
  if (gone.own_name) {
    drop(states_, unit_metrics::by_state, row);
    drop(held_, unit_metrics::held, row);
  } else {
    change(states_, unit_metrics::by_state, other, gone.states, {});
    change(held_, unit_metrics::held, other, gone.held, {});
  }
}

void row_figures::done(reactor::nanoseconds took) {
  completed_.add();
  if (took > reactor::nanoseconds(0)) took_.observe(std::chrono::duration<double>(took).count());
}

}  // namespace units
