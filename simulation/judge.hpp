#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace simulation {

/// What a check found, one sentence each; of many the first ones are kept, and the count goes on.
class judge {
public:
  const std::vector<std::string>& violations() const noexcept { return violations_; }
  std::size_t violation_count() const noexcept { return count_; }

protected:
  void found(std::string sentence) {
    ++count_;
    if (violations_.size() < most_kept) violations_.push_back(std::move(sentence));
  }

private:
  static constexpr std::size_t most_kept = 20;
  std::size_t count_ = 0;
  std::vector<std::string> violations_;
};

}  // namespace simulation
