#include "app/api/namespace_list.hpp"

#include <algorithm>

namespace units {

std::vector<std::string> namespaces_in(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  std::vector<std::string> all;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    std::string_view word = text.substr(at, end - at);
    word.remove_prefix(std::min(word.find_first_not_of(blanks), word.size()));
    word = word.substr(0, word.find_last_not_of(blanks) + 1);
    if (word == "*") return {};
    if (!word.empty() && std::ranges::find(all, word) == all.end()) all.emplace_back(word);
    at = end + 1;
  }
  return all;
}

}  // namespace units
