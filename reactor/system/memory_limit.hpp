#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace reactor {

/// What a control group may hold and holds.
struct memory_use {
  std::size_t limit_bytes = 0;
  /// Without the cache of files, which the kernel takes back before it kills.
  std::size_t used_bytes = 0;
  friend bool operator==(const memory_use&, const memory_use&) = default;
};

/// The control groups of memory that this process is in, its own and all above it that can be seen,
/// of version 2 and of version 1.
class memory_groups {
public:
  /// root: what stands before /proc/self and each mount point; a folder in tests.
  static memory_groups of_this_process(const std::string& root = {});
  /// The group with a limit that has the least room left; none without a limit.
  std::optional<memory_use> look() const;

private:
  struct group {
    std::string folder;
    bool is_v2 = false;
  };
  std::vector<group> groups_;
};

/// Gives what the allocator keeps for later back to the kernel; takes some milliseconds.
void give_back_free_memory() noexcept;

}  // namespace reactor
