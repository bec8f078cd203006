#include "reactor/plain/keyed_hash.hpp"

#include "reactor/plain/entropy.hpp"

#include <bit>
#include <cstring>
#include <span>
#include <utility>

namespace reactor {
namespace {

hash_key drawn_key() {
  unsigned char bytes[sizeof(hash_key)];
  system_entropy().fill(bytes);
  hash_key key;
  std::memcpy(&key.low, bytes, sizeof key.low);
  std::memcpy(&key.high, bytes + sizeof key.low, sizeof key.high);
  return key;
}

hash_key& process_key() noexcept {
  static hash_key key = drawn_key();
  return key;
}

struct sip_state {
  explicit sip_state(hash_key k) noexcept
      : v0(k.low ^ 0x736f6d6570736575),
        v1(k.high ^ 0x646f72616e646f6d),
        v2(k.low ^ 0x6c7967656e657261),
        v3(k.high ^ 0x7465646279746573) {}

  void round() noexcept {
    v0 += v1;
    v1 = std::rotl(v1, 13) ^ v0;
    v0 = std::rotl(v0, 32);
    v2 += v3;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 += v3;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 += v1;
    v1 = std::rotl(v1, 17) ^ v2;
    v2 = std::rotl(v2, 32);
  }
  void take(std::uint64_t word) noexcept {
    v3 ^= word;
    round();
    v0 ^= word;
  }
  std::uint64_t end() noexcept {
    v2 ^= 0xff;
    round();
    round();
    round();
    return v0 ^ v1 ^ v2 ^ v3;
  }

  std::uint64_t v0, v1, v2, v3;
};

}  // namespace

std::uint64_t keyed_hash(std::string_view text) noexcept {
  sip_state state(process_key());
  const char* at = text.data();
  std::size_t left = text.size();
  std::uint64_t word = 0;
  for (; left >= sizeof word; at += sizeof word, left -= sizeof word) {
    std::memcpy(&word, at, sizeof word);
    state.take(word);
  }
  word = static_cast<std::uint64_t>(text.size()) << 56;
  for (std::size_t i = 0; i < left; ++i)
    word |= static_cast<std::uint64_t>(static_cast<unsigned char>(at[i])) << (8 * i);
  state.take(word);
  return state.end();
}

std::uint64_t keyed_hash(std::uint64_t first, std::uint64_t second) noexcept {
  sip_state state(process_key());
  state.take(first);
  state.take(second);
  return state.end();
}

hash_key set_hash_key(hash_key key) noexcept {
  return std::exchange(process_key(), key);
}

}  // namespace reactor
