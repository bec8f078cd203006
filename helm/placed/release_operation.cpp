#include "helm/placed/release_operation.hpp"

#include "helm/placed/plan/names.hpp"
#include "helm/placed/plan/retries.hpp"
#include "helm/release/release_jobs.hpp"
#include "helm/release/workbench.hpp"
#include "k8s/client/client.hpp"
#include "reactor/foreign_work.hpp"
#include "reactor/loop.hpp"

namespace helm::placed {
namespace {

using reactor::awaitable;

/// Of all records of a release together; strangers may have written them. So much the
/// service has of them in memory while it works on the release.
constexpr std::uint64_t history_bytes = 32u << 20;

release::cluster_records::driver driver_of(record_driver d) {
  return d == record_driver::secrets ? release::cluster_records::driver::secrets
                                     : release::cluster_records::driver::config_maps;
}

release::release_actions::settings settings_of(const operation_order& o, const reactor::logger& log,
                                               noted_release& notes) {
  using secrets = release::action_settings::secrets;
  release::release_actions::settings s;
  s.ns = o.ns;
  s.notes = &notes;
  s.looked_up = o.is_confined      ? secrets::none_else
                : o.secrets_of_all ? secrets::of_every_namespace
                                   : secrets::of_its_namespace;
  // The same over restarts and replicas: the next process may end what this process leaves.
  s.instance = names::manager;
  s.charts = service_chart_limits;
  s.renders_in = o.timeout;
  s.line = [log, release = o.release](const std::string& line) {
    log.debug("helm", {{"release", release}, {"line", line}});
  };
  s.warning = [log, release = o.release](const std::string& line) {
    log.warning("helm says", {{"release", release}, {"line", line}});
  };
  return s;
}

const std::string& store_of(const operation_order& o) {
  return o.store_ns.empty() ? o.ns : o.store_ns;
}
std::string described(const operation_order& o, const k8s::client& api) {
  return "the release " + o.ns + "/" + o.release + " at " + api.server();
}
objects::release_name name_of(const operation_order& o) {
  return {o.release, o.ns};
}

}  // namespace

release_operation::release_operation(reactor::loop& l, k8s::client& api, k8s::discovery& known,
                                     operation_order order, reactor::logger log)
    : loop_(l),
      api_(api),
      order_(std::move(order)),
      share_(reactor::work_memory_of(l), described(order_, api), order_.timeout),
      notes_(l, api, order_.notes_ns, order_.ns, order_.release, order_.owner),
      on_(l, api, known),
      records_(l, api, store_of(order_), driver_of(order_.driver), name_of(order_), history_bytes,
               &share_),
      actions_(l, api, on_, records_, settings_of(order_, log, notes_)) {
  on_.of_strangers(service_chart_limits, &share_);
  if (order_.is_confined) on_.confine_to(order_.ns);
}

template <class Request>
Request release_operation::asked() const {
  Request r;
  r.name = order_.release;
  r.chart = order_.chart;
  r.values = detached_copy(order_.values);
  r.work.timeout = order_.timeout;
  r.work.wait = order_.ready == operation_order::workloads::waited_for;
  r.work.recorded = true;
  r.atomic = order_.atomic;
  return r;
}

release::install_request release_operation::install_order() const {
  auto r = asked<release::install_request>();
  r.replace = true;  // of an uninstalled one
  return r;
}

release::upgrade_request release_operation::upgrade_order() const {
  auto r = asked<release::upgrade_request>();
  r.how = release::reuse::reset;
  r.history_max = order_.max_history;
  return r;
}

/// Where records are kept in a namespace of ours, it is made with the first one.
awaitable<outcome<objects::done>> release_operation::make_store() {
  if (order_.store_ns.empty() || order_.what == operation::uninstall) co_return objects::done{};
  k8s::object_key key;
  key.name = order_.store_ns;
  auto there = co_await api_.get(k8s::resources::namespaces(), std::move(key));
  if (there) co_return objects::done{};
  if (there.error().code == k8s::errc::not_found) {
    auto made = co_await ensure_namespace(api_, order_.store_ns);
    if (made) co_return objects::done{};
    co_return problem{"the namespace of the records: " + made.error().message()};
  }
  co_return problem{"the namespace of the records: " + there.error().message()};
}

awaitable<outcome<objects::done>> release_operation::run() {
  auto ended = co_await carry_out();
  share_.give_back();  // what is told of it is little
  co_return ended;
}

awaitable<outcome<objects::done>> release_operation::carry_out() {
  auto store = co_await make_store();
  if (!store) co_return store.error();
  if (order_.what == operation::install) {
    release::install_request r = install_order();
    auto made = co_await actions_.install(std::move(r));
    if (!made) co_return made.error();
    co_return co_await run_tests();
  }
  if (order_.what == operation::upgrade) {
    release::upgrade_request r = upgrade_order();
    auto made = co_await actions_.upgrade(std::move(r));
    if (!made) co_return made.error();
    co_return co_await run_tests();
  }
  release::uninstall_request r;
  r.name = order_.release;
  r.work.timeout = order_.uninstalls_in;
  r.work.wait = true;
  r.ignore_not_found = true;
  auto gone = co_await actions_.uninstall(std::move(r));
  if (!gone) co_return gone.error();
  co_return objects::done{};
}

awaitable<outcome<objects::done>> release_operation::run_tests() {
  if (!order_.tests) co_return objects::done{};
  release::test_request r;
  r.name = order_.release;
  r.timeout = order_.timeout;
  release::test_outcome ended = co_await actions_.test(std::move(r));
  if (ended.failure) co_return problem{"its tests: " + ended.failure->text};
  co_return objects::done{};
}

awaitable<outcome<release::record>> release_operation::rendered() {
  if (order_.what == operation::install) {
    release::install_request r = install_order();
    r.dry = release::dry_run::server;
    co_return co_await actions_.install(std::move(r));
  }
  release::upgrade_request r = upgrade_order();
  r.dry = release::dry_run::server;
  co_return co_await actions_.upgrade(std::move(r));
}

awaitable<outcome<std::optional<release::record>>> release_operation::base() {
  std::optional<release::record> none;
  if (order_.what == operation::install) co_return none;
  auto past = co_await actions_.revisions(order_.release);
  if (!past) co_return past.error();
  if (order_.what == operation::uninstall) co_return std::optional(past->back());
  auto from = release::upgrade_base(*past, order_.release);
  if (!from) co_return from.error();
  co_return std::optional(**from);
}

/// An install brings what is in crds/; an upgrade leaves that alone, as Helm does.
awaitable<outcome<objects::object_list>> release_operation::kinds_of_the_chart() {
  objects::object_list out;
  if (order_.what != operation::install) co_return out;
  auto files = co_await release::crds_apart(loop_, order_.chart, detached_copy(order_.values),
                                            service_chart_limits);
  if (!files) co_return files.error();
  for (auto& [path, text] : *files) {
    auto built = co_await on_.build(std::move(text), order_.ns);
    if (!built) co_return built.error();
    for (objects::object& o : *built) out.push_back(std::move(o));
  }
  co_return out;
}

awaitable<outcome<std::vector<object_change>>> release_operation::preview() {
  std::vector<object_change> out;
  auto was = co_await base();
  if (!was) co_return was.error();
  objects::object_list target, old;
  bool believed = true;
  if (*was) {
    release::record asked = **was;
    believed = co_await notes_.knows(std::move(asked));
    auto built = co_await on_.build((*was)->manifest, order_.ns);
    if (!built) co_return built.error();
    old = std::move(*built);
  }
  if (order_.what != operation::uninstall) {
    auto kinds = co_await kinds_of_the_chart();
    if (!kinds) co_return kinds.error();
    for (const objects::object& o : *kinds) {
      auto live = co_await on_.live(o);
      if (!live) co_return live.error();
      if (*live) continue;  // those that are there are left as they are
      auto change = change_of(o, nullptr, nullptr);
      if (change && *change) out.push_back(std::move(**change));
    }
    auto next = co_await rendered();
    if (!next) co_return next.error();
    for (const release::recorded_hook& h : next->hooks) {
      object_change runs;
      runs.action = "run";
      runs.kind = h.what.kind;
      runs.ns = order_.ns;
      runs.name = h.what.name;
      const std::string_view ends = order_.what == operation::install ? "-install" : "-upgrade";
      for (const std::string& event : h.what.events)
        if (event.ends_with(ends)) runs.lines.push_back(event);
      if (!runs.lines.empty()) out.push_back(std::move(runs));
    }
    auto built = co_await on_.build(next->manifest, order_.ns);
    if (!built) co_return built.error();
    target = release::stamped(std::move(*built), *next);
  }
  for (const objects::object& o : target) {
    auto live = co_await on_.live(o);
    if (!live) co_return live.error();
    auto change = change_of(o, objects::find_same(old, o), *live ? &**live : nullptr);
    if (!change) co_return problem{objects::describe(o) + ": " + change.error().text};
    if (*change) out.push_back(std::move(**change));
  }
  for (const objects::object& o : objects::difference(old, target)) {
    auto live = co_await on_.live(o);
    if (!live) co_return live.error();
    if (!believed && *live && !objects::belongs_to(**live, name_of(order_))) continue;
    if (auto change = removal_of(o, *live ? &**live : nullptr)) out.push_back(std::move(*change));
  }
  co_return out;
}

awaitable<outcome<objects::done>> end_pending(reactor::loop& l, k8s::client& api,
                                              operation_order of, int revision) {
  release::cluster_records records(l, api, store_of(of), driver_of(of.driver), name_of(of),
                                   history_bytes);
  auto found = co_await records.get(of.release, revision);
  if (!found && found.error().code == problem_code::not_found) co_return objects::done{};
  if (!found) co_return found.error();
  release::record last = std::move(*found);
  if (!release::is_pending(last.state)) co_return objects::done{};  // ended by another
  last.description = release::failed_description(last, "no process works on it any more");
  last.state = release::status::failed;
  last.labels.erase(release::instance_label);
  last.labels.erase(release::deadline_label);
  co_return co_await records.update(std::move(last));
}

}  // namespace helm::placed
