#include "reactor/side_by_side.hpp"

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/multiple_exceptions.hpp>

#include <algorithm>
#include <exception>
#include <memory>

namespace reactor {
namespace {

using namespace boost::asio::experimental::awaitable_operators;

struct work {
  std::size_t next = 0, count = 0;
  std::function<awaitable<void>(std::size_t)> act;
};

awaitable<void> lane(std::shared_ptr<work> shared) {
  while (shared->next < shared->count) {
    awaitable<void> one = shared->act(shared->next++);
    co_await std::move(one);
  }
}

awaitable<void> lanes(std::shared_ptr<work> shared, std::size_t left) {
  if (left <= 1) {
    co_await lane(shared);
    co_return;
  }
  awaitable<void> first = lane(shared), others = lanes(shared, left - 1);
  awaitable<void> both = std::move(first) && std::move(others);
  std::exception_ptr first_of_all;
  try {
    co_await std::move(both);
  } catch (const boost::asio::multiple_exceptions& all) {
    // Cancellation ends every lane with the same exception; one says it as well.
    first_of_all = all.first_exception();
  }
  if (first_of_all) std::rethrow_exception(first_of_all);
}

}  // namespace

awaitable<void> side_by_side(std::size_t count, std::function<awaitable<void>(std::size_t)> act,
                             std::size_t at_once) {
  auto shared = std::make_shared<work>();
  shared->count = count;
  shared->act = std::move(act);
  return lanes(std::move(shared), std::min(count, at_once));
}

}  // namespace reactor
