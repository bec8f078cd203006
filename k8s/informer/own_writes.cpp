#include "k8s/informer/own_writes.hpp"

#include "reactor/loop.hpp"

#include <algorithm>
#include <utility>

namespace k8s {
namespace {

constexpr std::size_t most_ended = 256;

}  // namespace

void own_writes::wrote(const object_key& key, const uid& id, const resource_version& version) {
  if (has_ended(key, id)) return;
  remember(key, {id, version, loop_.now(), ++last_order_});
}

void own_writes::removed(const object_key& key, const uid& id) {
  if (has_ended(key, id)) return;
  remember(key, {id, {}, loop_.now(), ++last_order_});
}

void own_writes::remember(const object_key& key, write w) {
  follow_history();
  if (const auto known = writes_.find(key); known != writes_.end()) forget(known);
  if (writes_.size() >= most_) forget(writes_.find(by_order_.begin()->second));
  by_order_.emplace(w.order, key);
  writes_.emplace(key, std::move(w));
}

void own_writes::forget(std::map<object_key, write>::iterator w) {
  by_order_.erase(w->second.order);
  writes_.erase(w);
}

void own_writes::gone(const object_key& key, const uid& id) {
  const auto known = writes_.find(key);
  if (known != writes_.end() && known->second.id == id) forget(known);
  if (ended_.size() >= most_ended) ended_.pop_front();
  ended_.push_back({key, id});
}

void own_writes::follow_history() {
  const std::uint64_t now = history_of_store_();
  if (std::exchange(history_, now) == now) return;
  writes_.clear();
  by_order_.clear();
}

bool own_writes::has_ended(const object_key& key, const uid& id) const {
  return !id.empty() &&
         std::ranges::any_of(ended_, [&](const ended& e) { return e.id == id && e.key == key; });
}

bool own_writes::is_stale(const object_key& key, const object_meta* view) {
  follow_history();
  const auto known = writes_.find(key);
  if (known == writes_.end()) return false;
  const write& w = known->second;
  bool stale = false;
  if (w.at + keep_ <= loop_.now()) {
    stale = false;
  } else if (w.version.empty()) {
    stale = view && view->uid == w.id;
  } else if (!view) {
    // Created and not seen yet.
    stale = true;
  } else if (view->resource_version < w.version) {
    stale = true;
  } else if (!(view->uid == w.id)) {
    stale = false;
  } else {
    // Versions that do not compare: stale until the very version is seen.
    const auto order = view->resource_version <=> w.version;
    stale = order == std::partial_ordering::unordered;
  }
  if (!stale) forget(known);
  return stale;
}

}  // namespace k8s
