#pragma once

// Pulls in OpenSSL: for the hostile servers' TLS scripts only.
#include "bench/hostile/servers.hpp"
#include "reactor/net/tls_context.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace bench::hostile {

/// OpenSSL as a server over a script's connection, with everything turned on that a good server
/// turns off.
class tls_peer {
public:
  /// `configure` has the last word; by default a good certificate, every version and cipher,
  /// security level 0.
  tls_peer(visit& v, const std::function<void(SSL_CTX*)>& configure = {});

  /// False: the client is gone or did not agree.
  awaitable<bool> shake_hands();
  awaitable<bool> say(std::string bytes);
  awaitable<std::string> read_head();
  /// Sends what OpenSSL has put out.
  awaitable<bool> flush();
  SSL* ssl() noexcept { return ssl_.get(); }

private:
  awaitable<bool> feed();
  visit& visit_;
  reactor::ssl_ctx_ptr ctx_;
  reactor::ssl_ptr ssl_;
};

/// A certificate with its own key, and how it may be spoiled.
struct certificate_plan {
  std::string subject = "hostile";
  std::vector<std::string> names{"hostile", "127.0.0.1"};
  std::int64_t valid_from_day = -1, valid_until_day = 365;  // from now
  std::string curve = "P-256";
  bool authority = false;
};
struct chain {
  std::vector<reactor::x509_ptr> certificates;  // the server's own first
  reactor::key_ptr key;                         // of the first
};
/// Signed by the authority that the cluster trusts, over `between` authorities in between; or by
/// itself.
enum class signed_by { authority, itself };
chain make_chain(reactor::loop& l, const certificate_plan& leaf, std::size_t between = 0,
                 signed_by by = signed_by::authority, const std::string& curve_between = "P-256");
void use_chain(SSL_CTX* ctx, const chain& c);

}  // namespace bench::hostile
