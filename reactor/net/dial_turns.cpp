#include "reactor/net/dial_turns.hpp"

#include "reactor/loop.hpp"
#include "reactor/waiters.hpp"

#include <algorithm>
#include <utility>

namespace reactor {

fair_turns::ticket fair_turns::join(peer of) {
  const auto [known, is_new] = by_peer_.try_emplace(of, lines_.end());
  if (is_new) known->second = lines_.insert(lines_.end(), line{of, {}});
  known->second->waiting.push_back(++last_);
  return last_;
}

void fair_turns::leave(peer of, ticket which) {
  const auto known = by_peer_.find(of);
  if (known == by_peer_.end()) return;
  std::erase(known->second->waiting, which);
  if (!known->second->waiting.empty()) return;
  lines_.erase(known->second);
  by_peer_.erase(known);
}

std::optional<fair_turns::ticket> fair_turns::next() {
  if (lines_.empty()) return std::nullopt;
  line& first = lines_.front();
  const ticket taken = first.waiting.front();
  first.waiting.pop_front();
  if (first.waiting.empty()) {
    by_peer_.erase(first.of);
    lines_.pop_front();
  } else {
    lines_.splice(lines_.end(), lines_, lines_.begin());
  }
  return taken;
}

dial_turns::place::place(dial_turns& in)
    : in_(in), timer_(in.loop_.timers().arm(in.loop_.now() + longest_place, [this] {
        timer_ = 0;
        give_up();
      })) {}

dial_turns::place::~place() {
  if (timer_ == 0) return;
  in_.loop_.timers().disarm(timer_);
  give_up();
}

void dial_turns::place::give_up() {
  --in_.under_way_;
  in_.grant();
}

/// One that waits. Granted and cancelled before it ran, it gives its place to the next.
struct dial_turns::waiter {
  waiter(dial_turns& in, fair_turns::peer of)
      : turns(in), peer(of), ticket(in.turns_.join(of)), granted(in.loop_) {
    turns.waiting_.emplace(ticket, this);
  }
  ~waiter() {
    if (is_taken) return;
    if (turns.waiting_.erase(ticket) > 0) {
      turns.turns_.leave(peer, ticket);
    } else {
      --turns.under_way_;
      turns.grant();
    }
  }
  waiter(const waiter&) = delete;
  waiter& operator=(const waiter&) = delete;

  dial_turns& turns;
  fair_turns::peer peer;
  fair_turns::ticket ticket;
  waiters granted;
  bool is_taken = false;
};

void dial_turns::grant() {
  while (under_way_ < most_at_once) {
    const auto next = turns_.next();
    if (!next) return;
    ++under_way_;
    waiting_.extract(*next).mapped()->granted.wake_one();
  }
}

awaitable<std::unique_ptr<dial_turns::place>> dial_turns::begin(fair_turns::peer of, precedence how,
                                                                steady_time deadline) {
  if (how == precedence::essential || (under_way_ < most_at_once && turns_.empty())) {
    ++under_way_;
    co_return std::make_unique<place>(*this);
  }
  waiter here(*this, of);
  const woken why = co_await here.granted.wait(deadline);
  if (why == woken::by_deadline) co_return nullptr;
  here.is_taken = true;
  co_return std::make_unique<place>(*this);
}

}  // namespace reactor
