#pragma once

#include "helm/charts/chart.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace helm::sources {

using dependency_list = std::vector<std::shared_ptr<dependency>>;

/// "sha256:…" over what is asked for and what was chosen, as Chart.lock carries it.
std::string lock_digest(const dependency_list& wanted,
                        const std::vector<locked_dependency>& chosen);
/// The digest Helm 2 wrote into requirements.lock: over what is asked for alone.
std::string old_lock_digest(const dependency_list& wanted);

/// Chart.lock's text.
std::string write_lock(const chart_lock& lock);

/// True when the lock still belongs to these dependencies; for charts of apiVersion v1 Helm 2's
/// digest will do too.
bool lock_is_current(const chart_lock& lock, const metadata& m, const dependency_list& resolved);

}  // namespace helm::sources
