#pragma once

#include "bootc/kinds/bootc_node.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace bootc {

/// Where a node is on its way to the desired image.
enum class unit_state { up_to_date, pending, staging, staged, rebooting, degraded, unclassified };
std::string_view text(unit_state s) noexcept;

/// First match wins: a degraded report, no report, an unusable desired image, the image reached,
/// then what the daemon says it is doing. `staged` also needs the staged image to be the desired
/// one: a node that still reports the former target counts as staging, so that nothing is drained
/// or approved for an image that is not on the host.
unit_state classify(const bootc_node& node);
unit_state classify(const bootc_node_status& status, const bootc_node_spec& spec);
/// The same for a digest that is known to be the desired one.
unit_state classify(const bootc_node_status& status, std::string_view desired_digest);

/// How many members are in each state, and how many of them hold a slot.
struct census {
  std::size_t up_to_date = 0, pending = 0, staging = 0, staged = 0, rebooting = 0, degraded = 0,
              unclassified = 0;
  std::size_t occupied = 0;

  void add(unit_state s) noexcept;
  std::size_t node_count() const noexcept;
  std::size_t updating() const noexcept { return pending + staging + staged + rebooting; }
  friend bool operator==(const census&, const census&) = default;
};

/// {"Staged": 3}, for metrics: the states that have nodes, and UpToDate.
std::map<std::string, std::size_t> by_state(const census& c);

}  // namespace bootc
