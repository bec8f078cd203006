#pragma once

#include "reactor/awaitable.hpp"
#include "reactor/http/server.hpp"
#include "reactor/plain/result.hpp"

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace reactor {
class loop;
}

namespace simulation {

/// A chart repository with some versions of one chart: a ConfigMap that says which one it is, and
/// an account. Lifetime: the loop outlives it; co_await stop() before destruction.
class chart_repository {
public:
  /// What is wrong with it. cut: archives end early; page: a web page stands in the index's place.
  enum class behaviour { well, failing, page, cut };

  chart_repository(reactor::loop& l, const std::vector<std::string>& versions);

  reactor::result<void> start();
  reactor::awaitable<void> stop();

  /// "http://charts.demo.local"
  std::string url() const;
  /// Its name on a simulated network.
  static constexpr std::string_view host = "charts.demo.local";
  static constexpr std::string_view chart = "app";
  void be(behaviour m) noexcept { behaviour_ = m; }

private:
  reactor::http::response answer(const reactor::http::request& r) const;

  std::unique_ptr<reactor::http::server> server_;
  std::string index_;
  std::map<std::string, std::string> archives_;  // by path
  behaviour behaviour_ = behaviour::well;
};

}  // namespace simulation
