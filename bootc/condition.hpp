#pragma once

#include "k8s/wire.hpp"
#include "reactor/time.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bootc {

/// metav1.Condition.
struct condition {
  std::string type, status, reason, message;
  std::string last_transition_time;  // RFC 3339, as on the wire
  std::int64_t observed_generation = 0;
  friend bool operator==(const condition&, const condition&) = default;
};

const condition* find_condition(const std::vector<condition>& all, std::string_view type) noexcept;
/// "True", "False" or, when absent, "Unknown".
std::string_view condition_status(const std::vector<condition>& all,
                                  std::string_view type) noexcept;

/// Puts `wanted` in place of the one of its type; last_transition_time moves only when `status` does, so that setting
/// the same condition again changes nothing.
void set_condition(std::vector<condition>& all, condition wanted, reactor::wall_time now);

/// From the JSON of a list of conditions.
std::vector<condition> parse_conditions(k8s::wire_value list);

/// Cuts to at most `limit` bytes on a UTF-8 boundary, ending in "..."; a longer message would be refused by the server.
std::string clipped(std::string text, std::size_t limit = 32768);

}  // namespace bootc
