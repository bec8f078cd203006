#pragma once

#include "helm/placed/plan/chart.hpp"

#include <memory>
#include <utility>

namespace helm::placed {

/// What one object's chart is known of, from the question to the operation that takes it.
class chart_memory {
public:
  const chart_facts& facts() const noexcept { return facts_; }
  /// Another chart than `of` is forgotten.
  void want(const chart_coordinates& of) {
    if (!(of_ == of)) *this = chart_memory();
  }
  /// False where it is being fetched already.
  bool ask(const chart_coordinates& of) {
    if (facts_.is == chart_facts::state::loading) return false;
    of_ = of;
    facts_.is = chart_facts::state::loading;
    return true;
  }
  enum class arrival { taken, refused, unwanted };
  /// unwanted: no object asks for it any more.
  arrival take(const chart_coordinates& of, supplied_chart got) {
    using state = chart_facts::state;
    if (!(of_ == of) || facts_.is != state::loading) return arrival::unwanted;
    facts_.problem = got.why.text;
    if (got.chart) {
      facts_.is = state::loaded;
      loaded_ = std::move(got.chart);
      return arrival::taken;
    }
    facts_.is = got.why.is == chart_problem::kind::version_not_found ? state::version_not_found
                                                                     : state::not_loaded;
    return arrival::refused;
  }
  /// For an operation; null where there is none. It is asked for again then.
  std::shared_ptr<prepared_chart> hand_over() {
    facts_ = {};
    return std::exchange(loaded_, nullptr);
  }

private:
  chart_coordinates of_;
  chart_facts facts_;
  std::shared_ptr<prepared_chart> loaded_;
};

}  // namespace helm::placed
