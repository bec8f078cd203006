#include "formats/plain/listed.hpp"

#include <algorithm>

namespace formats {

std::string listed(std::span<const std::string> names, std::size_t most) {
  std::string out;
  for (const std::string& name : names.first(std::min(names.size(), most)))
    out.append(out.empty() ? "" : ", ").append(name);
  if (names.size() > most) out += " and " + std::to_string(names.size() - most) + " more";
  return out;
}

}  // namespace formats
