// Certificates, keys, digests and ciphers: one file because all of it is OpenSSL's.
#include "formats/base64.hpp"
#include "formats/digest.hpp"
#include "formats/go/format.hpp"
#include "formats/plain/deep_stack.hpp"
#include "helm/functions/functions.hpp"
#include "helm/functions/rsa_key.hpp"
#include "helm/go.hpp"
#include "helm/template/executor.hpp"
#include "reactor/plain/openssl.hpp"

#include <arpa/inet.h>
#include <crypt.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/dsa.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/kdf.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>

#include <array>
#include <cstring>
#include <memory>

namespace helm {
namespace {

using args = std::span<value>;

/// For calls of OpenSSL that do not fail for what a chart can give.
void require(bool done) {
  if (!done) throw function_error("the cryptography library has failed");
}

using reactor::openssl::bio_ptr;
using reactor::openssl::freer;
using reactor::openssl::key_ptr;
using cert_ptr = reactor::openssl::x509_ptr;
using cipher_ptr = std::unique_ptr<EVP_CIPHER_CTX, freer<&EVP_CIPHER_CTX_free>>;
using key_context = std::unique_ptr<EVP_PKEY_CTX, freer<&EVP_PKEY_CTX_free>>;

std::string openssl_error() {
  char buffer[256] = "unknown error";
  if (auto code = ERR_get_error(); code != 0) ERR_error_string_n(code, buffer, sizeof buffer);
  ERR_clear_error();
  return buffer;
}

class certificate final : public object {
public:
  certificate(std::string c, std::string k) : cert(std::move(c)), key(std::move(k)) {}
  std::string type_name() const override { return "sprig.certificate"; }
  std::vector<std::pair<std::string, value>> fields() const override {
    return {{"Cert", cert}, {"Key", key}};
  }
  bool equals(const object& other) const override {
    const auto& o = static_cast<const certificate&>(other);
    return cert == o.cert && key == o.key;
  }
  std::string cert, key;
};
value certificate_value(std::string cert, std::string key) {
  return value::object(new certificate(std::move(cert), std::move(key)));
}

value digest(const EVP_MD* kind, const std::string& s) {
  unsigned char out[EVP_MAX_MD_SIZE];
  unsigned n = 0;
  require(EVP_Digest(s.data(), s.size(), out, &n, kind, nullptr) == 1);
  return hex_of({reinterpret_cast<const char*>(out), n});
}
value f_sha1sum(executor&, args a) {
  return digest(EVP_sha1(), a[0].text());
}
value f_sha256sum(executor&, args a) {
  return sha256_hex(a[0].text());
}
value f_sha512sum(executor&, args a) {
  return digest(EVP_sha512(), a[0].text());
}
value f_adler32sum(executor&, args a) {
  std::uint32_t x = 1, y = 0;
  for (char c : a[0].text()) {
    x = (x + static_cast<unsigned char>(c)) % 65521;
    y = (y + x) % 65521;
  }
  return std::to_string(y << 16 | x);
}

std::string bcrypt(executor& e, const std::string& s) {
  if (s.size() > 72)
    return "failed to encrypt string with bcrypt: bcrypt: password length exceeds 72 bytes";
  e.about_to_work();
  // crypt() stops at a zero byte, where Go goes on; passwords do not hold any.
  char random[16];
  e.random(std::span(reinterpret_cast<unsigned char*>(random), sizeof random));
  char setting[CRYPT_GENSALT_OUTPUT_SIZE];
  crypt_data data{};
  if (!crypt_gensalt_rn("$2a$", 10, random, sizeof random, setting, sizeof setting))
    return "failed to encrypt string with bcrypt: no salt";
  const char* out = crypt_r(s.c_str(), setting, &data);
  return out ? out : "failed to encrypt string with bcrypt";
}
value f_bcrypt(executor& e, args a) {
  return bcrypt(e, a[0].text());
}
value f_htpasswd(executor& e, args a) {
  if (a[0].text().find(':') != std::string::npos) return "invalid username: " + a[0].text();
  return a[0].text() + ":" + bcrypt(e, a[1].text());
}
value f_rand_bytes(executor& e, args a) {
  auto n = a[0].integer();
  if (n < 0) throw function_error("runtime error: makeslice: len out of range");
  e.reserve(static_cast<std::uint64_t>(n));
  std::string bytes(static_cast<std::size_t>(n), '\0');
  e.random(std::span(reinterpret_cast<unsigned char*>(bytes.data()), bytes.size()));
  return encode_base64(bytes);
}

std::string big_endian(std::uint32_t n) {
  return {static_cast<char>(n >> 24), static_cast<char>(n >> 16 & 255),
          static_cast<char>(n >> 8 & 255), static_cast<char>(n & 255)};
}

value f_derive_password(executor& e, args a) {
  static const std::array<std::pair<std::string_view, std::vector<std::string_view>>, 6> templates{{
      {"maximum", {"anoxxxxxxxxxxxxxxxxx", "axxxxxxxxxxxxxxxxxno"}},
      {"long",
       {"CvcvnoCvcvCvcv", "CvcvCvcvnoCvcv", "CvcvCvcvCvcvno", "CvccnoCvcvCvcv", "CvccCvcvnoCvcv",
        "CvccCvcvCvcvno", "CvcvnoCvccCvcv", "CvcvCvccnoCvcv", "CvcvCvccCvcvno", "CvcvnoCvcvCvcc",
        "CvcvCvcvnoCvcc", "CvcvCvcvCvccno", "CvccnoCvccCvcv", "CvccCvccnoCvcv", "CvccCvccCvcvno",
        "CvcvnoCvccCvcc", "CvcvCvccnoCvcc", "CvcvCvccCvccno", "CvccnoCvcvCvcc", "CvccCvcvnoCvcc",
        "CvccCvcvCvccno"}},
      {"medium", {"CvcnoCvc", "CvcCvcno"}},
      {"short", {"Cvcn"}},
      {"basic", {"aaanaaan", "aannaaan", "aaannaaa"}},
      {"pin", {"nnnn"}},
  }};
  const std::string upper_vowels = "AEIOU", lower_vowels = "aeiou",
                    upper_rest = "BCDFGHJKLMNPQRSTVWXYZ", lower_rest = "bcdfghjklmnpqrstvwxyz",
                    digits = "0123456789";
  const std::string letters = upper_vowels + lower_vowels + upper_rest + lower_rest;
  auto alphabet = [&](char c) -> std::string {
    switch (c) {
      case 'V': return upper_vowels;
      case 'C': return upper_rest;
      case 'v': return lower_vowels;
      case 'c': return lower_rest;
      case 'A': return upper_vowels + upper_rest;
      case 'a': return letters;
      case 'n': return digits;
      case 'o': return "@&%?,=[]_:-+*$#!'^~;()/.";
      default: return letters + digits + "!@#$%^&*()";
    }
  };
  const std::vector<std::string_view>* choices = nullptr;
  for (const auto& [name, list] : templates)
    if (name == a[1].text()) choices = &list;
  if (!choices) return "cannot find password template " + a[1].text();
  const std::string scope = "com.lyndir.masterpassword";
  const auto& user = a[3].text();
  const auto& site = a[4].text();
  auto salt = scope + big_endian(static_cast<std::uint32_t>(user.size())) + user;
  unsigned char key[64];
  e.about_to_work();
  require(EVP_PBE_scrypt(a[2].text().data(), a[2].text().size(),
                         reinterpret_cast<const unsigned char*>(salt.data()), salt.size(), 32768, 8,
                         2, 256u << 20, key, sizeof key) == 1);
  auto message = scope + big_endian(static_cast<std::uint32_t>(site.size())) + site +
                 big_endian(static_cast<std::uint32_t>(a[0].integer()));
  unsigned char seed[32];
  unsigned n = 0;
  require(HMAC(EVP_sha256(), key, sizeof key,
               reinterpret_cast<const unsigned char*>(message.data()), message.size(), seed,
               &n) != nullptr);
  auto chosen = (*choices)[seed[0] % choices->size()];
  std::string out;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    auto set = alphabet(chosen[i]);
    out += set[seed[i + 1] % set.size()];
  }
  return out;
}

std::string drained(BIO* b) {
  char* data = nullptr;
  auto n = BIO_get_mem_data(b, &data);
  return {data, static_cast<std::size_t>(n)};
}

/// The private key in the form of its kind: PKCS#1 for RSA, SEC 1 for EC, PKCS#8 for the rest.
std::string key_pem(EVP_PKEY* key) {
  bio_ptr out(BIO_new(BIO_s_mem()));
  auto kind = EVP_PKEY_get_base_id(key);
  if (kind == EVP_PKEY_RSA || kind == EVP_PKEY_EC || kind == EVP_PKEY_DSA)
    PEM_write_bio_PrivateKey_traditional(out.get(), key, nullptr, nullptr, 0, nullptr, nullptr);
  else
    PEM_write_bio_PrivateKey(out.get(), key, nullptr, nullptr, 0, nullptr, nullptr);
  return drained(out.get());
}

key_ptr new_dsa() {
  EVP_PKEY* parameters = nullptr;
  EVP_PKEY* key = nullptr;
  key_context c(EVP_PKEY_CTX_new_id(EVP_PKEY_DSA, nullptr));
  if (EVP_PKEY_paramgen_init(c.get()) <= 0 ||
      EVP_PKEY_CTX_set_dsa_paramgen_bits(c.get(), 2048) <= 0 ||
      EVP_PKEY_CTX_set_dsa_paramgen_q_bits(c.get(), 256) <= 0 ||
      EVP_PKEY_paramgen(c.get(), &parameters) <= 0)
    return nullptr;
  key_ptr owned(parameters);
  key_context k(EVP_PKEY_CTX_new(parameters, nullptr));
  if (EVP_PKEY_keygen_init(k.get()) <= 0 || EVP_PKEY_keygen(k.get(), &key) <= 0) return nullptr;
  return key_ptr(key);
}

value f_gen_private_key(executor& e, args a) {
  const auto& kind = a[0].text();
  e.note_impure();
  e.about_to_work();
  key_ptr key;
  if (kind.empty() || kind == "rsa")
    key = new_rsa_key(4096);
  else if (kind == "ecdsa")
    key.reset(EVP_EC_gen("P-256"));
  else if (kind == "ed25519")
    key.reset(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"));
  else if (kind == "dsa")
    key = new_dsa();
  else
    return "Unknown type " + kind;
  if (!key) return "failed to generate private key: " + openssl_error();
  return key_pem(key.get());
}

/// The type named in a PEM header, or nothing when there is no PEM data.
std::optional<std::string> pem_type(const std::string& pem) {
  bio_ptr in(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  char* name = nullptr;
  char* header = nullptr;
  unsigned char* data = nullptr;
  long n = 0;
  if (PEM_read_bio(in.get(), &name, &header, &data, &n) != 1) {
    ERR_clear_error();
    return std::nullopt;
  }
  std::string out = name;
  OPENSSL_free(name);
  OPENSSL_free(header);
  OPENSSL_free(data);
  return out;
}

/// The largest key that a chart may bring, in bits of any of its numbers: a longer one signs for
/// seconds. A curve's are fewer, where a foreign one may have any.
constexpr int most_key_bits = 8'192, most_curve_bits = 600;
constexpr std::size_t most_key_text = 32 * 1024, most_certificate_text = 256 * 1024;

bool too_large(EVP_PKEY* key) {
  if (EVP_PKEY_get_base_id(key) == EVP_PKEY_EC) return EVP_PKEY_get_bits(key) > most_curve_bits;
  for (const char* name :
       {OSSL_PKEY_PARAM_RSA_N, OSSL_PKEY_PARAM_RSA_E, OSSL_PKEY_PARAM_RSA_D,
        OSSL_PKEY_PARAM_RSA_FACTOR1, OSSL_PKEY_PARAM_RSA_FACTOR2, OSSL_PKEY_PARAM_RSA_FACTOR3,
        OSSL_PKEY_PARAM_RSA_EXPONENT1, OSSL_PKEY_PARAM_RSA_EXPONENT2, OSSL_PKEY_PARAM_RSA_EXPONENT3,
        OSSL_PKEY_PARAM_RSA_COEFFICIENT1, OSSL_PKEY_PARAM_RSA_COEFFICIENT2, OSSL_PKEY_PARAM_FFC_P,
        OSSL_PKEY_PARAM_FFC_Q, OSSL_PKEY_PARAM_FFC_G, OSSL_PKEY_PARAM_PUB_KEY,
        OSSL_PKEY_PARAM_PRIV_KEY}) {
    BIGNUM* n = nullptr;
    if (EVP_PKEY_get_bn_param(key, name, &n) != 1) continue;
    const int bits = BN_num_bits(n);
    BN_clear_free(n);
    if (bits > most_key_bits) return true;
  }
  ERR_clear_error();
  return false;
}

problem key_too_large() {
  return problem{"private key of more than " + std::to_string(most_key_bits) + " bits"};
}

outcome<key_ptr> parse_key(const std::string& pem) {
  if (pem.size() > most_key_text) return key_too_large();
  auto kind = pem_type(pem);
  if (!kind) return problem{"no PEM data in input"};
  if (*kind != "PRIVATE KEY" && !kind->ends_with(" PRIVATE KEY"))
    return problem{"no private key data in PEM block of type " + *kind};
  if (*kind != "PRIVATE KEY" && *kind != "RSA PRIVATE KEY" && *kind != "EC PRIVATE KEY" &&
      *kind != "DSA PRIVATE KEY")
    return problem{"invalid private key type " + kind->substr(0, kind->size() - 12)};
  bio_ptr in(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  key_ptr key(PEM_read_bio_PrivateKey(in.get(), nullptr, nullptr, nullptr));
  if (key && too_large(key.get())) return key_too_large();
  if (key) return key;
  auto why = openssl_error();
  if (*kind == "PRIVATE KEY") return problem{"decoding PEM as PKCS#8: " + why};
  return problem{"parsing " + kind->substr(0, kind->size() - 12) + " private key from PEM: " + why};
}

cert_ptr parse_certificate(const std::string& pem) {
  if (pem.size() > most_certificate_text) return nullptr;
  bio_ptr in(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  cert_ptr out(PEM_read_bio_X509(in.get(), nullptr, nullptr, nullptr));
  ERR_clear_error();
  return out;
}

struct request {
  std::string name;
  std::int64_t days = 0;
  std::string alternatives;  // "DNS:a,IP:1.2.3.4" in OpenSSL's words
  bool authority = false;
};

/// The certificate's alternative names from the two lists.
std::string alternatives(const value& ips, const value& names) {
  std::string out;
  count_steps(64 * (names.size() + ips.size()));
  for (const auto& v : names.items()) {
    if (!v.is_string())
      throw function_error("error processing alternate dns name: " + format_value(v) +
                           " is not a string");
  }
  for (const auto& v : ips.items()) {
    if (!v.is_string())
      throw function_error("error parsing ip: " + format_value(v) + " is not a string");
    unsigned char buffer[16];
    if (inet_pton(AF_INET, v.text().c_str(), buffer) != 1 &&
        inet_pton(AF_INET6, v.text().c_str(), buffer) != 1)
      throw function_error("error parsing ip: " + v.text());
  }
  for (const auto& v : names.items()) out += (out.empty() ? "DNS:" : ",DNS:") + v.text();
  for (const auto& v : ips.items()) out += (out.empty() ? "IP:" : ",IP:") + v.text();
  return out;
}

void add_extension(X509* cert, X509* issuer, int nid, const std::string& text) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, cert, nullptr, nullptr, 0);
  std::unique_ptr<X509_EXTENSION, freer<&X509_EXTENSION_free>> e(
      X509V3_EXT_conf_nid(nullptr, &context, nid, text.c_str()));
  if (!e) throw function_error("error creating certificate: " + openssl_error());
  require(X509_add_ext(cert, e.get(), -1) == 1);
}

void add_names(X509* cert, const std::string& text) {
  // Built by hand: a DNS name from a chart may hold what OpenSSL's text form cannot.
  std::unique_ptr<GENERAL_NAMES, freer<&GENERAL_NAMES_free>> names(GENERAL_NAMES_new());
  for (const auto& part : split(text, ",")) {
    bool ip = part.starts_with("IP:");
    auto body = part.substr(ip ? 3 : 4);
    std::unique_ptr<GENERAL_NAME, freer<&GENERAL_NAME_free>> name(GENERAL_NAME_new());
    require(names && name);
    auto* text_of_it = ip ? a2i_IPADDRESS(body.c_str()) : ASN1_IA5STRING_new();
    require(text_of_it != nullptr);
    GENERAL_NAME_set0_value(name.get(), ip ? GEN_IPADD : GEN_DNS, text_of_it);
    require(ip || ASN1_STRING_set(text_of_it, body.data(), static_cast<int>(body.size())) == 1);
    require(sk_GENERAL_NAME_push(names.get(), name.get()) > 0);
    (void)name.release();  // it is the list's now
  }
  require(X509_add1_ext_i2d(cert, NID_subject_alt_name, names.get(), 0, 0) == 1);
}

std::string make_certificate(executor& e, const request& r, EVP_PKEY* key, X509* signer,
                             EVP_PKEY* signing_key) {
  cert_ptr cert(X509_new());
  require(cert && X509_set_version(cert.get(), 2) == 1);
  unsigned char serial[16];
  e.random(serial);
  std::unique_ptr<BIGNUM, freer<&BN_free>> n(BN_bin2bn(serial, sizeof serial, nullptr));
  require(n && BN_to_ASN1_INTEGER(n.get(), X509_get_serialNumber(cert.get())) != nullptr);
  auto now = std::chrono::system_clock::to_time_t(e.now());
  require(ASN1_TIME_adj(X509_getm_notBefore(cert.get()), now, 0, 0) != nullptr);
  require(ASN1_TIME_adj(X509_getm_notAfter(cert.get()), now, static_cast<int>(r.days), 0) !=
          nullptr);
  auto* subject = X509_get_subject_name(cert.get());
  // OpenSSL measures a name against X.520's 64 characters, Go does not; as plain bytes it is not
  // measured.
  bool named = false;
  for (const int form : {MBSTRING_UTF8, V_ASN1_UTF8STRING})
    named =
        named || X509_NAME_add_entry_by_NID(subject, NID_commonName, form,
                                            reinterpret_cast<const unsigned char*>(r.name.data()),
                                            static_cast<int>(r.name.size()), -1, 0) == 1;
  ERR_clear_error();
  require(named &&
          X509_set_issuer_name(cert.get(), signer ? X509_get_subject_name(signer) : subject) == 1 &&
          X509_set_pubkey(cert.get(), key) == 1);
  auto* issuer = signer ? signer : cert.get();
  add_extension(cert.get(), issuer, NID_key_usage,
                r.authority ? "critical,digitalSignature,keyEncipherment,keyCertSign"
                            : "critical,digitalSignature,keyEncipherment");
  add_extension(cert.get(), issuer, NID_ext_key_usage, "serverAuth,clientAuth");
  add_extension(cert.get(), issuer, NID_basic_constraints,
                r.authority ? "critical,CA:TRUE" : "critical,CA:FALSE");
  if (r.authority) add_extension(cert.get(), issuer, NID_subject_key_identifier, "hash");
  bool identified = signer && X509_get0_subject_key_id(signer);
  if (identified) add_extension(cert.get(), issuer, NID_authority_key_identifier, "keyid");
  if (!r.alternatives.empty()) add_names(cert.get(), r.alternatives);
  const EVP_MD* md = EVP_PKEY_get_base_id(signing_key) == EVP_PKEY_ED25519 ? nullptr : EVP_sha256();
  if (X509_sign(cert.get(), signing_key, md) <= 0)
    throw function_error("error creating certificate: " + openssl_error());
  bio_ptr out(BIO_new(BIO_s_mem()));
  require(out && PEM_write_bio_X509(out.get(), cert.get()) == 1);
  return drained(out.get());
}

key_ptr fresh_key(executor& e) {
  e.about_to_work();
  key_ptr key(new_rsa_key(2048));
  if (!key) throw function_error("error generating rsa key: " + openssl_error());
  return key;
}
key_ptr given_key(const std::string& pem) {
  auto key = parse_key(pem);
  if (!key) throw function_error("parsing private key: " + key.error().text);
  return std::move(*key);
}

value authority(executor& e, args a, key_ptr key) {
  request r{a[0].text(), a[1].integer(), {}, true};
  auto cert = make_certificate(e, r, key.get(), nullptr, key.get());
  return certificate_value(cert, key_pem(key.get()));
}
value f_gen_ca(executor& e, args a) {
  return authority(e, a, fresh_key(e));
}
value f_gen_ca_with_key(executor& e, args a) {
  return authority(e, a, given_key(a[2].text()));
}

value self_signed(executor& e, args a, key_ptr key) {
  request r{a[0].text(), a[3].integer(), alternatives(a[1], a[2]), false};
  auto cert = make_certificate(e, r, key.get(), nullptr, key.get());
  return certificate_value(cert, key_pem(key.get()));
}
value f_gen_self_signed(executor& e, args a) {
  return self_signed(e, a, fresh_key(e));
}
value f_gen_self_signed_with_key(executor& e, args a) {
  return self_signed(e, a, given_key(a[4].text()));
}

value signed_by(executor& e, args a, key_ptr key) {
  const auto& ca = *static_cast<const certificate*>(a[4].object());
  if (!pem_type(ca.cert)) throw function_error("unable to decode certificate");
  auto signer = parse_certificate(ca.cert);
  if (!signer)
    throw function_error(
        "error parsing certificate: decodedSignerCert.Bytes: x509: malformed certificate");
  auto signing_key = parse_key(ca.key);
  if (!signing_key) throw function_error("error parsing private key: " + signing_key.error().text);
  request r{a[0].text(), a[3].integer(), alternatives(a[1], a[2]), false};
  auto cert = make_certificate(e, r, key.get(), signer.get(), signing_key->get());
  return certificate_value(cert, key_pem(key.get()));
}
value f_gen_signed(executor& e, args a) {
  return signed_by(e, a, fresh_key(e));
}
value f_gen_signed_with_key(executor& e, args a) {
  return signed_by(e, a, given_key(a[5].text()));
}

value f_build_custom_cert(executor&, args a) {
  auto cert = base64_decode(a[0].text());
  if (!cert) throw function_error("unable to decode base64 certificate");
  auto key = base64_decode(a[1].text());
  if (!key) throw function_error("unable to decode base64 private key");
  if (!pem_type(*cert)) throw function_error("unable to decode certificate");
  if (!parse_certificate(*cert))
    throw function_error(
        "error parsing certificate: decodedCert.Bytes: x509: malformed certificate");
  auto parsed = parse_key(*key);
  if (!parsed) throw function_error("error parsing private key: " + parsed.error().text);
  return certificate_value(*cert, *key);
}

void cipher_key(const std::string& password, unsigned char (&key)[32]) {
  std::memset(key, 0, sizeof key);
  std::memcpy(key, password.data(), std::min<std::size_t>(password.size(), sizeof key));
}

value f_encrypt_aes(executor& e, args a) {
  const auto& text = a[1].text();
  if (text.empty()) return "";
  unsigned char key[32], iv[16];
  cipher_key(a[0].text(), key);
  e.random(iv);
  std::string out(reinterpret_cast<char*>(iv), sizeof iv);
  out.resize(sizeof iv + text.size() + 16);
  cipher_ptr c(EVP_CIPHER_CTX_new());
  int n = 0, last = 0;
  require(c && EVP_EncryptInit_ex(c.get(), EVP_aes_256_cbc(), nullptr, key, iv) == 1);
  auto* target = reinterpret_cast<unsigned char*>(out.data()) + sizeof iv;
  require(EVP_EncryptUpdate(c.get(), target, &n,
                            reinterpret_cast<const unsigned char*>(text.data()),
                            static_cast<int>(text.size())) == 1 &&
          EVP_EncryptFinal_ex(c.get(), target + n, &last) == 1);
  out.resize(sizeof iv + static_cast<std::size_t>(n + last));
  return encode_base64(out);
}

value f_decrypt_aes(executor&, args a) {
  if (a[1].text().empty()) return "";
  auto data = base64_decode(a[1].text());
  if (!data) throw function_error(data.error().text);
  auto length = static_cast<std::int64_t>(data->size());
  if (length < 16)
    throw function_error("runtime error: slice bounds out of range [:16] with capacity " +
                         std::to_string(length));
  if (length % 16 != 0) throw function_error("crypto/cipher: input not full blocks");
  unsigned char key[32];
  cipher_key(a[0].text(), key);
  std::string out(static_cast<std::size_t>(length - 16), '\0');
  if (out.empty()) throw function_error("runtime error: index out of range [-1]");
  cipher_ptr c(EVP_CIPHER_CTX_new());
  int n = 0;
  require(c &&
          EVP_DecryptInit_ex(c.get(), EVP_aes_256_cbc(), nullptr, key,
                             reinterpret_cast<const unsigned char*>(data->data())) == 1 &&
          EVP_CIPHER_CTX_set_padding(c.get(), 0) == 1 &&
          EVP_DecryptUpdate(c.get(), reinterpret_cast<unsigned char*>(out.data()), &n,
                            reinterpret_cast<const unsigned char*>(data->data()) + 16,
                            static_cast<int>(out.size())) == 1);
  auto cut = static_cast<std::int64_t>(out.size()) - static_cast<unsigned char>(out.back());
  if (cut < 0)
    throw function_error("runtime error: slice bounds out of range [:" + std::to_string(cut) + "]");
  out.resize(static_cast<std::size_t>(cut));
  return out;
}

constexpr auto s = param::string;
constexpr auto i = param::int_;
constexpr auto l = param::list;
constexpr function table[] = {
    make_function("sha1sum", {s}, f_sha1sum),
    make_function("sha256sum", {s}, f_sha256sum),
    make_function("sha512sum", {s}, f_sha512sum),
    make_function("adler32sum", {s}, f_adler32sum),
    make_function("bcrypt", {s}, f_bcrypt),
    make_function("htpasswd", {s, s}, f_htpasswd),
    make_function("randBytes", {i}, f_rand_bytes),
    make_function("derivePassword", {param::uint32, s, s, s, s}, f_derive_password),
    make_function("genPrivateKey", {s}, f_gen_private_key),
    make_function("genCA", {s, i}, f_gen_ca),
    make_function("genCAWithKey", {s, i, s}, f_gen_ca_with_key),
    make_function("genSelfSignedCert", {s, l, l, i}, f_gen_self_signed),
    make_function("genSelfSignedCertWithKey", {s, l, l, i, s}, f_gen_self_signed_with_key),
    make_function("genSignedCert", {s, l, l, i, param::certificate}, f_gen_signed),
    make_function("genSignedCertWithKey", {s, l, l, i, param::certificate, s},
                  f_gen_signed_with_key),
    make_function("buildCustomCert", {s, s}, f_build_custom_cert),
    make_function("encryptAES", {s, s}, f_encrypt_aes),
    make_function("decryptAES", {s, s}, f_decrypt_aes),
};

}  // namespace

std::span<const function> crypto_functions() {
  return table;
}

}  // namespace helm
