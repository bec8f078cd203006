#pragma once

#include "helm/release/cluster_rendering.hpp"
#include "helm/release/hook_runner.hpp"
#include "helm/release/uninstall.hpp"

namespace helm::release {

class install_action {
public:
  install_action(workbench& bench, record_keeper& keep, hook_runner& hooks,
                 cluster_rendering& rendering, uninstall_action& undoing)
      : bench_(bench), keep_(keep), hooks_(hooks), rendering_(rendering), undoing_(undoing) {}

  awaitable<outcome<record>> run(install_request r);
  /// Ends what cancellation interrupted; see release_actions::settle.
  awaitable<std::optional<problem>> settle();

private:
  awaitable<outcome<record>> perform(record r, install_request request,
                                     objects::object_list adopted, objects::object_list target);
  awaitable<problem> fail(record r, install_request request, problem why);
  awaitable<outcome<done>> create_namespace();
  awaitable<outcome<done>> install_crds(std::shared_ptr<prepared_chart> chart, value values);

  workbench& bench_;
  record_keeper& keep_;
  hook_runner& hooks_;
  cluster_rendering& rendering_;
  uninstall_action& undoing_;  // --atomic
  std::optional<interrupted<install_request>> under_way_;
};

}  // namespace helm::release
