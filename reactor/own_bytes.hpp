#pragma once

#include "reactor/plain/keyed_map.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace reactor {

/// Recognises bytes that this process wrote to a place outside of it when they are read there
/// again. Of a place only the newest write counts.
/// Bounds   at most `most` places, each some 70 bytes. A new place beyond that empties the memory:
///          the bytes of the other places count as foreign then.
class own_bytes {
public:
  explicit own_bytes(std::size_t most = 1u << 16) : most_(most) {}
  /// `digest` is the hexadecimal SHA-256 of the bytes.
  void wrote(std::string_view place, std::string_view digest);
  void removed(std::string_view place) { by_place_.erase(key_of(place)); }
  bool has(std::string_view place) const { return by_place_.contains(key_of(place)); }
  /// Returns true if the newest write to `place` had this digest.
  bool is(std::string_view place, std::string_view digest) const;
  std::size_t size() const noexcept { return by_place_.size(); }

private:
  /// Two places with one hash cost a memory, and never let foreign bytes pass: the digest decides.
  struct key {
    std::uint64_t hashed = 0;
    std::uint64_t hash() const noexcept { return hashed; }
    friend bool operator==(const key&, const key&) = default;
  };
  using mark = std::array<char, 32>;  // 128 bits of the digest
  static key key_of(std::string_view place) noexcept { return {keyed_hash(place)}; }
  static mark mark_of(std::string_view digest) noexcept;

  keyed_map<key, mark> by_place_;
  std::size_t most_;
};

}  // namespace reactor
