#include "reactor/waiters.hpp"

#include "reactor/loop.hpp"

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <memory>

namespace reactor {

enum class waiters::outcome { called, expired, cancelled };

/// One suspended coroutine. Alive from the start of its wait until its completion has been
/// delivered, so that a late cancellation still finds it.
struct waiters::entry {
  entry(loop& l, waiters& owner) : loop_(l), owner_(&owner) { ++loop_.live().waits; }
  virtual ~entry() { --loop_.live().waits; }
  virtual void deliver(std::unique_ptr<entry> self, outcome how) = 0;

  void finish(outcome how) {
    if (finished_) return;
    finished_ = true;
    owner_->remove(*this);
    owner_ = nullptr;
    loop_.timers().disarm(timer_);
    deliver(std::unique_ptr<entry>(this), how);
  }

  loop& loop_;
  waiters* owner_;
  entry* before_ = nullptr;  // in the owner's line
  entry* after_ = nullptr;
  timer_id timer_ = 0;
  bool finished_ = false;
};

struct waiter_access {
  template <class Handler>
  struct suspended final : waiters::entry {
    suspended(loop& l, waiters& owner, Handler h) : entry(l, owner), handler(std::move(h)) {}
    void deliver(std::unique_ptr<waiters::entry> self, waiters::outcome how) override {
      asio::post(loop_.get_executor(), [self = std::move(self), how] {
        auto& me = static_cast<suspended&>(*self);
        if (auto slot = asio::get_associated_cancellation_slot(me.handler); slot.is_connected())
          slot.clear();
        Handler h = std::move(me.handler);
        const bool cancelled = how == waiters::outcome::cancelled;
        std::move(h)(cancelled ? error_code(asio::error::operation_aborted) : error_code(),
                     how == waiters::outcome::expired ? woken::by_deadline : woken::by_call);
      });
    }
    Handler handler;
  };

  template <class Handler>
  static void suspend(waiters& w, steady_time deadline, Handler handler) {
    auto slot = asio::get_associated_cancellation_slot(handler);
    auto* e = new suspended<Handler>(w.loop_, w, std::move(handler));
    w.append(*e);
    e->timer_ = w.loop_.timers().arm(deadline, [e] { e->finish(waiters::outcome::expired); });
    if (slot.is_connected())
      slot.assign([e](asio::cancellation_type) { e->finish(waiters::outcome::cancelled); });
  }
};

waiters::~waiters() {
  while (first_) first_->finish(outcome::cancelled);
}

void waiters::append(entry& e) noexcept {
  e.before_ = last_;
  (last_ ? last_->after_ : first_) = &e;
  last_ = &e;
  ++size_;
}

void waiters::remove(entry& e) noexcept {
  (e.before_ ? e.before_->after_ : first_) = e.after_;
  (e.after_ ? e.after_->before_ : last_) = e.before_;
  --size_;
}

// Not a coroutine itself: each would be one more frame to make, and to unwind where it is
// cancelled.
awaitable<woken> waiters::wait(steady_time deadline) {
  asio::use_awaitable_t<executor> token;
  const auto suspend = [this, deadline](auto handler) {
    waiter_access::suspend(*this, deadline, std::move(handler));
  };
  return asio::async_initiate<asio::use_awaitable_t<executor>, void(error_code, woken)>(suspend,
                                                                                        token);
}

void waiters::wake_one() {
  if (first_) first_->finish(outcome::called);
}

void waiters::wake_all() {
  while (first_) first_->finish(outcome::called);
}

awaitable<bool> event::wait(steady_time deadline) {
  if (set_) co_return true;
  const woken how = co_await waiters_.wait(deadline);
  co_return how == woken::by_call;
}

}  // namespace reactor
