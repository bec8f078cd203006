#pragma once

#include "reactor/plain/time.hpp"

#include <optional>
#include <string>

namespace bootc {

/// What a tag is known to name.
struct tag_resolution {
  std::string ref;     // the reference that was asked about, as it is written
  std::string digest;  // the newest good answer of this process; empty = none yet
  std::string error;   // why the last attempt failed; empty = it did not
  std::optional<reactor::wall_time> next;  // when it is asked again
  bool is_absent = false;  // the last attempt failed because the registry has no such image
  friend bool operator==(const tag_resolution&, const tag_resolution&) = default;
};

}  // namespace bootc
