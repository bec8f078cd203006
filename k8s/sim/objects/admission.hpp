#pragma once

#include "k8s/sim/objects/failure.hpp"
#include "k8s/sim/objects/json.hpp"
#include "k8s/sim/objects/kind.hpp"

#include <string>
#include <string_view>

namespace k8s::sim {

/// What an API server does to an object before it is stored, as pure functions of the object.

/// Fills in what the kind's defaults say. `o` is in stored form.
void set_defaults(const kind_info& kind, json::object& o);
/// Fixes what a client may not choose at creation (a pod's status, a namespace's phase).
void prepare_for_create(const kind_info& kind, json::object& o);
field_errors validate(const kind_info& kind, const json::object& o);
field_errors validate_update(const kind_info& kind, const json::object& before,
                             const json::object& after);
/// "" when `s` is a name as `kind` wants it, else what is wrong.
std::string name_problem(const kind_info& kind, std::string_view s);
bool is_dns_label(std::string_view s);
bool is_dns_subdomain(std::string_view s);
bool is_label_value(std::string_view s);
bool is_qualified_name(std::string_view s);

}  // namespace k8s::sim
