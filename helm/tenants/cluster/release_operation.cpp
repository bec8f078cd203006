#include "helm/tenants/cluster/release_operation.hpp"

#include "helm/tenants/kinds/names.hpp"
#include "helm/tenants/plan/retries.hpp"
#include "k8s/client/client.hpp"
#include "reactor/loop.hpp"

namespace helm::tenants {
namespace {

using reactor::awaitable;

release::cluster_records::driver driver_of(record_driver d) {
  return d == record_driver::secrets ? release::cluster_records::driver::secrets
                                     : release::cluster_records::driver::config_maps;
}

release::release_actions::settings settings_of(const operation_order& o,
                                               const reactor::logger& log) {
  release::release_actions::settings s;
  s.ns = o.ns;
  // The same over restarts and replicas: whoever comes next may end what this process leaves.
  s.instance = names::manager;
  s.line = [log, release = o.release](const std::string& line) {
    log.debug("helm", {{"release", release}, {"line", line}});
  };
  s.warning = [log, release = o.release](const std::string& line) {
    log.warning("helm says", {{"release", release}, {"line", line}});
  };
  return s;
}

}  // namespace

release_operation::release_operation(reactor::loop& l, k8s::client& api, k8s::discovery& known,
                                     operation_order order, reactor::logger log)
    : order_(std::move(order)),
      on_(l, api, known),
      records_(l, api, order_.ns, driver_of(order_.driver)),
      actions_(l, api, on_, records_, settings_of(order_, log)) {}

awaitable<outcome<objects::done>> release_operation::run() {
  release::work_options work;
  work.timeout = operation_timeout;
  work.wait = true;
  if (order_.what == operation::install) {
    release::install_request r;
    r.name = order_.release;
    r.chart = order_.chart;
    r.values = detached_copy(order_.values);
    r.work = work;
    r.replace = true;  // of an uninstalled one
    auto made = co_await actions_.install(std::move(r));
    if (!made) co_return made.error();
    co_return objects::done{};
  }
  if (order_.what == operation::upgrade) {
    release::upgrade_request r;
    r.name = order_.release;
    r.chart = order_.chart;
    r.values = detached_copy(order_.values);
    r.work = work;
    r.how = release::reuse::reset;
    r.history_max = order_.max_history;
    auto made = co_await actions_.upgrade(std::move(r));
    if (!made) co_return made.error();
    co_return objects::done{};
  }
  release::uninstall_request r;
  r.name = order_.release;
  r.work = work;
  r.work.timeout = uninstall_timeout;
  r.ignore_not_found = true;
  auto gone = co_await actions_.uninstall(std::move(r));
  if (!gone) co_return gone.error();
  co_return objects::done{};
}

awaitable<outcome<objects::done>> end_pending(reactor::loop& l, k8s::client& api,
                                              operation_order of, int revision) {
  release::cluster_records records(l, api, of.ns, driver_of(of.driver));
  auto found = co_await records.get(of.release, revision);
  if (!found && found.error().code == problem_code::not_found) co_return objects::done{};
  if (!found) co_return found.error();
  release::record last = std::move(*found);
  if (!release::is_pending(last.state)) co_return objects::done{};  // somebody ended it meanwhile
  last.description = release::failed_description(last, "nobody works on it any more");
  last.state = release::status::failed;
  last.labels.erase(release::instance_label);
  last.labels.erase(release::deadline_label);
  co_return co_await records.update(std::move(last));
}

}  // namespace helm::tenants
