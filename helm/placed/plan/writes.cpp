#include "helm/placed/plan/writes.hpp"

#include <algorithm>

namespace helm::placed {

using namespace std::chrono_literals;
using reactor::nanoseconds;

bool is_passing(int http_status) noexcept {
  return http_status == 0 || http_status >= 500;
}

write_next after_write(const write_answer& answer, int attempts_made) noexcept {
  using is = write_next::is;
  const int code = answer.http_status;
  if (code >= 200 && code < 300) return {is::done, {}};
  if (code == 404) return {is::gone, {}};
  if (code != 409 && code != 429 && !is_passing(code)) return {is::given_up, {}};
  if (attempts_made >= write_attempts) return {is::given_up, {}};
  nanoseconds pause = 100ms;
  for (int i = 1; i < attempts_made; ++i) pause *= 2;
  pause = std::min<nanoseconds>(pause, 2s);
  if (code == 429 && answer.retry_after) pause = std::max(pause, *answer.retry_after);
  return {is::again, pause};
}

}  // namespace helm::placed
