#pragma once

#include <string_view>

namespace formats {

/// Whether text is a DNS-1123 subdomain of 253 characters at most, as Kubernetes names objects.
bool is_dns_subdomain(std::string_view text) noexcept;

}  // namespace formats
