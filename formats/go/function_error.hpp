#pragma once

#include <stdexcept>

namespace formats {

/// Why one of Go's functions failed, in its words; a template's executor adds where.
struct function_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace formats
