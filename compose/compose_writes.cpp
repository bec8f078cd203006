// What the planner decided is written, each with what it was decided on.
#include "compose/compose_cluster.hpp"
#include "compose/metric_table.hpp"
#include "compose/secret_values.hpp"
#include "formats/base64.hpp"
#include "formats/digest.hpp"
#include "k8s/client/client.hpp"
#include "k8s/client/wiping_json.hpp"
#include "reactor/loop.hpp"
#include "reactor/loop_slice.hpp"
#include "reactor/metrics.hpp"
#include "reactor/plain/printable.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <utility>

namespace compose {

namespace json = boost::json;
using policies::compose::action;
using policies::compose::asked_value;

namespace {

/// The first of etcd, before anything is stored.
constexpr const char* version_of_none = "1";

bool is_secret(const object_name& id) {
  return id.kind == kind_name{"v1", "Secret"};
}

json::object& metadata_of(json::object& body) {
  json::value& metadata = body["metadata"];
  if (!metadata.is_object()) metadata = json::object();
  return metadata.get_object();
}

}  // namespace

/// Carries out the writes of a pass. The status is planned again once a write was refused.
awaitable<write_steps> compose_cluster::carry_out_all(object_name id,
                                                      std::shared_ptr<pass_result> o) {
  const auto before = parents_.find(id);
  // Without an answer of the pack there is nothing to plan with.
  using refused_is = write_steps::refused_is;
  write_steps steps(before == parents_.end() ? 0 : before->second.races,
                    o->answered ? refused_is::planned_again : refused_is::left);
  for (;;) {
    const write_steps::request want = steps.next(o->plan.actions);
    if (want.what == write_steps::request::is::end) break;
    if (want.what == write_steps::request::is::plan_again) {
      o->sync_input.refused = steps.refused();
      co_await plan(o);
      continue;
    }
    const action one = o->plan.actions[want.action];
    if (reactor::loop_slice::is_over()) co_await on_.loop().yield();
    // The status speaks of what was made: it begins nothing.
    const bool begins = one.what != action::kind::set_status;
    if (!on_.is_live() || !has_turn(*o->by.about) ||
        (begins ? units::begin(brake_, id.text()) : units::ask(brake_, id.text()))) {
      steps.lost();
      continue;
    }
    auto done = co_await carry_out(o, one);
    if (done) {
      steps.made();
      record_event(id, *o->sync_input.about, one.done);
    } else {
      steps.failed(one, done.error());
    }
  }
  const auto state = parents_.find(id);
  if (state == parents_.end() || steps.is_cut_short()) co_return steps;
  // The status still says what was refused before this pass.
  const bool healed = !state->second.refused.empty() && steps.refused().empty();
  state->second.refused = steps.refused();
  if (healed) look_at(id);
  co_return steps;
}

void compose_cluster::wrote(const object_name& id, const object& now) {
  watched_kind* w = watched(id.kind);
  if (w)
    w->writes.wrote(key_for(id), k8s::uid(now.uid), k8s::resource_version(now.resource_version));
}

/// The body of a write, with what was asked for and never seen.
awaitable<k8s::result<json::object>> compose_cluster::fill_in(std::shared_ptr<const pass_result> o,
                                                              action a) {
  const json::storage_ptr storage = is_secret(a.of) ? k8s::wiping_storage() : json::storage_ptr();
  json::value whole = to_json(a.body, storage);
  json::object body(storage);
  if (whole.is_object()) body = std::move(whole.get_object());
  if (!is_secret(a.of)) co_return body;
  secret_values there, sources;
  std::set<std::string> wanted;
  bool own = false;
  for (const auto& [key, ask] : a.asks) {
    if (ask.from == asked_value::source::copy) wanted.insert(ask.secret);
    own = own || (ask.from == asked_value::source::public_key && !a.asks.contains(ask.of));
  }
  if (own) wanted.insert(a.of.name);
  for (const std::string& name : wanted) {
    k8s::resource secrets = k8s::resources::secrets();
    k8s::object_key key{a.of.ns, name};
    auto got = co_await on_.api().get(std::move(secrets), std::move(key));
    if (!got) co_return got.error();
    json::value* data = got->if_contains("data");
    if (!data || !data->is_object()) continue;
    for (auto& member : data->get_object()) {
      if (!member.value().is_string()) continue;
      json::string& encoded = member.value().get_string();
      auto bytes = formats::decode_base64(encoded);
      reactor::wipe(encoded.data(), encoded.size());
      if (!bytes) continue;
      reactor::secret held(std::move(*bytes));
      if (own && name == a.of.name) there.emplace(member.key(), held);
      sources.emplace(name + "/" + std::string(member.key()), std::move(held));
    }
  }
  // What was decided upon is what is written: a source that moved meanwhile is looked at again.
  for (const auto& [key, ask] : a.asks) {
    if (ask.from != asked_value::source::copy) continue;
    const auto source = sources.find(ask.secret + "/" + ask.key);
    const auto seen = o->sync_input.live.find(secret_of(a.of.ns, ask.secret));
    const bool same =
        source != sources.end() && seen != o->sync_input.live.end() &&
        seen->second->digests.contains(ask.key) &&
        seen->second->digests.at(ask.key) == formats::digest_of(source->second.reveal());
    if (same) continue;
    k8s::fault f;
    f.code = k8s::errc::conflict;
    f.doing = "copy from Secret " + ask.secret;
    f.detail = "it changed meanwhile";
    co_return f;
  }
  // A key takes a millisecond.
  const auto make = [](const auto& asks, const secret_values& has, const auto& from,
                       const std::shared_ptr<reactor::entropy>& rng) {
    return make_secret_values(asks, has, from, *rng);
  };
  auto made = co_await on_.loop().offload(make, a.asks, std::move(there), std::move(sources),
                                          on_.loop().entropy_for_worker());
  if (!made) {
    k8s::fault f;
    f.code =
        made.error().code == reactor::errc::not_found ? k8s::errc::conflict : k8s::errc::invalid;
    f.doing = made.error().doing;
    f.detail = made.error().detail;
    co_return f;
  }
  for (const auto& [key, text] : a.data) made->insert_or_assign(key, reactor::secret(text));
  if (made->empty()) co_return body;
  json::value& data = body["data"];
  if (!data.is_object()) data = json::object(storage);
  for (const auto& [key, bytes] : *made) {
    std::string encoded = formats::encode_base64(bytes.reveal());
    data.get_object().insert_or_assign(key, json::string(encoded, storage));
    reactor::wipe(encoded);
  }
  co_return body;
}

awaitable<k8s::result<void>> compose_cluster::carry_out(std::shared_ptr<const pass_result> o,
                                                        action a) {
  const std::string verb(policies::compose::verb(a.what));
  k8s::result<void> done;
  if (a.what == action::kind::remove)
    done = co_await take_away(o, a);
  else
    done = co_await write(o, a);
  if (!done && done.error().cancelled) co_return done;
  const char* ended = done ? "done" : is_a_race(a, done.error()) ? "raced" : "failed";
  options_.environment.metrics
      .get_counter(metric_table::writes,
                   {{"cluster", cluster_}, {"outcome", ended}, {"verb", verb}})
      .add();
  co_return done;
}

awaitable<k8s::result<void>> compose_cluster::take_away(std::shared_ptr<const pass_result> o,
                                                        action a) {
  const object_name id = a.of;
  const watched_kind* kind = watched(id.kind);
  if (!kind) co_return k8s::result<void>();
  k8s::resource r = kind->resource;
  k8s::object_key key = key_for(id);
  k8s::delete_options with;
  with.uid = a.uid;
  with.resource_version = a.resource_version;
  with.propagation = "Background";
  const auto there = o->sync_input.live.find(id);
  const bool ends = there != o->sync_input.live.end() && there->second->finalizers.empty();
  auto done = co_await on_.api().remove(std::move(r), key, std::move(with));
  if (!done && done.error().code == k8s::errc::not_found) co_return k8s::result<void>();
  if (!done) co_return done.error();
  // Where its end takes time (a Pod's grace) the next event says so.
  if (watched_kind* w = watched(id.kind); w && ends && w->meta(key))
    w->writes.removed(key, k8s::uid(a.uid));
  co_return k8s::result<void>();
}

awaitable<k8s::result<void>> compose_cluster::write(std::shared_ptr<const pass_result> o,
                                                    action a) {
  const object_name id = a.of;
  const watched_kind* kind = watched(id.kind);
  k8s::fault gone;
  gone.code = k8s::errc::gone;
  gone.doing = "write " + id.text();
  gone.detail = "its kind is not watched any more";
  if (!kind) co_return gone;
  const k8s::resource r = kind->resource;
  const k8s::object_key key = key_for(id);
  const bool creates = a.what == action::kind::create;
  const bool applied =
      a.what == action::kind::apply || (creates && !is_secret(id) && !a.asked.empty());
  // Parents are everybody's; what stands in them by us is the core's.
  std::string manager =
      id == o->sync_input.parent->id() ? std::string() : o->sync_input.about->manager;
  auto body = co_await fill_in(o, a);
  if (!body) co_return body.error();
  // An apply makes what is not there and would change what another writer has made since we looked:
  // a version that no object has lets it make only.
  if (applied && creates) metadata_of(*body)["resourceVersion"] = version_of_none;
  if (a.what == action::kind::apply) {
    metadata_of(*body)["uid"] = a.uid;
    metadata_of(*body)["resourceVersion"] = a.resource_version;
  }
  k8s::result<json::object> got = json::object();
  if (applied) {
    const auto conflicts = creates ? k8s::apply_conflicts::fail : k8s::apply_conflicts::force;
    got = co_await on_.api().apply(
        r, key, std::move(*body),
        k8s::request_options().by(std::move(manager)).on_conflict(conflicts));
  } else if (creates) {
    metadata_of(*body)["name"] = id.name;
    if (!id.ns.empty()) metadata_of(*body)["namespace"] = id.ns;
    got = co_await on_.api().create(r, id.ns, std::move(*body),
                                    k8s::request_options().by(std::move(manager)));
  } else {
    std::string subresource;
    if (a.what == action::kind::set_status) subresource = "status";
    got = co_await on_.api().merge_patch(
        r, key, std::move(*body),
        k8s::request_options().at(std::move(subresource)).by(std::move(manager)));
  }
  if (!got) co_return got.error();
  const object now = read_answer_object(id.kind, *got);
  // it is gone with that
  if (now.deleting && a.what == action::kind::remove_finalizer) co_return k8s::result<void>();
  wrote(id, now);
  if (a.asked.empty()) co_return k8s::result<void>();
  const auto state = parents_.find(o->sync_input.parent->id());
  if (state == parents_.end()) co_return k8s::result<void>();
  policies::compose::settled_write& settled = state->second.settled[id];
  settled.asked = a.asked;
  settled.content = a.what == action::kind::set_status ? policies::compose::status_content_of(now)
                                                       : policies::compose::content_of(now);
  co_return k8s::result<void>();
}

}  // namespace compose
