// The one place where the commands name what they move: an API is plugged in by its line here
// (ARCHITECTURE.md, "Add an API").
#include "cli/service/apis.hpp"

#include "bootc/api.hpp"
#include "cli/arguments.hpp"
#include "cli/connect.hpp"
#include "cli/service/tenant_settings.hpp"
#include "compose/api.hpp"
#include "helm/tenants/api.hpp"
#include "helm/tenants/home/deployments_api.hpp"
#include "k8s/client/kubeconfig.hpp"
#include "reactor/plain/secret.hpp"
#include "releases/api.hpp"

#include <algorithm>

namespace cli {

std::vector<units::api> apis() {
  return {
      bootc::api(),
      ::releases::api(),
      ::compose::api(),
      helm::tenants::api(),
      helm::tenants::deployments(),
  };
}

namespace {

/// What packs learn of the environment, and of the flags that come before it.
compose::pack_data::variable variables_of(const fleet_arguments& a) {
  const bool alone = a.apis == std::vector<std::string>{"compose"};
  return [alone, namespaces = a.trustee_namespaces, strict = a.strict_versions,
          hold = a.hold_on_mismatch](const std::string& name) {
    if (name == "TRUSTEE_NAMESPACES") return namespaces;
    if (name == "TRUSTEE_STRICT_VERSIONS" && strict) return std::string("true");
    if (name == "TRUSTEE_HOLD_ON_MISMATCH" && hold) return std::string("true");
    // It is another API's, which means the namespaces of its own objects by it.
    if (name == "WATCH_NAMESPACES" && !alone) return std::string();
    return k8s::environment::of_process().variable(name);
  };
}

}  // namespace

void put_in_place(std::vector<units::api>& all, const units::api& one) {
  const auto former = std::ranges::find(all, one.name, &units::api::name);
  if (former != all.end()) *former = one;
}

std::vector<units::api> of_fleet(std::vector<units::api> all, const fleet_arguments& a) {
  ::releases::settings s;
  s.ns = a.ns;
  s.labels.release = a.release_label;
  s.labels.provider = a.provider_label;
  put_in_place(all, ::releases::api(std::move(s)));
  put_in_place(all, ::compose::api(variables_of(a)));
  for (units::api& one : all) one.where_served = one.where_served && !a.apis_named;
  return all;
}

namespace {

/// The texts of a setting that somebody said; of a list those between its commas.
std::vector<std::string> texts_of(const setting& s) {
  if (s.name != "chart-values-file") return {s.value};
  std::vector<std::string> out;
  for (std::size_t at = 0; at <= s.value.size();) {
    const std::size_t end = std::min(s.value.find(',', at), s.value.size());
    if (end > at) out.push_back(s.value.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

}  // namespace

namespace {

bool names_api(const fleet_arguments& fleet, std::string_view api) {
  return fleet.apis_named && std::ranges::find(fleet.apis, api) != fleet.apis.end();
}

}  // namespace

std::optional<std::string> setting_of_nobody(const fleet_arguments& fleet,
                                             const std::vector<setting>& said) {
  using names = std::vector<std::string_view>;
  const names both = {"tenants", "kryptondeployments"}, tenants = {"tenants"},
              regions = {"kryptondeployments"};
  const std::vector<std::pair<std::string_view, names>> whose = {
      {"chart-repo", both},           {"chart-name", both},
      {"chart-version", both},        {"chart-values-file", both},
      {"chart-install-crds", both},   {"max-concurrent-per-cluster", both},
      {"max-concurrent-helm", both},  {"tenant-drift", tenants},
      {"max-failures", tenants},      {"wave-soak", tenants},
      {"self-cluster", tenants},      {"watch-namespaces", regions},
      {"ensure-watch-crds", regions}, {"allow-secret-lookup", both},
      {"notes-namespace", both},      {"allow-system-namespaces", both},
      {"records-namespace", both},    {"region-secret-namespaces", regions},
  };
  if (std::ranges::find(said, "apis", &setting::name) == said.end())
    return std::nullopt;  // a command about one API takes the flags of `run` as they are
  for (const setting& s : said) {
    if (s.origin != "flag") continue;  // a file or an environment is for several
    const auto found = std::ranges::find(whose, s.name, [](const auto& one) { return one.first; });
    if (found == whose.end()) continue;
    const auto runs = [&](std::string_view api) { return names_api(fleet, api); };
    if (std::ranges::any_of(found->second, runs)) continue;
    std::string apis;
    for (const std::string_view api : found->second)
      apis += (apis.empty() ? "" : " or ") + std::string(api);
    return "--" + s.name + " is a setting of " + apis + ", and --apis does not name " +
           (found->second.size() > 1 ? "either" : "it") + ": add --apis " +
           std::string(found->second.front());
  }
  return std::nullopt;
}

bool names_tenants(const fleet_arguments& fleet) {
  return names_api(fleet, "tenants");
}

namespace {

/// Helm's files, where nothing says where they are, as in the original's image.
registry::environment where_the_original_has_it(const registry::environment& environment) {
  return [environment](std::string_view name) {
    std::string said = environment(name);
    if (!said.empty()) return said;
    if (name == "HELM_REPOSITORY_CONFIG") return std::string("/.config/helm/repositories.yaml");
    if (name == "HELM_REPOSITORY_CACHE") return std::string("/.cache/helm/repository");
    if (name == "HELM_REGISTRY_CONFIG") return std::string("/.config/helm/registry.json");
    return said;
  };
}

}  // namespace

reactor::result<std::vector<units::api>> with_tenants(std::vector<units::api> all,
                                                      const fleet_arguments& fleet,
                                                      std::vector<setting>& said,
                                                      const registry::environment& environment) {
  const bool regions = names_api(fleet, "kryptondeployments");
  if (!names_tenants(fleet) && !regions) return all;
  const auto wrong = [](const std::string& why) {
    return reactor::make_fault(reactor::errc::malformed, "read the settings of Tenants", why);
  };
  helm::tenants::given_settings given;
  for (const setting& s : said)
    if (s.name == "namespace" || s.origin != "default") given.flags[s.name] = texts_of(s);
  given.environment = environment;
  if (fleet.compat == "krypton") given.like = helm::tenants::compat::krypton;
  auto read = helm::tenants::read_settings(given);
  if (!read) return wrong(read.error().text);
  const helm::sources::settings where = helm::sources::settings_from(
      fleet.compat == "krypton" ? where_the_original_has_it(environment) : environment);
  for (helm::tenants::effective_setting& counts : read->effective) {
    if (counts.name == "HELM_REPOSITORY_CONFIG") counts.value = where.repository_config;
    if (counts.name == "HELM_REPOSITORY_CACHE") counts.value = where.repository_cache;
    if (counts.name == "HELM_REGISTRY_CONFIG") counts.value = where.registry_config;
    setting shown{std::move(counts.name), reactor::redact(counts.value), std::move(counts.origin)};
    // Other names of --kubeconfig and --context, which are shown as those.
    if (shown.name == "watch-kubeconfig" || shown.name == "watch-context") continue;
    const auto known = std::ranges::find(said, shown.name, &setting::name);
    if (known == said.end())
      said.push_back(std::move(shown));
    else if (known->origin == "default" || shown.origin.starts_with("env "))
      *known = std::move(shown);
  }
  if (fleet.is_service) read->all.chart_is_said = true;
  auto wanted = helm::tenants::load_wanted(std::move(read->all));
  if (!wanted) return wrong(wanted.error().text);
  helm::tenants::api_settings s;
  s.wanted = *wanted;
  s.environment = environment;
  s.where = where;
  using kinds = helm::tenants::api_settings::kinds;
  if (names_tenants(fleet)) {
    s.on_clusters = kinds::ensured;
    put_in_place(all, helm::tenants::api(s));
  }
  if (regions) {
    s.on_clusters = s.wanted->all.ensure_home_crds ? kinds::ensured : kinds::as_served;
    put_in_place(all, helm::tenants::deployments(s));
  }
  return all;
}

bool asks_registries(const std::vector<units::api>& all) {
  return std::ranges::find(all, bootc::api().name, &units::api::name) != all.end();
}

std::vector<units::api> with_registries(std::vector<units::api> all, const registry_arguments& a,
                                        const std::string& operator_ns) {
  bootc::settings s;
  if (!operator_ns.empty()) s.operator_ns = operator_ns;
  s.identity = process_identity();
  s.tag_interval = a.interval;
  s.registries.insecure_registries = a.insecure;
  for (const std::string& pair : a.mirrors) {
    const auto equals = pair.find('=');
    s.registries.mirrors[pair.substr(0, equals)] = pair.substr(equals + 1);
  }
  s.registries.token_realms = a.token_realms;
  s.registries.ca_file = a.ca_file;
  put_in_place(all, bootc::api(std::move(s)));
  return all;
}

std::vector<std::string> names_of(const std::vector<units::api>& all) {
  std::vector<std::string> names;
  for (const units::api& a : all) names.push_back(a.name);
  return names;
}

std::vector<units::api> chosen_of(const std::vector<units::api>& all,
                                  const std::vector<std::string>& names) {
  std::vector<units::api> out;
  for (const units::api& a : all)
    if (std::ranges::find(names, a.name) != names.end()) out.push_back(a);
  return out;
}

std::vector<units::api> asking_often(std::vector<units::api> all, const std::string& ref) {
  registry_arguments how;
  how.interval = std::chrono::seconds(2);
  how.insecure = {ref.substr(0, ref.find('/'))};
  return with_registries(std::move(all), how, std::string());
}

}  // namespace cli
