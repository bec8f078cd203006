#pragma once

#include "reactor/awaitable.hpp"
#include "reactor/http/server.hpp"
#include "reactor/plain/result.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace reactor {
class loop;
}

namespace simulation {

/// What a chart of a shelf does beside its ConfigMap.
enum class chart_kind {
  plain,
  failing,
  failing_hook,
  tested,
  failing_test,
  reaching_out,
  several,
  random
};

/// A chart repository with charts of any names and versions: each has a ConfigMap that says which
/// version it is and what its value `level` is. failing: its templates do not render. failing_hook:
/// a Pod that comes after an upgrade fails. tested and failing_test: a Pod is its test; the last
/// one's fails. reaching_out: an object in kube-system.
/// several: a ServiceAccount and a Service. random: a ConfigMap NAME-random with a password and a
/// key that each render makes.
/// Lifetime: the loop outlives it; co_await stop() before destruction.
class chart_shelf {
public:
  explicit chart_shelf(reactor::loop& l);

  void put(const std::string& name, const std::string& version,
           chart_kind kind = chart_kind::plain);
  void take(const std::string& name, const std::string& version);
  const std::string& archive(const std::string& name, const std::string& version) {
    return archives_[name][version];
  }
  /// What lies beside the archive from now on; empty: nothing does.
  void sign(const std::string& name, const std::string& version, std::string provenance);
  reactor::result<void> start();
  reactor::awaitable<void> stop();
  /// "http://shelf.demo.local"
  std::string url() const;
  static constexpr std::string_view host = "shelf.demo.local";
  /// How often an archive was given out.
  std::size_t given() const noexcept { return given_; }

private:
  reactor::http::response answer(const reactor::http::request& r);

  std::unique_ptr<reactor::http::server> server_;
  std::map<std::string, std::map<std::string, std::string>> archives_;  // by name, by version
  std::map<std::string, std::string> provenances_;                      // by path
  std::size_t given_ = 0;
};

}  // namespace simulation
