#pragma once

#include "reactor/plain/time.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace reactor {

/// The only source of randomness. Seeded, it repeats itself bit for bit; the real one is the
/// operating system's.
class entropy {
public:
  virtual ~entropy() = default;
  virtual void fill(std::span<unsigned char> bytes) = 0;

  std::uint64_t next();
  /// Uniform in [low, high], both included. Requires low <= high.
  std::uint64_t between(std::uint64_t low, std::uint64_t high);
  /// Uniform in [0, 1).
  double fraction();
  /// `d` changed by at most ±`share` of itself (0.2 = ±20 %).
  nanoseconds jitter(nanoseconds d, double share);
  nanoseconds between(nanoseconds low, nanoseconds high);
  /// Random version-4 UUID, lower case.
  std::string uuid();
  /// `length` characters of [a-z0-9] without vowels, as Kubernetes' generateName uses.
  std::string suffix(std::size_t length);
};

/// The kernel's generator. Errors: aborts the process if the kernel has none.
class system_entropy final : public entropy {
public:
  void fill(std::span<unsigned char> bytes) override;
};

/// xoshiro256** from one seed (Blackman and Vigna). Never for keys.
class seeded_entropy final : public entropy {
public:
  explicit seeded_entropy(std::uint64_t seed);
  void fill(std::span<unsigned char> bytes) override;

private:
  std::uint64_t step();
  std::uint64_t state_[4];
};

}  // namespace reactor
