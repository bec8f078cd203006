#pragma once

#include "app/command.hpp"

#include <string>

namespace bootc {

/// What the command line of the node daemon says.
struct daemon_arguments {
  std::string kubeconfig, context, node_name;
  app::sourced<reactor::nanoseconds> poll_interval;  // not given: the BootcOperatorConfig's
  enum class host_form { nsenter, direct } host = host_form::nsenter;
  std::string host_root;  // empty: /proc/1/root, or / when direct
  std::string health_address = "0";
  std::string log_level = "info", log_format = "console";
};

inline constexpr const char* about_daemon =
    "Run the node daemon: stage and boot the image this node is told to";

/// The flags of windlass-node and of `windlass daemon`.
void declare_daemon(app::flags& f, daemon_arguments& to);

}  // namespace bootc
