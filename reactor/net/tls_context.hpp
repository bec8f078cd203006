#pragma once

// Private to the TLS files: this header pulls in OpenSSL.
#include "reactor/plain/memory.hpp"
#include "reactor/plain/openssl.hpp"
#include "reactor/plain/result.hpp"
#include "reactor/plain/time.hpp"

#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace reactor {

using openssl::bio_ptr;
using openssl::key_ptr;
using openssl::x509_ptr;
using ssl_ctx_ptr = std::unique_ptr<SSL_CTX, openssl::freer<&SSL_CTX_free>>;
using ssl_ptr = std::unique_ptr<SSL, openssl::freer<&SSL_free>>;
using x509_store_ptr = std::unique_ptr<X509_STORE, openssl::freer<&X509_STORE_free>>;
using session_ptr = std::unique_ptr<SSL_SESSION, openssl::freer<&SSL_SESSION_free>>;

/// For calls that fail only without memory.
inline void require(bool done) noexcept {
  if (!done) memory_lost();
}

/// A certificate, its chain and its private key.
struct tls_identity {
  std::vector<x509_ptr> certificates;  // its own first; none = no identity
  key_ptr key;
};

/// The file in which a distribution keeps the certificates that it trusts; null where none of the
/// usual ones is there. OpenSSL itself knows the place of the distribution that it was built for
/// alone, and programs of a release run on others.
/// Source   Go, crypto/x509, root_linux.go.
const char* system_bundle(const std::function<bool(const char*)>& is_there);

/// Reads the system's trust store; null where it cannot be read. Its 140 certificates take twenty
/// milliseconds and more, so it is work for a worker.
x509_store_ptr read_system_trust();
/// The one of the process: what was kept, else what is read now. An update of the files counts from
/// the next start on, as in Go.
X509_STORE* system_trust();
bool has_system_trust() noexcept;
void keep_system_trust(x509_store_ptr read);

/// An SSL_CTX is 15 KB, most of it lists of groups and ciphers, so all clients share one: what one
/// cluster is trusted by and who we are there is set on each connection instead, by reference.
class tls_context {
public:
  tls_context(ssl_ctx_ptr ctx, bool verify) : ctx_(std::move(ctx)), verify_(verify) {}
  /// `trusted` null: what the system trusts.
  tls_context(ssl_ctx_ptr ctx, bool verify, x509_store_ptr trusted, tls_identity identity)
      : ctx_(std::move(ctx)),
        trusted_(std::move(trusted)),
        identity_(std::move(identity)),
        verify_(verify),
        trusts_system_(!trusted_) {}

  /// A connection with this trust and identity; null when OpenSSL refuses the identity or has no
  /// memory.
  ssl_ptr connection() const;
  /// The same that trusts no peer; null when OpenSSL refuses the identity or has no memory.
  ssl_ptr with_identity() const;
  bool verifies() const noexcept { return verify_; }
  bool trusts_system() const noexcept { return trusts_system_; }

private:
  ssl_ctx_ptr ctx_;
  x509_store_ptr trusted_;  // null = what the system trusts, or what the SSL_CTX has
  tls_identity identity_;
  bool verify_;
  bool trusts_system_ = false;
};

/// A server offers one of our connections a session. Defined with the streams, called by OpenSSL
/// through the SSL_CTX.
void tls_session_offered(SSL* to, SSL_SESSION* session);

/// OpenSSL asks whether the peer's certificates are to be trusted. Defined with the streams; 1 =
/// they are.
int tls_certificates_shown(X509_STORE_CTX* chain);

/// What is wrong with a key whose use would hold up everybody else: nothing for those that Go
/// accepts too.
std::optional<std::string> too_costly(const EVP_PKEY* key);

/// Reads `pem`. The view must outlive the result.
bio_ptr pem_reader(std::string_view pem);
/// Empties OpenSSL's error queue; the sentence is that of the last, most specific entry.
std::string drain_openssl_errors();

/// A sentence about why `certificate` was not accepted: who it is for, who signed it, until when.
std::string verification_sentence(int why, X509* certificate, std::string_view wanted_name);
/// "CN" of the subject, else its whole text.
std::string subject_name(X509* certificate);

}  // namespace reactor
