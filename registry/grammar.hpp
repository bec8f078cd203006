#pragma once

#include <string_view>

namespace registry {

// The pieces that every reference to something in a registry is made of (distribution/reference,
// grammar.go).

/// Runs of lower-case letters and digits, joined by one '.', one or two '_', or any number of '-'.
bool is_path_component(std::string_view s) noexcept;
/// A letter, digit or '_', then up to 127 of these, '.' and '-'.
bool is_tag(std::string_view s) noexcept;

}  // namespace registry
