#include "app/nearest.hpp"

#include <algorithm>
#include <utility>

namespace app {
namespace {

/// How many letters must be changed, added or left out to make one of the other.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j)
      diagonal = std::exchange(
          row[j + 1], std::min({row[j + 1] + 1, row[j] + 1, diagonal + (a[i] == b[j] ? 0u : 1u)}));
  }
  return row.back();
}

}  // namespace

std::string nearest(std::string_view typed, const std::vector<std::string>& candidates,
                    std::size_t limit) {
  std::string best;
  std::size_t least = limit;
  for (const std::string& one : candidates) {
    const std::size_t d = distance(typed.substr(0, 64), std::string_view(one).substr(0, 64));
    if (d < least && d < one.size()) {
      least = d;
      best = one;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view typed, const std::vector<std::string>& candidates) {
  const std::string meant = nearest(typed, candidates);
  return meant.empty() ? std::string() : "; did you mean \"" + meant + "\"?";
}

}  // namespace app
