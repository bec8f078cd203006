// What is written for a fleet object: its status and revisions at home, the pools of its clusters.
#include "app/api/target_history.hpp"
#include "fleetwide/events.hpp"
#include "fleetwide/fleet_home.hpp"
#include "fleetwide/kinds/names.hpp"
#include "fleetwide/plan/gathering.hpp"
#include "formats/json/member.hpp"
#include "k8s/client/client.hpp"
#include "k8s/client/events.hpp"
#include "k8s/fleet/cluster.hpp"
#include "k8s/fleet/fleet.hpp"
#include "reactor/loop.hpp"
#include "reactor/plain/reason.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace fleetwide {

namespace json = boost::json;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t deeds_at_once = 32;
constexpr reactor::nanoseconds refused_retry = 1min, seen_within = 30s;

k8s::object_reference reference_to(const fleet_object& p) {
  return {std::string(names::api_version), std::string(p.kind), p.meta.ns.str(), p.meta.name.str(),
          p.meta.uid.text()};
}

}  // namespace

void fleet_home::tell(const fleet_object& about, const k8s::event_kind& what, std::string note) {
  on_.on().events().record(k8s::tell_of(what, reference_to(about), std::move(note)));
}

awaitable<k8s::result<void>> fleet_home::publish(fleet_object before, fleet_status s) {
  json::object status = to_json(s);
  for (const auto& [code, n] : before.status.held)
    if (!s.held.contains(code)) status["held"].as_object()[code] = nullptr;
  json::object patch, metadata;
  metadata["resourceVersion"] = before.meta.resource_version.text();
  patch["metadata"] = std::move(metadata);
  patch["status"] = std::move(status);
  auto written = co_await on_.api().merge_patch(
      words_.resource, before.meta.key(), std::move(patch),
      k8s::request_options().at("status").by(std::string(names::field_manager)));
  if (!written) co_return written.error();
  written_[before.meta.key()] = {formats::text_member(*written, "metadata", "resourceVersion"),
                                 on_.loop().now() + seen_within};
  co_return k8s::result<void>();
}

awaitable<k8s::result<void>> fleet_home::set_finalizer(fleet_object of, finalizer_is how) {
  json::array all;
  for (const k8s::interned& f : of.meta.finalizers)
    if (f.str() != names::cleanup) all.emplace_back(f.str());
  if (how == finalizer_is::wanted) all.emplace_back(names::cleanup);
  json::object patch, metadata;
  metadata["resourceVersion"] = of.meta.resource_version.text();
  metadata["finalizers"] = std::move(all);
  patch["metadata"] = std::move(metadata);
  auto written =
      co_await on_.api().merge_patch(words_.resource, of.meta.key(), std::move(patch),
                                     k8s::request_options().by(std::string(names::field_manager)));
  if (!written) co_return written.error();
  co_return k8s::result<void>();
}

awaitable<k8s::result<json::object>> fleet_home::put_revision(const fleet_look& at) {
  const fleet_object& p = at.object;
  const revision_owner owner{std::string(names::api_version), std::string(p.kind),
                             p.meta.name.str(), p.meta.uid.text()};
  json::object body = to_json(owner, at.number, at.wanted);
  co_return co_await on_.api().create(controller_revisions(), p.meta.ns.str(), std::move(body),
                                      k8s::request_options().by(std::string(names::field_manager)));
}

awaitable<k8s::result<void>> fleet_home::write_revision(const fleet_look& at) {
  const fleet_object& p = at.object;
  k8s::object_key key{p.meta.ns.str(), revision_name(p.meta.name.str(), at.world.wanted)};
  // One that another writer made, or changed, is no revision; its data cannot be changed back.
  const fleetwide::revision* there = revisions_.find(key);
  if (there && !is_revision_of(*there, p)) {
    k8s::delete_options how;
    how.uid = there->meta.uid.text();
    auto removed = co_await on_.api().remove(controller_revisions(), key, std::move(how));
    if (!removed && removed.error().code != k8s::errc::not_found) co_return removed.error();
  }
  auto made = co_await put_revision(at);
  if (!made && made.error().code == k8s::errc::exists) {
    json::object patch;
    patch["revision"] = at.number;
    made = co_await on_.api().merge_patch(
        controller_revisions(), std::move(key), std::move(patch),
        k8s::request_options().by(std::string(names::field_manager)));
  }
  if (!made) co_return made.error();
  co_return k8s::result<void>();
}

