#include "compose/write_steps.hpp"

#include "k8s/client/race.hpp"
#include "reactor/plain/printable.hpp"

namespace compose {
namespace {

using policies::compose::action;

constexpr std::size_t longest_refusal = 600;
/// A write that came too late this often in a row is told as a failure.
constexpr std::uint32_t silent_races = 5;
/// One write may hang in a webhook; after so many in a row there is no server.
constexpr std::size_t most_unanswered = 2;

bool is_status(const action& a) noexcept {
  return a.what == action::kind::set_status;
}

bool has_no_answer(const k8s::fault& why) noexcept {
  return why.code == k8s::errc::unavailable && why.http_status == 0;
}

}  // namespace

bool is_a_race(const action& a, const k8s::fault& why) noexcept {
  const auto what = is_status(a)                     ? k8s::written::status
                    : a.what == action::kind::create ? k8s::written::created
                                                     : k8s::written::existing;
  return k8s::is_a_race(why, what);
}

bool write_steps::has_no_server() const noexcept {
  return unanswered_ >= most_unanswered;
}

/// Whether the objects' write may be made.
bool write_steps::may_go_on(const action& a) const noexcept {
  return !is_status(a) && !unprotected_;
}

write_steps::request write_steps::next(const std::vector<action>& actions) {
  using is = request::is;
  if (raced_ || (failure_ && failure_->cancelled)) return {};
  if (at_stage_ == stage::objects) {
    for (; at_ < actions.size() && !has_no_server(); ++at_)
      if (may_go_on(actions[at_])) return {is::write, at_++};
    at_stage_ = stage::planned_again;
    if (!refused_.empty() && refused_is_ == refused_is::planned_again) return {is::plan_again, 0};
  }
  if (at_stage_ == stage::planned_again) {
    at_stage_ = stage::status;
    at_ = 0;
  }
  for (; at_ < actions.size(); ++at_)
    if (is_status(actions[at_])) return {is::write, at_++};
  return {};
}

void write_steps::made() {
  wrote_ = true;
  unanswered_ = 0;
}

void write_steps::failed(const action& a, const k8s::fault& why) {
  if (!failure_) failure_ = why;
  if (why.cancelled) return;
  if (is_a_race(a, why) && races_ < silent_races) {
    raced_ = true;
    return;
  }
  unanswered_ = has_no_answer(why) ? unanswered_ + 1 : 0;
  unprotected_ = unprotected_ || a.what == action::kind::add_finalizer;
  refused_.insert_or_assign(a.of, std::string(policies::compose::verb(a.what)) + ": " +
                                      reactor::printable(why.message(), longest_refusal));
}

}  // namespace compose
