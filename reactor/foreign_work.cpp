#include "reactor/foreign_work.hpp"

#include "reactor/loop.hpp"

#include <boost/asio/execution_context.hpp>

namespace reactor {
namespace {

/// What belongs to a loop and to few of its users: kept with its context.
class workers_of_a_loop final : public asio::execution_context::service {
public:
  using key_type = workers_of_a_loop;
  static inline asio::execution_context::id id;
  explicit workers_of_a_loop(asio::execution_context& c) : service(c) {}
  foreign_workers* attached = nullptr;

private:
  void shutdown() override { attached = nullptr; }
};

}  // namespace

foreign_workers* foreign_workers_of(loop& l) {
  return asio::use_service<workers_of_a_loop>(l.context()).attached;
}

work_memory* work_memory_of(loop& l) {
  foreign_workers* const workers = foreign_workers_of(l);
  return workers ? workers->memory() : nullptr;
}

attached_workers::attached_workers(loop& l, foreign_workers& workers) : loop_(l) {
  workers.memory_.emplace(l);
  asio::use_service<workers_of_a_loop>(l.context()).attached = &workers;
}

attached_workers::~attached_workers() {
  asio::use_service<workers_of_a_loop>(loop_.context()).attached = nullptr;
}

}  // namespace reactor
