#pragma once

#include "helm/commands/commands.hpp"
#include "helm/commands/flags/chart_flags.hpp"
#include "helm/sources/locate.hpp"
#include "helm/sources/settings.hpp"

#include <memory>
#include <string>
#include <vector>

namespace cli {

/// A variable of the environment, "" without one.
std::string helm_variable(const std::string& name);
/// Where Helm's files lie, by the environment.
helm::sources::settings helm_settings();

/// Finds charts in repositories and registries for commands that render. Each call runs `l`, which
/// must not run yet: where it does, await a chart_source instead.
helm::chart_locator chart_locator(reactor::loop& l);

/// What the flags and the environment say about where charts come from. Lifetime: co_await stop()
/// before destruction.
std::unique_ptr<helm::sources::chart_source> chart_source_for(reactor::loop& l,
                                                              const helm::chart_flags& flags);

/// `windlass helm repo|registry|pull|push|package|dependency|search|verify …`. Runs `l` to the end.
helm::command_result run_source_command(reactor::loop& l, const std::vector<std::string>& arguments,
                                        const helm::render_runtime& runtime);

}  // namespace cli
