#pragma once

#include "reactor/awaitable.hpp"
#include "reactor/metrics.hpp"

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace reactor {
class loop;
class waiters;
}  // namespace reactor

namespace helm::apart {

/// What renders came to, for the next caller with the same input: a chart is rendered once for all
/// clusters that are alike (docs/adr/0017).
/// Shape    one for each loop. A key is the SHA-256 of everything that the templates could see. The
///          first caller with a key has the lead and renders; the others wait until the lead ends,
///          however it ends, and look again.
/// Bounds   most_bytes in all, most_bytes_of_one packed and most_unpacked_bytes before that; of a
///          larger render only a mark is kept. The least recently used entry is dropped first.
/// Lifetime as long as the loop. A lead ends before the loop does.
class kept_renders {
public:
  static constexpr std::size_t most_bytes = 4u << 20, most_bytes_of_one = 1u << 20,
                               most_unpacked_bytes = 8u << 20, entry_bytes = 256;

  /// The one of that loop.
  static kept_renders& of(reactor::loop& l);
  explicit kept_renders(reactor::loop& l) noexcept : loop_(l) {}
  kept_renders(const kept_renders&) = delete;
  kept_renders& operator=(const kept_renders&) = delete;

  struct entry {
    std::shared_ptr<const std::string> packed;  // null: a mark, each caller renders for itself
    std::size_t unpacked_bytes = 0;
  };
  /// Null where nothing is kept. Lifetime until the next call.
  const entry* find(std::string_view key);
  void keep(std::string key, entry e);

  class lead {
  public:
    lead(kept_renders& from, std::string key);
    ~lead();
    lead(const lead&) = delete;
    lead& operator=(const lead&) = delete;

  private:
    kept_renders& from_;
    std::string key_;
  };
  /// Null where another caller has it.
  std::unique_ptr<lead> take_lead(const std::string& key);
  /// Waits until the lead of another caller ends. An operation that is large (work_memory) must not
  /// wait here: the one that it waits for may wait to be large.
  reactor::awaitable<void> wait_for(std::string key);

  void count_in(reactor::counter made, reactor::counter saved);
  void count_made();
  void count_saved();
  struct figures {
    std::uint64_t made = 0, saved = 0;
    std::size_t entries = 0, bytes = 0;
  };
  figures look() const noexcept { return {made_, saved_, used_.size(), bytes_}; }

private:
  struct kept {
    std::string key;
    entry what;
    std::size_t bytes() const noexcept {
      return entry_bytes + (what.packed ? what.packed->size() : 0);
    }
  };
  using order = std::list<kept>;
  void drop(order::iterator at);

  reactor::loop& loop_;
  order used_;                                          // most recently used first
  std::map<std::string_view, order::iterator> by_key_;  // keys live in used_
  std::map<std::string, std::shared_ptr<reactor::waiters>> under_way_;
  std::size_t bytes_ = 0;
  std::uint64_t made_ = 0, saved_ = 0;
  reactor::counter made_counter_, saved_counter_;
};

}  // namespace helm::apart
