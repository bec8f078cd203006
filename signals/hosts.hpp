#pragma once

#include "reactor/plain/result.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace signals {

/// The origin that a text of --allow-signal-host names: "https://prometheus.example.com:443".
/// Shape    [https://|http://]HOST[:PORT]; https where it does not say.
/// Errors   errc::malformed: a path, a login, no host. errc::refused: an address where clouds keep
///          credentials.
reactor::result<std::string> read_allowed_host(std::string_view text);

/// Whether a URL is of one of these origins, scheme, host and port alike.
/// Errors   errc::refused names the origin; errc::malformed: it is no URL.
reactor::result<void> is_allowed(std::string_view url, const std::vector<std::string>& origins);

}  // namespace signals
