#pragma once

#include "k8s/client/fault.hpp"

#include <cstdint>

namespace k8s {

/// What a write is for. Of an object that is changed or deleted, 404 says that it was deleted
/// meanwhile; of one that is made, or of a status, that its kind or namespace is not served.
enum class written : std::uint8_t { existing, created, status };

/// The object is not what the write was decided on: another writer came first. No error, but a
/// reason to read again and decide again.
constexpr bool is_a_race(const fault& why, written what = written::existing) noexcept {
  if (why.code == errc::not_found) return what == written::existing;
  return why.code == errc::conflict || why.code == errc::exists || why.code == errc::gone;
}

}  // namespace k8s
