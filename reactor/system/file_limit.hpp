#pragma once

#include <cstddef>

namespace reactor {

/// Raises the limit of open files to the hard one, as Go's runtime does; a fleet needs a connection
/// for each of its streams. Returns the limit that holds now. Where the system refuses, that of
/// before.
std::size_t raise_file_limit() noexcept;

/// The system gives the lowest descriptor that is free: a connection of ours that gets one from
/// this number on gives it back, so that listeners and files have what is left.
std::size_t most_connections() noexcept;
/// The same of those that the process can do nothing without, such as the ones to the home cluster:
/// they have a part of what is left.
std::size_t most_essential_connections() noexcept;

}  // namespace reactor
