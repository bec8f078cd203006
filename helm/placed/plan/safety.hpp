#pragma once

#include <cstdint>

namespace helm::placed {

/// What holds whatever goes wrong.
enum class safety_rule : std::uint8_t {
  fingerprint_last,  // it is noted once the release is deployed
  recovery,          // a pending release that nobody works on is ended, and goes on
  target_filter,     // an object that names another cluster is left alone
  new_fingerprint,   // who is Ready with something older opens no wave
  settle             // an operation that is ended leaves no pending record
};

/// Yes. Only a test that shows what each is there for links another answer; nothing in the product
/// can.
bool keeps(safety_rule rule) noexcept;

}  // namespace helm::placed
