#pragma once

#include "app/command.hpp"

#include <string>
#include <vector>

namespace cli {

using namespace app;

struct daemon_arguments {
  std::string kubeconfig, context, node_name;
  sourced<reactor::nanoseconds> poll_interval;  // not said: the BootcOperatorConfig's
  enum class host_form { nsenter, direct } host = host_form::nsenter;
  std::string host_root;  // empty: /proc/1/root, or / when direct
  std::string health_address = "0";
  std::string log_level = "info", log_format = "console";
};

int daemon_command(const daemon_arguments& a);
std::vector<app::command> daemon_commands();

}  // namespace cli
