#include "k8s/lease/lease.hpp"

#include "formats/json/member.hpp"
#include "k8s/client/client.hpp"
#include "reactor/loop.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <algorithm>

namespace k8s {
namespace {

namespace json = boost::json;
using formats::text_member;

std::int64_t number(const json::object& o, std::string_view field) {
  const json::value* v = o.if_contains(field);
  return v && v->is_int64() ? v->get_int64() : 0;
}

json::object member(const json::object& o, std::string_view field) {
  const json::value* v = o.if_contains(field);
  return v && v->is_object() ? v->get_object() : json::object();
}

json::object body_of(const lease_record& r, const object_key& key) {
  json::object metadata;
  metadata["name"] = key.name;
  metadata["namespace"] = key.ns;
  if (!r.resource_version.empty()) metadata["resourceVersion"] = r.resource_version;
  json::object spec;
  spec["holderIdentity"] = r.holder;
  spec["leaseDurationSeconds"] = r.duration_seconds;
  spec["acquireTime"] = r.acquired;
  spec["renewTime"] = r.renewed;
  spec["leaseTransitions"] = r.transitions;
  json::object body;
  body["metadata"] = std::move(metadata);
  body["spec"] = std::move(spec);
  return body;
}

}  // namespace

lease_record lease_record_of(const json::object& lease) {
  const json::object spec = member(lease, "spec");
  lease_record r;
  r.holder = text_member(spec, "holderIdentity");
  r.duration_seconds = number(spec, "leaseDurationSeconds");
  r.acquired = text_member(spec, "acquireTime");
  r.renewed = text_member(spec, "renewTime");
  r.transitions = number(spec, "leaseTransitions");
  r.resource_version = text_member(member(lease, "metadata"), "resourceVersion");
  return r;
}

leader_election::leader_election(reactor::loop& l, client& api, options o, reactor::logger log)
    : loop_(l),
      api_(api),
      options_(std::move(o)),
      log_(std::move(log)),
      state_(options_.identity, options_.settings),
      tasks_(l) {}

void leader_election::start() {
  tasks_.start("leader election", run());
}

awaitable<void> leader_election::run() {
  for (;;) {
    auto tried = co_await attempt();
    if (!tried && tried.error().cancelled) co_return;
    if (!tried && tried.error().code != errc::conflict && tried.error().code != errc::exists) {
      log_.warning("lease not renewed",
                   {{"lease", options_.lease.text()}, {"error", tried.error().message()}});
    }
    announce();
    co_await loop_.sleep_for(loop_.random().jitter(options_.settings.retry, 0.2));
  }
}

/// Reads the Lease, decides, writes.
awaitable<result<void>> leader_election::attempt() {
  // A request that hangs must leave time for another one before the deadline.
  const reactor::nanoseconds patience = options_.settings.renew_deadline / 2;
  auto got =
      co_await api_.get(resources::leases(), options_.lease, request_options().within(patience));
  if (!got && got.error().code != errc::not_found) co_return got.error();
  std::optional<lease_record> current;
  if (got) current = lease_record_of(*got);
  const reactor::steady_time started = loop_.now();
  const leader_state::decision d = state_.decide(current, started, loop_.wall());
  if (d.what == leader_state::act::wait) co_return result<void>();
  json::object body = body_of(d.write, options_.lease);
  if (d.what == leader_state::act::create) {
    auto made = co_await api_.create(resources::leases(), options_.lease.ns, std::move(body),
                                     request_options().within(patience));
    if (!made) co_return made.error();
    state_.wrote(lease_record_of(*made), started);
  } else {
    auto made = co_await api_.replace(resources::leases(), options_.lease, std::move(body),
                                      request_options().within(patience));
    if (!made) co_return made.error();
    state_.wrote(lease_record_of(*made), started);
  }
  co_return result<void>();
}

/// Tells the owner of a change, and watches over the deadline while requests may hang.
void leader_election::announce() {
  loop_.timers().disarm(watchdog_);
  watchdog_ = 0;
  const bool now_leading = state_.leading(loop_.now());
  if (!now_leading) state_.step_down();
  if (now_leading) {
    watchdog_ = loop_.timers().arm(state_.ends_at(), [this] {
      watchdog_ = 0;
      announce();
    });
  }
  if (!now_leading && !state_.holder().empty() && state_.holder() != waits_for_) {
    waits_for_ = state_.holder();
    log_.info("standing by: another one holds the lease",
              {{"lease", options_.lease.text()}, {"holder", waits_for_}});
  }
  if (now_leading) waits_for_.clear();
  if (now_leading == announced_) return;
  announced_ = now_leading;
  log_.info(now_leading ? "became leader" : "lost leadership",
            {{"lease", options_.lease.text()}, {"identity", options_.identity}});
  const auto& tell = now_leading ? options_.on_started : options_.on_lost;
  if (tell) tell();
}

awaitable<void> leader_election::stop() {
  co_await tasks_.cancel_and_join();
  loop_.timers().disarm(watchdog_);
  watchdog_ = 0;
  const std::optional<lease_record> last = state_.release(loop_.wall());
  state_.step_down();
  announced_ = false;
  if (!last) co_return;
  json::object body = body_of(*last, options_.lease);
  auto released = co_await api_.replace(resources::leases(), options_.lease, std::move(body),
                                        request_options().within(2s));
  if (!released && !released.error().cancelled) {
    log_.warning("lease not released",
                 {{"lease", options_.lease.text()}, {"error", released.error().message()}});
  }
}

}  // namespace k8s
