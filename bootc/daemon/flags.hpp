#pragma once

#include "reactor/plain/time.hpp"

#include <string>

namespace CLI {
class App;
}

namespace bootc {

/// What the command line of the node daemon says.
struct daemon_arguments {
  std::string kubeconfig, context, node_name;
  reactor::nanoseconds poll_interval{0};  // 0: it says nothing
  enum class host_form { nsenter, direct } host = host_form::nsenter;
  std::string host_root;  // empty: /proc/1/root, or / when direct
  std::string health_address = "0";
  std::string log_level = "info", log_format = "console";
};

inline constexpr const char* about_daemon =
    "Run the node daemon: stage and boot the image this node is told to";

/// Declares the flags of the daemon, for windlass-node and for `windlass daemon`. Both structs live
/// as long as `command`, which fills them when it parses; `config` is the file of --config.
void declare_daemon(CLI::App& command, daemon_arguments& to, std::string& config);

}  // namespace bootc
