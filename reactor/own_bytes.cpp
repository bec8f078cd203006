#include "reactor/own_bytes.hpp"

namespace reactor {

own_bytes::mark own_bytes::mark_of(std::string_view digest) noexcept {
  mark out{};
  digest.copy(out.data(), out.size());
  return out;
}

void own_bytes::wrote(std::string_view place, std::string_view digest) {
  if (by_place_.size() >= most_ && !has(place)) by_place_.clear();
  by_place_[key_of(place)] = mark_of(digest);
}

bool own_bytes::is(std::string_view place, std::string_view digest) const {
  const mark* const newest = by_place_.find(key_of(place));
  return newest && *newest == mark_of(digest);
}

}  // namespace reactor
