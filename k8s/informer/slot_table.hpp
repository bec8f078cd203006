#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace k8s {

/// A hash table of slot numbers, four bytes an entry: what is compared and hashed stays in the
/// slots. Linear probing; removing closes the gap. Hashes are asked for again when it grows or
/// closes a gap. It grows in steps, a few entries with each insert, because asking 200,000 slots
/// for their hashes takes tens of milliseconds.
class slot_table {
public:
  static constexpr std::uint32_t none = 0xffffffff;

  /// The slot for which `equal(slot)` holds, or none.
  template <class Equal>
  std::uint32_t find(std::uint32_t hash, Equal equal) const {
    const std::uint32_t found = find_in(slots_, hash, equal);
    return found != none || old_.empty() ? found : find_in(old_, hash, equal);
  }
  /// `slot` must not be in it. `hash_of(slot)` as find() was given.
  template <class HashOf>
  void insert(std::uint32_t slot, HashOf hash_of) {
    if ((used_ + 1) * 4 > slots_.size() * 3) grow(hash_of);
    place(slot, hash_of(slot));
    ++used_;
    move_some(step, hash_of);
  }
  template <class HashOf>
  void erase(std::uint32_t slot, HashOf hash_of) {
    --used_;
    const std::uint32_t hash = hash_of(slot);
    // What is left in the old table keeps its place there: only marks may be between.
    if (std::size_t at = place_in(old_, hash, slot); at != old_.size()) {
      old_[at] = moved;
      return;
    }
    std::size_t at = place_in(slots_, hash, slot);
    slots_[at] = none;
    for (std::size_t next = (at + 1) & mask(); slots_[next] != none; next = (next + 1) & mask()) {
      const std::size_t home = hash_of(slots_[next]) & mask();
      if (((next - home) & mask()) < ((next - at) & mask())) continue;
      slots_[at] = slots_[next];
      slots_[next] = none;
      at = next;
    }
  }
  std::size_t size() const noexcept { return used_; }
  std::size_t memory_bytes() const noexcept {
    return (slots_.capacity() + old_.capacity()) * sizeof(std::uint32_t);
  }

private:
  // Twice the size has room for as many inserts as three quarters of the old table, and is ready
  // long before.
  static constexpr std::size_t step = 8;
  static constexpr std::uint32_t moved = 0xfffffffe;  // in the old table: was here, look further

  template <class Equal>
  static std::uint32_t find_in(const std::vector<std::uint32_t>& in, std::uint32_t hash,
                               Equal equal) {
    if (in.empty()) return none;
    const std::size_t mask = in.size() - 1;
    for (std::size_t at = hash & mask; in[at] != none; at = (at + 1) & mask)
      if (in[at] != moved && equal(in[at])) return in[at];
    return none;
  }
  /// Where `slot` is, or the table's size.
  static std::size_t place_in(const std::vector<std::uint32_t>& in, std::uint32_t hash,
                              std::uint32_t slot) {
    if (in.empty()) return 0;
    const std::size_t mask = in.size() - 1;
    for (std::size_t at = hash & mask; in[at] != none; at = (at + 1) & mask)
      if (in[at] == slot) return at;
    return in.size();
  }

  std::size_t mask() const noexcept { return slots_.size() - 1; }
  void place(std::uint32_t slot, std::uint32_t hash) {
    std::size_t at = hash & mask();
    while (slots_[at] != none) at = (at + 1) & mask();
    slots_[at] = slot;
  }
  template <class HashOf>
  void grow(HashOf hash_of) {
    move_some(old_.size(), hash_of);
    std::vector<std::uint32_t> bigger(slots_.empty() ? 16 : slots_.size() * 2, none);
    bigger.swap(slots_);
    bigger.swap(old_);
    next_ = 0;
  }
  template <class HashOf>
  void move_some(std::size_t most, HashOf hash_of) {
    if (old_.empty()) return;
    const std::size_t end = std::min(next_ + most, old_.size());
    for (; next_ < end; ++next_) {
      const std::uint32_t slot = old_[next_];
      if (slot == none || slot == moved) continue;
      place(slot, hash_of(slot));
      old_[next_] = moved;
    }
    if (next_ == old_.size()) std::vector<std::uint32_t>().swap(old_);
  }

  std::vector<std::uint32_t> slots_, old_;  // old_ is what has not been moved since it grew
  std::size_t next_ = 0;                    // of old_
  std::size_t used_ = 0;
};

}  // namespace k8s
