#include "tests/reactor/http/test_certificates.hpp"

namespace reactor {

test_authority::test_authority(loop& l, std::string_view name)
    : loop_(l), authority_(make_authority(name, l.wall() - 24h, l.wall() + 240h).value()) {}

certified_key test_authority::issue(std::vector<std::string> names) const {
  return issue_from(std::move(names), loop_.wall() - 1h, loop_.wall() + 24h);
}

certified_key test_authority::issue_from(std::vector<std::string> names, wall_time not_before,
                                         wall_time not_after) const {
  certificate_request wanted;
  wanted.common_name = names.empty() ? "nobody" : names.front();
  wanted.not_before = not_before;
  wanted.not_after = not_after;
  for (std::string& name : names) {
    const bool address =
        name.find(':') != name.npos || name.find_first_not_of("0123456789.") == name.npos;
    (address ? wanted.ip_addresses : wanted.dns_names).push_back(std::move(name));
  }
  return issue_certificate(authority_, wanted).value();
}

tls_server_settings test_authority::server(std::vector<std::string> names) const {
  certified_key made = issue(std::move(names));
  tls_server_settings settings;
  settings.certificate_pem = std::move(made.certificate_pem);
  settings.key_pem = std::move(made.key_pem);
  return settings;
}

tls_settings test_authority::client() const {
  tls_settings settings;
  settings.ca_pem = pem();
  return settings;
}

}  // namespace reactor
