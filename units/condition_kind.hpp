#pragma once

#include <span>
#include <string_view>

namespace units {

/// One value that a condition of a kind takes, as the reference (docs/reference/conditions.md)
/// tells of it.
struct condition_kind {
  std::string_view kind;    // "BootcNodePool"
  std::string_view type;    // "Degraded"
  std::string_view status;  // "True"
  std::string_view reason;  // "NodeDegraded"
  std::string_view meaning;
};

/// The reason as the table has it. One that the table does not have does not compile.
consteval std::string_view reason_in(std::span<const condition_kind> table,
                                     std::string_view reason) {
  for (const condition_kind& c : table)
    if (c.reason == reason) return c.reason;
  throw "no such reason";
}

consteval std::string_view type_in(std::span<const condition_kind> table, std::string_view type) {
  for (const condition_kind& c : table)
    if (c.type == type) return c.type;
  throw "no such condition";
}

}  // namespace units
