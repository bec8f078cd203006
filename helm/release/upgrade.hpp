#pragma once

#include "helm/release/cluster_rendering.hpp"
#include "helm/release/hook_runner.hpp"
#include "helm/release/rollback.hpp"

#include <optional>

namespace helm::release {

class upgrade_action {
public:
  upgrade_action(workbench& bench, record_keeper& keep, hook_runner& hooks,
                 cluster_rendering& rendering, rollback_action& undoing)
      : bench_(bench), keep_(keep), hooks_(hooks), rendering_(rendering), undoing_(undoing) {}

  awaitable<outcome<record>> run(upgrade_request r);
  /// Ends what cancellation interrupted; see release_actions::settle.
  awaitable<std::optional<problem>> settle();

private:
  awaitable<outcome<record>> perform(record original, record r, upgrade_request request,
                                     objects::object_list current, objects::object_list target,
                                     std::optional<objects::release_name> only_of);
  awaitable<problem> fail(record r, upgrade_request request, objects::object_list created,
                          problem why);

  workbench& bench_;
  record_keeper& keep_;
  hook_runner& hooks_;
  cluster_rendering& rendering_;
  rollback_action& undoing_;  // --atomic
  std::optional<interrupted<upgrade_request>> under_way_;
};

}  // namespace helm::release
