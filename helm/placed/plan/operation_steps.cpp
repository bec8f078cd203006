#include "helm/placed/plan/operation_steps.hpp"

#include <utility>

namespace helm::placed {

using request = operation_request;

request operation_steps::next(const operation_answer& last) {
  const bool puts = facts_.what != operation::uninstall;
  switch (at_) {
    case request::announce:
      if (puts) return go(request::remember_place);
      [[fallthrough]];
    case request::remember_place: return begin_run();
    case request::ask_owner:
      owner_ = last.owner;
      if (facts_.leaves && !last.is_mine) return go(request::say_left);
      if (!facts_.leaves && last.is_taken)
        return ran("release " + facts_.release + " is " + last.owner + "'s");
      return go(request::run);
    case request::run: return ran(last.failure);
    case request::say_left: return ran({});
    case request::forget_place: failure_ = last.failure; return told();
    case request::tell_success: return go(puts ? request::note_fingerprint : request::end);
    case request::note_fingerprint: return go(request::say_done);
    case request::tell_failure:
    case request::say_done:
    case request::end: break;
  }
  return go(is_over_ ? request::end : request::announce);
}

request operation_steps::begin_run() {
  if (!facts_.is_reachable) return ran({});
  return go(facts_.asks_owner ? request::ask_owner : request::run);
}

request operation_steps::ran(std::string failure) {
  is_over_ = true;
  failure_ = std::move(failure);
  if (failure_.empty() && facts_.leaves) return go(request::forget_place);
  return told();
}

request operation_steps::told() {
  return go(failure_.empty() ? request::tell_success : request::tell_failure);
}

}  // namespace helm::placed
