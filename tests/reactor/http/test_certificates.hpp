#pragma once

#include "reactor/loop.hpp"
#include "reactor/net/certificates.hpp"
#include "reactor/net/tls.hpp"

#include <string>
#include <vector>

namespace reactor {

/// An authority and what it signs, valid around the loop's wall clock.
class test_authority {
public:
  explicit test_authority(loop& l, std::string_view name = "test CA");

  const std::string& pem() const noexcept { return authority_.certificate_pem; }
  /// Names that look like addresses become addresses.
  certified_key issue(std::vector<std::string> names) const;
  certified_key issue_from(std::vector<std::string> names, wall_time not_before,
                           wall_time not_after) const;
  tls_server_settings server(std::vector<std::string> names) const;
  /// Trusts this authority.
  tls_settings client() const;

private:
  loop& loop_;
  certified_key authority_;
};

}  // namespace reactor
