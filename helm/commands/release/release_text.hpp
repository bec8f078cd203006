#pragma once

#include "helm/release/record.hpp"

#include <string>

namespace helm::release {

/// `get all --template`: the record as a Go template sees it under `.Release`.
/// Errors   those of the template.
outcome<std::string> print_record(const record& r, const std::string& form);

}  // namespace helm::release
