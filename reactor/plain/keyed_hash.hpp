#pragma once

#include <cstdint>
#include <string_view>

namespace reactor {

/// What the hashes of one process are keyed with: drawn from the kernel at the first use, so that
/// no outsider can make texts that collide.
struct hash_key {
  std::uint64_t low = 0, high = 0;
};

/// SipHash-1-3 of `text` under the process's key: another number in every process, so nothing that
/// anybody sees may depend on it.
/// Source  Aumasson, Bernstein: "SipHash: a fast short-input PRF"; Rust's and Ruby's tables use the
///         same rounds.
std::uint64_t keyed_hash(std::string_view text) noexcept;
/// The same for sixteen bytes that are numbers.
std::uint64_t keyed_hash(std::uint64_t first, std::uint64_t second) noexcept;

/// For tests that compare two keys. Nothing that was hashed before may be used afterwards.
hash_key set_hash_key(hash_key key) noexcept;

}  // namespace reactor
