#pragma once

#include "reactor/plain/result.hpp"
#include "reactor/plain/time.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace k8s {

/// What is wrong with trust or a client certificate, before a connection shows it as a handshake
/// alert.
/// Errors  errc::malformed, the detail being a sentence without the field's name ("holds no
///         certificate").
reactor::result<void> check_ca(std::string_view pem);
/// The certificate and its private key can be read and belong together.
reactor::result<void> check_key_pair(std::string_view certificate_pem, std::string_view key_pem);
/// "the client certificate expired at 2026-01-01T00:00:00Z", or that it is not valid yet; nothing
/// when it is valid.
std::optional<std::string> validity_problem(std::string_view certificate_pem,
                                            reactor::wall_time now);

}  // namespace k8s
