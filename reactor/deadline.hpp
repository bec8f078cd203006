#pragma once

#include "reactor/loop.hpp"
#include "reactor/plain/result.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

#include <optional>
#include <string>

namespace reactor {

/// Runs `operation` and cancels it at `deadline`; the fault is then errc::timed_out with `doing`.
/// Streams have their own expire_at, which costs no extra coroutine; this is for whole
/// conversations.
template <class T>
awaitable<result<T>> with_deadline(loop& l, awaitable<result<T>> operation, steady_time deadline,
                                   std::string doing) {
  asio::cancellation_signal stop;
  bool expired = false;
  const timer_id timer = l.timers().arm(deadline, [&] {
    expired = true;
    stop.emit(asio::cancellation_type::terminal);
  });
  // The child's slot is ours, so what the caller's owner asks for is handed on by hand.
  asio::cancellation_state own = co_await asio::this_coro::cancellation_state;
  asio::cancellation_slot from_owner = own.slot();
  if (from_owner.is_connected())
    from_owner.assign([&](asio::cancellation_type kind) { stop.emit(kind); });
  auto [thrown, value] = co_await asio::co_spawn(
      l.get_executor(), std::move(operation),
      asio::bind_cancellation_slot(stop.slot(), asio::as_tuple(asio::use_awaitable_t<executor>{})));
  l.timers().disarm(timer);
  if (from_owner.is_connected()) from_owner.clear();
  if (expired && (thrown || value.has_error())) co_return make_fault(errc::timed_out, doing);
  if (thrown) std::rethrow_exception(thrown);
  co_return std::move(value);
}

}  // namespace reactor
