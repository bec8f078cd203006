#pragma once

#include "reactor/plain/secret.hpp"

#include <compare>
#include <string>
#include <string_view>

namespace registry {

/// How TLS to a server is done: paths, as flags and repositories.yaml give them.
struct tls_choice {
  std::string certificate_file, key_file, ca_file;
  bool skip_verify = false;
  friend auto operator<=>(const tls_choice&, const tls_choice&) = default;
};

/// What a user gave for one origin: the value of the Authorization field, the client's certificate
/// and the permission to skip verification.
/// Use      for_url() is the only way to read them, so a request that follows a redirect, a Link, a
///          Location or a realm to another scheme, host or port gets none of them.
/// CA file  It proves nothing about the client: the servers of one command are verified with the
///          same one.
class credentials {
public:
  /// None.
  credentials() = default;
  /// `given_for` is any URL of the origin.
  credentials(std::string_view given_for, reactor::secret authorization, tls_choice tls);

  struct shown {
    reactor::secret authorization;
    tls_choice tls;
  };
  /// What a request for `url` shows.
  shown for_url(std::string_view url) const;

private:
  std::string given_for_;
  shown all_;
};

}  // namespace registry
