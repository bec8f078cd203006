#pragma once

#include "k8s/sim/api_server.hpp"

#include <map>
#include <memory>
#include <string>

namespace helm {
class prepared_chart;
}

namespace bench {

/// A chart repository below the path /charts of an API server: its index and the archives of two
/// charts, `ten` with as many objects, and `one`.
class chart_offer {
public:
  static constexpr const char* version = "1.0.0";
  chart_offer();
  /// None where something else is asked for.
  std::optional<k8s::sim::answer> answer(const k8s::sim::request& r) const;
  static std::shared_ptr<helm::prepared_chart> prepared(const std::string& chart);
  const std::string& archive(const std::string& chart) const { return archives_.at(chart); }

private:
  std::map<std::string, std::string> archives_;  // by chart
  std::string index_;
};

/// An API server with the kind Tenant, its namespaces, and Tenants t-0, t-1, … in `default`.
void furnish(k8s::sim::api_server& api, std::size_t tenants);

}  // namespace bench
