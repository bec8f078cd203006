#include "tests/k8s/client/pems.hpp"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <stdexcept>

namespace k8s {
namespace {

std::string text_of(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  std::string out(data, static_cast<std::size_t>(size));
  BIO_free(bio);
  return out;
}

}  // namespace

pem_pair make_pem_pair(const std::string& name, long base, int valid_from_day, int valid_to_day) {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* certificate = X509_new();
  if (!key || !certificate) throw std::runtime_error("OpenSSL cannot make a certificate");
  X509_set_version(certificate, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
  ASN1_TIME_set(X509_getm_notBefore(certificate), base + valid_from_day * 86'400L);
  ASN1_TIME_set(X509_getm_notAfter(certificate), base + valid_to_day * 86'400L);
  X509_NAME* subject = X509_get_subject_name(certificate);
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  X509_set_issuer_name(certificate, subject);
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509_EXTENSION* names =
      X509V3_EXT_conf_nid(nullptr, &context, NID_subject_alt_name, ("DNS:" + name).c_str());
  X509_add_ext(certificate, names, -1);
  X509_EXTENSION_free(names);
  X509_set_pubkey(certificate, key);
  X509_sign(certificate, key, EVP_sha256());
  pem_pair out;
  BIO* bio = BIO_new(BIO_s_mem());
  PEM_write_bio_X509(bio, certificate);
  out.certificate = text_of(bio);
  bio = BIO_new(BIO_s_mem());
  PEM_write_bio_PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr);
  out.key = text_of(bio);
  X509_free(certificate);
  EVP_PKEY_free(key);
  return out;
}

}  // namespace k8s
