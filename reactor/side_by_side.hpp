#pragma once

#include "reactor/awaitable.hpp"

#include <cstddef>
#include <functional>

namespace reactor {

/// Runs `act(i)` for every i below `count`, a few at the same time, and ends when all have ended.
/// Cancelling the caller cancels what runs. `act` is called in order; an exception of one ends the
/// others.
awaitable<void> side_by_side(std::size_t count, std::function<awaitable<void>(std::size_t)> act,
                             std::size_t at_once = 10);

}  // namespace reactor
