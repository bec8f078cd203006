#include "k8s/client/certificates.hpp"

#include "reactor/plain/key_memory.hpp"
#include "reactor/plain/openssl.hpp"

#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <ctime>
#include <memory>

namespace k8s {

using reactor::openssl::bio_ptr;
using reactor::openssl::key_ptr;
using reactor::openssl::x509_ptr;

namespace {

bio_ptr reading(std::string_view pem) {
  return bio_ptr(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
}

/// An encrypted key must make OpenSSL neither ask on the terminal nor derive a key from an empty
/// password, as often as the file says: that may take hours.
int no_password(char*, int, int, void*) {
  return -1;
}

// Signing with a longer one takes more than a turn of the loop may.
constexpr int longest_rsa_key_bits = 4'096;
// Each connection's trust is built from all of them.
constexpr std::size_t most_certificates = 300;

std::size_t certificates_in(std::string_view pem) {
  constexpr std::string_view mark = "-----BEGIN ";
  std::size_t n = 0;
  for (std::size_t at = 0; (at = pem.find(mark, at)) != pem.npos; at += mark.size()) ++n;
  return n;
}

x509_ptr first_certificate(std::string_view pem) {
  const bio_ptr bio = reading(pem);
  x509_ptr out(bio ? PEM_read_bio_X509(bio.get(), nullptr, no_password, nullptr) : nullptr);
  ERR_clear_error();
  return out;
}

reactor::fault problem(std::string_view detail) {
  return reactor::make_fault(reactor::errc::malformed, "", detail);
}

std::optional<reactor::wall_time> to_time(const ASN1_TIME* t) {
  std::tm parts{};
  if (!t || ASN1_TIME_to_tm(t, &parts) != 1) return std::nullopt;
  return reactor::wall_time(std::chrono::seconds(timegm(&parts)));
}

}  // namespace

reactor::result<void> check_ca(std::string_view pem) {
  if (certificates_in(pem) > most_certificates)
    return problem("holds more than " + std::to_string(most_certificates) + " certificates");
  if (!first_certificate(pem)) return problem("holds no certificate in PEM form");
  return {};
}

reactor::result<void> check_key_pair(std::string_view certificate_pem, std::string_view key_pem) {
  const x509_ptr certificate = first_certificate(certificate_pem);
  if (!certificate) return problem("the client certificate holds no certificate in PEM form");
  if (certificates_in(certificate_pem) > most_certificates)
    return problem("the client certificate holds more than " + std::to_string(most_certificates) +
                   " certificates");
  const reactor::key_memory_is_wiped afterwards;
  const bio_ptr bio = reading(key_pem);
  const key_ptr key(bio ? PEM_read_bio_PrivateKey(bio.get(), nullptr, no_password, nullptr)
                        : nullptr);
  ERR_clear_error();
  if (!key) return problem("the client key holds no readable private key in PEM form");
  const int kind = EVP_PKEY_get_base_id(key.get());
  if (kind != EVP_PKEY_RSA && kind != EVP_PKEY_EC && kind != EVP_PKEY_ED25519 &&
      kind != EVP_PKEY_ED448)
    return problem("the client key is neither RSA nor elliptic");
  if (kind == EVP_PKEY_RSA && EVP_PKEY_get_bits(key.get()) > longest_rsa_key_bits)
    return problem("the client key is longer than " + std::to_string(longest_rsa_key_bits) +
                   " bits");
  const bool match = X509_check_private_key(certificate.get(), key.get()) == 1;
  ERR_clear_error();
  if (!match) return problem("the client key does not belong to the client certificate");
  return {};
}

std::optional<std::string> validity_problem(std::string_view certificate_pem,
                                            reactor::wall_time now) {
  const x509_ptr certificate = first_certificate(certificate_pem);
  if (!certificate) return std::nullopt;
  if (const auto end = to_time(X509_get0_notAfter(certificate.get())); end && now > *end) {
    return "the client certificate expired at " + reactor::format_rfc3339(*end);
  }
  if (const auto begin = to_time(X509_get0_notBefore(certificate.get())); begin && now < *begin) {
    return "the client certificate is not valid before " + reactor::format_rfc3339(*begin);
  }
  return std::nullopt;
}

}  // namespace k8s
