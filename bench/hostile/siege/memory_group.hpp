#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace bench::hostile {

/// A memory cgroup of our own (version 2 or 1) for a process and its children, as a container is
/// one. It goes with this object, when what was in it has ended.
class memory_group {
public:
  /// None where such a group cannot be made: not root, or another hierarchy.
  static std::optional<memory_group> make(std::size_t limit_bytes);
  memory_group(memory_group&& other) noexcept;
  memory_group& operator=(memory_group&&) = delete;
  ~memory_group();

  /// A process enters by writing its number there.
  std::string entrance() const { return folder_ + "/cgroup.procs"; }
  std::size_t peak_bytes() const;
  /// Processes that the kernel killed for the limit.
  std::size_t kills() const;

private:
  memory_group(std::string folder, bool is_v2) : folder_(std::move(folder)), is_v2_(is_v2) {}
  std::string folder_;
  bool is_v2_;
};

}  // namespace bench::hostile
