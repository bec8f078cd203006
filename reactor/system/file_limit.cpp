#include "reactor/system/file_limit.hpp"

#include <sys/resource.h>

#include <algorithm>

namespace reactor {

std::size_t raise_file_limit() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  if (limit.rlim_cur < limit.rlim_max) {
    rlimit raised = limit;
    raised.rlim_cur = limit.rlim_max;
    if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  }
  return limit.rlim_cur;
}

namespace {

/// The limit less the reserve, of which a low limit has no more than that share.
std::size_t all_but(std::size_t reserve, std::size_t one_of) noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return static_cast<std::size_t>(-1);
  const std::size_t most = limit.rlim_cur;
  return most - std::min(reserve, most / one_of);
}

}  // namespace

std::size_t most_connections() noexcept {
  return all_but(32, 4);
}

std::size_t most_essential_connections() noexcept {
  return all_but(16, 8);
}

}  // namespace reactor
