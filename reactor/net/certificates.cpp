#include "reactor/net/certificates.hpp"

#include "reactor/net/tls_context.hpp"

#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/rand.h>

#include <optional>

namespace reactor {
namespace {

fault failed(std::string_view why = {}) {
  const std::string reason = drain_openssl_errors();
  return make_fault(errc::malformed, "make certificate", why.empty() ? reason : why);
}

template <class Write>
std::string to_pem(Write write) {
  const bio_ptr out(BIO_new(BIO_s_mem()));
  require(out && write(out.get()) == 1);
  char* text = nullptr;
  const long length = BIO_get_mem_data(out.get(), &text);
  return std::string(text, static_cast<std::size_t>(length));
}

bool add_extension(X509* certificate, X509* issuer, int id, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* made = X509V3_EXT_conf_nid(nullptr, &context, id, value.c_str());
  if (!made) return false;
  const bool added = X509_add_ext(certificate, made, -1) == 1;
  X509_EXTENSION_free(made);
  return added;
}

bool add_name(X509_NAME* name, const char* field, const std::string& text) {
  return X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8,
                                    reinterpret_cast<const unsigned char*>(text.data()),
                                    static_cast<int>(text.size()), -1, 0) == 1;
}

std::time_t seconds(wall_time t) {
  return std::chrono::floor<std::chrono::seconds>(t).time_since_epoch().count();
}

struct issuer {
  X509* certificate;
  EVP_PKEY* key;
};

/// Self-signed without `by`.
result<certified_key> make(const certificate_request& wanted, std::optional<issuer> by) {
  const key_ptr key(EVP_EC_gen("P-256"));
  const x509_ptr certificate(X509_new());
  unsigned char serial[16];
  if (!key || !certificate || RAND_bytes(serial, sizeof serial) != 1) return failed();
  X509* const c = certificate.get();
  serial[0] = static_cast<unsigned char>((serial[0] & 0x3f) | 0x40);  // positive, of full length
  const std::unique_ptr<BIGNUM, openssl::freer<&BN_free>> number(
      BN_bin2bn(serial, sizeof serial, nullptr));
  X509_NAME* subject = X509_get_subject_name(c);
  X509* const signer = by ? by->certificate : c;
  bool ok = number && BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(c)) &&
            X509_set_version(c, X509_VERSION_3) == 1 &&
            ASN1_TIME_set(X509_getm_notBefore(c), seconds(wanted.not_before)) &&
            ASN1_TIME_set(X509_getm_notAfter(c), seconds(wanted.not_after)) &&
            X509_set_pubkey(c, key.get()) == 1;
  for (const std::string& organization : wanted.organizations)
    ok = ok && add_name(subject, "O", organization);
  ok = ok && add_name(subject, "CN", wanted.common_name) &&
       X509_set_issuer_name(c, X509_get_subject_name(signer)) == 1;

  ok = ok && add_extension(c, signer, NID_subject_key_identifier, "hash") &&
       add_extension(c, signer, NID_authority_key_identifier, "keyid");
  if (by) {
    ok = ok && add_extension(c, signer, NID_basic_constraints, "critical,CA:FALSE") &&
         add_extension(c, signer, NID_key_usage, "critical,digitalSignature") &&
         add_extension(c, signer, NID_ext_key_usage, "serverAuth,clientAuth");
  } else {
    ok = ok && add_extension(c, signer, NID_basic_constraints, "critical,CA:TRUE") &&
         add_extension(c, signer, NID_key_usage, "critical,keyCertSign,cRLSign");
  }
  if (!ok) return failed();
  GENERAL_NAMES* names = GENERAL_NAMES_new();
  require(names != nullptr);
  const auto add_alternative = [&](int type, const std::string& text) {
    GENERAL_NAME* name = a2i_GENERAL_NAME(nullptr, nullptr, nullptr, type, text.c_str(), 0);
    if (name && sk_GENERAL_NAME_push(names, name) > 0) return true;
    GENERAL_NAME_free(name);
    return false;
  };
  for (const std::string& name : wanted.dns_names) ok = add_alternative(GEN_DNS, name) && ok;
  for (const std::string& address : wanted.ip_addresses)
    ok = add_alternative(GEN_IPADD, address) && ok;
  if (ok && sk_GENERAL_NAME_num(names) > 0)
    ok = X509_add1_ext_i2d(c, NID_subject_alt_name, names, 0, 0) == 1;
  GENERAL_NAMES_free(names);
  if (!ok) return failed("an alternative name is neither a DNS name nor an IP address");
  if (X509_sign(c, by ? by->key : key.get(), EVP_sha256()) == 0) return failed();
  return certified_key{
      to_pem([&](BIO* out) { return PEM_write_bio_X509(out, c); }), to_pem([&](BIO* out) {
        return PEM_write_bio_PKCS8PrivateKey(out, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
      })};
}

}  // namespace

result<certified_key> make_authority(std::string_view common_name, wall_time not_before,
                                     wall_time not_after) {
  certificate_request wanted;
  wanted.common_name = common_name;
  wanted.not_before = not_before;
  wanted.not_after = not_after;
  return make(wanted, std::nullopt);
}

result<certified_key> issue_certificate(const certified_key& authority,
                                        const certificate_request& wanted) {
  const bio_ptr certificate_text = pem_reader(authority.certificate_pem);
  const bio_ptr key_text = pem_reader(authority.key_pem);
  const x509_ptr certificate(PEM_read_bio_X509(certificate_text.get(), nullptr, nullptr, nullptr));
  const key_ptr key(PEM_read_bio_PrivateKey(key_text.get(), nullptr, nullptr, nullptr));
  if (!certificate || !key) return failed();
  return make(wanted, issuer{certificate.get(), key.get()});
}

}  // namespace reactor
