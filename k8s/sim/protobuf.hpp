#pragma once

#include "k8s/sim/objects/json.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace k8s::sim {

/// The JSON form of an object in application/vnd.kubernetes.protobuf, for the few kinds that
/// kubectl's generators send so (Namespace, ConfigMap, Secret, ServiceAccount, PodDisruptionBudget,
/// Eviction, DeleteOptions). Nothing for other kinds and broken bytes; `why` explains.
std::optional<json::object> from_protobuf(std::string_view bytes, std::string* why = nullptr);

}  // namespace k8s::sim
