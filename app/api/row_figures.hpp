#pragma once

#include "reactor/metrics.hpp"
#include "reactor/plain/time.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace units {

/// How many rows of an API have series under their own name; the others of a cluster share
/// `_other`, so that sums stay right and 2,000 clusters of 50 pools do not make 100,000 sets of
/// series.
class row_budget {
public:
  static constexpr std::size_t most_rows = 4'000;
  static constexpr std::string_view other = "_other";
  row_budget(reactor::metrics& into, const std::string& api, std::size_t most = most_rows);
  bool take() noexcept;
  void give_back(bool own_name) noexcept;

private:
  reactor::gauge without_;
  std::size_t most_, named_ = 0, others_ = 0;
};

/// The metrics of one API's rows on one cluster. Series begin with their first count and end with
/// the row, or with this. Codes are the kinds of holds, without the words of policies, so the
/// tables bound them.
/// Lifetime  metrics and budget outlive it.
class row_figures {
public:
  using counts = std::map<std::string, std::size_t>;
  row_figures(reactor::metrics& into, row_budget& budget, std::string api, std::string cluster);
  ~row_figures();
  row_figures(const row_figures&) = delete;
  row_figures& operator=(const row_figures&) = delete;

  void show(const std::string& row, counts states, const counts& held);
  void forget(const std::string& row);
  void began() { started_.add(); }
  void done(reactor::nanoseconds took);

private:
  struct entry {
    bool own_name = false;
    counts states, held;
  };
  /// By the row's label and the state, or the code.
  using gauges = std::map<std::pair<std::string, std::string>, std::pair<reactor::gauge, double>>;
  void change(gauges& all, const reactor::metric_kind& kind, const std::string& label,
              const counts& before, const counts& now);
  void drop(gauges& all, const reactor::metric_kind& kind, const std::string& label);
  reactor::metric_labels labels(const reactor::metric_kind& kind, const std::string& row,
                                const std::string& value) const;

  reactor::metrics& metrics_;
  row_budget& budget_;
  std::string api_, cluster_;
  std::map<std::string, entry> rows_;
  gauges states_, held_;
  reactor::counter started_, completed_;
  reactor::histogram took_;
};

}  // namespace units
