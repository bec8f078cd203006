#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace units {

/// Whether a condition with this value is shown as a problem by `status`, `plan`, `explain` and the
/// page (app/api/row_problem.hpp). Each API's table says it of each of its conditions.
enum class condition_shows : std::uint8_t { nothing, problem };
inline constexpr condition_shows problem = condition_shows::problem;

/// One value that a condition of a kind takes, as the reference (docs/reference/conditions.md)
/// tells of it.
struct condition_kind {
  std::string_view kind;    // "BootcNodePool"
  std::string_view type;    // "Degraded"
  std::string_view status;  // "True"
  std::string_view reason;  // "NodeDegraded"
  std::string_view meaning;
  condition_shows shows = condition_shows::nothing;
};

/// The row of the table that a condition has; null for one that the table does not have. A type
/// of the table that ends with "/<cluster>" stands for one of every cluster.
constexpr const condition_kind* find_condition_kind(std::span<const condition_kind> table,
                                                    std::string_view type, std::string_view status,
                                                    std::string_view reason) noexcept {
  for (const condition_kind& c : table) {
    if (c.status != status || c.reason != reason) continue;
    const std::size_t any = c.type.find("/<");
    if (any == std::string_view::npos ? type == c.type
                                      : type.substr(0, any + 1) == c.type.substr(0, any + 1))
      return &c;
  }
  return nullptr;
}

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
