#pragma once

#include "fleetwide/kinds/revision.hpp"

#include <cstddef>
#include <list>
#include <string>
#include <string_view>
#include <utility>

namespace fleetwide {

/// Contents of revisions that are too large to be kept with all the others, by their digests: those
/// that were asked for last.
class large_contents {
public:
  const revision_content* find(std::string_view digest) {
    for (auto one = all_.begin(); one != all_.end(); ++one) {
      if (one->first != digest) continue;
      all_.splice(all_.begin(), all_, one);
      return &one->second;
    }
    return nullptr;
  }
  void put(std::string digest, revision_content c) {
    bytes_ += c.template_json.size();
    all_.emplace_front(std::move(digest), std::move(c));
    while (bytes_ > most_bytes && all_.size() > 1) {
      bytes_ -= all_.back().second.template_json.size();
      all_.pop_back();
    }
  }

private:
  static constexpr std::size_t most_bytes = 8u << 20;
  std::list<std::pair<std::string, revision_content>> all_;  // the last one asked for is the first
  std::size_t bytes_ = 0;
};

}  // namespace fleetwide
