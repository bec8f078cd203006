#pragma once

#include <boost/asio/ip/address.hpp>

#include <string_view>

namespace reactor {

/// Whether a cloud answers requests to this address with credentials of the machine: the machine's
/// own link (169.254.0.0/16, fe80::/10) and the addresses of clouds that use others, also as IPv4
/// addresses inside IPv6 ones.
bool is_metadata_address(const boost::asio::ip::address& a);

/// The same for the host of a URL, with or without brackets and port. False for a name.
/// Shape    an IPv4 address as the C library reads it: parts may be octal, hexadecimal or missing.
bool is_metadata_host(std::string_view host);

}  // namespace reactor
