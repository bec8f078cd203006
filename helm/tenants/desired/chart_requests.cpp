#include "helm/tenants/desired/chart_requests.hpp"

#include <utility>

namespace helm::tenants {

using reactor::nanoseconds;
using reactor::steady_time;

template <class Key>
chart_requests::entry& chart_requests::begin(std::map<Key, entry>& all, const Key& k) {
  const auto there = all.find(k);
  if (there != all.end()) return there->second;
  if (all.size() >= most) {
    auto oldest = all.end();
    for (auto i = all.begin(); i != all.end(); ++i)
      if (i->second.is != entry::state::fetching &&
          (oldest == all.end() || i->second.at < oldest->second.at))
        oldest = i;
    if (oldest != all.end()) all.erase(oldest);
  }
  return all[k];
}

template <class Key>
chart_requests::answer chart_requests::look(std::map<Key, entry>& all, const Key& k,
                                            nanoseconds kept, steady_time now) {
  const auto there = all.find(k);
  if (there != all.end()) {
    entry& e = there->second;
    if (e.is == entry::state::fetching) return {next::wait, {}, {}};
    if (e.is == entry::state::failed && now - e.at < failure_kept) return {next::failed, {}, e.why};
    if (e.is == entry::state::here && (kept == nanoseconds::max() || now - e.at < kept))
      return {next::use, {}, {}};
  }
  entry& e = begin(all, k);
  e.is = entry::state::fetching;
  return {next::fetch, e.etag, {}};
}

chart_requests::answer chart_requests::index(const std::string& repo, steady_time now) {
  return look(indexes_, repo, index_kept, now);
}

void chart_requests::index_came(const std::string& repo, std::string etag, steady_time now) {
  entry& e = begin(indexes_, repo);
  e.is = entry::state::here;
  e.at = now;
  e.etag = std::move(etag);
  e.why = {};
}

void chart_requests::index_failed(const std::string& repo, chart_problem why, steady_time now) {
  entry& e = begin(indexes_, repo);
  e.is = entry::state::failed;
  e.at = now;
  e.why = std::move(why);
}

void chart_requests::index_gone(const std::string& repo) {
  indexes_.erase(repo);
}

chart_requests::answer chart_requests::chart(const chart_coordinates& c, steady_time now) {
  return look(charts_, key_of(c), nanoseconds::max(), now);
}

void chart_requests::chart_came(const chart_coordinates& c, steady_time now) {
  entry& e = begin(charts_, key_of(c));
  e.is = entry::state::here;
  e.at = now;
  e.why = {};
}

void chart_requests::chart_failed(const chart_coordinates& c, chart_problem why, steady_time now) {
  entry& e = begin(charts_, key_of(c));
  e.is = entry::state::failed;
  e.at = now;
  e.why = std::move(why);
}

void chart_requests::chart_gone(const chart_coordinates& c) {
  charts_.erase(key_of(c));
}

}  // namespace helm::tenants
