#pragma once

#include "k8s/client/resource.hpp"
#include "k8s/informer/meta.hpp"
#include "reactor/awaitable.hpp"
#include "reactor/loop_slice.hpp"
#include "reactor/plain/time.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>

namespace reactor {
class loop;
}

namespace k8s {

/// What we wrote to the objects of one collection and have not seen in its informer yet. A
/// reconcile that would act on an older view ends instead: the event of our own write brings it
/// back.
/// Bounds  `most` objects, the oldest is forgotten first; each for `keep`, since a write may never
///         be seen (another client deleted the object meanwhile).
/// History  what was written in an earlier history of the server (store::history) is forgotten: a
///          storage that was put back to a backup does not have it.
class own_writes {
public:
  /// `history` gives that of the collection's store and outlives this.
  own_writes(reactor::loop& l, std::function<std::uint64_t()> history, std::size_t most = 10'000,
             reactor::nanoseconds keep = std::chrono::seconds(60))
      : loop_(l), history_of_store_(std::move(history)), most_(most), keep_(keep) {}

  /// The server answered a create, patch or update with this. An answer that comes behind the news
  /// of the object's end is no reason to wait for it.
  void wrote(const object_key& key, const uid& id, const resource_version& version);
  /// The server accepted a delete without finalizers holding it, so the object's absence is to be
  /// expected.
  void removed(const object_key& key, const uid& id);

  /// The informer saw that object disappear (on_change without `now`): nothing of it is awaited any
  /// more.
  void gone(const object_key& key, const uid& id);

  /// True while `view` (null = the store has no such object) does not show our last write yet.
  bool is_stale(const object_key& key, const object_meta* view);
  /// Whether that is so of any object; `view_of(key)` gives its view or null. `is_of_use(key)`:
  /// false for objects that are not looked at any more. Of thousands some have their turn; what is
  /// written meanwhile may be left out.
  template <class Find, class Filter>
  reactor::awaitable<bool> any_is_stale(Find view_of, Filter is_of_use) {
    follow_history();
    for (auto w = writes_.begin(); w != writes_.end();) {
      const object_key key = (w++)->first;  // it may be forgotten
      if (is_of_use(key) && is_stale(key, view_of(key))) co_return true;
      if (w == writes_.end() || !reactor::loop_slice::is_over()) continue;
      const object_key next = w->first;
      co_await reactor::loop_slice::yield();
      follow_history();
      w = writes_.lower_bound(next);
    }
    co_return false;
  }
  std::size_t size() const noexcept { return writes_.size(); }

private:
  struct write {
    uid id;
    resource_version version;  // empty: removed
    reactor::steady_time at;
    std::uint64_t order;
  };
  struct ended {
    object_key key;
    uid id;
  };
  void follow_history();
  void remember(const object_key& key, write w);
  bool has_ended(const object_key& key, const uid& id) const;
  void forget(std::map<object_key, write>::iterator w);

  reactor::loop& loop_;
  std::function<std::uint64_t()> history_of_store_;
  std::size_t most_;
  reactor::nanoseconds keep_;
  std::uint64_t last_order_ = 0, history_ = 0;
  std::map<object_key, write> writes_;
  std::map<std::uint64_t, object_key> by_order_;
  std::deque<ended> ended_;  // the last of them: an answer is not later than many
};

}  // namespace k8s
