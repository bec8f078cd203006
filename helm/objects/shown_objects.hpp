#pragma once

#include "helm/objects/object.hpp"
#include "reactor/awaitable.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace k8s {
class client;
}

namespace helm::objects {

/// Objects of a release as the cluster has them, and in `tables` as the server prints them.
enum class shown_as : std::uint8_t { objects, tables };
/// By version and kind: "v1/Deployment", and "v1/Pod(related)" for the pods behind those that
/// select some.
using shown_objects = std::map<std::string, std::vector<boost::json::object>>;

/// Reads each object of the list and, once for each selector, the pods behind it. What cannot be
/// read is left out, as Helm does. Lifetime the client outlives the call.
reactor::awaitable<shown_objects> read_shown(k8s::client& api, object_list list, shown_as form);

}  // namespace helm::objects
