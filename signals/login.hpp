#pragma once

#include "reactor/plain/result.hpp"
#include "registry/credentials.hpp"

#include <boost/json/fwd.hpp>

#include <string>

namespace signals {

/// What the Secret of a login has: `origin`, the only server that is shown it, and `token`, or
/// `username` and `password`.
struct login {
  std::string origin;  // "https://prometheus.example.com:443"
  reactor::secret authorization;
};

/// Reads a Secret. One without `origin` is no login of a signal, whatever else it has: a kubeconfig
/// or a pull secret is shown to no server.
/// Errors   errc::malformed names the key, never what is in it.
reactor::result<login> read_login(const boost::json::object& secret);

}  // namespace signals
