#pragma once

#include "app/api/registry_lookup.hpp"
#include "bootc/api.hpp"
#include "k8s/client/kubeconfig.hpp"
#include "reactor/log.hpp"
#include "reactor/plain/result.hpp"

#include <string>

namespace bootc {

/// What flags say about asking registries what tags name.
struct registry_settings : units::registry_lookup {
  app::sourced<reactor::nanoseconds> interval{std::chrono::minutes(5)};
  std::vector<std::string> kubernetes_labels;  // none: the usual ones
};

/// The flags, and the setup that gives the API what they and the BootcOperatorConfig at home say.
units::api_setup declare_registries(app::flags& f);

/// The same, with the interval of the BootcOperatorConfig at home where no flag gives one. A home
/// without this kind has none. Runs the loop; for the start of the process.
/// Errors: one sentence for a person, for example when there are two of them.
reactor::result<registry_settings> with_operator_config(reactor::loop& l,
                                                        const k8s::connection& home,
                                                        registry_settings said,
                                                        const reactor::logger& log);

/// Has registries asked so.
void set_lookup(settings& to, const units::registry_lookup& said);
/// Which names of images say what Kubernetes they carry: the usual ones where none are said.
void set_labels(settings& to, const std::vector<std::string>& said);
/// As the API takes them. `operator_ns` may be empty: the API's own.
settings settings_from(const registry_settings& said, const std::string& operator_ns,
                       const std::string& identity);

}  // namespace bootc
