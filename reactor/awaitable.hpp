#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

namespace reactor {

namespace asio = boost::asio;

/// The one executor type of the process: naming it spares every operation the type erasure of
/// any_io_executor.
using executor = asio::io_context::executor_type;

/// What a coroutine of this project returns.
template <class T = void>
using awaitable = asio::awaitable<T, executor>;

}  // namespace reactor
