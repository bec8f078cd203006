#pragma once

#include "formats/go/value.hpp"

#include <string>
#include <utility>
#include <vector>

namespace formats {

/// A value whose members are written to JSON in the order given, as encoding/json writes a struct.
value record(std::vector<std::pair<std::string, value>> members);

}  // namespace formats
