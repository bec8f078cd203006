#pragma once

#include <string_view>

/// Lines of the log that scripts wait for: the texts are exact, whose it is stands in the fields
/// `cluster`, `tenant`, `release` and `workspace`.
namespace helm::tenants::log_line {

inline constexpr std::string_view namespace_made = "workspace workspace namespace created";
inline constexpr std::string_view installed = "helm install success";
inline constexpr std::string_view upgraded = "helm upgrade success";
inline constexpr std::string_view uninstalled = "helm uninstall success";
inline constexpr std::string_view chart_missing = "chart not loaded; skipping helm action";
inline constexpr std::string_view install_failed = "helm install failed";
inline constexpr std::string_view upgrade_failed = "helm upgrade failed";
inline constexpr std::string_view uninstall_failed = "helm uninstall failed";
inline constexpr std::string_view unchanged = "fingerprint unchanged";
inline constexpr std::string_view crd_failed = "CRD ensure failed";

}  // namespace helm::tenants::log_line
