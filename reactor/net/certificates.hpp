#pragma once

#include "reactor/plain/result.hpp"
#include "reactor/plain/time.hpp"

#include <string>
#include <vector>

namespace reactor {

/// A certificate and its private key as PEM.
struct certified_key {
  std::string certificate_pem, key_pem;
};

struct certificate_request {
  std::string common_name;
  std::vector<std::string> organizations;
  std::vector<std::string> dns_names, ip_addresses;  // subject alternative names
  wall_time not_before{}, not_after{};
};

/// A self-signed authority with a new P-256 key, for servers that have no certificate of their own.
result<certified_key> make_authority(std::string_view common_name, wall_time not_before,
                                     wall_time not_after);
/// A certificate with a new P-256 key, signed by `authority`, good for servers and clients.
/// Errors: errc::malformed for an authority or an address that cannot be read.
result<certified_key> issue_certificate(const certified_key& authority,
                                        const certificate_request& wanted);

}  // namespace reactor
