#include "reactor/system/memory_limit.hpp"

#include "reactor/system/files.hpp"

#include <malloc.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <sstream>
#include <string_view>

/// jemalloc's, where it is linked in: as shipped.
extern "C" int mallctl(const char* name, void* old, size_t* old_size, void* now, size_t now_size)
    __attribute__((weak));

namespace reactor {
namespace {

/// Version 1 says "no limit" as the largest number of pages.
constexpr std::size_t unlimited_bytes = std::size_t{1} << 60;

constexpr std::size_t most_file_bytes = std::size_t{4} << 20;

/// Empty where it cannot be read: nothing is known then.
std::string whole_file(const std::string& path) {
  auto text = load_file(path, most_file_bytes);
  return text ? *std::move(text) : std::string();
}

/// Nothing where the file has no number, as with "max".
std::optional<std::size_t> only_number(const std::string& path) {
  const std::string text = whole_file(path);
  std::size_t n = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), n);
  if (read.ec != std::errc()) return std::nullopt;
  return n;
}

/// The sum of the lines "NAME NUMBER" with these names.
std::size_t sum_of(const std::string& text, std::string_view one, std::string_view other) {
  std::istringstream in(text);
  std::string name;
  std::size_t sum = 0, n = 0;
  while (in >> name >> n)
    if (name == one || name == other) sum += n;
  return sum;
}

/// Where a hierarchy of groups is mounted, and which of its groups stands at that place.
struct mounted_groups {
  std::string root, point;
};

bool has_word(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const auto comma = list.find(',');
    if (list.substr(0, comma) == word) return true;
    if (comma == list.npos) return false;
    list.remove_prefix(comma + 1);
  }
  return false;
}

/// By version, 1 or 2. Source: proc(5), /proc/pid/mountinfo.
std::map<int, mounted_groups> mounts_in(const std::string& mountinfo) {
  std::map<int, mounted_groups> out;
  std::istringstream lines(mountinfo);
  for (std::string line; std::getline(lines, line);) {
    const auto dash = line.find(" - ");
    if (dash == line.npos) continue;
    std::istringstream head(line.substr(0, dash)), tail(line.substr(dash + 3));
    std::string skipped, type, source, options;
    mounted_groups is;
    head >> skipped >> skipped >> skipped >> is.root >> is.point;
    tail >> type >> source >> options;
    if (type == "cgroup2") out.emplace(2, is);
    if (type == "cgroup" && has_word(options, "memory")) out.emplace(1, is);
  }
  return out;
}

/// The group of this process by version. Source: cgroups(7), /proc/pid/cgroup.
std::map<int, std::string> paths_in(const std::string& cgroup) {
  std::map<int, std::string> out;
  std::istringstream lines(cgroup);
  for (std::string line; std::getline(lines, line);) {
    const auto first = line.find(':');
    const auto second = first == line.npos ? first : line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (line.starts_with("0::")) out.emplace(2, line.substr(second + 1));
    if (has_word(controllers, "memory")) out.emplace(1, line.substr(second + 1));
  }
  return out;
}

/// The folder of the group below its mount point. A container may see its own group at the mount
/// point and read a path of the host.
std::string below_mount(const mounted_groups& m, const std::string& path) {
  if (m.root == "/") return path;
  if (path.starts_with(m.root + "/")) return path.substr(m.root.size());
  return {};
}

std::optional<memory_use> use_of(const std::string& folder, bool is_v2) {
  const auto limit = only_number(folder + (is_v2 ? "/memory.max" : "/memory.limit_in_bytes"));
  if (!limit || *limit >= unlimited_bytes) return std::nullopt;
  const auto held = only_number(folder + (is_v2 ? "/memory.current" : "/memory.usage_in_bytes"));
  if (!held) return std::nullopt;
  const std::string stat = whole_file(folder + "/memory.stat");
  const std::size_t cache = is_v2 ? sum_of(stat, "inactive_file", "active_file")
                                  : sum_of(stat, "total_inactive_file", "total_active_file");
  return memory_use{*limit, *held - std::min(cache, *held)};
}

}  // namespace

memory_groups memory_groups::of_this_process(const std::string& root) {
  memory_groups out;
  const auto mounts = mounts_in(whole_file(root + "/proc/self/mountinfo"));
  for (const auto& [version, path] : paths_in(whole_file(root + "/proc/self/cgroup"))) {
    const auto mount = mounts.find(version);
    if (mount == mounts.end()) continue;
    std::string below = below_mount(mount->second, path);
    while (!below.empty() && below != "/") {
      out.groups_.push_back({root + mount->second.point + below, version == 2});
      below.resize(below.rfind('/'));
    }
    out.groups_.push_back({root + mount->second.point, version == 2});
  }
  return out;
}

std::optional<memory_use> memory_groups::look() const {
  std::optional<memory_use> tightest;
  const auto room = [](const memory_use& u) {
    return u.limit_bytes - std::min(u.used_bytes, u.limit_bytes);
  };
  for (const group& g : groups_) {
    const auto use = use_of(g.folder, g.is_v2);
    if (use && (!tightest || room(*use) < room(*tightest))) tightest = use;
  }
  return tightest;
}

void give_back_free_memory() noexcept {
  if (&mallctl)
    (void)mallctl("arena.4096.purge", nullptr, nullptr, nullptr, 0);  // 4096: all arenas
  else
    ::malloc_trim(0);
}

}  // namespace reactor
