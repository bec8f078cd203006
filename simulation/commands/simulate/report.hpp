#pragma once

#include "app/output.hpp"
#include "simulation/commands/simulate/campaign.hpp"

#include <boost/json/fwd.hpp>

#include <string>

namespace cli::simulate {

using namespace app;

/// {runs, violations, divergent_caches, failing_seeds, trace_hash, …, policies, failures}: like the
/// output of a benchmark.
boost::json::object report_json(const campaign_outcome& o, const std::string& again);
page report_text(const campaign_outcome& o, const std::string& again, colours tint);
/// One file without scripts: the table, and how long the rollouts took under each policy as a plot.
std::string report_html(const campaign_outcome& o, const std::string& again);

/// The command that runs a failing seed again, as it was shrunk. `again`: what all of them have,
/// such as " --fleet FILE".
std::string replay_command(const failure& f, const std::string& again);

}  // namespace cli::simulate
