#pragma once

#include "helm/go.hpp"
#include "helm/tenants/desired/fingerprint.hpp"
#include "reactor/plain/time.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace helm::tenants {

/// One setting of the service as far as Tenants and KryptonDeployments go by it.
struct setting_kind {
  /// What an interval or a count says wrongly is as if nobody had said it; of the others it is an
  /// error.
  enum class shape : std::uint8_t {
    text,
    list,
    boolean,
    whole_number,
    choice,
    share,
    duration,
    interval,
    count
  };
  std::string_view flag;  // "chart-repo"; empty where only the environment has it
  std::string_view standard;
  // the first that is not empty wins over the flag
  std::array<std::string_view, 2> environment = {};
  shape form = shape::text;
  std::string_view choices = {};  // "off report heal"
  std::string_view name() const noexcept { return flag.empty() ? environment[0] : flag; }
};
/// Whose way of doing things counts where nothing is said.
enum class compat : std::uint8_t { none, krypton };
/// A setting whose default is another one with --compat krypton, the original operator's.
struct krypton_default {
  std::string_view name, value, meaning;  // what follows from it, "every revision is kept"
};
std::span<const krypton_default> krypton_defaults() noexcept;
/// All of them, in the order of the documentation.
std::span<const setting_kind> setting_kinds() noexcept;

enum class drift_mode : std::uint8_t { off, report, heal };
enum class record_driver : std::uint8_t { secrets, config_maps };
/// Whether a chart that cannot be had spoils the phase: only the exact text "true" of
/// ALLOW_CHART_SKIP lets it pass.
enum class chart_skip : std::uint8_t { forbidden, allowed };

struct settings {
  chart_coordinates chart;
  /// Chart or values were said, or it is the service's own start: otherwise who only looks shows
  /// what the service at work has published.
  bool chart_is_said = false;
  std::vector<std::string> values_files;
  bool install_crds = false;
  /// The same of KryptonDeployments: the original gives it to Tenants alone where nothing is said.
  bool install_crds_in_regions = false;
  std::string ns;  // of the discovery Secrets
  std::string kubeconfig_label, kubeconfig_key;
  std::string home_file, home_context;  // --watch-kubeconfig, --watch-context
  std::string home_secret, home_secret_ns, home_secret_key;
  std::string default_file;  // --kubeconfig
  bool ensure_home_crds = false;
  std::vector<std::string> watch_namespaces;  // empty = all; of KryptonDeployments
  bool self_cluster = true;
  bool allow_exec = false;
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
  bool system_namespaces = false;              // may be workload namespaces
  bool secret_lookup = false;                  // charts may look up Secrets of other namespaces
  int max_history = 10;                        // 0: no limit
  /// A sentence for each default that counts here and is another one with --compat krypton.
  std::vector<std::string> unlike_krypton;
  friend bool operator==(const settings&, const settings&) = default;
};

/// What a process is told, gathered by its command: nothing here looks into the environment or at
/// files.
struct given_settings {
  std::map<std::string, std::vector<std::string>, std::less<>> flags, file;  // as written, by name
  std::function<std::string(std::string_view)> environment;                  // "" = not set
  std::string service_account_ns;  // content of the mounted file, or empty
  compat like = compat::none;
};

/// A setting as it counts now, and who said so.
struct effective_setting {
  std::string name, value;
  // "default", "flag", "file", "env WATCH_NAMESPACE", "service account", "compat krypton"
  std::string origin;
  friend bool operator==(const effective_setting&, const effective_setting&) = default;
};
struct read_settings_result {
  settings all;
  std::vector<effective_setting> effective;
  /// For the one line at the start: "chart-name=cert-manager (default), …"; credentials in
  /// addresses are left out.
  std::string line() const;
};

/// Precedence  a variable that is not empty, then the flag, then the file, then the default;
///             ENSURE_WATCH_CRDS only switches on; the namespace may also come from POD_NAMESPACE
///             and the service account, which beat no flag.
/// Errors      "--tenant-drift: must be one of off report heal, is \"x\"", with the variable's name
///             where it said so.
outcome<read_settings_result> read_settings(const given_settings& given);
/// What is wrong with that text of a flag: "must be a number, …, is \"x\""; empty: nothing.
std::string problem_with(std::string_view flag, const std::string& text);

/// KRYPTON_CHECK_INTERVAL: a Go duration or whole seconds, above zero; anything else is a minute.
reactor::nanoseconds read_check_interval(std::string_view text);

}  // namespace helm::tenants
