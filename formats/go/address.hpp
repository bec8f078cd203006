#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace formats {

/// An IP address as net/netip reads one.
struct ip_address {
  bool is_4 = false;
  std::string_view zone;  // into the text that was read
  std::string problem;    // empty, or why the text is no address: "ParseAddr(\"x\"): unable to …"
};

ip_address parse_address(std::string_view text);

}  // namespace formats
