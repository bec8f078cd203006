#pragma once

#include "helm/release/hook_runner.hpp"

namespace helm::release {

class uninstall_action {
public:
  uninstall_action(workbench& bench, record_keeper& keep, hook_runner& hooks)
      : bench_(bench), keep_(keep), hooks_(hooks) {}

  /// What to tell the user: kept objects. Nothing when there was no such release and that was fine.
  awaitable<outcome<std::string>> run(uninstall_request r);

private:
  workbench& bench_;
  record_keeper& keep_;
  hook_runner& hooks_;
};

}  // namespace helm::release
