#pragma once

#include "k8s/sim/objects/failure.hpp"
#include "k8s/sim/objects/json.hpp"
#include "k8s/types/object_type.hpp"

#include <string>
#include <vector>

namespace k8s::sim {

/// What reading a body into a built-in kind gave.
struct decoded {
  std::string problem;               // "json: cannot unmarshal object into Go struct field …"
  std::vector<std::string> unknown;  // "spec.template.spec.containers[0].imagee"
};

/// Reads `o` as the real server's JSON decoder does: a value of another type is the problem, the
/// first one is told; fields that the kind does not have are named and taken out.
decoded decode(json::object& o, const object_type& type);

/// What server-side apply says about fields that are not of the kind's types, or not its own;
/// empty: nothing. What only the decoder reads (base64, quantities) is not its matter.
std::string apply_problem(const json::object& o, const object_type& type);

/// Texts that validation knows and does not take.
void validate_words(const json::object& o, const object_type& type, field_errors& errors);

}  // namespace k8s::sim
