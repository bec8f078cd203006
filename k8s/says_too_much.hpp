#pragma once

#include <string_view>

namespace k8s {

/// Reasons to refuse an object that a good server may hold, because one of its users wrote more
/// into it than views read.
inline constexpr std::string_view too_many_members = "it has more members than anybody reads",
                                  too_many_labels = "more than 2,000 labels or annotations",
                                  too_long_labels = "labels or annotations of more than 256 KiB";

inline bool says_too_much(std::string_view problem) noexcept {
  return problem == too_many_members || problem == too_many_labels || problem == too_long_labels;
}

}  // namespace k8s
