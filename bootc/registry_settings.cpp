#include "bootc/registry_settings.hpp"

#include "app/api/setup.hpp"
#include "app/run_to_end.hpp"
#include "bootc/operator_config.hpp"
#include "k8s/client/client.hpp"

#include <boost/json/object.hpp>

#include <array>
#include <memory>
#include <string_view>
#include <utility>

namespace bootc {
namespace {

using answer = reactor::result<operator_config>;

/// No standard has a name for it.
constexpr std::array<std::string_view, 4> usual_labels{
    "windlass.dev/kubernetes", "io.kubernetes.version", "kubernetes.version",
    "io.openshift.build.versions"};

std::string usual_names() {
  std::string out;
  for (const std::string_view name : usual_labels)
    out += (out.empty() ? "" : ", ") + std::string(name);
  return out;
}

reactor::awaitable<answer> at_home(k8s::client& home, const reactor::logger& log) {  // borrowed
  auto config = co_await load_operator_config(home);
  if (config) co_return *config;
  const k8s::fault why = config.error();
  const bool forbidden = why.code == k8s::errc::forbidden;
  if (forbidden)
    log.warning("the BootcOperatorConfig may not be read: its defaults count",
                {{"why", why.message()}});
  // A home that cannot be reached is reported with a better reason a moment later.
  if (forbidden || why.code == k8s::errc::unavailable || why.code == k8s::errc::unauthorized)
    co_return operator_config();
  co_return reactor::make_fault(reactor::errc::refused, "", why.message());
}

}  // namespace

units::api_setup declare_registries(app::flags& f) {
  const auto said = std::make_shared<registry_settings>();
  f.interval("--tag-resolution-interval", said->interval, "5m",
             "between two questions what a tag names: 5m, 1h30m");
  f.value(
       "--kubernetes-label", said->kubernetes_labels,
       "a label or annotation of OS images that names the version of Kubernetes in them, instead "
       "of " +
           usual_names() + "; \"none\" asks no registry")
      .takes("NAME")
      .repeated();
  units::declare_lookup(f, *said);
  return [said](units::api& to, const units::process_facts& p) -> reactor::result<void> {
    auto all = p.home ? with_operator_config(p.loop, *p.home, *said, p.log)
                      : reactor::result<registry_settings>(*said);
    if (!all) return all.error();
    set_up(to, settings_from(*all, p.operator_ns, p.identity));
    return {};
  };
}

reactor::result<registry_settings> with_operator_config(reactor::loop& l,
                                                        const k8s::connection& home,
                                                        registry_settings said,
                                                        const reactor::logger& log) {
  if (home.server.empty() || (!said.interval.is_default() && !said.insecure.is_default()))
    return said;
  k8s::client api(l, home, "windlass");
  answer config = operator_config();
  const auto look = [&]() -> reactor::awaitable<void> {
    config = co_await at_home(api, log);
    co_await api.stop();
    l.stop();
  };
  app::run_to_end(l, "operator config", look());
  if (!config) return config.error();
  if (said.interval.is_default()) said.interval.value = config->tag_resolution_period;
  if (said.insecure.is_default() && config->allow_insecure_registry)
    log.warning(
        "the BootcOperatorConfig allows insecure registries and names none: no registry is asked "
        "by "
        "plain HTTP until --allow-insecure-registry HOST[:PORT] names it",
        {{"name", config->name}});
  if (!config->name.empty())
    log.info("settings of a BootcOperatorConfig",
             {{"name", config->name}, {"tagResolutionPeriod", said.interval.value}});
  return said;
}

void set_lookup(settings& to, const units::registry_lookup& said) {
  to.registries.insecure_registries = said.insecure.value;
  for (const std::string& pair : said.mirrors) {
    const auto equals = pair.find('=');
    to.registries.mirrors[pair.substr(0, equals)] = pair.substr(equals + 1);
  }
  to.registries.token_realms = said.token_realms;
  to.registries.ca_file = said.ca_file;
}

void set_labels(settings& to, const std::vector<std::string>& said) {
  to.kubernetes_labels = said;
  if (said.empty()) to.kubernetes_labels.assign(usual_labels.begin(), usual_labels.end());
  if (said == std::vector<std::string>{"none"}) to.kubernetes_labels.clear();
}

settings settings_from(const registry_settings& said, const std::string& operator_ns,
                       const std::string& identity) {
  settings s;
  if (!operator_ns.empty()) s.operator_ns = operator_ns;
  s.identity = identity;
  s.tag_interval = said.interval.value;
  set_lookup(s, said);
  set_labels(s, said.kubernetes_labels);
  return s;
}

}  // namespace bootc
