#include "helm/tenants/plan/crd_care.hpp"

#include <charconv>

namespace helm::tenants {
namespace {

using namespace std::chrono_literals;
using reactor::nanoseconds;

constexpr int crd_attempts = 5;

}  // namespace

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
