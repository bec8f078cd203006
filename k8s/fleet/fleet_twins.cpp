// Names of one API server: who says that it is another one's has to prove it.
#include "k8s/fleet/fleet.hpp"
#include "reactor/loop.hpp"

#include <algorithm>
#include <functional>
#include <memory>

namespace k8s {
namespace {

/// Of one question; both directions have two each.
constexpr reactor::nanoseconds proof_patience = 10s;
/// What could not be said is asked again.
constexpr reactor::nanoseconds proof_again = 5min;

}  // namespace

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
                                                  {"primary", primary_name({a->name(), b->name()})},
                                                  {"uid", a->uid()}});
  } else {
    log_.warning("a cluster says that it has the UID of another one, and has not proven it",
                 {{"cluster", a->name()}, {"other", b->name()}, {"uid", a->uid()}});
    tell(a->name(), fleet_event::uid_claimed, b->name() + " says that it has UID " + a->uid());
    tell(b->name(), fleet_event::uid_claimed, a->name() + " says that it has UID " + b->uid());
  }
  names_changed_.wake_all();
  for (cluster* c : {a, b}) {
    c->wake();
    if (options_.on_names) options_.on_names(*c);
  }
}

}  // namespace k8s
