#pragma once

#include "reactor/log.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace k8s {
struct connection;
}
namespace reactor {
class loop;
}

namespace units {

/// What the process knows when it sets its APIs up (api::settings).
struct process_facts {
  reactor::loop& loop;
  const reactor::logger& log;
  std::function<std::string(std::string_view)> environment;
  std::string ns = {};  // of the kubeconfig Secrets
  std::string kubeconfig_key = {};
  // Labels of these Secrets: the Release of their cluster, and its provider.
  std::string release_label = {}, provider_label = {};
  std::string identity = {};              // of this process, in Leases
  std::string operator_ns = {};           // empty: each API's own
  const k8s::connection* home = nullptr;  // for service_settings
  bool is_service = false;                // the process is `run`
  bool is_named = false;                  // --apis names the API
  bool is_alone = false;                  // the API is the only one that --apis names
  bool finds_fleet = false;               // --fleet auto
};

}  // namespace units
