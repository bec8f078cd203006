#pragma once

#include "reactor/awaitable.hpp"

#include <cstddef>
#include <functional>

namespace helm::objects {

/// Runs `act(i)` for every i below `count`, a few at the same time, and ends when all have ended. Cancelling the caller
/// cancels what runs. `act` is called in order; an exception of one ends the others.
reactor::awaitable<void> side_by_side(std::size_t count,
                                      std::function<reactor::awaitable<void>(std::size_t)> act,
                                      std::size_t at_once = 10);

}  // namespace helm::objects
