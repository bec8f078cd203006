#pragma once

#include "helm/go.hpp"

#include <string>

namespace helm {

/// What Go's text/template makes of a text and its dot, with its own functions and none of Helm's.
/// Errors   "template: _:1: …"
outcome<std::string> print_template(const std::string& text, const value& dot);

}  // namespace helm
