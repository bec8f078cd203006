#include "bootc/pool/drain_decision.hpp"

#include "bootc/pool/drain_words.hpp"
#include "k8s/client/answer.hpp"

#include <algorithm>
#include <utility>

namespace bootc {

constexpr int internal_error = 500;

bool needs_daemon_set(const k8s::pod& p) noexcept {
  return p.meta.owner && p.meta.owner.kind == "DaemonSet" &&
         p.meta.owner.api_version == "apps/v1" && !p.ended();
}

pod_verdict judge_pod(const k8s::pod& p, daemon_set its, std::string_view own_pod_uid) noexcept {
  if (!own_pod_uid.empty() && p.meta.uid.text() == own_pod_uid) return {};
  if (needs_daemon_set(p)) {
    if (its == daemon_set::exists) return {};
    return {true, "its DaemonSet is gone"};
  }
  if (p.mirror) return {};
  if (p.empty_dir) return {true, "its emptyDir data is lost"};
  if (!p.meta.owner) return {true, "no controller will create it again"};
  return {true, {}};
}

bool is_refused_by_budget(const k8s::fault& f) noexcept {
  return k8s::is_budget_refusal(f);
}

eviction_step after_eviction(const k8s::fault* failure) noexcept {
  if (!failure) return eviction_step::wait_gone;
  switch (failure->code) {
    case k8s::errc::not_found: return eviction_step::gone;
    case k8s::errc::throttled:
    case k8s::errc::
        conflict:  // another pod has its name by now, or it changed under us: look again
      return eviction_step::try_again;
    case k8s::errc::unavailable:
      // The server thought about this pod and cannot evict it: two budgets select it, say. What
      // does not answer, or says that it is busy, is asked again.
      return failure->http_status == internal_error ? eviction_step::give_up
                                                    : eviction_step::try_again;
    case k8s::errc::forbidden:
      // The namespace goes away and takes the pod with it.
      if (std::any_of(failure->causes.begin(), failure->causes.end(),
                      [](const auto& c) { return c.reason == "NamespaceTerminating"; }))
        return eviction_step::try_again;
      return eviction_step::give_up;
    default: return eviction_step::give_up;
  }
}

void pod_eviction::evicted(const k8s::fault* failure) {
  using is = request::is;
  switch (after_eviction(failure)) {
    case eviction_step::gone: next_ = {is::end}; return;
    case eviction_step::wait_gone:
      next_ = {is::await_end};
      waits_ = pod_wait{.why = pod_wait::kind::ending, .is_unhealthy = is_unhealthy_};
      return;
    case eviction_step::give_up:
      next_ = {is::end};
      error_ = failure->message();
      return;
    case eviction_step::try_again: break;
  }
  next_ = {is::look, retry};
  if (is_refused_by_budget(*failure)) {
    budget_refusal by = read_budget_refusal(*failure);
    waits_ = pod_wait{.why = pod_wait::kind::budget,
                      .object = std::move(by.budget),
                      .words = std::move(by.words),
                      .is_unhealthy = is_unhealthy_};
    return;
  }
  if (failure->retry_after) next_.pause = std::max(*failure->retry_after, retry);
  if (!failure->cancelled)
    waits_ = pod_wait{
        .why = pod_wait::kind::refused, .words = failure->detail, .is_unhealthy = is_unhealthy_};
}

void pod_eviction::seen(pod_is how) noexcept {
  next_ = {how == pod_is::gone ? request::is::end : request::is::evict};
  if (how != pod_is::unseen) is_unhealthy_ = how == pod_is::unhealthy;
}

}  // namespace bootc
