#include "helm/tenants/desired/settings.hpp"

#include "app/api/namespace_list.hpp"
#include "formats/go/time.hpp"
#include "reactor/plain/printable.hpp"
#include "reactor/plain/secret.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>

namespace helm::tenants {
namespace {

/// Source  the original's flags and what it hands to Helm, v0.0.2 to v0.0.8.
constexpr auto krypton_table = std::to_array<krypton_default>({
    {"chart-install-crds", "true", "installCRDs: true is among the chart's values"},
    {"HELM_MAX_HISTORY", "0", "every revision of a release is kept"},
});

constexpr std::string_view origin_of_compat = "compat krypton";

constexpr int most_concurrent = 10'000;

std::string is_wrong(std::string_view wanted, const std::string& text) {
  return "must be " + std::string(wanted) + ", is \"" +
         reactor::printable(reactor::redact(text), 256) + "\"";
}

std::optional<std::int64_t> whole(std::string_view text) {
  std::int64_t n = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (wrong != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return n;
}

/// A Go duration or seconds, more than none.
std::optional<reactor::nanoseconds> interval_of(std::string_view text) {
  constexpr std::int64_t most_seconds = std::numeric_limits<std::int64_t>::max() / 1'000'000'000;
  if (const auto n = whole(text)) {
    if (*n <= 0 || *n > most_seconds) return std::nullopt;
    return std::chrono::seconds(*n);
  }
  const auto d = parse_duration(text);
  if (!d || *d <= 0) return std::nullopt;
  return reactor::nanoseconds(*d);
}

/// From none on.
std::optional<int> count_of(std::string_view text) {
  const auto n = whole(text);
  if (!n || *n < 0 || *n > std::numeric_limits<int>::max()) return std::nullopt;
  return static_cast<int>(*n);
}

/// "3", or "10%" of what there is.
bool is_share(std::string_view text) {
  const bool of_all = text.ends_with('%');
  if (of_all) text.remove_suffix(1);
  const auto n = whole(text);
  return n && *n >= 0 && *n <= (of_all ? 100 : static_cast<std::int64_t>(most_concurrent));
}

/// Nothing, or a Go duration of a year at most.
std::optional<reactor::nanoseconds> soak_of(std::string_view text) {
  constexpr reactor::nanoseconds longest = std::chrono::hours(24 * 365);
  if (text == "0") return reactor::nanoseconds();
  const auto d = parse_duration(text);
  if (!d || *d < 0 || *d > longest.count()) return std::nullopt;
  return reactor::nanoseconds(*d);
}

std::optional<record_driver> driver_of(std::string_view text) {
  if (text.empty() || text == "secret" || text == "secrets") return record_driver::secrets;
  if (text == "configmap" || text == "configmaps") return record_driver::config_maps;
  return std::nullopt;
}

drift_mode drift_of(std::string_view text) {
  if (text == "off") return drift_mode::off;
  return text == "heal" ? drift_mode::heal : drift_mode::report;
}

std::string problem_with_share(const std::string& text) {
  return is_share(text) ? std::string() : is_wrong("a number, or a share such as 10%", text);
}
std::string problem_with_soak(const std::string& text) {
  return soak_of(text) ? std::string() : is_wrong("a duration such as 30m, a year at most", text);
}
/// A variable that cannot be read counts for nothing.
void fall_back(app::sourced<std::string>& to, std::string_view name, std::string standard) {
  to.origin = "default, for " + std::string(name) + "=" +
              reactor::printable(reactor::redact(to.value), 64) + " counts for nothing";
  to.value = std::move(standard);
}

/// Where nothing is said and the default is another one in the original operator: that one, with
/// --compat krypton, else a sentence about it.
template <class Setting, class Value>
void compare_with_krypton(Setting& one, std::string_view name, Value theirs, std::string ours,
                          compat like, std::vector<std::string>& unlike) {
  if (!one.origin.starts_with("default")) return;
  if (like == compat::krypton) {
    one.value = std::move(theirs);
    one.origin = origin_of_compat;
    return;
  }
  const auto& row = *std::ranges::find(krypton_table, name, &krypton_default::name);
  const bool is_flag = name.find('-') != name.npos;
  unlike.push_back((is_flag ? "--" : "$") + std::string(name) + " is " + ours +
                   " by default, and " + std::string(row.value) +
                   " in the original operator, where " + std::string(row.meaning) +
                   ": say which, or --compat krypton");
}

const std::vector<std::string> of_both = {"tenants", "kryptondeployments"},
                               of_tenants = {"tenants"}, of_regions = {"kryptondeployments"},
                               of_releases = {"tenants", "kryptondeployments", "fleetcharts"};

app::flag declare_text(app::flags& f, const char* name, app::sourced<std::string>& value,
                       const char* about, const char* takes, const std::vector<std::string>& of) {
  return f.value(name, value, about).takes(takes).group("Tenants").of(of);
}

/// Flags of the chart and of its pace.
void declare_chart(app::flags& f, told_settings& to) {
  declare_text(
      f, "--compat", to.compat,
      "krypton: defaults, environment and flags with one dash as the original operator has them, "
      "and its two APIs where --apis names none (docs/migrating/krypton.md)",
      "krypton", {})
      .one_of({"krypton"});
  declare_text(f, "--chart-repo", to.chart_repo,
               "repository of the one chart of all Tenants and KryptonDeployments (default: "
               "https://charts.jetstack.io)",
               "URL", of_both);
  declare_text(f, "--chart-name", to.chart_name, "its name there (default: cert-manager)", "NAME",
               of_both);
  declare_text(f, "--chart-version", to.chart_version,
               "its version, no range (default: 1.19.1); \"\" = the highest stable one", "VERSION",
               of_both);
  f.value("--chart-values-file", to.values_files, "its values; given again, later files win")
      .takes("FILE")
      .repeated()
      .group("Tenants")
      .of(of_both)
      .variables({"CHART_VALUES_FILE"});
  declare_text(f, "--tenant-drift", to.drift,
               "what is done about objects of a release that are gone (default: report)",
               "off|report|heal", of_tenants)
      .one_of({"off", "report", "heal"});
  f.value("--max-concurrent-per-cluster", to.per_cluster,
          "operations of Helm at once on a cluster (default: 4)")
      .takes("N")
      .from_to(1, most_concurrent)
      .group("Tenants")
      .of(of_releases);
  f.value("--max-concurrent-helm", to.in_all, "the same on all clusters together (default: 16)")
      .takes("N")
      .from_to(1, most_concurrent)
      .group("Tenants")
      .of(of_releases);
  declare_text(
      f, "--max-failures", to.max_failures,
      "Tenants in Error on clusters of earlier waves (label mesh.openkcm.io/wave of their Secrets) "
      "that still let the next wave change: a number, or a share such as 10% (default: 0)",
      "N|N%", of_tenants)
      .check(problem_with_share);
  declare_text(f, "--wave-soak", to.wave_soak,
               "how long a wave is watched before the next one changes (default: 0s)", "DURATION",
               of_tenants)
      .check(problem_with_soak);
}

/// Flags of where releases go, and of what they may reach there.
void declare_places(app::flags& f, told_settings& to) {
  const auto on = [&](const char* name, app::sourced<bool>& value, const char* about) {
    return f.on(name, value, about).group("Tenants").of(of_releases);
  };
  f.on("--chart-install-crds", to.install_crds, "add installCRDs: true to the chart's values")
      .group("Tenants")
      .of(of_both);
  f.on("--self-cluster,!--no-self-cluster", to.self_cluster,
       "home is one of the clusters, by the Secret self-cluster that is kept there (default: "
       "where tenants is named, but not with --fleet secrets)")
      .group("Tenants")
      .of(of_tenants);
  on("--allow-secret-lookup", to.secret_lookup,
     "lookup in the chart reads Secrets of every namespace, not of its release's alone");
  on("--allow-system-namespaces", to.system_namespaces,
     "releases may go to namespaces of the system or the fleet: default, kube-*, openshift-*, "
     "--namespace");
  declare_text(
      f, "--notes-namespace", to.notes_ns,
      "namespace on each cluster in which the service notes what it placed, writable for no user "
      "of a workload namespace (default: bootc-operator)",
      "NAMESPACE", of_releases);
  declare_text(
      f, "--records-namespace", to.records_ns,
      "namespace on each cluster that keeps the records of all releases (default: each beside its "
      "release, where stock helm looks)",
      "NAMESPACE", of_releases);
  declare_text(f, "--reserved-namespaces", to.reserved_namespaces,
               "namespaces that no release gets, with commas, beside those of the "
               "notes, the records and the daemons (--notes-namespace with -daemon behind it)",
               "NAMESPACE,…", of_releases);
}

void declare_variables(app::flags& f, told_settings& to) {
  f.variable("ALLOW_CHART_SKIP", to.chart_skip, of_both);
  f.variable("KRYPTON_CHECK_INTERVAL", to.check_interval, of_releases);
  f.variable("HELM_DRIVER", to.driver, of_releases);
  f.variable("HELM_MAX_HISTORY", to.max_history, of_releases);
  f.variable("HELM_REPOSITORY_CONFIG", to.repository_config, of_releases);
  f.variable("HELM_REPOSITORY_CACHE", to.repository_cache, of_releases);
  f.variable("HELM_REGISTRY_CONFIG", to.registry_config, of_releases);
}

}  // namespace

std::span<const krypton_default> krypton_defaults() noexcept {
  return krypton_table;
}

reactor::nanoseconds read_check_interval(std::string_view text) {
  return interval_of(text).value_or(std::chrono::seconds(60));
}

std::shared_ptr<told_settings> declare_settings(app::flags& f) {
  return f.shared<told_settings>([&](told_settings& to) {
    declare_chart(f, to);
    declare_places(f, to);
    declare_variables(f, to);
    f.default_apis(
        [&to] { return to.compat.value == "krypton" ? of_both : std::vector<std::string>(); });
  });
}

void declare_settings_of_regions(app::flags& f, told_settings& to) {
  f.value("--region-secret-namespaces", to.region_secret_namespaces,
          "namespaces of home, beside --namespace, whose Secrets may lead KryptonDeployments to "
          "their region, which gets the chart's values; with commas")
      .takes("NAMESPACE,…")
      .group("Tenants")
      .of(of_regions);
  f.value("--watch-namespaces", to.watch_namespaces,
          "namespaces of home whose KryptonDeployments are looked after, with commas; empty or * = "
          "all")
      .takes("NAME,…")
      .group("Tenants")
      .of(of_regions)
      .variables({"WATCH_NAMESPACES"});
  f.on("--ensure-watch-crds", to.ensure_home_crds,
       "make the kind KryptonDeployment at home where it is not there")
      .group("Tenants")
      .of(of_regions)
      .switched_on_by("ENSURE_WATCH_CRDS");
}

settings default_settings() {
  told_settings nothing;
  return *settings_from(nothing);
}

outcome<settings> settings_from(told_settings& told) {
  settings s;
  if (!interval_of(told.check_interval.value))
    fall_back(told.check_interval, "KRYPTON_CHECK_INTERVAL", "60s");
  if (!count_of(told.max_history.value)) fall_back(told.max_history, "HELM_MAX_HISTORY", "10");
  const compat like = told.compat.value == "krypton" ? compat::krypton : compat::none;
  compare_with_krypton(told.install_crds, "chart-install-crds", true, "false", like,
                       s.unlike_krypton);
  compare_with_krypton(told.max_history, "HELM_MAX_HISTORY", std::string("0"),
                       told.max_history.value, like, s.unlike_krypton);

  s.chart = {told.chart_repo.value, told.chart_name.value, told.chart_version.value};
  const auto is_said = [](const auto& one) {
    return !one.is_default() && one.origin != origin_of_compat;
  };
  s.chart_is_said = is_said(told.chart_repo) || is_said(told.chart_name) ||
                    is_said(told.chart_version) || is_said(told.values_files) ||
                    is_said(told.install_crds);
  for (const std::string& path : told.values_files.value)
    if (!path.empty()) s.values_files.push_back(path);
  s.install_crds = told.install_crds.value;
  s.install_crds_in_regions =
      told.install_crds.value && told.install_crds.origin != origin_of_compat;
  s.ensure_home_crds = told.ensure_home_crds.value;
  s.watch_namespaces = units::namespaces_in(told.watch_namespaces.value);
  s.secret_lookup = told.secret_lookup.value;
  s.system_namespaces = told.system_namespaces.value;
  s.notes_ns = told.notes_ns.value;
  s.records_ns = told.records_ns.value;
  s.reserved_ns = units::namespaces_in(told.reserved_namespaces.value);
  const std::string& in = told.region_secret_namespaces.value;
  s.region_secrets_in = units::namespaces_in(in);
  if (s.region_secrets_in.empty() && !in.empty()) s.region_secrets_in = {"*"};
  s.drift = drift_of(told.drift.value);
  s.per_cluster = told.per_cluster.value;
  s.in_all = told.in_all.value;
  s.max_failures = told.max_failures.value;
  s.wave_soak = soak_of(told.wave_soak.value).value_or(reactor::nanoseconds());
  s.skip = told.chart_skip.value == "true" ? chart_skip::allowed : chart_skip::forbidden;
  s.check_interval = read_check_interval(told.check_interval.value);
  const auto driver = driver_of(told.driver.value);
  if (!driver)
    return problem{"HELM_DRIVER: " +
                   is_wrong("secret or configmap, where stock Helm reads releases", told.driver)};
  s.driver = *driver;
  s.max_history = count_of(told.max_history.value).value_or(s.max_history);
  return s;
}

std::vector<std::string> as_krypton_spells(const std::vector<std::string>& words) {
  bool like_krypton = false;
  for (std::size_t i = 0; i < words.size(); ++i)
    if (words[i] == "--compat=krypton" || words[i] == "-compat=krypton" ||
        ((words[i] == "--compat" || words[i] == "-compat") && i + 1 < words.size() &&
         words[i + 1] == "krypton"))
      like_krypton = true;
  if (!like_krypton) return words;
  constexpr std::array ignored = {"--zap-devel", "--zap-stacktrace-level", "--zap-time-encoding"};
  std::vector<std::string> out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string word = words[i];
    const bool one_dash = word.size() > 2 && word[0] == '-' && word[1] != '-';
    if (one_dash) word.insert(0, "-");
    const std::string name = word.substr(0, word.find('='));
    if (std::ranges::find(ignored, name) == ignored.end()) {
      out.push_back(std::move(word));
    } else if (name == word && name != "--zap-devel") {
      ++i;  // its value
    }
  }
  return out;
}

}  // namespace helm::tenants
