#pragma once

// Private to the TLS files: this header pulls in OpenSSL.
#include "reactor/result.hpp"
#include "reactor/time.hpp"

#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>
#include <string_view>

namespace reactor {

/// Frees an OpenSSL object with its own function.
template <auto Free>
struct openssl_free {
  template <class T>
  void operator()(T* p) const noexcept {
    Free(p);
  }
};
using ssl_ctx_ptr = std::unique_ptr<SSL_CTX, openssl_free<&SSL_CTX_free>>;
using ssl_ptr = std::unique_ptr<SSL, openssl_free<&SSL_free>>;
using x509_ptr = std::unique_ptr<X509, openssl_free<&X509_free>>;
using key_ptr = std::unique_ptr<EVP_PKEY, openssl_free<&EVP_PKEY_free>>;
using bio_ptr = std::unique_ptr<BIO, openssl_free<&BIO_free_all>>;

class tls_context {
public:
  tls_context(ssl_ctx_ptr ctx, bool verify) : ctx_(std::move(ctx)), verify_(verify) {}
  SSL_CTX* get() const noexcept { return ctx_.get(); }
  bool verifies() const noexcept { return verify_; }

private:
  ssl_ctx_ptr ctx_;
  bool verify_;
};

/// Reads `pem`. The view must outlive the result.
bio_ptr pem_reader(std::string_view pem);
/// Empties OpenSSL's error queue; the sentence is that of the last, most specific entry.
std::string drain_openssl_errors();

/// A sentence about why `certificate` was not accepted: who it is for, by whom, until when.
std::string verification_sentence(int why, X509* certificate, std::string_view wanted_name);
/// "CN" of the subject, else its whole text.
std::string subject_name(X509* certificate);

}  // namespace reactor
