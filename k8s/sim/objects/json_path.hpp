#pragma once

#include "k8s/sim/objects/json.hpp"

#include <string_view>
#include <vector>

namespace k8s::sim {

/// What a printer column's JSONPath selects: members, ['members'], [indices], [*], [?(@.a=="b")].
/// Nothing for what it does not understand.
std::vector<json::value> read_json_path(const json::object& o, std::string_view path);

}  // namespace k8s::sim
