#pragma once

#include "k8s/client/resource.hpp"
#include "k8s/informer/slot_table.hpp"
#include "k8s/informer/view.hpp"
#include "k8s/informer/view_budget.hpp"
#include "reactor/plain/keyed_map.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s {

/// What a version of an object meant to the store.
enum class put_outcome {
  added,     // unknown until now
  changed,   // newer and different
  same,      // newer, equal in all that the view keeps: no handler was told
  repeated,  // the resource version that is stored already
  older,     // older than what is stored: not taken
  replaced,  // another object of that name (other uid): the old one was removed, this one added
  refused,   // the budget has no room for it: what is stored stays, and is no longer the truth
};
enum class origin { list, watch };

/// The views of one collection. Identity is the uid; a name has one object at a time.
/// Lifetime  pointers are valid until the next change of that object; across a co_await keep the
///           key.
/// Order     each() and by() follow the order of arrival with gaps refilled; sort where order
///           matters.
/// Memory    a relist works in place: begin_relist(), put() each, sweep() what was not put. What
///           does not fit the budget is refused.
template <stored_view View>
class store {
public:
  using index_function = std::function<void(const View&, std::vector<interned>& values)>;
  /// Called after the store changed; no `before` = added, no `now` = removed. Both end with the
  /// call.
  using change_handler = std::function<void(const View* before, const View* now)>;

  store() = default;
  store(const store&) = delete;
  store& operator=(const store&) = delete;
  ~store() {
    if (shared_) shared_->bytes -= weight_;
  }

  /// Before the first object arrives; `shared` (may be null) is what several stores may take
  /// together.
  void set_budget(store_budget own, std::shared_ptr<view_budget> shared) {
    budget_ = own;
    if (shared) shared->bytes += weight_;
    if (shared_) shared_->bytes -= weight_;
    shared_ = std::move(shared);
  }
  /// What counts against the budget.
  std::size_t weight() const noexcept { return weight_; }

  const View* find(std::string_view ns, std::string_view name) const {
    const std::uint32_t slot = find_slot(ns, name);
    return slot == slot_table::none ? nullptr : &at(slot);
  }
  const View* find(const object_key& key) const { return find(key.ns, key.name); }
  std::size_t size() const noexcept { return by_name_.size(); }
  bool empty() const noexcept { return size() == 0; }

  template <class F>
  void each(F&& f) const {
    for (std::uint32_t slot = 0; slot < marks_.size(); ++slot)
      if (marks_[slot] != mark::free) f(at(slot));
  }

  /// Before the first object arrives. `f` must be a pure function of the view.
  void add_index(std::string name, index_function f) {
    indices_.push_back({std::move(name), std::move(f), {}});
  }
  /// f(const View&) for each object that has `value` in that index.
  template <class F>
  void each_by(std::string_view index_name, std::string_view value, F&& f) const {
    if (const auto* slots = find_value(index_name, value))
      for (const std::uint32_t slot : *slots) f(at(slot));
  }
  std::vector<const View*> by(std::string_view index_name, std::string_view value) const {
    std::vector<const View*> found;
    each_by(index_name, value, [&](const View& v) { found.push_back(&v); });
    return found;
  }
  std::size_t count(std::string_view index_name, std::string_view value) const {
    const auto* slots = find_value(index_name, value);
    return slots ? slots->size() : 0;
  }

  /// Several may listen; they are called in the order they were added.
  void on_change(change_handler f) { handlers_.push_back(std::move(f)); }

  /// Takes a version of an object. From a list a repeated version is compared again, since a list
  /// is the truth. `weight`: what it counts against the budget.
  put_outcome put(View now, origin from, std::uint32_t weight = sizeof(View)) {
    const std::uint32_t slot = find_slot(now.meta.ns.hash(), now.meta.ns, now.meta.name);
    if (slot == slot_table::none) {
      if (size() >= budget_.most_objects || !has_room(0, weight)) return put_outcome::refused;
      add(std::move(now), weight);
      return put_outcome::added;
    }
    View& stored = at(slot);
    if (!(stored.meta.uid == now.meta.uid)) {
      // An older incarnation that comes late must not replace the present one.
      if (now.meta.resource_version < stored.meta.resource_version) return put_outcome::older;
      if (!has_room(weights_[slot], weight)) return put_outcome::refused;
      remove_slot(slot);
      add(std::move(now), weight);
      return put_outcome::replaced;
    }
    if (now.meta.resource_version < stored.meta.resource_version) {
      if (from == origin::list) marks_[slot] = mark::seen;
      return put_outcome::older;
    }
    const bool repeated = now.meta.resource_version == stored.meta.resource_version;
    marks_[slot] = mark::seen;
    if (repeated && from == origin::watch) return put_outcome::repeated;
    if (stored == now) {
      stored.meta.resource_version = std::move(now.meta.resource_version);
      return repeated ? put_outcome::repeated : put_outcome::same;
    }
    if (!has_room(weights_[slot], weight)) return put_outcome::refused;
    weigh(slot, weight);
    const View before = std::exchange(stored, std::move(now));
    reindex(slot, before);
    notify(&before, &stored);
    return put_outcome::changed;
  }

