#pragma once

#include "helm/placed/plan/plan.hpp"

#include <cstdint>
#include <string>

namespace helm::placed {

/// What is known of an operation when it begins.
struct operation_facts {
  operation what = operation::none;
  bool is_reachable = true;  // else nothing can be done there, and nothing is left of it
  bool asks_owner = false;   // other objects may have noted the release as theirs
  bool leaves = false;       // a former place: only what is noted as this object's is removed there
  std::string release;
};

/// What the carrier of an operation does next.
enum class operation_request : std::uint8_t {
  announce,  // the plan's Events, and what the status says of it
  remember_place,
  ask_owner,
  run,
  say_left,  // the release at a former place is another object's
  forget_place,
  tell_failure,
  tell_success,
  note_fingerprint,
  say_done,
  end,
};

enum class operation_end : std::uint8_t { done, failed };

/// The answer to the request before.
struct operation_answer {
  std::string failure;    // empty: it went well
  std::string owner;      // as the release is noted; may be empty
  bool is_mine = false;   // that is the object of the operation
  bool is_taken = false;  // that is another object, which is there
};

/// One operation on one release, from its announcement to what it leaves behind.
/// Place        is remembered before anything is put there, and forgotten after all of it is gone.
/// Owner        of a release that is noted as another object's nothing is changed.
/// Fingerprint  is noted once the release is deployed, never before, and not after an uninstall.
class operation_steps {
public:
  explicit operation_steps(operation_facts facts) : facts_(std::move(facts)) {}

  /// The first call's answer is empty.
  operation_request next(const operation_answer& last);
  /// Helm's part has ended: what it led to is told.
  bool is_over() const noexcept { return is_over_; }
  /// Of tell_failure.
  const std::string& failure() const noexcept { return failure_; }
  /// Of say_left: as the release is noted; may be empty.
  const std::string& owner() const noexcept { return owner_; }

private:
  operation_request go(operation_request to) noexcept { return at_ = to; }
  operation_request begin_run();
  operation_request ran(std::string failure);
  operation_request told();

  operation_facts facts_;
  operation_request at_ = operation_request::end;
  bool is_over_ = false;
  std::string failure_, owner_;
};

}  // namespace helm::placed
