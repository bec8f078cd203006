#pragma once

#include "app/api/api.hpp"
#include "app/api/setup.hpp"
#include "helm/sources/settings.hpp"
#include "helm/tenants/cluster/tenant_crd.hpp"
#include "helm/tenants/cluster/wanted.hpp"
#include "helm/tenants/supply/chart_supply.hpp"
#include "registry/environment.hpp"

#include <memory>

namespace helm::tenants {

class tenant_cluster;

/// What the API is made with: its settings and the content of values files, read once.
struct api_settings {
  std::shared_ptr<const wanted_everywhere> wanted;  // null: the defaults
  sources::settings where;                          // of repositories and logins
  registry::environment environment;                // for proxies; empty: there is none
  /// Ensured where --apis names the API.
  using kinds = kind_on_cluster;
  kinds on_clusters = kinds::as_served;
};

/// Errors   of a values file that cannot be read, is no YAML or no map. Blocks on files; for the
///          start of the process.
outcome<std::shared_ptr<const wanted_everywhere>> load_wanted(settings s);

/// With no flag given.
std::shared_ptr<const wanted_everywhere> wanted_by_default();
/// On SIGHUP; a changed state is an upgrade. Null, and said, where a file cannot be read: the old
/// values stay.
reactor::awaitable<std::shared_ptr<const wanted_everywhere>> read_again(
    units::api_environment h, std::shared_ptr<const wanted_everywhere> was, std::string whose);
chart_supply::options supply_options(const units::api_environment& h, const api_settings& s);
/// Which build it is that runs Tenants or KryptonDeployments.
void show_build(reactor::metrics& in);

/// One chart on every cluster for each of its Tenants.
units::api api(api_settings s = {});
/// Gives the API other settings, before it starts.
void set_up(units::api& to, api_settings s);
/// What flags, variables and files say, for both APIs. Blocks on files.
reactor::result<api_settings> read_settings(told_settings& told, const units::process_facts& p);

/// What the API does on the cluster; null: it is not there.
tenant_cluster* tenants_part(const k8s::cluster& c) noexcept;

}  // namespace helm::tenants
