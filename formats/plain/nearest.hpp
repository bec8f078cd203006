#pragma once

#include <string_view>

namespace formats {

/// How many letters must change to make one word the other, two that changed places being one; 3
/// stands for all that is more. Owns nothing, raises nothing.
int letters_apart(std::string_view a, std::string_view b) noexcept;

/// The first of the known words that are the fewest letters away, at most two and not all of the
/// word; empty where none is. Views what it was given.
template <class Words>
std::string_view nearest(const Words& known, std::string_view got) {
  std::string_view best;
  int least = 3;
  for (const std::string_view word : known) {
    const int apart = letters_apart(got, word);
    if (apart >= least || static_cast<std::size_t>(apart) >= word.size()) continue;
    least = apart;
    best = word;
  }
  return best;
}

}  // namespace formats