/// The revision of what is asked for stands at home before any cluster gets it.
awaitable<k8s::result<void>> fleet_home::make_revision(fleet_look& at) {
  const fleet_object& p = at.object;
  auto now = co_await on_.api().get(words_.resource, p.meta.key());
  if (!now) co_return now.error();
  // An older view than the server's would make one more of the same.
  if (formats::text_member(*now, "metadata", "resourceVersion") != p.meta.resource_version.text())
    co_return k8s::result<void>();
  const auto owners = units::owners_of(*now, words_.asked_at);
  std::int64_t newest = p.status.revision, made_before = 0;
  revisions_.objects().each([&](const fleetwide::revision& r) {
    if (!is_revision_of(r, p)) return;
    newest = std::max(newest, r.number);
    if (r.meta.name.str() == revision_name(p.meta.name.str(), at.world.wanted))
      made_before = r.number;
  });
  // One that was made and not told, by a process that ended in between.
  at.number = made_before > p.status.revision ? made_before : newest + 1;
  if (at.number != made_before) {
    auto made = co_await write_revision(at);
    if (!made) co_return made.error();
  }
  fleet_status s = p.status;
  for (revision_record& r : s.history)
    if (r.outcome == outcome::rolling || r.outcome == outcome::halted)
      r.outcome = outcome::replaced;
  revision_record next;
  next.revision = at.number;
  next.digest = at.world.wanted;
  next.ref = at.wanted.ref;
  next.image_digest = at.wanted.image_digest;
  next.signed_by = at.signed_by;
  if (!owners.empty()) next.by = owners.front().manager;
  next.at = reactor::format_rfc3339(on_.loop().wall());
  next.outcome = outcome::rolling;
  s.history.push_back(std::move(next));
  while (s.history.size() > static_cast<std::size_t>(p.history_limit))
    s.history.erase(s.history.begin());
  s.revision = at.number;
  s.digest = at.world.wanted;
  s.failed_digest.clear();
  s.available_digest.clear();
  say_not_halted(s, p, on_.loop().wall());
  auto said = co_await publish(p, std::move(s));
  if (!said) co_return said.error();
  tell(p, fleet_event::revision_made,
       "revision " + std::to_string(at.number) + ": " + at.wanted.ref);
  co_return k8s::result<void>();
}

/// What no history, no member and no wave needs any more.
awaitable<void> fleet_home::prune(fleet_object p) {
  std::set<std::string> needed;  // by name, which has the digest in it
  const auto needs = [&](std::string_view digest) {
    needed.insert(revision_name(p.meta.name.str(), digest));
  };
  needs(p.status.digest);
  needs(p.status.proven_digest);
  needs(p.status.failed_digest);
  for (const revision_record& r : p.status.history) needs(r.digest);
  std::map<k8s::object_key, std::string> old;
  revisions_.objects().each([&](const fleetwide::revision& r) {
    if (r.meta.labels.get(names::revision_of) == p.meta.uid.text() &&
        !needed.contains(r.meta.name.str()))
      old.emplace(r.meta.key(), r.meta.uid.text());
  });
  if (old.empty()) co_return;
  for (k8s::cluster* c : options_.fleet->clusters())
    if (member_part* part = options_.members(c->name()))
      old.erase({p.meta.ns.str(), revision_name(p.meta.name.str(), digest_on(*part, p))});
  for (auto& [key, uid] : old) {
    k8s::delete_options how;
    how.uid = uid;
    (void)co_await on_.api().remove(controller_revisions(), key, std::move(how));
  }
}

member_marks fleet_home::marks_for(const fleet_look& at, const member_plan& m) const {
  const fleet_object& p = at.object;
  member_marks marks;
  marks.object = p.mark();
  marks.uid = p.meta.uid.text();
  marks.digest = m.digest;
  marks.revision = at.number;
  marks.since = reactor::format_rfc3339(on_.loop().wall());
  for (const revision_record& r : p.status.history) {
    if (r.digest != m.digest) continue;
    marks.revision = r.revision;
    marks.image_digest = r.image_digest;
  }
  if (m.digest == at.world.wanted && !at.held_at.empty()) marks.image_digest = at.held_at;
  return marks;
}

/// Starts what the plan says, a few at once. Returns how much has to wait for that.
std::size_t fleet_home::start_deeds(const fleet_look& at) {
  std::size_t left = 0, room = this->room();
  for (const member_plan& m : at.plan.members) {
    if (m.does == deed::nothing || m.was_told) continue;
    const place here{at.object.meta.key(), m.cluster};
    if (begun_.contains(here)) continue;
    member_part* part = options_.members(m.cluster);
    if (!part || !part->on().is_live()) continue;
    const revision_content* content =
        m.digest == at.world.wanted ? &at.wanted : content_of(m.digest, at.object);
    if (m.does == deed::write && !content) continue;
    // Since it was looked at the brake may have come.
    if (tasks_.size() >= deeds_at_once || room == 0 ||
        units::begin(part->brake(), at.object.meta.key().text())) {
      ++left;
      continue;
    }
    --room;
    begun_[here] = {m.digest, reactor::format_rfc3339(on_.loop().wall()),
                    on_.loop().now() + seen_within};
    deed_order d{here, at.object, m, {}, {}};
    if (m.does == deed::write) {
      d.content = *content;
      d.marks = marks_for(at, m);
      d.marks.since = begun_[here].since;
    }
    tasks_.start(std::string(at.object.kind) + " " + here.first.text() + " on " + m.cluster,
                 carry_out(std::move(d)));
  }
  return left;
}

void fleet_home::deed_done(const deed_order& d, const k8s::result<void>& done, std::string version,
                           bool is_seen) {
  if (!done || is_seen || d.what.does != deed::write) begun_.erase(d.where);
  // What changed since it was looked at is looked at again; only an apply meets managers.
  const bool is_race =
      !done && d.what.does != deed::write && done.error().code == k8s::errc::conflict;
  if (!done && !is_race) {
    refused r;
    r.version = std::move(version);
    r.digest = d.what.digest;
    r.is_conflict = done.error().code == k8s::errc::conflict;
    r.why = reactor::reason_of(done.error());
    r.until = on_.loop().now() + refused_retry;
    r.at = on_.loop().wall() + refused_retry;
    on_.log().warning("a cluster did not take what was said at home",
                      {{"cluster", d.where.second}, {"claim", d.of.claim}, {"why", r.why}});
    tell(d.of, fleet_event::refused, d.where.second + ": " + r.why);
    refused_[d.where] = std::move(r);
  }
  // Not at once: a deed that is taken back at its cluster is planned again.
  look_soon(d.where.first);
}

}  // namespace fleetwide
