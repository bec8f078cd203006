#pragma once

#include "reactor/awaitable.hpp"
#include "reactor/net/stream.hpp"
#include "reactor/plain/result.hpp"
#include "reactor/plain/secret.hpp"
#include "reactor/plain/time.hpp"

#include <functional>
#include <memory>
#include <string>

namespace reactor {

class loop;

/// How the peer proves who it is and how we do. PEM texts, not paths: the code that knows the files
/// re-reads them.
struct tls_settings {
  std::string ca_pem;           // empty = the system's trust store
  std::string certificate_pem;  // client certificate chain; empty = none
  secret key_pem;               // its private key
  std::string server_name;      // for SNI and verification; empty = the origin's host
  bool verify = true;           // false only where a kubeconfig says insecure-skip-tls-verify
  friend bool operator==(const tls_settings&, const tls_settings&) = default;
};

struct tls_server_settings {
  std::string certificate_pem, key_pem;
  std::string client_ca_pem;  // empty = client certificates are not asked for
};

/// What OpenSSL made of settings. Shared by every stream with the same ones, also across clients.
class tls_context;
/// Errors: errc::malformed names the PEM text that cannot be used.
result<std::shared_ptr<tls_context>> tls_client_context(const tls_settings& settings);
result<std::shared_ptr<tls_context>> tls_server_context(const tls_server_settings& settings);

/// The session by which a server knows us again: the next handshakes need no certificate, which
/// saves both sides most of its work and 5 KB in each connection. One for each origin and its
/// settings; a connection that is made with it brings the next one.
/// Bounds: the server's certificate is verified again after an hour, and when it has expired.
class tls_resumption {
public:
  tls_resumption();
  ~tls_resumption();
  tls_resumption(const tls_resumption&) = delete;
  tls_resumption& operator=(const tls_resumption&) = delete;

  /// A connection that is made now will try to resume.
  bool ready(wall_time now) const noexcept;
  /// Called when ready() has become true.
  std::function<void()> on_ready;

private:
  friend struct resumption_access;
  struct impl;
  std::unique_ptr<impl> impl_;
};

/// TLS 1.2 or 1.3 over another stream. An idle one owns no buffers: records are read into memory
/// that all of them share, decrypted and handed on at once.
/// Shape:  wait_readable may also end for a record without data; try_read then says "would block".
///         close() says goodbye when that needs no waiting.
/// Errors: errc::closed when the peer ended the transport without a goodbye (the data may be cut),
///         errc::malformed for bytes that are not TLS, errc::refused for an alert that a person
///         must act upon.
class tls_stream : public stream {
public:
  /// Common name of the peer's verified certificate, else empty.
  virtual std::string peer_common_name() const = 0;
  /// Whether an earlier session went on.
  virtual bool resumed() const noexcept = 0;
};

/// Shakes hands as a client. `name` is sent as SNI and must be in the certificate; an address must
/// be in it as one.
/// Bounds:  `over`'s own expire_at.
/// Errors:  errc::unverified with a sentence on what is wrong with the peer's certificate, the rest
///          as above.
awaitable<result<std::unique_ptr<tls_stream>>> tls_connect(
    loop& l, std::unique_ptr<stream> over, std::shared_ptr<tls_context> with, std::string name,
    std::shared_ptr<tls_resumption> session = {});
/// Shakes hands as a server. A client certificate is verified if there is one, never demanded.
awaitable<result<std::unique_ptr<tls_stream>>> tls_accept(loop& l, std::unique_ptr<stream> over,
                                                          std::shared_ptr<tls_context> with);

}  // namespace reactor
