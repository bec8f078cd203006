#include "bench/hostile/siege/memory_group.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <utility>

namespace bench::hostile {
namespace {

namespace fs = std::filesystem;

bool write(const std::string& file, const std::string& text) {
  std::ofstream out(file);
  out << text << std::flush;
  return out.good();
}

/// The number after `name` in a file of such lines, or its only number.
std::size_t number_in(const std::string& file, const std::string& name = {}) {
  std::ifstream in(file);
  std::size_t number = 0;
  for (std::string word; !name.empty() && in >> word && word != name;) {
  }
  return in >> number ? number : 0;
}

}  // namespace

std::optional<memory_group> memory_group::make(std::size_t limit_bytes) {
  static int made = 0;
  const std::string name =
      "/windlass-bench-" + std::to_string(::getpid()) + "-" + std::to_string(made++);
  const std::string v2 = "/sys/fs/cgroup", v1 = v2 + "/memory";
  const bool is_v2 = fs::exists(v2 + "/cgroup.controllers");
  if (is_v2) (void)write(v2 + "/cgroup.subtree_control", "+memory");
  std::error_code failed;
  memory_group out((is_v2 ? v2 : v1) + name, is_v2);
  const std::string limit = is_v2 ? "/memory.max" : "/memory.limit_in_bytes";
  if (!fs::create_directory(out.folder_, failed) ||
      !write(out.folder_ + limit, std::to_string(limit_bytes)))
    return std::nullopt;
  if (is_v2) (void)write(out.folder_ + "/memory.swap.max", "0");
  return out;
}

memory_group::memory_group(memory_group&& other) noexcept
    : folder_(std::exchange(other.folder_, {})), is_v2_(other.is_v2_) {}

memory_group::~memory_group() {
  if (!folder_.empty()) ::rmdir(folder_.c_str());
}

std::size_t memory_group::peak_bytes() const {
  return number_in(folder_ + (is_v2_ ? "/memory.peak" : "/memory.max_usage_in_bytes"));
}

std::size_t memory_group::kills() const {
  return number_in(folder_ + (is_v2_ ? "/memory.events" : "/memory.oom_control"), "oom_kill");
}

}  // namespace bench::hostile
