#pragma once

#include "reactor/plain/keyed_hash.hpp"

#include <concepts>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>

namespace reactor {

/// A hash table for keys that come from outside: its hash has a key, so they cannot be made to
/// collide, and it has no order, so nothing can depend on it: there is no begin(). What must be
/// visited is kept in an order of its own beside it. It is the only one of its kind
/// (tests/rules_test.cpp).
/// Keys  texts; and types that name their own keyed `hash()`.
template <class Key, class Value>
class keyed_map {
public:
  Value* find(const auto& key) {
    const auto found = map_.find(as_key(key));
    return found == map_.end() ? nullptr : &found->second;
  }
  const Value* find(const auto& key) const {
    const auto found = map_.find(as_key(key));
    return found == map_.end() ? nullptr : &found->second;
  }
  bool contains(const auto& key) const { return find(key) != nullptr; }
  Value& operator[](Key key) { return map_[std::move(key)]; }
  /// The value of that key and whether it is new; an old one stays.
  template <class... Args>
  std::pair<Value*, bool> try_emplace(Key key, Args&&... args) {
    const auto [at, fresh] = map_.try_emplace(std::move(key), std::forward<Args>(args)...);
    return {&at->second, fresh};
  }
  bool erase(const auto& key) {
    const auto found = map_.find(as_key(key));
    if (found == map_.end()) return false;
    map_.erase(found);
    return true;
  }
  void reserve(std::size_t n) { map_.reserve(n); }
  void clear() noexcept { map_.clear(); }
  void swap(keyed_map& other) noexcept { map_.swap(other.map_); }
  std::size_t size() const noexcept { return map_.size(); }
  bool empty() const noexcept { return map_.empty(); }
  std::size_t bucket_count() const noexcept { return map_.bucket_count(); }

private:
  static constexpr bool is_text =
      std::convertible_to<const Key&, std::string_view> && !requires(const Key& k) { k.hash(); };
  struct hasher {
    using is_transparent = void;
    template <class K>
    std::size_t operator()(const K& key) const noexcept {
      if constexpr (requires { key.hash(); })
        return key.hash();
      else
        return keyed_hash(std::string_view(key));
    }
  };
  template <class K>
  static decltype(auto) as_key(const K& key) {
    if constexpr (is_text)
      return std::string_view(key);
    else
      return static_cast<const Key&>(key);
  }

  std::unordered_map<Key, Value, hasher, std::equal_to<>> map_;
};

}  // namespace reactor
