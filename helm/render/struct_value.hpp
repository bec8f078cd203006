#pragma once

#include "helm/go.hpp"

#include <string>
#include <utility>
#include <vector>

namespace helm {

/// A Go struct, or a pointer to one, as templates see it: fields under their Go names and, in the
/// same order, the names that JSON gives them ("?name": left out when empty).
using struct_fields = std::vector<std::pair<std::string, value>>;
value struct_value(std::string type, struct_fields fields, std::vector<std::string> json_names);
value pointer_value(std::string type, struct_fields fields, std::vector<std::string> json_names);

}  // namespace helm
