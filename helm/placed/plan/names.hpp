#pragma once

#include "k8s/client/resource.hpp"

#include <optional>
#include <string>
#include <string_view>

/// What every placed release leaves on namespaces and records, whichever kind of object asks for
/// it. The names are shared with the original operator and stay verbatim.
namespace helm::placed::names {

inline constexpr std::string_view field_manager = "windlass-tenants";
/// Annotation on a namespace that we made: "Tenant/<ns>/<name>".
inline constexpr std::string_view owner = "mesh.openkcm.io/owner";
/// Label on a namespace that we made.
inline constexpr std::string_view managed_by = "app.kubernetes.io/managed-by";
inline constexpr std::string_view manager = "krypton-operator";

/// Who made a namespace: "Tenant/default/acme".
struct owner_reference {
  std::string kind;
  k8s::object_key key;
  std::string text() const { return kind + "/" + key.ns + "/" + key.name; }
  friend bool operator==(const owner_reference&, const owner_reference&) = default;
};
/// None for what does not have three parts.
std::optional<owner_reference> read_owner(std::string_view annotation);

}  // namespace helm::placed::names