  /// False when there is no such object, or another one has that name.
  bool remove(const object_meta& meta) {
    const std::uint32_t slot = find_slot(meta.ns, meta.name);
    if (slot == slot_table::none || !(at(slot).meta.uid == meta.uid)) return false;
    remove_slot(slot);
    return true;
  }

  /// From here on each put() marks; starting again forgets the marks of a relist that did not end.
  void begin_relist() noexcept {
    swept_ = 0;
    for (mark& m : marks_)
      if (m == mark::seen) m = mark::stale;
  }
  /// Removes what was not put since begin_relist(); says how many.
  std::size_t sweep() { return sweep_some(size()); }
  /// The same in parts: at most `most`, beginning where the last part ended. What is put between
  /// two parts stays.
  std::size_t sweep_some(std::size_t most) {
    std::size_t removed = 0;
    while (removed < most && swept_ < marks_.size()) {
      const std::uint32_t slot = swept_++;
      if (marks_[slot] != mark::stale) continue;
      remove_slot(slot);
      ++removed;
    }
    return removed;
  }

  /// The server's history is another one from here on: any version of an object is newer than what
  /// is stored.
  void forget_versions() {
    ++history_;
    for (std::size_t slot = 0; slot < marks_.size(); ++slot)
      if (marks_[slot] != mark::free)
        at(static_cast<std::uint32_t>(slot)).meta.resource_version = resource_version();
  }

  /// How often the server's history was replaced; versions of different histories do not compare.
  std::uint64_t history() const noexcept { return history_; }

  /// Gives back at most about `most` views without telling anybody, as its end does with all of
  /// them at once, which takes a microsecond each; from the first call on nothing is found. Says
  /// how many; 0 = nothing is left.
  std::size_t forget_some(std::size_t most) {
    by_name_ = slot_table();
    for (index& i : indices_) decltype(i.values)().swap(i.values);
    std::size_t forgotten = 0;
    while (!chunks_.empty() && forgotten < most) {
      const std::size_t first = (chunks_.size() - 1) * chunk_size;
      for (std::size_t slot = first; slot < marks_.size(); ++slot)
        weigh(static_cast<std::uint32_t>(slot), 0);
      forgotten += marks_.size() - first;
      marks_.resize(first);
      weights_.resize(first);
      chunks_.pop_back();
    }
    if (chunks_.empty()) give_back();
    return forgotten;
  }

  /// An estimate of everything that is there because of this store, shared strings counted once per
  /// thread elsewhere (interned::used()).
  std::size_t memory_bytes() const {
    std::size_t total = by_name_.memory_bytes() + marks_.capacity() +
                        (weights_.capacity() + free_.capacity()) * sizeof(std::uint32_t) +
                        chunks_.capacity() * sizeof(void*) +
                        chunks_.size() * chunk_size * sizeof(View);
    each([&](const View& v) { total += heap_bytes_of(v); });
    for (const index& i : indices_)
      total += i.values.bucket_count() * sizeof(void*) + i.values.size() * 64 +
               i.entries * sizeof(std::uint32_t);
    return total;
  }

private:
  static constexpr std::size_t chunk_size = 8;  // most collections of a cluster are small
  enum class mark : unsigned char { free, stale, seen };
  struct index {
    std::string name;
    index_function values_of;
    reactor::keyed_map<interned, std::vector<std::uint32_t>> values;
    std::size_t entries = 0;
  };

  View& at(std::uint32_t slot) { return chunks_[slot / chunk_size][slot % chunk_size]; }
  const View& at(std::uint32_t slot) const { return chunks_[slot / chunk_size][slot % chunk_size]; }

