#pragma once

#include "compose/rules/planner.hpp"
#include "k8s/client/fault.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace compose {

/// The writes of one pass in their order, as far as the server's answers let them go on. The status
/// comes last: before it, what was refused is planned again, so that the status says it.
/// Refused    a write that fails is told and keeps no other back.
/// Raced      nothing is written once an answer shows that what was decided on is not what is there
///            (after too many such answers in a row it is a refusal: a webhook may answer 409).
/// Protected  without the finalizer nothing is made, since it would stay behind.
/// Silence    after two writes in a row without an answer there is no server.
class write_steps {
public:
  using action = policies::compose::action;
  /// What comes after a refusal, before the status.
  enum class refused_is : std::uint8_t { planned_again, left };
  /// `races`: of the passes before this one, in a row.
  write_steps(std::uint32_t races, refused_is how) : races_(races), refused_is_(how) {}

  /// What to do now: the write of `action`, or a plan with refused() in mind; else it has ended.
  struct request {
    enum class is : std::uint8_t { write, plan_again, end } what = is::end;
    std::size_t action = 0;
  };
  /// Each write is followed by made(), failed() or lost(); a plan by next() with its actions.
  request next(const std::vector<action>& actions);
  void made();
  void failed(const action& a, const k8s::fault& why);
  /// The cluster, or the right to act on it, was lost before the write.
  void lost() noexcept { raced_ = true; }

  const std::optional<k8s::fault>& failure() const noexcept { return failure_; }  // the first
  bool raced() const noexcept { return raced_; }
  bool wrote() const noexcept { return wrote_; }
  /// Its status was not written, so nothing is known of what was refused.
  bool is_cut_short() const noexcept {
    return raced_ || has_no_server() || (failure_ && failure_->cancelled);
  }
  bool has_no_server() const noexcept;
  /// "create: " and the server's words.
  const std::map<policies::compose::object_name, std::string>& refused() const noexcept {
    return refused_;
  }

private:
  bool may_go_on(const action& a) const noexcept;

  std::uint32_t races_;
  refused_is refused_is_;
  enum class stage : std::uint8_t { objects, planned_again, status } at_stage_ = stage::objects;
  std::size_t at_ = 0, unanswered_ = 0;
  bool raced_ = false, wrote_ = false, unprotected_ = false;
  std::optional<k8s::fault> failure_;
  std::map<policies::compose::object_name, std::string> refused_;
};

/// Whether the answer to that write says that it came too late.
bool is_a_race(const policies::compose::action& a, const k8s::fault& why) noexcept;

}  // namespace compose
