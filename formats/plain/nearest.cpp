#include "formats/plain/nearest.hpp"

#include <algorithm>
#include <array>

namespace formats {

int letters_apart(std::string_view a, std::string_view b) noexcept {
  constexpr std::size_t longest = 64;
  constexpr int many = 3;
  if (a.size() > longest || b.size() > longest) return many;
  // Damerau's distance: two letters that changed places are one slip.
  std::array<std::array<int, longest + 1>, 3> rows{};
  for (std::size_t j = 0; j <= b.size(); ++j) rows[0][j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    auto& row = rows[i % 3];
    const auto& above = rows[(i + 2) % 3];
    const auto& two_above = rows[(i + 1) % 3];
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] =
          std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], two_above[j - 2] + 1);
    }
  }
  return std::min(rows[a.size() % 3][b.size()], many);
}

}  // namespace formats
