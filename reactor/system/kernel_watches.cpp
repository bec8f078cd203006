#include "reactor/system/kernel_watches.hpp"

#include <dirent.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

namespace reactor {
namespace {

std::size_t count_targets(int poller) {
  const std::string path = "/proc/self/fdinfo/" + std::to_string(poller);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> in(std::fopen(path.c_str(), "re"),
                                                           &std::fclose);
  std::size_t n = 0;
  char line[256];
  while (in && std::fgets(line, sizeof line, in.get()))
    if (std::string_view(line).starts_with("tfd:")) ++n;
  return n;
}

}  // namespace

kernel_watches look_at_kernel_watches(const std::set<int>& except) {
  kernel_watches seen;
  const std::unique_ptr<DIR, int (*)(DIR*)> all(::opendir("/proc/self/fd"), &::closedir);
  while (const dirent* e = all ? ::readdir(all.get()) : nullptr) {
    const std::string path = std::string("/proc/self/fd/") + e->d_name;
    char target[64] = {};
    if (::readlink(path.c_str(), target, sizeof target - 1) < 0) continue;
    if (std::string_view(target) != "anon_inode:[eventpoll]") continue;
    const int poller = std::atoi(e->d_name);
    if (except.contains(poller)) continue;
    seen.pollers.insert(poller);
    seen.watched += count_targets(poller);
  }
  return seen;
}

}  // namespace reactor
