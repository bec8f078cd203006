#pragma once

#include "helm/release/workbench.hpp"

namespace helm::release {

/// Renders on the worker and looks up on the cluster what templates ask for, as often as they ask.
/// Lifetime the bench outlives it.
class cluster_rendering {
public:
  explicit cluster_rendering(workbench& bench) : bench_(bench) {}
  awaitable<outcome<rendered>> render(render_request r);

private:
  awaitable<reactor::result<rendered>> on_worker(render_request r);
  workbench& bench_;
};

}  // namespace helm::release
