#pragma once

#include "helm/release/hook_runner.hpp"

namespace helm::release {

class rollback_action {
public:
  rollback_action(workbench& bench, record_keeper& keep, hook_runner& hooks)
      : bench_(bench), keep_(keep), hooks_(hooks) {}

  awaitable<outcome<done>> run(rollback_request r);
  /// Ends what cancellation interrupted; see release_actions::settle.
  awaitable<std::optional<problem>> settle();

private:
  awaitable<outcome<done>> perform(record current, record target, rollback_request request,
                                   std::string unfinished);

  workbench& bench_;
  record_keeper& keep_;
  hook_runner& hooks_;
  std::optional<interrupted<reactor::nanoseconds>> under_way_;  // its timeout
};

}  // namespace helm::release
