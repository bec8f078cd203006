#pragma once

#include "app/flags.hpp"
#include "helm/go.hpp"
#include "helm/placed/cluster_reads.hpp"
#include "helm/placed/plan/chart.hpp"
#include "reactor/plain/time.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace helm::tenants {

using namespace helm::placed;

/// Whose defaults count where nothing is said: --compat krypton names the original operator.
enum class compat : std::uint8_t { none, krypton };
/// A setting whose default is another one with --compat krypton.
struct krypton_default {
  std::string_view name, value, meaning;  // what follows from it, "every revision is kept"
};
std::span<const krypton_default> krypton_defaults() noexcept;

enum class drift_mode : std::uint8_t { off, report, heal };
/// Whether a chart that cannot be had spoils the phase: only the exact text "true" of
/// ALLOW_CHART_SKIP lets it pass.
enum class chart_skip : std::uint8_t { forbidden, allowed };

struct settings {
  chart_coordinates chart;
  /// Chart or values were said, or the process is the service: otherwise a command that looks shows
  /// what the running service has published.
  bool chart_is_said = false;
  std::vector<std::string> values_files;
  bool install_crds = false;
  /// The same of KryptonDeployments: the original gives it to Tenants alone where nothing is said.
  bool install_crds_in_regions = false;
  std::string ns = "default";  // of the discovery Secrets
  std::string kubeconfig_key = "kubeconfig";
  bool ensure_home_crds = false;
  std::vector<std::string> watch_namespaces;  // empty = all; of KryptonDeployments
  drift_mode drift = drift_mode::report;
  std::size_t per_cluster = 4, in_all = 16;  // operations at once
  chart_skip skip = chart_skip::forbidden;
  std::string max_failures = "0";  // of earlier waves: a number, or a share of them as "10%"
  reactor::nanoseconds wave_soak{};
  reactor::nanoseconds check_interval = std::chrono::seconds(60);
  record_driver driver = record_driver::secrets;
  std::string records_ns;                   // where records are kept; empty: with their release
  std::string notes_ns = "bootc-operator";  // on each cluster: what was placed there is noted in it
  std::vector<std::string> region_secrets_in;  // beside `ns`: namespaces whose Secrets are regions
  std::vector<std::string> reserved_ns;        // no workload namespaces, whatever is allowed
  bool system_namespaces = false;              // may be workload namespaces
  bool secret_lookup = false;                  // charts may look up Secrets of other namespaces
  int max_history = 10;                        // 0: no limit
  /// A sentence for each default that counts here and is another one with --compat krypton.
  std::vector<std::string> unlike_krypton;
  friend bool operator==(const settings&, const settings&) = default;
};

/// What flags and variables say about Tenants and KryptonDeployments, each with its origin. One
/// struct for both APIs: they have one chart.
struct told_settings {
  app::sourced<std::string> compat;
  app::sourced<std::string> chart_repo{"https://charts.jetstack.io"}, chart_name{"cert-manager"},
      chart_version{"1.19.1"};
  app::sourced<std::vector<std::string>> values_files;
  app::sourced<bool> install_crds;
  app::sourced<std::string> drift{"report"};
  app::sourced<std::size_t> per_cluster{4}, in_all{16};
  app::sourced<std::string> max_failures{"0"}, wave_soak{"0s"};
  std::optional<bool> self_cluster;  // none: neither --self-cluster nor --no-self-cluster
  app::sourced<bool> secret_lookup, system_namespaces, ensure_home_crds;
  app::sourced<std::string> notes_ns{"bootc-operator"}, records_ns, reserved_namespaces,
      region_secret_namespaces, watch_namespaces;
  // Variables alone.
  app::sourced<std::string> chart_skip, check_interval{"60s"}, driver, max_history{"10"};
  // Shown at the start; helm/sources reads them.
  app::sourced<std::string> repository_config, repository_cache, registry_config;
};

/// Declares the flags and variables that both APIs have, and those of Tenants alone; the second one
/// those of KryptonDeployments. The flags are declared once, whichever API comes first.
std::shared_ptr<told_settings> declare_settings(app::flags& f);
void declare_settings_of_regions(app::flags& f, told_settings& to);

/// What the settings say, typed. Where `told` has defaults, those of --compat krypton count if that
/// is said, and an interval or a count that cannot be read is its default; both are noted as the
/// origin in `told`.
/// Errors      "HELM_DRIVER: must be secret or configmap, …, is \"x\"".
outcome<settings> settings_from(told_settings& told);
/// As nothing is said.
settings default_settings();

/// KRYPTON_CHECK_INTERVAL: a Go duration or whole seconds, above zero; anything else is a minute.
reactor::nanoseconds read_check_interval(std::string_view text);

/// The command line of the original operator (--compat krypton) as ours: one dash is as good as
/// two, and flags about the look of its log say nothing here. Others are returned as they are.
std::vector<std::string> as_krypton_spells(const std::vector<std::string>& words);

}  // namespace helm::tenants
