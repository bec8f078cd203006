#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace units {

/// The namespaces that a variable or a flag names, between commas: " a, b ,,a" are a and b. Empty
/// means all of them, as does a "*" among them.
std::vector<std::string> namespaces_in(std::string_view text);

}  // namespace units
