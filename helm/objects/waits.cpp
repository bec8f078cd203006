#include "helm/objects/waits.hpp"

#include "k8s/client/client.hpp"
#include "k8s/client/list_pages.hpp"
#include "reactor/loop.hpp"

#include <boost/json/array.hpp>

#include <algorithm>

namespace helm::objects {
namespace {

namespace json = boost::json;
using reactor::awaitable;
using namespace std::chrono_literals;

// Most hooks end within a second; what takes minutes is looked at as often as Helm does.
constexpr reactor::backoff_settings looks{100ms, 2s, 2, 0.1};
constexpr int retry_limit = 30;
constexpr std::string_view too_late = "context deadline exceeded";

/// What may go away by itself: the server was busy, ill or not to be reached.
bool is_passing(const k8s::fault& f) {
  return f.http_status == 0 || f.http_status == 429 ||
         (f.http_status >= 500 && f.http_status != 501);
}

k8s::resource apps(std::string plural, std::string kind) {
  return {"apps", "v1", std::move(plural), std::move(kind), true};
}

/// Where the kind is looked at, whatever version the chart named it in.
k8s::resource where(const object& o, wait_rule rule) {
  switch (rule) {
    case wait_rule::deployment:
    case wait_rule::daemon_set:
    case wait_rule::stateful_set: return apps(o.resource.plural, o.kind);
    case wait_rule::replica_set:
      return o.resource.group.empty() ? o.resource : apps(o.resource.plural, o.kind);
    default: return o.resource;
  }
}

/// A request without a name would be for the whole collection.
bool has_nameless(const object_list& list) {
  return std::any_of(list.begin(), list.end(), [](const object& o) { return o.name.empty(); });
}

}  // namespace

std::string said(const k8s::fault& f) {
  return f.http_status != 0 && !f.detail.empty() ? f.detail : f.message();
}

reactor::nanoseconds waits::request_time(reactor::steady_time deadline) const {
  return std::clamp<reactor::nanoseconds>(deadline - loop_.now(), 1ms, k8s::request_deadline);
}

/// Until the next look; false when the deadline comes first.
awaitable<bool> waits::pause(reactor::backoff& pace, reactor::steady_time deadline) {
  const reactor::steady_time next = loop_.now() + pace.next(loop_.random());
  co_await loop_.sleep_until(std::min(next, deadline));
  co_return next < deadline;
}

awaitable<k8s::result<std::vector<json::object>>> waits::selected(k8s::resource of, std::string ns,
                                                                  std::string selector) {
  std::vector<json::object> all;
  if (selector.empty()) co_return all;
  k8s::list_options options;
  options.ns = std::move(ns);
  options.label_selector = std::move(selector);
  k8s::list_pages pages(api_, std::move(of), std::move(options));
  for (;;) {
    auto page = co_await pages.next();
    if (!page) co_return page.error();
    if (!*page) co_return all;
    json::value* items = (*page)->if_contains("items");
    if (!items || !items->is_array()) continue;
    for (json::value& one : items->get_array())
      if (one.is_object()) all.push_back(std::move(one.get_object()));
  }
}

awaitable<k8s::result<readiness>> waits::look(const object& o, bool jobs,
                                              reactor::steady_time deadline) {
  const wait_rule rule = rule_of(o);
  if (rule == wait_rule::nothing || (rule == wait_rule::job && !jobs)) co_return readiness::yes();
  auto live = co_await api_.get(where(o, rule), o.key(),
                                k8s::request_options().within(request_time(deadline)));
  if (!live) co_return live.error();
  switch (rule) {
    case wait_rule::pod: co_return pod_ready(*live);
    case wait_rule::job: co_return job_ready(*live);
    case wait_rule::daemon_set: co_return daemon_set_ready(*live);
    case wait_rule::stateful_set: co_return stateful_set_ready(*live);
    case wait_rule::volume_claim: co_return volume_claim_ready(*live);
    case wait_rule::service: co_return service_ready(*live);
    case wait_rule::definition: co_return definition_ready(*live);
    default: break;
  }
  const bool is_deployment = rule == wait_rule::deployment;
  const k8s::resource of =
      is_deployment ? apps("replicasets", "ReplicaSet") : k8s::resources::pods();
  auto below = co_await selected(of, o.ns, selector_text(*live));
  if (!below) co_return below.error();
  co_return is_deployment ? deployment_ready(*live, *below) : replica_set_ready(*live, *below);
}

awaitable<outcome<bool>> waits::until_ready(object_list list, bool jobs,
                                            reactor::steady_time deadline) {
  if (has_nameless(list)) co_return problem{"resource name may not be empty"};
  std::vector<int> failures(list.size());
  reactor::backoff pace(looks);
  for (;;) {
    std::size_t i = 0;
    for (; i < list.size(); ++i) {
      if (loop_.now() >= deadline) co_return problem{std::string(too_late)};
      auto seen = co_await look(list[i], jobs, deadline);
      if (!seen) {
        const bool retry = is_passing(seen.error()) && ++failures[i] <= retry_limit;
        if (!retry) co_return problem{said(seen.error())};
        break;
      }
      failures[i] = 0;
      if (!seen->failure.empty()) co_return problem{seen->failure};
      if (!seen->ready) break;
    }
    if (i == list.size()) co_return true;
    const bool in_time = co_await pause(pace, deadline);
    if (!in_time) co_return problem{std::string(too_late)};
  }
}

awaitable<outcome<bool>> waits::until_gone(object_list list, reactor::steady_time deadline) {
  if (has_nameless(list)) co_return problem{"resource name may not be empty"};
  std::size_t i = 0;  // what is before is gone
  int failures = 0;
  reactor::backoff pace(looks);
  for (;;) {
    for (; i < list.size(); ++i) {
      auto live = co_await api_.get(list[i].resource, list[i].key(),
                                    k8s::request_options().within(request_time(deadline)));
      if (live) break;
      if (live.error().code == k8s::errc::not_found) continue;
      const bool retry = is_passing(live.error()) && ++failures <= retry_limit;
      if (!retry) co_return problem{said(live.error())};
      break;
    }
    if (i == list.size()) co_return true;
    const bool in_time = co_await pause(pace, deadline);
    if (!in_time) co_return problem{std::string(too_late)};
  }
}

awaitable<outcome<bool>> waits::until_hook_done(object hook, reactor::steady_time deadline) {
  const bool job = hook.kind == "Job", pod = hook.kind == "Pod";
  if (!job && !pod) co_return true;
  if (hook.name.empty()) co_return problem{"resource name may not be empty"};
  bool was_there = false;
  reactor::backoff pace(looks);
  for (;;) {
    auto live = co_await api_.get(hook.resource, hook.key(),
                                  k8s::request_options().within(request_time(deadline)));
    if (live) {
      was_there = true;
      const readiness seen = job ? hook_job_done(*live) : hook_pod_done(*live);
      if (!seen.failure.empty()) co_return problem{seen.failure};
      if (seen.ready) co_return true;
    } else if (was_there && live.error().code == k8s::errc::not_found) {
      co_return true;  // deleted by a controller that cleans up after finished jobs
    }
    const bool in_time = co_await pause(pace, deadline);
    if (!in_time) co_return problem{"timed out waiting for the condition"};
  }
}

}  // namespace helm::objects
