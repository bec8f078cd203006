// Names of one API server: which of them acts, and the proof that two are one.
#include "k8s/fleet/fleet.hpp"
#include "k8s/fleet/self_cluster.hpp"
#include "reactor/loop.hpp"
#include "reactor/loop_slice.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <tuple>
#include <utility>

namespace k8s {
namespace {

/// Of one question; both directions have two each.
constexpr reactor::nanoseconds proof_patience = 10s;
/// What could not be said is asked again.
constexpr reactor::nanoseconds proof_again = 5min;

std::string by_uid(const cluster& c) {
  return "uid " + c.uid();
}
std::string by_address(const cluster& c) {
  return "address " + c.api().server();
}

}  // namespace

std::string primary_name(const std::vector<server_name>& names) {
  const auto rank = [](const server_name& n) {
    return std::tuple(!n.can_act, n.refused_at, n.name == self_cluster_options::name,
                      std::string_view(n.name));
  };
  const auto best = std::ranges::min_element(names, {}, rank);
  return best == names.end() ? std::string() : best->name;
}

fleet::pair_of_clusters fleet::pair_of(const cluster& a, const cluster& b) {
  return std::less<const cluster*>()(&a, &b) ? pair_of_clusters{&a, &b} : pair_of_clusters{&b, &a};
}

cluster* fleet::present(const cluster* c) const noexcept {
  if (home_ == c) return home_;
  const auto found = std::ranges::find_if(
      entries_, [&](const auto& one) { return one.second.running.get() == c; });
  return found == entries_.end() ? nullptr : found->second.running.get();
}

void fleet::forget_proofs(const cluster& leaving) {
  std::erase_if(proofs_, [&](const auto& one) {
    return one.first.first == &leaving || one.first.second == &leaving;
  });
}

sameness fleet::compare(const cluster& a, const cluster& b) const {
  if (&a == &b || a.api().server() == b.api().server()) return sameness::same;
  if (a.uid().empty() || a.uid() != b.uid()) return sameness::other;
  const auto found = proofs_.find(pair_of(a, b));
  return found == proofs_.end() ? sameness::other : found->second;
}

void fleet::recognise(cluster& c) {
  if (c.uid().empty()) return;
  const auto ask = [&](const cluster* other) {
    if (!other || other == &c || other->uid() != c.uid() ||
        other->api().server() == c.api().server())
      return;
    const pair_of_clusters both = pair_of(c, *other);
    if (proofs_.try_emplace(both, sameness::asked).second)
      tasks_.start("prove that " + c.name() + " is " + other->name(), prove(both));
  };
  for (const cluster* other : clusters()) ask(other);
  ask(home_);
}

awaitable<std::optional<std::string>> fleet::exchange(const cluster* with, std::string event,
                                                      std::optional<std::string> text) {
  struct answer {
    explicit answer(reactor::loop& l) : came(l) {}
    reactor::event came;
    std::optional<std::string> text;
  };
  std::optional<std::string> none;
  cluster* at = present(with);
  if (!at) co_return none;
  const auto got = std::make_shared<answer>(loop_);
  at->exchange_proof(std::move(event), std::move(text), [got](result<std::string> said) {
    if (said) got->text = std::move(*said);
    got->came.set();
  });
  (void)co_await got->came.wait(loop_.now() + proof_patience);
  co_return std::move(got->text);
}

awaitable<std::optional<bool>> fleet::reads_what_is_written(const cluster* through,
                                                            const cluster* by) {
  std::optional<bool> out;
  const std::string event = "same-cluster." + loop_.random().uuid(),
                    text = loop_.random().uuid() + loop_.random().uuid();
  std::optional<std::string> wanted = text, nothing;
  const auto written = co_await exchange(by, event, std::move(wanted));
  if (!written) co_return out;
  const auto read = co_await exchange(through, event, std::move(nothing));
  if (read) out = *read == text;
  co_return out;
}

awaitable<void> fleet::prove(pair_of_clusters both) {
  for (;;) {
    auto there = co_await reads_what_is_written(both.first, both.second);
    if (there && *there) there = co_await reads_what_is_written(both.second, both.first);
    if (!proofs_.contains(both)) co_return;  // one of them left
    conclude(both, there && *there ? sameness::same : sameness::other);
    if (there) co_return;
    co_await loop_.sleep_for(proof_again);
    if (!proofs_.contains(both)) co_return;
  }
}

void fleet::conclude(pair_of_clusters both, sameness is) {
  const sameness was = std::exchange(proofs_[both], is);
  if (was == is) return;
  cluster *a = present(both.first), *b = present(both.second);
  if (!a || !b) return;
  if (is == sameness::same) {
    log_.warning("two names for one API server", {{"cluster", a->name()},
                                                  {"other", b->name()},
                                                  {"primary", primary_of({a->name(), b->name()})},
                                                  {"uid", a->uid()}});
  } else {
    log_.warning("a cluster says that it has the UID of another one, and has not proven it",
                 {{"cluster", a->name()}, {"other", b->name()}, {"uid", a->uid()}});
    tell(a->name(), fleet_event::uid_claimed, b->name() + " says that it has UID " + a->uid());
    tell(b->name(), fleet_event::uid_claimed, a->name() + " says that it has UID " + b->uid());
  }
  names_changed_.set();
  for (cluster* c : {a, b}) {
    c->wake();
    if (options_.on_names) options_.on_names(*c);
  }
}

template <class Visit>
void fleet::each_other_name(const cluster& c, sameness least, Visit visit) const {
  if (!servers_) {
    servers_.emplace();
    for (const auto& [name, e] : entries_) {
      if (!e.running) continue;
      (*servers_)[by_address(*e.running)].push_back(name);
      if (!e.running->uid().empty()) (*servers_)[by_uid(*e.running)].push_back(name);
    }
  }
  const auto go_on = [&](const std::string& server) {
    const auto found = servers_->find(server);
    if (found == servers_->end()) return true;
    return std::ranges::all_of(found->second, [&](const std::string& name) {
      const cluster* other = name == c.name() ? nullptr : find(name);
      const sameness is = other ? compare(c, *other) : sameness::other;
      const bool one = is == sameness::same || (is == sameness::asked && least == sameness::asked);
      return !one || visit(name);
    });
  };
  if (go_on(by_address(c)) && !c.uid().empty()) (void)go_on(by_uid(c));
}

server_names fleet::names_of(const cluster& c, sameness least, std::string_view api) const {
  std::set<std::string> all{c.name()};
  each_other_name(c, least, [&](const std::string& name) {
    all.insert(name);
    return true;
  });
  server_names out{{all.begin(), all.end()}, {}};
  out.primary = primary_of(out.all, api);
  return out;
}

std::string fleet::primary_of(const std::vector<std::string>& names, std::string_view api) const {
  std::vector<server_name> all;
  for (const std::string& name : names) {
    const cluster* c = find(name);
    all.push_back({name, c && can_act(*c), c ? c->refused_at(api) : std::nullopt});
  }
  return primary_name(all);
}

bool fleet::has_other_name(const cluster& c, sameness least) const {
  bool other = home_ && compare(c, *home_) == sameness::same;
  if (!other)
    each_other_name(c, least, [&](const std::string&) {
      other = true;
      return false;
    });
  return other;
}

bool fleet::can_act(const cluster& c) const {
  if (c.is_connected() || c.last_error().empty()) return true;
  return c.was_engaged() && c.state() == cluster_state::unreachable &&
         loop_.wall() < c.since_wall() + outage;
}

bool fleet::can_act(const cluster& c, std::string_view api) const {
  return can_act(c) && !c.refused_at(api);
}

bool fleet::is_known(const engagement& api) const {
  if (!api.is_settled() || api.state() != cluster_state::twin) return api.is_settled();
  const std::string primary = names_of(api.on(), sameness::same, api.name()).primary;
  const cluster* acts = primary == api.on().name() ? nullptr : find(primary);
  return acts && acts->is_connected();
}

std::string fleet::acts_elsewhere(const cluster& c, const engagement& api) const {
  if (!api.acts_under_one_name()) return {};
  const auto same = [&](const std::string& name) {
    return "it is the same cluster as \"" + name + "\", ";
  };
  const server_names names = names_of(c, sameness::same, api.name());
  if (names.primary != c.name())
    return same(names.primary) + "which acts" +
           (c.refused_at(api.name()) ? ", since the server refused it under this name" : "");
  const server_names maybe = names_of(c);
  for (const std::string& name : maybe.all) {
    const cluster* other = name == c.name() ? nullptr : find(name);
    const engagement* there = other ? other->find(api.name()) : nullptr;
    const bool acts = there && there->part();
    if (acts && compare(c, *other) == sameness::same) return same(name) + "which is ending to act";
    if (other && compare(c, *other) == sameness::asked &&
        (acts || primary_of({name, c.name()}, api.name()) == name))
      return "whether it is the same cluster as \"" + name + "\" is being found out";
  }
  for (const stopping& s : stopping_)
    if (s.name != c.name() && (s.api.empty() || s.api == api.name()) &&
        (s.server == c.api().server() || (!s.identity.empty() && s.identity == c.uid())))
      return same(s.name) + "which is ending to act";
  return {};
}

// A fleet of thousands starts: what is known of the others stays.
void fleet::note_address(const cluster& added) {
  if (servers_) (*servers_)[by_address(added)].push_back(added.name());
}

void fleet::note_uid(const std::string& name, const std::string& before) {
  cluster* c = find(name);
  if (before.empty() && servers_ && c)
    (*servers_)[by_uid(*c)].push_back(name);
  else
    servers_.reset();
  if (c) recognise(*c);
  names_changed_.set();
}

/// When it must be looked at again though nothing came, or never.
reactor::steady_time fleet::seat(cluster& c) {
  reactor::steady_time look_again = reactor::never;
  const server_names names = names_of(c, sameness::same);
  entry& e = entries_[c.name()];
  const bool acts = can_act(c);
  const bool other = std::exchange(e.could_act, acts) != acts;
  const std::string was = std::exchange(e.primary, names.primary);
  if (!was.empty() && was != names.primary && options_.on_names) options_.on_names(c);
  std::vector<std::string> refused;
  for (const cluster_api& a : apis_)
    if (c.refused_at(a.name)) refused.push_back(a.name);
  const bool others = std::exchange(e.refused, refused) != refused;
  if (others && options_.on_names)
    for (const std::string& name : names.all)
      if (cluster* one = find(name)) options_.on_names(*one);
  if ((other || others) && home_ && options_.on_names && compare(c, *home_) == sameness::same)
    options_.on_names(*home_);
  if (acts && c.state() == cluster_state::unreachable && has_other_name(c, sameness::same))
    look_again = std::min(look_again, loop_.now() + (c.since_wall() + outage - loop_.wall()));
  bool waits = false;
  for (const cluster_api& a : apis_) {
    const engagement* on = c.find(a.name);
    if (!on || !on->acts_under_one_name()) continue;
    waits = waits || on->state() == cluster_state::twin;
    if (!on->part() || primary_of(names.all, a.name) == c.name()) continue;
    const auto still =
        stopping_.insert(stopping_.end(), {c.uid(), c.api().server(), a.name, c.name()});
    c.start_again(a.name, [this, still] {
      stopping_.erase(still);
      names_changed_.set();
    });
  }
  if (waits || names.all.size() > 1) c.wake();
  return look_again;
}

/// Lets each API act under one name, whenever names of a cluster came, went or were recognised, or
/// one of several can act no more, or again.
awaitable<void> fleet::seat_all() {
  constexpr reactor::nanoseconds together = 100ms;  // many come at a start
  reactor::steady_time look_again = reactor::never;
  for (;;) {
    (void)co_await names_changed_.wait(look_again);
    co_await loop_.sleep_for(together);
    names_changed_.reset();  // what changes from here on is looked at in the next round
    look_again = reactor::never;
    // By name: clusters come and go while others run in between.
    std::string last;
    for (auto at = entries_.begin(); at != entries_.end(); at = entries_.upper_bound(last)) {
      last = at->first;
      if (at->second.running) look_again = std::min(look_again, seat(*at->second.running));
      reactor::loop_slice::spend();
      if (reactor::loop_slice::is_over()) co_await reactor::loop_slice::yield();
    }
  }
}

}  // namespace k8s