  static std::uint32_t hash_name(std::size_t ns_hash, std::string_view name) noexcept {
    return intern_hash(name) ^ (static_cast<std::uint32_t>(ns_hash) * 0x9e3779b1u);
  }
  auto name_hash() const {
    return [this](std::uint32_t s) { return hash_name(at(s).meta.ns.hash(), at(s).meta.name); };
  }
  std::uint32_t find_slot(std::string_view ns, std::string_view name) const {
    return find_slot(intern_hash(ns), ns, name);
  }
  std::uint32_t find_slot(std::size_t ns_hash, std::string_view ns, std::string_view name) const {
    return by_name_.find(hash_name(ns_hash, name), [&](std::uint32_t s) {
      const object_meta& m = at(s).meta;
      return m.name == name && m.ns == ns;
    });
  }

  bool has_room(std::uint32_t before, std::uint32_t now) const noexcept {
    if (now <= before) return true;
    const std::size_t more = now - before;
    return weight_ + more <= budget_.most_bytes &&
           (!shared_ || shared_->bytes + more <= shared_->most_bytes);
  }
  void weigh(std::uint32_t slot, std::uint32_t now) noexcept {
    const std::uint32_t before = std::exchange(weights_[slot], now);
    weight_ = weight_ - before + now;
    if (shared_) shared_->bytes = shared_->bytes - before + now;
  }

  const std::vector<std::uint32_t>* find_value(std::string_view index_name,
                                               std::string_view value) const {
    for (const index& i : indices_) {
      if (i.name != index_name) continue;
      return i.values.find(interned(value));
    }
    return nullptr;
  }

  void add(View now, std::uint32_t weight) {
    std::uint32_t slot = 0;
    if (free_.empty()) {
      slot = static_cast<std::uint32_t>(marks_.size());
      if (slot % chunk_size == 0) chunks_.push_back(std::make_unique<View[]>(chunk_size));
      marks_.push_back(mark::free);
      weights_.push_back(0);
    } else {
      slot = free_.back();
      free_.pop_back();
    }
    at(slot) = std::move(now);
    marks_[slot] = mark::seen;
    weigh(slot, weight);
    by_name_.insert(slot, name_hash());
    for (index& i : indices_) {
      std::vector<interned> values;
      i.values_of(at(slot), values);
      for (interned& value : values) enter(i, std::move(value), slot);
    }
    notify(nullptr, &at(slot));
  }

  void remove_slot(std::uint32_t slot) {
    by_name_.erase(slot, name_hash());
    for (index& i : indices_) {
      std::vector<interned> values;
      i.values_of(at(slot), values);
      for (const interned& value : values) unindex(i, value, slot);
    }
    const View before = std::exchange(at(slot), View{});
    marks_[slot] = mark::free;
    weigh(slot, 0);
    free_.push_back(slot);
    if (size() == 0) give_back();
    notify(&before, nullptr);
  }

  /// An empty store keeps nothing.
  void give_back() {
    // A swap each: = {} would take the list assignment, which keeps the capacity.
    decltype(chunks_)().swap(chunks_);
    decltype(marks_)().swap(marks_);
    decltype(weights_)().swap(weights_);
    decltype(free_)().swap(free_);
    by_name_ = slot_table();
    for (index& i : indices_) decltype(i.values)().swap(i.values);
    swept_ = 0;
  }

  void reindex(std::uint32_t slot, const View& before) {
    for (index& i : indices_) {
      std::vector<interned> old_values, new_values;
      i.values_of(before, old_values);
      i.values_of(at(slot), new_values);
      if (old_values == new_values) continue;
      for (const interned& value : old_values) unindex(i, value, slot);
      for (interned& value : new_values) enter(i, std::move(value), slot);
    }
  }

  static void enter(index& i, interned value, std::uint32_t slot) {
    i.values[std::move(value)].push_back(slot);
    ++i.entries;
  }
  static void unindex(index& i, const interned& value, std::uint32_t slot) {
    std::vector<std::uint32_t>& slots = *i.values.find(value);
    const auto place = std::find(slots.begin(), slots.end(), slot);
    *place = slots.back();
    slots.pop_back();
    --i.entries;
    if (slots.empty()) i.values.erase(value);
  }

  void notify(const View* before, const View* now) const {
    for (const change_handler& f : handlers_) f(before, now);
  }

  std::vector<std::unique_ptr<View[]>> chunks_;
  std::vector<mark> marks_;
  std::vector<std::uint32_t> weights_;  // of each slot
  std::size_t weight_ = 0;
  store_budget budget_;
  std::shared_ptr<view_budget> shared_;
  std::uint32_t swept_ = 0;  // how far a sweep has come
  std::uint64_t history_ = 0;
  std::vector<std::uint32_t> free_;
  slot_table by_name_;
  std::vector<index> indices_;
  std::vector<change_handler> handlers_;
};

}  // namespace k8s
