#include "reactor/plain/entropy.hpp"

#include "reactor/plain/uuid.hpp"

#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace reactor {

std::uint64_t entropy::next() {
  unsigned char bytes[8];
  fill(bytes);
  std::uint64_t value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

std::uint64_t entropy::between(std::uint64_t low, std::uint64_t high) {
  const std::uint64_t span = high - low + 1;
  if (span == 0) return next();
  const std::uint64_t biased = -span % span;  // values below this would make small results likelier
  for (;;) {
    const std::uint64_t value = next();
    if (value >= biased) return low + value % span;
  }
}

double entropy::fraction() {
  return static_cast<double>(next() >> 11) * 0x1.0p-53;
}

nanoseconds entropy::jitter(nanoseconds d, double share) {
  return nanoseconds(static_cast<std::int64_t>(static_cast<double>(d.count()) *
                                               (1.0 + share * (2.0 * fraction() - 1.0))));
}

nanoseconds entropy::between(nanoseconds low, nanoseconds high) {
  return low +
         nanoseconds(between(std::uint64_t{0}, static_cast<std::uint64_t>((high - low).count())));
}

std::string entropy::uuid() {
  std::array<unsigned char, 16> bytes{};
  fill(bytes);
  return uuid_text(bytes);
}

std::string entropy::suffix(std::size_t length) {
  static constexpr std::string_view alphabet = "bcdfghjklmnpqrstvwxz2456789";
  std::string text(length, ' ');
  for (char& c : text) c = alphabet[between(std::uint64_t{0}, alphabet.size() - 1)];
  return text;
}

void system_entropy::fill(std::span<unsigned char> bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t n = getrandom(bytes.data() + done, bytes.size() - done, 0);
    if (n < 0) {
      if (errno == EINTR) continue;
      // Nothing here works without; a kernel that has the call only refuses it before it is ready.
      std::fputs("windlass: the kernel gives no random numbers\n", stderr);
      ::_exit(1);
    }
    done += static_cast<std::size_t>(n);
  }
}

seeded_entropy::seeded_entropy(std::uint64_t seed) {
  for (auto& word : state_) {  // splitmix64 spreads the seed over the state
    seed += 0x9e3779b97f4a7c15;
    std::uint64_t z = seed;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    word = z ^ (z >> 31);
  }
}

std::uint64_t seeded_entropy::step() {
  const std::uint64_t value = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return value;
}

void seeded_entropy::fill(std::span<unsigned char> bytes) {
  for (std::size_t done = 0; done < bytes.size(); done += 8) {
    const std::uint64_t value = step();
    std::memcpy(bytes.data() + done, &value, std::min<std::size_t>(8, bytes.size() - done));
  }
}

}  // namespace reactor
