#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace k8s {

/// A hash table of slot numbers, four bytes an entry: what is compared and hashed stays in the
/// slots. Linear probing; removing closes the gap. Hashes are asked for again when it grows or
/// closes a gap.
class slot_table {
public:
  static constexpr std::uint32_t none = 0xffffffff;

  /// The slot for which `equal(slot)` holds, or none.
  template <class Equal>
  std::uint32_t find(std::uint32_t hash, Equal equal) const {
    if (slots_.empty()) return none;
    for (std::size_t at = hash & mask(); slots_[at] != none; at = (at + 1) & mask())
      if (equal(slots_[at])) return slots_[at];
    return none;
  }
  /// `slot` must not be in it. `hash_of(slot)` as find() was given.
  template <class HashOf>
  void insert(std::uint32_t slot, HashOf hash_of) {
    if ((used_ + 1) * 4 > slots_.size() * 3) grow(hash_of);
    place(slot, hash_of(slot));
    ++used_;
  }
  template <class HashOf>
  void erase(std::uint32_t slot, HashOf hash_of) {
    std::size_t at = hash_of(slot) & mask();
    while (slots_[at] != slot) at = (at + 1) & mask();
    slots_[at] = none;
    for (std::size_t next = (at + 1) & mask(); slots_[next] != none; next = (next + 1) & mask()) {
      const std::size_t home = hash_of(slots_[next]) & mask();
      if (((next - home) & mask()) < ((next - at) & mask())) continue;
      slots_[at] = slots_[next];
      slots_[next] = none;
      at = next;
    }
    --used_;
  }
  std::size_t size() const noexcept { return used_; }
  std::size_t memory_bytes() const noexcept { return slots_.capacity() * sizeof(std::uint32_t); }

private:
  std::size_t mask() const noexcept { return slots_.size() - 1; }
  void place(std::uint32_t slot, std::uint32_t hash) {
    std::size_t at = hash & mask();
    while (slots_[at] != none) at = (at + 1) & mask();
    slots_[at] = slot;
  }
  template <class HashOf>
  void grow(HashOf hash_of) {
    std::vector<std::uint32_t> old(slots_.empty() ? 16 : slots_.size() * 2, none);
    old.swap(slots_);
    for (const std::uint32_t slot : old)
      if (slot != none) place(slot, hash_of(slot));
  }

  std::vector<std::uint32_t> slots_;
  std::size_t used_ = 0;
};

}  // namespace k8s
