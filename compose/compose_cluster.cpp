// Which kinds are watched, and which parents a change concerns. What is done for one parent is in
// compose_pass.cpp.
#include "compose/compose_cluster.hpp"

#include "app/api/namespace_list.hpp"
#include "k8s/client/client.hpp"
#include "k8s/client/discovery.hpp"
#include "reactor/loop.hpp"

#include <boost/json/object.hpp>

#include <algorithm>
#include <utility>

namespace compose {

using namespace std::chrono_literals;
using policies::compose::declaration;

namespace {

/// What is missing is looked for again after that long, doubling: most clusters never serve it.
constexpr reactor::nanoseconds look_for_missing = 30s, look_for_missing_most = 5min,
                               look_for_lost = 30s, look_for_complete = 100ms;
/// So long the changes of objects that no parent has named may lie unread.
constexpr reactor::nanoseconds coalesce_window = 500ms;

/// Every pack that has the hook, in order, for the objects it applies to.
std::vector<std::shared_ptr<const policies::pack>> having_sync(const policies::host& packs) {
  std::vector<std::shared_ptr<const policies::pack>> all;
  for (const policies::pack_status& one : packs.status()) {
    policies::subject by_name;
    by_name.pack = one.name;
    auto found = packs.select("compose.sync", by_name);
    if (found && std::find(all.begin(), all.end(), *found) == all.end())
      all.push_back(std::move(*found));
  }
  return all;
}

policies::labels plain(const k8s::string_map& labels) {
  policies::labels out;
  for (const auto& [key, text] : labels) out.emplace(key.str(), text.str());
  return out;
}

}  // namespace

compose_cluster::compose_cluster(k8s::engagement& on, options o)
    : on_(on),
      options_(std::move(o)),
      brake_(units::brake_on(options_.environment, "compose", on)),
      cluster_(on.on().name()),
      figures_(options_.environment.metrics, options_.rows, "compose", cluster_),
      others_(on.loop(), on.api()),
      overviews_(on.loop()),
      packs_changed_(on.loop()),
      arranged_once_(on.loop()),
      controller_(
          on.loop(), *this,
          [this] {
            k8s::controller_options c;
            c.name = "compose";
            c.concurrency = 4;
            c.metrics = &options_.environment.metrics;
            c.log = on_.log();
            return c;
          }(),
          [](const object_name& id) { return id.text(); }),
      tasks_(on.loop()) {}

compose_cluster::~compose_cluster() = default;

void compose_cluster::start() {
  same_cluster::who w;
  w.on = &on_.on();
  w.at = options_.at;
  w.name = cluster_;
  w.reconsider = [this] { reconsider(); };
  seat_ = std::make_unique<same_cluster::seat>(options_.names, std::move(w));
  tasks_.start("compose on " + cluster_, follow_packs());
  if (options_.environment.does == units::mode::look) return;
  tasks_.start("compose data on " + cluster_, follow_data());
  tasks_.start("compose controller on " + cluster_, [this]() -> awaitable<void> {
    (void)co_await arranged_once_.wait();
    controller_.start();
  });
}

awaitable<void> compose_cluster::stop() {
  stopping_ = true;
  co_await tasks_.cancel_and_join();
  co_await controller_.stop();
  co_await overviews_.empty();
  for (auto& [name, kind] : kinds_) {
    on_.unfollow(kind->informer());
    leaving_.push_back(std::move(kind));
  }
  kinds_.clear();
  co_await end_leaving();
  turns_.clear();
  seat_.reset();  // only now may another one write there
}

awaitable<void> compose_cluster::end_leaving() {
  while (!leaving_.empty()) {
    // It stays where it is until it has ended: who waits here may be cancelled.
    watched_kind& last = *leaving_.back();
    co_await last.informer().stop();
    co_await last.informer().forget();
    std::erase_if(leaving_, [&](const auto& one) { return one.get() == &last; });
  }
}

awaitable<bool> compose_cluster::synced(reactor::steady_time deadline) {
  // What is watched may change meanwhile, so nothing of it is waited for itself.
  for (;;) {
    const bool complete =
        arranged_once_.is_set() && std::all_of(kinds_.begin(), kinds_.end(), [](const auto& k) {
          return k.second->informer().is_synced();
        });
    if (complete) co_return true;
    if (on_.loop().now() >= deadline) co_return false;
    co_await on_.loop().sleep_until(std::min(deadline, on_.loop().now() + look_for_complete));
  }
}

void compose_cluster::reconsider() {
  packs_changed_.set();
}

// ---------------------------------------------------------------- packs and kinds

void compose_cluster::take_packs() {
  packs_.clear();
  if (!seat_->works()) return;
  const policies::labels of_cluster = plain(on_.on().labels());
  const auto all = having_sync(options_.environment.packs);
  for (const auto& p : all) {
    if (p->about().composes.is_null()) continue;
    auto about = policies::compose::read_declaration(p->about());
    if (!about) {
      on_.log().error("a pack composes nothing: what it says of itself is wrong",
                      {{"pack", p->about().name}, {"error", about.error()}});
      continue;
    }
    const auto& apis = p->about().apis;
    const bool of_api =
        apis.empty() || std::find(apis.begin(), apis.end(), "compose") != apis.end();
    if (!of_api || !policies::matches(p->about().clusters, of_cluster)) continue;
    std::vector<std::string> namespaces = namespaces_of(*about);
    packs_.push_back({std::make_shared<declaration>(std::move(*about)), p, std::move(namespaces)});
  }
}

/// Leases of packs that have something to do here.
void compose_cluster::take_turns() {
  if (!options_.environment.extra_leases) return;
  std::map<std::string, std::unique_ptr<units::extra_leases::member>> now;
  for (const pack_in_force& p : packs_) {
    const std::string& lease = p.about->lease;
    const bool asked =
        std::ranges::any_of(p.about->parents, [&](const kind_name& k) { return watched(k); });
    if (lease.empty() || !asked || now.contains(lease)) continue;
    auto& before = turns_[lease];
    now[lease] = before ? std::move(before)
                        : options_.environment.extra_leases->claim(lease, [this] { reconsider(); });
  }
  turns_ = std::move(now);
}

bool compose_cluster::has_turn(const declaration& d) const {
  if (d.lease.empty() || !options_.environment.extra_leases) return true;
  const auto known = turns_.find(d.lease);
  return known != turns_.end() && known->second->ours();
}

bool compose_cluster::is_parent_kind(const kind_name& k) const {
  return std::any_of(packs_.begin(), packs_.end(), [&](const pack_in_force& p) {
    return std::find(p.about->parents.begin(), p.about->parents.end(), k) != p.about->parents.end();
  });
}

bool compose_cluster::is_parent(const object_name& id) const {
  return std::ranges::any_of(packs_,
                             [&](const pack_in_force& p) { return p.is_for(id.kind, id.ns); });
}

bool compose_cluster::pack_in_force::is_for(const kind_name& kind, const std::string& ns) const {
  // What lies in no namespace is in no namespace's list.
  return std::ranges::find(about->parents, kind) != about->parents.end() &&
         (namespaces.empty() || ns.empty() ||
          std::ranges::find(namespaces, ns) != namespaces.end());
}

std::vector<std::string> compose_cluster::namespaces_of(const declaration& d) const {
  if (d.namespaces_from.empty()) return {};
  const auto& variable = options_.variable;
  const std::string own = variable(d.namespaces_from);
  return units::namespaces_in(own.empty() ? variable("WATCH_NAMESPACES") : own);
}

/// The first that applies, or the one that the parent names: then `named` is that name.
const compose_cluster::pack_in_force* compose_cluster::pack_for(const object& parent,
                                                                std::string& named) const {
  policies::subject s;
  s.api = "compose";
  s.cluster_labels = plain(on_.on().labels());
  s.object_labels = policies::labels(parent.labels.begin(), parent.labels.end());
  if (const auto chosen = parent.annotations.find("windlass.dev/policy");
      chosen != parent.annotations.end())
    named = chosen->second;
  for (const pack_in_force& p : packs_) {
    if (!p.is_for(parent.what(), parent.ns)) continue;
    if (!named.empty() ? p.about->pack == named : p.pack->applies_to(s)) return &p;
  }
  return nullptr;
}

std::string compose_cluster::kinds_problem(const declaration& d) const {
  for (const auto* kinds : {&d.children, &d.related})
    for (const kind_name& k : *kinds)
      if (const auto gone = missing_.find(k); gone != missing_.end() && !d.optional.contains(k))
        return k.kind + " " + k.api_version + ": " + gone->second;
  return {};
}

bool compose_cluster::is_complete(const declaration& d) const {
  for (const auto* kinds : {&d.parents, &d.children, &d.related})
    for (const kind_name& k : *kinds) {
      if (missing_.contains(k)) continue;  // of parents: another kind may come with another CRD
      watched_kind* w = watched(k);
      if (!w || !w->informer().is_synced()) return false;
    }
  return true;
}

watched_kind* compose_cluster::watched(const kind_name& k) const {
  const auto found = kinds_.find(k);
  return found == kinds_.end() ? nullptr : found->second.get();
}

/// The collection of a kind that may be listed.
awaitable<k8s::result<k8s::resource>> compose_cluster::find_kind(kind_name k) {
  watched_kind* known = watched(k);
  const bool refused = known && known->is_refused();
  k8s::result<k8s::resource> before = known ? known->resource : k8s::resource();
  auto found = co_await on_.discovery().find(k.api_version, k.kind);
  k8s::fault missing;
  missing.code = k8s::errc::not_found;
  missing.detail = "the kind is not served";
  if (!found && known && !found.error().cancelled && found.error().code != k8s::errc::not_found)
    co_return before;  // a server that does not answer has not lost the kind
  if (!found && found.error().code == k8s::errc::not_found) co_return missing;
  if (!found) co_return found.error();
  if (!*found) co_return missing;
  k8s::resource r = **found;
  if (watched(k) && !refused) co_return r;
  // Without the right to list it everything here would become Stale.
  k8s::list_options one;
  one.limit = 1;
  one.metadata_only = true;
  auto listed = co_await on_.api().list(r, std::move(one));
  if (!listed && (listed.error().cancelled || listed.error().code == k8s::errc::forbidden ||
                  listed.error().code == k8s::errc::not_found))
    co_return listed.error();
  co_return r;
}

/// Brings what is watched in line with the packs. False: something is missing, look again.
awaitable<bool> compose_cluster::arrange() {
  take_packs();
  std::set<kind_name> wanted;
  std::map<kind_name, k8s::resource> served;
  std::map<kind_name, std::string> missing;
  bool complete = true;
  const std::vector<pack_in_force> packs = packs_;
  for (const pack_in_force& p : packs) {
    bool any_parent = false;
    for (const auto* kinds : {&p.about->parents, &p.about->children, &p.about->related}) {
      const bool of_parents = kinds == &p.about->parents;
      if (!of_parents && !any_parent) break;  // no parent asks for its children here
      for (const kind_name& k : *kinds) {
        if (!served.contains(k) && !missing.contains(k)) {
          auto found = co_await find_kind(k);
          if (!found && found.error().cancelled) co_return true;
          if (found)
            served.emplace(k, *found);
          else
            missing.emplace(k, found.error().message());
        }
        if (missing.contains(k) && !p.about->optional.contains(k)) complete = false;
        if (!served.contains(k)) continue;
        wanted.insert(k);
        any_parent = any_parent || of_parents;
      }
    }
  }
  missing_ = std::move(missing);
  for (auto i = kinds_.begin(); i != kinds_.end();) {
    if (wanted.contains(i->first)) {
      ++i;
      continue;
    }
    on_.unfollow(i->second->informer());
    leaving_.push_back(std::move(i->second));
    i = kinds_.erase(i);
  }
  without_namespace_.clear();
  for (const auto& [k, r] : served)
    if (!r.namespaced) without_namespace_.insert(k);
  for (const kind_name& k : wanted) {
    if (kinds_.contains(k)) continue;
    k8s::informer_options o;
    o.collection = served.at(k);
    o.limits = options_.environment.limits;
    o.coalesce_window = coalesce_window;
    o.log = on_.log();
    auto made =
        watched_kind::make(on_.loop(), on_.api(), k, std::move(o),
                           [this, k](const k8s::object_meta* before, const k8s::object_meta* now) {
                             return changed(k, before, now);
                           });
    watched_kind& w = *made;
    kinds_.emplace(k, std::move(made));
    on_.follow(w.informer());
    w.informer().start();
  }
  take_turns();
  co_await end_leaving();
  for (auto i = by_uid_.begin(); i != by_uid_.end();) {
    if (is_parent(i->second) && watched(i->second.kind)) {
      ++i;
      continue;
    }
    const object_name id = i->second;
    i = by_uid_.erase(i);
    forget(id);
  }
  // What was watched for another reason before is a parent's kind now.
  for (const kind_name& k : wanted) {
    if (!is_parent_kind(k)) continue;
    watched(k)->each([&](const k8s::object_meta& m) {
      object_name id{k, m.ns.str(), m.name.str()};
      if (is_parent(id)) by_uid_.insert_or_assign(m.uid.text(), std::move(id));
    });
  }
  for (const auto& [uid, id] : by_uid_) look_at(id);
  count_parents();
  co_return complete;
}

/// Whether a kind that is watched seems to be gone: its CRD was deleted, or the right to list it
/// was taken away.
bool compose_cluster::lost_a_kind() const {
  return std::any_of(kinds_.begin(), kinds_.end(),
                     [](const auto& k) { return k.second->is_refused(); });
}

awaitable<void> compose_cluster::follow_packs() {
  reactor::nanoseconds pause = look_for_missing;
  for (;;) {
    packs_changed_.reset();
    const bool complete = co_await arrange();
    arranged_once_.set();
    if (complete) pause = look_for_missing;
    for (;;) {
      const bool told = co_await packs_changed_.wait(
          on_.loop().now() + (complete ? look_for_lost : std::min(pause, look_for_missing_most)));
      if (told) pause = look_for_missing;
      if (told) break;
      if (lost_a_kind()) on_.discovery().forget();
      if (lost_a_kind()) break;
      if (complete) continue;
      pause *= 2;
      break;
    }
  }
}

/// Data that other folders hold is looked at now and then: nothing else tells of its change.
awaitable<void> compose_cluster::follow_data() {
  for (;;) {
    co_await on_.loop().sleep_for(options_.look_at_data);
    const std::vector<pack_in_force> packs = packs_;
    for (const pack_in_force& p : packs) {
      if (p.about->data_from.empty()) continue;
      auto files = co_await options_.data.of(*p.about, p.pack, pack_data::wants::newest);
      std::string now = digest_with_problem(*files);
      // As the first parent has seen it, or none has yet.
      const auto [before, fresh] = data_digests_.try_emplace(p.about->pack, now);
      if (fresh || before->second == now) continue;
      before->second = std::move(now);
      for (const auto& [uid, id] : by_uid_) {
        const auto& kinds = p.about->parents;
        if (std::find(kinds.begin(), kinds.end(), id.kind) != kinds.end()) look_at(id);
      }
    }
  }
}

// ---------------------------------------------------------------- which parents a change concerns

void compose_cluster::look_at(const object_name& parent) {
  ++revision_;
  controller_.add(parent);
}

bool compose_cluster::changed(const kind_name& kind, const k8s::object_meta* before,
                              const k8s::object_meta* now) {
  const k8s::object_meta& any = now ? *now : *before;
  const object_name id{kind, any.ns.str(), any.name.str()};
  bool concerned = is_parent(id);
  if (concerned) {
    if (before && (!now || !(before->uid == now->uid))) by_uid_.erase(before->uid.text());
    if (now) by_uid_.insert_or_assign(now->uid.text(), id);
    look_at(id);
    count_parents();
  }
  const bool same = before && now && before->owner == now->owner && before->labels == now->labels;
  if (before && !same) concerned |= wake(id, *before);
  if (now) concerned |= wake(id, *now);
  return concerned;
}

bool compose_cluster::wake(const object_name& id, const k8s::object_meta& m) {
  std::vector<object_name> all;
  if (concerns_.asks(id.kind)) all = concerns_.asking(id, plain(m.labels));
  const std::set<object_name>& naming = concerns_.naming(id);
  all.insert(all.end(), naming.begin(), naming.end());
  const auto owner = m.owner ? by_uid_.find(m.owner.uid.text()) : by_uid_.end();
  if (owner != by_uid_.end()) all.push_back(owner->second);
  for (const object_name& parent : all) look_at(parent);
  return !all.empty();
}

}  // namespace compose
