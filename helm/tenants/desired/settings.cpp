#include "helm/tenants/desired/settings.hpp"

#include "formats/go/time.hpp"
#include "reactor/plain/printable.hpp"
#include "reactor/plain/secret.hpp"
#include "units/namespace_list.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

namespace helm::tenants {
namespace {

using shape = setting_kind::shape;

constexpr auto setting_table = std::to_array<setting_kind>({
    {"chart-repo", "https://charts.jetstack.io"},
    {"chart-name", "cert-manager"},
    {"chart-version", "1.19.1"},
    {"chart-values-file", "", {"CHART_VALUES_FILE"}, shape::list},
    {"chart-install-crds", "false", {}, shape::boolean},
    {"namespace", "default", {"WATCH_NAMESPACE"}},
    {"kubeconfig-label",
     "sigs.k8s.io/multicluster-runtime-kubeconfig",
     {"KUBECONFIG_SECRET_LABEL"}},
    {"kubeconfig-key", "kubeconfig", {"KUBECONFIG_SECRET_KEY"}},
    {"watch-kubeconfig", "", {"WATCH_KUBECONFIG", "WATCH_CLUSTER_KUBECONFIG"}},
    {"watch-context", "", {"WATCH_CONTEXT"}},
    {"ensure-watch-crds", "false", {}, shape::boolean},  // its variable only switches on
    {"watch-kubeconfig-secret", "", {"WATCH_KUBECONFIG_SECRET"}},
    {"watch-kubeconfig-secret-namespace", "", {"WATCH_KUBECONFIG_SECRET_NAMESPACE"}},
    {"watch-kubeconfig-secret-key", "kubeconfig", {"WATCH_KUBECONFIG_SECRET_KEY"}},
    {"watch-namespaces", "", {"WATCH_NAMESPACES"}},
    {"kubeconfig", ""},  // KUBECONFIG comes after it, in the order of connections
    {"metrics-bind-address", ":8080"},
    {"health-probe-bind-address", ":8081"},
    {"leader-elect", "false", {}, shape::boolean},
    {"apis", "tenants,kryptondeployments", {"APIS"}},
    {"self-cluster", "true", {}, shape::boolean},
    {"tenant-drift", "report", {}, shape::choice, "off report heal"},
    {"allow-exec-auth", "false", {}, shape::boolean},
    {"allow-secret-lookup", "false", {}, shape::boolean},
    {"allow-system-namespaces", "false", {}, shape::boolean},
    {"notes-namespace", "bootc-operator"},
    {"records-namespace", ""},
    {"region-secret-namespaces", ""},
    {"max-concurrent-per-cluster", "4", {}, shape::whole_number},
    {"max-concurrent-helm", "16", {}, shape::whole_number},
    {"max-failures", "0", {}, shape::share},
    {"wave-soak", "0s", {}, shape::duration},
    {"log-level", "info"},
    {"log-format", "console", {}, shape::choice, "console json"},
    {"", "", {"ALLOW_CHART_SKIP"}},
    {"", "60s", {"KRYPTON_CHECK_INTERVAL"}, shape::interval},
    {"", "", {"HELM_DRIVER"}},
    {"", "10", {"HELM_MAX_HISTORY"}, shape::count},
    {"", "/.config/helm/repositories.yaml", {"HELM_REPOSITORY_CONFIG"}},
    {"", "/.cache/helm/repository", {"HELM_REPOSITORY_CACHE"}},
    {"", "/.config/helm/registry.json", {"HELM_REGISTRY_CONFIG"}},
});

/// Source  the original's flags and what it hands to Helm, v0.0.2 to v0.0.8.
constexpr auto krypton_table = std::to_array<krypton_default>({
    {"chart-install-crds", "true", "installCRDs: true is among the chart's values"},
    {"HELM_MAX_HISTORY", "0", "every revision of a release is kept"},
});

constexpr std::string_view origin_of_compat = "compat krypton";

constexpr std::size_t most_concurrent = 10'000;

/// A setting while it is read: the texts, and who said them.
struct said {
  std::vector<std::string> values;
  std::string origin;
  std::string where;  // for complaints: "--tenant-drift", "WATCH_NAMESPACE"
};

std::string joined(const std::vector<std::string>& all) {
  std::string out;
  for (const std::string& one : all) out += (out.empty() ? "" : ",") + one;
  return out;
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::string is_wrong(std::string_view wanted, const std::string& text) {
  return "must be " + std::string(wanted) + ", is \"" +
         reactor::printable(reactor::redact(text), 256) + "\"";
}

std::optional<bool> truth_of(std::string_view text) {
  for (const std::string_view yes : {"true", "TRUE", "True", "t", "T", "1"})
    if (text == yes) return true;
  for (const std::string_view no : {"false", "FALSE", "False", "f", "F", "0"})
    if (text == no) return false;
  return std::nullopt;
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

/// What is wrong with the text of such a setting; empty: nothing.
std::string wrong_with(const setting_kind& kind, const std::string& text) {
  switch (kind.form) {
    case shape::text:
    case shape::list:
    case shape::interval:
    case shape::count: return {};
    case shape::boolean:
      if (truth_of(text)) return {};
      return is_wrong("true or false", text);
    case shape::whole_number: {
      const auto n = whole(text);
      if (n && *n >= 1 && *n <= static_cast<std::int64_t>(most_concurrent)) return {};
      return is_wrong("a whole number from 1 to " + std::to_string(most_concurrent), text);
    }
    case shape::share:
      if (is_share(text)) return {};
      return is_wrong("a number, or a share such as 10%", text);
    case shape::duration:
      if (soak_of(text)) return {};
      return is_wrong("a duration such as 30m, a year at most", text);
    case shape::choice:
      for (std::size_t at = 0; at <= kind.choices.size();) {
        const std::size_t end = std::min(kind.choices.find(' ', at), kind.choices.size());
        if (kind.choices.substr(at, end - at) == text) return {};
        at = end + 1;
      }
      return is_wrong("one of " + std::string(kind.choices), text);
  }
  return {};
}

/// Reads one setting after the other; later ones may look at earlier ones.
class settings_reading {
public:
  explicit settings_reading(const given_settings& given) : given_(given) {}

  std::optional<problem> read(const setting_kind& kind) {
    said s = find(kind);
    if (kind.flag == "namespace") narrow(s);
    if (kind.flag == "ensure-watch-crds") switch_on(s);
    if (kind.flag == "watch-kubeconfig-secret-namespace" && s.values.front().empty())
      s.values.front() = text("namespace");
    if (counts_for_nothing(kind.form, s)) fall_back(kind, s);
    const std::string wrong = wrong_with(kind, joined(s.values));
    if (!wrong.empty()) return problem{s.where + ": " + wrong};
    all_.insert_or_assign(std::string(kind.name()), std::move(s));
    return std::nullopt;
  }

  const std::vector<std::string>& texts(std::string_view name) const {
    return all_.find(name)->second.values;
  }
  std::string text(std::string_view name) const { return joined(texts(name)); }
  bool truth(std::string_view name) const { return truth_of(text(name)).value_or(false); }
  const said& of(std::string_view name) const { return all_.find(name)->second; }

private:
  std::string variable(std::string_view name) const {
    return given_.environment ? given_.environment(name) : std::string();
  }

  said find(const setting_kind& kind) const {
    for (const std::string_view name : kind.environment) {
      if (name.empty()) continue;
      if (std::string v = variable(name); !v.empty())
        return {{std::move(v)}, "env " + std::string(name), std::string(name)};
    }
    for (const auto& [from, origin] : {std::pair(&given_.flags, "flag"), {&given_.file, "file"}}) {
      const auto found = from->find(kind.flag);
      if (kind.flag.empty() || found == from->end() || found->second.empty()) continue;
      said s{found->second, origin, "--" + std::string(kind.flag)};
      if (kind.form != shape::list) s.values = {s.values.back()};  // of repetitions the last counts
      return s;
    }
    if (given_.like == compat::krypton) {
      const auto theirs = std::ranges::find(krypton_table, kind.name(), &krypton_default::name);
      if (theirs != krypton_table.end())
        return {
            {std::string(theirs->value)}, std::string(origin_of_compat), std::string(kind.name())};
    }
    std::vector<std::string> standard{std::string(kind.standard)};
    if (kind.form == shape::list) standard.clear();
    return {std::move(standard), "default", std::string(kind.name())};
  }

  /// Without a word about it the namespace is the one we are in.
  void narrow(said& s) const {
    if (s.origin != "default") return;
    if (std::string pod = variable("POD_NAMESPACE"); !pod.empty()) {
      s = {{std::move(pod)}, "env POD_NAMESPACE", "POD_NAMESPACE"};
    } else if (const auto own = trimmed(given_.service_account_ns); !own.empty()) {
      s = {{std::string(own)}, "service account", "the service account's namespace"};
    }
  }
  void switch_on(said& s) const {
    const std::string v = variable("ENSURE_WATCH_CRDS");
    if (v == "true" || v == "1" || v == "yes")
      s = {{"true"}, "env ENSURE_WATCH_CRDS", "ENSURE_WATCH_CRDS"};
  }

  static bool counts_for_nothing(shape form, const said& s) {
    return (form == shape::interval && !interval_of(s.values.front())) ||
           (form == shape::count && !count_of(s.values.front()));
  }
  static void fall_back(const setting_kind& kind, said& s) {
    s.origin = "default, for " + s.where + "=" +
               reactor::printable(reactor::redact(s.values.front()), 64) + " counts for nothing";
    s.values = {std::string(kind.standard)};
  }

  const given_settings& given_;
  std::map<std::string, said, std::less<>> all_;
};

std::optional<record_driver> driver_of(std::string_view text) {
  if (text.empty() || text == "secret" || text == "secrets") return record_driver::secrets;
  if (text == "configmap" || text == "configmaps") return record_driver::config_maps;
  return std::nullopt;
}

drift_mode drift_of(std::string_view text) {
  if (text == "off") return drift_mode::off;
  return text == "heal" ? drift_mode::heal : drift_mode::report;
}

std::string shown_value(const std::string& value) {
  return reactor::printable(reactor::redact(value), 512);
}

}  // namespace

std::span<const krypton_default> krypton_defaults() noexcept {
  return krypton_table;
}

std::span<const setting_kind> setting_kinds() noexcept {
  return setting_table;
}

reactor::nanoseconds read_check_interval(std::string_view text) {
  return interval_of(text).value_or(std::chrono::seconds(60));
}

std::string problem_with(std::string_view flag, const std::string& text) {
  const auto kinds = setting_kinds();
  const auto kind = std::ranges::find(kinds, flag, &setting_kind::flag);
  return kind == kinds.end() ? std::string() : wrong_with(*kind, text);
}

outcome<read_settings_result> read_settings(const given_settings& given) {
  settings_reading from(given);
  for (const setting_kind& kind : setting_table)
    if (auto wrong = from.read(kind)) return *std::move(wrong);

  read_settings_result out;
  settings& s = out.all;
  s.chart = {from.text("chart-repo"), from.text("chart-name"), from.text("chart-version")};
  for (const std::string_view name :
       {"chart-repo", "chart-name", "chart-version", "chart-values-file", "chart-install-crds"}) {
    const std::string& origin = from.of(name).origin;
    s.chart_is_said = s.chart_is_said || (origin != "default" && origin != origin_of_compat);
  }
  for (const std::string& path : from.texts("chart-values-file"))
    if (!path.empty()) s.values_files.push_back(path);
  s.install_crds = from.truth("chart-install-crds");
  s.install_crds_in_regions =
      s.install_crds && from.of("chart-install-crds").origin != origin_of_compat;
  s.ns = from.text("namespace");
  s.kubeconfig_label = from.text("kubeconfig-label");
  s.kubeconfig_key = from.text("kubeconfig-key");
  s.home_file = from.text("watch-kubeconfig");
  s.home_context = from.text("watch-context");
  s.home_secret = from.text("watch-kubeconfig-secret");
  s.home_secret_ns = from.text("watch-kubeconfig-secret-namespace");
  s.home_secret_key = from.text("watch-kubeconfig-secret-key");
  s.default_file = from.text("kubeconfig");
  s.ensure_home_crds = from.truth("ensure-watch-crds");
  s.watch_namespaces = units::namespaces_in(from.text("watch-namespaces"));
  s.self_cluster = from.truth("self-cluster");
  s.allow_exec = from.truth("allow-exec-auth");
  s.secret_lookup = from.truth("allow-secret-lookup");
  s.system_namespaces = from.truth("allow-system-namespaces");
  s.notes_ns = from.text("notes-namespace");
  s.records_ns = from.text("records-namespace");
  const std::string in = from.text("region-secret-namespaces");
  s.region_secrets_in = units::namespaces_in(in);
  if (s.region_secrets_in.empty() && !in.empty()) s.region_secrets_in = {"*"};
  s.drift = drift_of(from.text("tenant-drift"));
  s.per_cluster = static_cast<std::size_t>(*whole(from.text("max-concurrent-per-cluster")));
  s.in_all = static_cast<std::size_t>(*whole(from.text("max-concurrent-helm")));
  s.max_failures = from.text("max-failures");
  s.wave_soak = soak_of(from.text("wave-soak")).value_or(reactor::nanoseconds());
  s.skip = from.text("ALLOW_CHART_SKIP") == "true" ? chart_skip::allowed : chart_skip::forbidden;
  s.check_interval = read_check_interval(from.text("KRYPTON_CHECK_INTERVAL"));
  const auto driver = driver_of(from.text("HELM_DRIVER"));
  if (!driver) {
    const said& one = from.of("HELM_DRIVER");
    return problem{
        one.where + ": " +
        is_wrong("secret or configmap, where stock Helm reads releases", joined(one.values))};
  }
  s.driver = *driver;
  s.max_history = count_of(from.text("HELM_MAX_HISTORY")).value_or(s.max_history);

  for (const krypton_default& theirs : krypton_table) {
    const said& ours = from.of(theirs.name);
    const setting_kind& kind = *std::ranges::find_if(
        setting_table, [&](const setting_kind& k) { return k.name() == theirs.name; });
    if (!ours.origin.starts_with("default") || joined(ours.values) == theirs.value) continue;
    s.unlike_krypton.push_back((kind.flag.empty() ? "$" : "--") + std::string(theirs.name) +
                               " is " + joined(ours.values) + " by default, and " +
                               std::string(theirs.value) + " in the original operator, where " +
                               std::string(theirs.meaning) + ": say which, or --compat krypton");
  }
  for (const setting_kind& kind : setting_table) {
    const said& one = from.of(kind.name());
    out.effective.push_back(
        {std::string(kind.name()), shown_value(joined(one.values)), one.origin});
  }
  return out;
}

std::string read_settings_result::line() const {
  std::string out;
  for (const effective_setting& e : effective)
    out += (out.empty() ? "" : ", ") + e.name + "=" + e.value + " (" + e.origin + ")";
  return out;
}

}  // namespace helm::tenants
