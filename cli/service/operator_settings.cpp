#include "cli/service/operator_settings.hpp"

#include "bootc/operator_config.hpp"
#include "cli/service/run_to_end.hpp"
#include "k8s/client/client.hpp"

#include <boost/json/object.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace cli {
namespace {

bool is_said(const std::vector<setting>& settings, std::string_view name) {
  return std::ranges::any_of(
      settings, [&](const setting& s) { return s.name == name && s.origin != "default"; });
}

using answer = reactor::result<bootc::operator_config>;

reactor::awaitable<answer> at_home(k8s::client& home, const reactor::logger& log) {  // borrowed
  auto config = co_await bootc::load_operator_config(home);
  if (config) co_return *config;
  const k8s::fault why = config.error();
  const bool forbidden = why.code == k8s::errc::forbidden;
  if (forbidden)
    log.warning("the BootcOperatorConfig may not be read: its defaults count",
                {{"why", why.message()}});
  // Who cannot reach home says so better a moment later.
  if (forbidden || why.code == k8s::errc::unavailable || why.code == k8s::errc::unauthorized)
    co_return bootc::operator_config();
  co_return reactor::make_fault(reactor::errc::refused, "", why.message());
}

}  // namespace

reactor::result<registry_arguments> registries_of(reactor::loop& l, const k8s::connection& home,
                                                  const registry_arguments& said,
                                                  const std::vector<setting>& settings,
                                                  const reactor::logger& log) {
  const bool interval = is_said(settings, "tag-resolution-interval"),
             insecure = is_said(settings, "allow-insecure-registry");
  registry_arguments out = said;
  if (home.server.empty() || (interval && insecure)) return out;
  k8s::client api(l, home, "windlass");
  answer config = bootc::operator_config();
  const auto look = [&]() -> reactor::awaitable<void> {
    config = co_await at_home(api, log);
    co_await api.stop();
    l.stop();
  };
  run_to_end(l, "operator config", look());
  if (!config) return config.error();
  if (!interval) out.interval = config->tag_resolution_period;
  if (!insecure && config->allow_insecure_registry)
    log.warning(
        "the BootcOperatorConfig allows insecure registries and names none: no registry is asked "
        "by "
        "plain HTTP until --allow-insecure-registry HOST[:PORT] names it",
        {{"name", config->name}});
  if (!config->name.empty())
    log.info("settings of a BootcOperatorConfig",
             {{"name", config->name}, {"tagResolutionPeriod", out.interval}});
  return out;
}

}  // namespace cli
