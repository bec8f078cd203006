#pragma once

#include "reactor/plain/time.hpp"

#include <string>
#include <string_view>

namespace units {

/// Annotation on the object of a row (a pool): it goes on although the brake is on, or the speed
/// limit reached. `windlass rollout … --override-brake --why TEXT` writes it as a JSON object;
/// each account that may patch the object can write it.
inline constexpr std::string_view override_annotation = "windlass.dev/override-brake";

/// So long an order counts.
inline constexpr reactor::nanoseconds override_lasts = std::chrono::hours(1);

/// What the annotation says.
struct override_order {
  std::string why, by;
  std::string at;      // RFC 3339: when it was given
  std::string target;  // what the row asks for with it, "registry.example.com/os/node@sha256:…"
  std::string brake;   // brake_order::version of the brake that it overrides; empty: none was on
  std::string problem = {};  // why it cannot be read
  friend bool operator==(const override_order&, const override_order&) = default;
};

/// Pure. What is missing is empty.
override_order read_override(std::string_view annotation);
std::string annotation_of(const override_order& o);

/// What an order is judged by.
struct override_facts {
  std::string target;  // what the row asks for now
  std::string brake;   // of the brake that stops it now; empty: none does
  reactor::wall_time now{};
};
/// Why the order does nothing, as the end of a sentence; empty: it is in force.
std::string why_void(const override_order& o, const override_facts& now);

/// "alice's order lets it go on although the brake is on, until 2026-11-29T02:00:00Z: hotfix"
std::string override_sentence(const override_order& o);

}  // namespace units
