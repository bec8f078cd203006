#include "compose/other_operators.hpp"

#include "formats/json/member.hpp"
#include "k8s/client/client.hpp"
#include "k8s/client/resource.hpp"
#include "reactor/loop.hpp"

#include <boost/json.hpp>

#include <chrono>
#include <utility>

namespace compose {
namespace {

namespace json = boost::json;

/// A Lease that was not renewed for so long, by its own clock, is not waited for when it is first
/// seen: its holder went without releasing it.
constexpr std::chrono::seconds long_gone{300};

bool is_long_gone(const k8s::lease_record& lease, reactor::wall_time wall) {
  const auto renewed = reactor::parse_rfc3339(lease.renewed);
  return renewed && wall - *renewed > long_gone;
}

}  // namespace

std::string lease_holders::note(const std::vector<json::object>& listed,
                                const std::set<std::string>& ours, reactor::steady_time now,
                                reactor::wall_time wall) {
  std::map<std::string, k8s::kept_lease> seen;
  std::string other;
  for (const json::object& one : listed) {
    const json::value* metadata = one.if_contains("metadata");
    if (!metadata || !metadata->is_object()) continue;
    const std::string ns = formats::text_member(metadata->get_object(), "namespace");
    const k8s::lease_record lease = k8s::lease_record_of(one);
    const auto before = by_namespace_.find(ns);
    if (before == by_namespace_.end() && is_long_gone(lease, wall)) continue;
    k8s::kept_lease& kept = seen[ns];
    if (before != by_namespace_.end()) kept = before->second;
    const std::string& holder = kept.note(lease, now);
    if (other.empty() && !holder.empty() && !ours.contains(ns))
      other =
          ns + "/" + formats::text_member(metadata->get_object(), "name") + ", held by " + holder;
  }
  by_namespace_ = std::move(seen);
  return other;
}

other_operators::other_operators(reactor::loop& l, k8s::client& api) : loop_(l), api_(api) {}

reactor::awaitable<std::string> other_operators::look(std::string lease) {
  known_lease& known = leases_[lease];
  if (known.asked && loop_.now() - known.asked_at < asked_every) co_return known.other;
  k8s::list_options o;
  o.field_selector = "metadata.name=" + lease;
  auto page = co_await api_.list(k8s::resources::leases(), std::move(o));
  if (page) {
    known.other = co_await other_in(known.holders, std::move(*page));
  } else if (page.error().code == k8s::errc::forbidden) {
    known.other.clear();
  }
  // Not before the answer: a caller that asks meanwhile must not take silence for "no other
  // holder".
  known.asked = true;
  known.asked_at = loop_.now();
  co_return known.other;
}

reactor::awaitable<std::string> other_operators::other_in(lease_holders& holders,
                                                          json::object page) {  // borrowed
  std::vector<json::object> listed;
  std::set<std::string> ours;
  if (json::value* items = page.if_contains("items"); items && items->is_array())
    for (json::value& one : items->get_array())
      if (one.is_object()) listed.push_back(std::move(one.get_object()));
  for (const json::object& one : listed) {
    const json::value* metadata = one.if_contains("metadata");
    if (!metadata || !metadata->is_object()) continue;
    k8s::object_key key{formats::text_member(metadata->get_object(), "namespace"), api_lease};
    const std::string ns = key.ns;
    auto own = co_await api_.get(k8s::resources::leases(), std::move(key));
    if (own && !k8s::lease_record_of(*own).holder.empty()) ours.insert(ns);
  }
  co_return holders.note(listed, ours, loop_.now(), loop_.wall());
}

}  // namespace compose
