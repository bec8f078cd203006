#pragma once

#include "k8s/sim/objects/kind.hpp"

#include <functional>
#include <string_view>
#include <vector>

namespace k8s::sim {

/// The table columns of a built-in kind, as the real server describes them.
std::vector<column> columns_of(std::string_view group, std::string_view kind);
/// What fills them.
std::function<json::array(const json::object&, reactor::wall_time)> cells_of(std::string_view group,
                                                                             std::string_view kind);
/// The age of an RFC 3339 time; "<unknown>" for an empty one, "<invalid>" for nonsense.
std::string age(std::string_view since, reactor::wall_time now);

}  // namespace k8s::sim
