#pragma once

#include "k8s/sim/api_server.hpp"

#include <boost/json/fwd.hpp>

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace bench {

/// "POST configmaps", "GET /version", "WATCH tenants", "PATCH tenants/status": the verb and the
/// collection, without names.
std::string kind_of_request(const k8s::sim::request& r);

/// What an API server was asked, by kind of request.
class request_tally {
public:
  void count(const k8s::sim::request& r) { ++by_kind_[kind_of_request(r)]; }
  /// {"POST configmaps": 7000, …}
  boost::json::object by_kind() const;

private:
  std::map<std::string, std::size_t> by_kind_;
};

/// Of a tally: all of them.
double requests_in(const boost::json::object& by_kind);

}  // namespace bench
