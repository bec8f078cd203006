#pragma once

#include "helm/release/hook_runner.hpp"

namespace helm::release {

class test_action {
public:
  test_action(workbench& bench, record_keeper& keep, hook_runner& hooks)
      : bench_(bench), keep_(keep), hooks_(hooks) {}

  awaitable<test_outcome> run(test_request r);
  /// What the pods of these tests printed, by weight, each under its name. Errors "unable to get
  /// pod logs for x: …"; what came before is in `into`, which outlives the call.
  awaitable<outcome<done>> logs(record tested, test_request r, std::string* into);

private:
  workbench& bench_;
  record_keeper& keep_;
  hook_runner& hooks_;
};

}  // namespace helm::release
