#pragma once

#include "reactor/plain/keyed_hash.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

namespace k8s {

/// A string that many views share (namespaces, label keys and values, node names): one pointer,
/// counted, equal strings are the same pointer. The table behind it is a cache of constants, one
/// per thread: a handle stays on the thread that made it, and nothing can tell that the table
/// exists except by its size.
class interned {
public:
  interned() = default;
  interned(std::string_view text);
  interned(const char* text) : interned(std::string_view(text)) {}
  interned(const std::string& text) : interned(std::string_view(text)) {}
  interned(const interned& other) noexcept : entry_(other.entry_) {
    if (entry_) ++entry_->references;
  }
  interned(interned&& other) noexcept : entry_(std::exchange(other.entry_, nullptr)) {}
  interned& operator=(interned other) noexcept {
    std::swap(entry_, other.entry_);
    return *this;
  }
  ~interned() {
    if (entry_ && --entry_->references == 0) drop(entry_);
  }

  std::string_view view() const noexcept {
    return entry_ ? std::string_view(reinterpret_cast<const char*>(entry_ + 1), entry_->length)
                  : std::string_view();
  }
  operator std::string_view() const noexcept { return view(); }
  std::string str() const { return std::string(view()); }
  bool empty() const noexcept { return !entry_; }
  /// Equal strings have equal hashes in one process; another one has others
  /// (reactor/plain/keyed_hash.hpp).
  std::size_t hash() const noexcept { return entry_ ? entry_->hash : 0; }

  friend bool operator==(const interned& a, const interned& b) noexcept {
    return a.entry_ == b.entry_;
  }
  friend bool operator==(const interned& a, std::string_view b) noexcept { return a.view() == b; }
  friend bool operator==(const interned& a, const char* b) noexcept { return a.view() == b; }
  friend bool operator==(const interned& a, const std::string& b) noexcept { return a.view() == b; }
  /// Alphabetical, so that what is sorted by it is the same in every run.
  friend auto operator<=>(const interned& a, const interned& b) noexcept {
    return a.view() <=> b.view();
  }
  friend std::ostream& operator<<(std::ostream& out, const interned& s) { return out << s.view(); }

  /// Different strings alive on this thread, and what they take.
  struct usage {
    std::size_t strings = 0, bytes = 0;
  };
  static usage used() noexcept;
  /// For tests, after reactor::set_hash_key(): the strings that are alive get new hashes.
  static void hash_again();

private:
  friend class intern_table;
  struct entry {
    class intern_table* table;
    std::uint32_t references, length, hash;
  };  // the characters follow
  static void drop(entry* e) noexcept;

  entry* entry_ = nullptr;
};

/// The hash that an interned copy of `text` has.
inline std::uint32_t intern_hash(std::string_view text) noexcept {
  return text.empty() ? 0 : static_cast<std::uint32_t>(reactor::keyed_hash(text));
}

}  // namespace k8s
