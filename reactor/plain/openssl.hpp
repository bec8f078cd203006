#pragma once

// Who frees what OpenSSL has made. Private to the few files that speak to it: this header pulls it
// in.
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>

namespace reactor::openssl {

/// Frees an OpenSSL object with its own function.
template <auto Free>
struct freer {
  template <class T>
  void operator()(T* p) const noexcept {
    Free(p);
  }
};
using x509_ptr = std::unique_ptr<X509, freer<&X509_free>>;
using key_ptr = std::unique_ptr<EVP_PKEY, freer<&EVP_PKEY_free>>;
using bio_ptr = std::unique_ptr<BIO, freer<&BIO_free_all>>;

}  // namespace reactor::openssl
