#include "helm/tenants/plan/writes.hpp"

#include "helm/tenants/kinds/names.hpp"

#include <algorithm>
#include <charconv>

namespace helm::tenants {
namespace {

using namespace std::chrono_literals;
using reactor::nanoseconds;

constexpr int crd_attempts = 5;

bool is_passing(int http_status) noexcept {
  return http_status == 0 || http_status >= 500;
}

}  // namespace

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

crd_step care_for(std::optional<std::string_view> revision) noexcept {
  if (!revision) return crd_step::create;
  int is = 0;
  const char* const past = revision->data() + revision->size();
  const auto [end, wrong] = std::from_chars(revision->data(), past, is);
  const bool ours = wrong == std::errc{} && end == past;
  return ours && is < names::our_crd_revision ? crd_step::replace : crd_step::none;
}

std::optional<nanoseconds> crd_pause(crd_request what, const write_answer& answer,
                                     int attempts_made) noexcept {
  if (!is_passing(answer.http_status) || attempts_made >= crd_attempts) return std::nullopt;
  return attempts_made * (what == crd_request::read ? 200ms : 300ms);
}

std::string crd_remedy(crd_request what) {
  return std::string("grant ") + (what == crd_request::read ? "get" : "create") +
         " on customresourcedefinitions.apiextensions.k8s.io";
}

}  // namespace helm::tenants
