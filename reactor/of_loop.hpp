#pragma once

#include "reactor/loop.hpp"

#include <boost/asio/execution_context.hpp>

#include <optional>

namespace reactor {

template <class T>
struct part_of_loop final : asio::execution_context::service {
  using key_type = part_of_loop;
  static inline asio::execution_context::id id;
  explicit part_of_loop(asio::execution_context& of) : service(of) {}
  std::optional<T> part;

private:
  void shutdown() noexcept override {}
};

/// The one T of that loop, made from it at the first call: what all tasks of a process share. It
/// ends with the loop, after the last coroutine. T belongs to one file, since each call returns the
/// same object.
template <class T>
T& of_loop(loop& l) {
  std::optional<T>& part = asio::use_service<part_of_loop<T>>(l.context()).part;
  if (!part) part.emplace(l);
  return *part;
}

}  // namespace reactor
