#include "bootc/registry_settings.hpp"

#include "app/run_to_end.hpp"
#include "bootc/operator_config.hpp"
#include "k8s/client/client.hpp"
#include "app/api/setup.hpp"

#include <boost/json/object.hpp>

#include <memory>
#include <utility>

namespace bootc {
namespace {

using answer = reactor::result<operator_config>;

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

std::string problem_with_registry(const std::string& text) {
  // The original operator's flag takes no value; it would take one of these or the next flag here.
  const bool host = !text.empty() && !text.starts_with('-') && text != "true" && text != "false" &&
                    text.find_first_of("/*@ ") == text.npos;
  return host ? std::string()
              : "\"" + text + "\" names no registry: each one is named as HOST[:PORT]";
}

std::string problem_with_mirror(const std::string& text) {
  const auto equals = text.find('=');
  const bool whole =
      equals != text.npos && equals > 0 && equals + 1 < text.size() && text.find('/') == text.npos;
  return whole ? std::string() : "\"" + text + "\" is not HOST=MIRROR, without a path";
}

}  // namespace

units::api_setup declare_registries(app::flags& f) {
  const auto said = std::make_shared<registry_settings>();
  f.interval("--tag-resolution-interval", said->interval, "5m",
             "between two questions what a tag names: 5m, 1h30m");
  f.value("--allow-insecure-registry", said->insecure,
          "plain HTTP to this registry where it speaks no TLS or cannot be verified; its login is "
          "sent unprotected")
      .takes("HOST[:PORT]")
      .repeated()
      .check(problem_with_registry);
  f.value("--registry-mirror", said->mirrors, "ask MIRROR before the registry HOST")
      .takes("HOST=MIRROR")
      .repeated()
      .check(problem_with_mirror);
  f.value("--allow-token-realm", said->token_realms,
          "a host that may issue tokens for registries of other domains")
      .takes("HOST")
      .repeated();
  f.value("--registry-ca-file", said->ca_file,
          "certificates that registries are verified with, instead of the system's")
      .takes("FILE");
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

settings settings_from(const registry_settings& said, const std::string& operator_ns,
                       const std::string& identity) {
  settings s;
  if (!operator_ns.empty()) s.operator_ns = operator_ns;
  s.identity = identity;
  s.tag_interval = said.interval.value;
  s.registries.insecure_registries = said.insecure.value;
  for (const std::string& pair : said.mirrors) {
    const auto equals = pair.find('=');
    s.registries.mirrors[pair.substr(0, equals)] = pair.substr(equals + 1);
  }
  s.registries.token_realms = said.token_realms;
  s.registries.ca_file = said.ca_file;
  return s;
}

}  // namespace bootc
