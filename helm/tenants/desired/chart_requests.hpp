#pragma once

#include "helm/placed/plan/chart.hpp"
#include "reactor/plain/time.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>

namespace helm::tenants {

using namespace helm::placed;

/// Which indexes and charts a process has, is fetching, or could not fetch a moment ago. It decides
/// and downloads nothing: the caller that is told to fetch does so and says how it went, everybody
/// else waits for that.
/// Limits   an index is asked for again after a minute, by its ETag; a failure is everybody's
///          answer for 15 s; 1,000 of each, beyond that those whose answer is oldest are forgotten,
///          never one that is being fetched.
class chart_requests {
public:
  static constexpr reactor::nanoseconds index_kept = std::chrono::seconds(60);
  static constexpr reactor::nanoseconds failure_kept = std::chrono::seconds(15);
  static constexpr std::size_t most = 1'000;

  enum class next : std::uint8_t { use, fetch, wait, failed };
  struct answer {
    next is = next::fetch;
    std::string etag;   // of an index that is here and may be out of date
    chart_problem why;  // of failed
    friend bool operator==(const answer&, const answer&) = default;
  };

  answer index(const std::string& repo, reactor::steady_time now);
  /// It was fetched again, or is as it was.
  void index_came(const std::string& repo, std::string etag, reactor::steady_time now);
  void index_failed(const std::string& repo, chart_problem why, reactor::steady_time now);
  /// What it says is not kept any more.
  void index_gone(const std::string& repo);

  /// A chart that is here stays: a version never becomes another one.
  answer chart(const chart_coordinates& c, reactor::steady_time now);
  void chart_came(const chart_coordinates& c, reactor::steady_time now);
  void chart_failed(const chart_coordinates& c, chart_problem why, reactor::steady_time now);
  /// Its bytes are not kept any more.
  void chart_gone(const chart_coordinates& c);

  std::size_t remembered() const noexcept { return indexes_.size() + charts_.size(); }

private:
  struct entry {
    enum class state : std::uint8_t { fetching, here, failed };
    state is = state::fetching;
    reactor::steady_time at{};
    std::string etag;
    chart_problem why;
  };
  using key = std::tuple<std::string, std::string, std::string>;
  static key key_of(const chart_coordinates& c) { return {c.repo, c.name, c.version}; }
  template <class Key>
  static entry& begin(std::map<Key, entry>& all, const Key& k);
  template <class Key>
  static answer look(std::map<Key, entry>& all, const Key& k, reactor::nanoseconds kept,
                     reactor::steady_time now);

  std::map<std::string, entry> indexes_;
  std::map<key, entry> charts_;
};

}  // namespace helm::tenants
