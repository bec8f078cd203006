#pragma once

#include "helm/commands/commands.hpp"
#include "helm/commands/flags/chart_flags.hpp"
#include "helm/sources/locate.hpp"
#include "helm/sources/settings.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace cli {

/// A variable of the environment, "" without one.
std::string helm_variable(const std::string& name);
/// Where Helm's files lie, by the environment.
helm::sources::settings helm_settings();

/// Charts, addresses and clusters for commands that render. Each call runs `l`, which must not run
/// yet: where it does, await a chart_source instead.
helm::peers peers_of(reactor::loop& l);

/// What the flags and the environment say about where charts come from. Lifetime: co_await stop()
/// before destruction.
std::unique_ptr<helm::sources::chart_source> chart_source_for(reactor::loop& l,
                                                              const helm::chart_flags& flags);

/// Runs `body` as the one task of a loop that does not run yet. What it throws is thrown here.
void run_to_the_end(reactor::loop& l, std::function<reactor::awaitable<void>()> body);

/// What -f and --set-file name by an address.
/// Lifetime the source outlives it.
reactor::awaitable<formats::outcome<std::string>> read_address(helm::sources::chart_source& from,
                                                               std::string address);

/// `windlass helm repo|registry|pull|push|package|dependency|search|verify …`. Runs `l` to the end.
helm::command_result run_source_command(reactor::loop& l, const std::vector<std::string>& arguments,
                                        const helm::render_runtime& runtime);

}  // namespace cli
