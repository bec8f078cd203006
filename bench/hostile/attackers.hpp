#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bench::hostile {

/// The process that plays every hostile server on a port of its own, and the hostile callers on
/// request.
struct attackers_at {
  std::vector<std::uint16_t> servers;  // as in servers()
  std::uint16_t control = 0;           // GET /call?n=3&port=8081 plays a caller, until GET /stop
  std::string ca_file;                 // who signs their certificates
};

/// Serves until it is killed; prints where as one line.
int run_attackers();
std::string to_text(const attackers_at& a);
attackers_at parse_attackers(const std::string& text);

}  // namespace bench::hostile
