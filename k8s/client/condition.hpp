#pragma once

#include "k8s/client/wire.hpp"
#include "reactor/plain/time.hpp"

#include <boost/json/fwd.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace k8s {

/// metav1.Condition: one thing that is true, false or unknown about an object.
struct condition {
  std::string type;
  std::string status = "Unknown";  // "True", "False", "Unknown"
  std::string reason;
  std::string message;
  // RFC 3339, as on the wire, so that others' come back as they were
  std::string last_transition_time;
  std::int64_t observed_generation = 0;  // 0 = not said

  bool is_true() const noexcept { return status == "True"; }
  bool is_false() const noexcept { return status == "False"; }
  friend bool operator==(const condition&, const condition&) = default;
};

/// Equal but for the time of the last transition, which is the only field that may differ without a
/// write.
bool same_but_time(const condition& a, const condition& b) noexcept;
bool same_but_time(const std::vector<condition>& a, const std::vector<condition>& b) noexcept;

/// Null when there is none of that type.
const condition* find_condition(const std::vector<condition>& all, std::string_view type) noexcept;
/// Puts `next` in the place of its type, at the end when it is new. The last transition is `now`
/// only when the status changed. A message that a server would refuse for its length is cut.
/// Returns whether anything but the time is different.
bool set_condition(std::vector<condition>& all, condition next, reactor::wall_time now);

boost::json::array conditions_to_json(const std::vector<condition>& all);
/// Reads status.conditions; what has no type is left out.
std::vector<condition> conditions_from_json(const boost::json::value& list);
std::vector<condition> parse_conditions(wire_value list);

}  // namespace k8s
