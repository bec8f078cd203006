#pragma once

#include <string>

namespace reactor {

/// What a fault of any layer says went wrong, without what was being done; all that it says where
/// it has no detail.
template <class Fault>
std::string reason_of(const Fault& f) {
  return f.detail.empty() ? f.message() : f.detail;
}

}  // namespace reactor
