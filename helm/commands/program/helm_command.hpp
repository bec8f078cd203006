#pragma once

#include "app/command.hpp"

#include <string>
#include <vector>

namespace helm {
struct render_runtime;
}
namespace reactor {
class loop;
}

namespace cli {

using namespace app;

/// `windlass helm …`: Helm's own commands, flags, output and exit codes.
std::vector<app::command> helm_commands();
/// Those of them that need a cluster: install, upgrade, list, … Runs `l` until the command ended or
/// was cancelled by a signal.
int helm_release_command(reactor::loop& l, const std::vector<std::string>& arguments);

/// The machine's clock and entropy, for a template that is rendered at once.
helm::render_runtime machine_runtime();
/// -o go-template: one of Go's templates on a document, by the engine that renders charts.
reactor::result<std::string, std::string> apply_go_template(const std::string& text,
                                                            const boost::json::value& data);

}  // namespace cli
