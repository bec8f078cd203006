#include "bench/hostile/tls_peer.hpp"

#include "bench/hostile/server_host.hpp"
#include "reactor/loop.hpp"

#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>

#include <array>
#include <stdexcept>

namespace bench::hostile {
namespace {

void must(bool done, const char* what) {
  if (!done) throw std::runtime_error(std::string(what) + ": " + reactor::drain_openssl_errors());
}

void extend(X509* c, X509* issuer, int id, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, c, nullptr, nullptr, 0);
  X509_EXTENSION* made = X509V3_EXT_conf_nid(nullptr, &context, id, value.c_str());
  must(made != nullptr, "certificate extension");
  X509_add_ext(c, made, -1);
  X509_EXTENSION_free(made);
}

reactor::x509_ptr make_certificate(reactor::loop& l, const certificate_plan& plan, EVP_PKEY* key,
                                   X509* issuer, EVP_PKEY* issuer_key) {
  reactor::x509_ptr made(X509_new());
  X509* const c = made.get();
  std::array<unsigned char, 16> serial{};
  RAND_bytes(serial.data(), serial.size());
  serial[0] = 0x40;
  BIGNUM* number = BN_bin2bn(serial.data(), serial.size(), nullptr);
  BN_to_ASN1_INTEGER(number, X509_get_serialNumber(c));
  BN_free(number);
  X509_set_version(c, X509_VERSION_3);
  const std::time_t now =
      std::chrono::system_clock::to_time_t(std::chrono::floor<std::chrono::seconds>(l.wall()));
  constexpr std::int64_t day = 86'400;
  ASN1_TIME_set(X509_getm_notBefore(c), now + plan.valid_from_day * day);
  ASN1_TIME_set(X509_getm_notAfter(c), now + plan.valid_until_day * day);
  X509_set_pubkey(c, key);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(c), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(plan.subject.data()),
                             static_cast<int>(plan.subject.size()), -1, 0);
  X509* const signer = issuer ? issuer : c;
  X509_set_issuer_name(c, X509_get_subject_name(signer));
  extend(c, signer, NID_basic_constraints,
         plan.authority ? "critical,CA:TRUE" : "critical,CA:FALSE");
  GENERAL_NAMES* names = GENERAL_NAMES_new();
  for (const std::string& name : plan.names) {
    const bool address = name.find_first_not_of("0123456789.") == name.npos;
    GENERAL_NAME* one =
        a2i_GENERAL_NAME(nullptr, nullptr, nullptr, address ? GEN_IPADD : GEN_DNS, name.c_str(), 0);
    if (one) sk_GENERAL_NAME_push(names, one);
  }
  if (sk_GENERAL_NAME_num(names) > 0) X509_add1_ext_i2d(c, NID_subject_alt_name, names, 0, 0);
  GENERAL_NAMES_free(names);
  must(X509_sign(c, issuer_key ? issuer_key : key, EVP_sha256()) != 0, "sign a certificate");
  return made;
}

}  // namespace

chain make_chain(reactor::loop& l, const certificate_plan& leaf, std::size_t between, signed_by by,
                 const std::string& curve_between) {
  chain made;
  const reactor::certified_key& root = authority();
  const reactor::bio_ptr certificate_text = reactor::pem_reader(root.certificate_pem);
  const reactor::bio_ptr key_text = reactor::pem_reader(root.key_pem);
  reactor::x509_ptr issuer(PEM_read_bio_X509(certificate_text.get(), nullptr, nullptr, nullptr));
  reactor::key_ptr issuer_key(PEM_read_bio_PrivateKey(key_text.get(), nullptr, nullptr, nullptr));
  must(issuer && issuer_key, "read the authority");
  for (std::size_t i = 0; i < between; ++i) {
    certificate_plan plan;
    plan.subject = "between " + std::to_string(i);
    plan.names.clear();
    plan.authority = true;
    reactor::key_ptr key(EVP_EC_gen(curve_between.c_str()));
    must(key != nullptr, "make a key");
    reactor::x509_ptr next = make_certificate(l, plan, key.get(), issuer.get(), issuer_key.get());
    X509_up_ref(next.get());
    made.certificates.insert(made.certificates.begin(), reactor::x509_ptr(next.get()));
    issuer = std::move(next);
    issuer_key = std::move(key);
  }
  made.key.reset(EVP_EC_gen(leaf.curve.c_str()));
  must(made.key != nullptr, "make a key");
  const bool alone = by == signed_by::itself;
  made.certificates.insert(made.certificates.begin(),
                           make_certificate(l, leaf, made.key.get(), alone ? nullptr : issuer.get(),
                                            alone ? nullptr : issuer_key.get()));
  return made;
}

void use_chain(SSL_CTX* ctx, const chain& c) {
  SSL_CTX_clear_extra_chain_certs(ctx);
  must(SSL_CTX_use_certificate(ctx, c.certificates.front().get()) == 1, "use a certificate");
  SSL_CTX_clear_chain_certs(ctx);
  for (std::size_t i = 1; i < c.certificates.size(); ++i)
    SSL_CTX_add1_chain_cert(ctx, c.certificates[i].get());
  must(SSL_CTX_use_PrivateKey(ctx, c.key.get()) == 1, "use a key");
}

tls_peer::tls_peer(visit& v, const std::function<void(SSL_CTX*)>& configure)
    : visit_(v), ctx_(SSL_CTX_new(TLS_server_method())) {
  must(ctx_ != nullptr, "OpenSSL");
  SSL_CTX* const ctx = ctx_.get();
  SSL_CTX_set_security_level(ctx, 0);
  SSL_CTX_set_min_proto_version(ctx, TLS1_VERSION);
  const reactor::bio_ptr certificate = reactor::pem_reader(good_certificate().certificate_pem);
  const reactor::bio_ptr key = reactor::pem_reader(good_certificate().key_pem);
  const reactor::x509_ptr x(PEM_read_bio_X509(certificate.get(), nullptr, nullptr, nullptr));
  const reactor::key_ptr k(PEM_read_bio_PrivateKey(key.get(), nullptr, nullptr, nullptr));
  SSL_CTX_use_certificate(ctx, x.get());
  SSL_CTX_use_PrivateKey(ctx, k.get());
  if (configure) configure(ctx);
  ssl_.reset(SSL_new(ctx));
  must(ssl_ != nullptr, "OpenSSL");
  SSL_set_bio(ssl_.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
  SSL_set_accept_state(ssl_.get());
}

awaitable<bool> tls_peer::flush() {
  std::string out;
  std::array<char, 16'384> some;
  for (;;) {
    const int n = BIO_read(SSL_get_wbio(ssl_.get()), some.data(), some.size());
    if (n <= 0) break;
    out.append(some.data(), static_cast<std::size_t>(n));
  }
  if (out.empty()) co_return true;
  co_return co_await visit_.say(std::move(out));
}

awaitable<bool> tls_peer::feed() {
  std::array<char, 16'384> some;
  const auto n = co_await visit_.to.read_some(some);
  if (!n || *n == 0) co_return false;
  BIO_write(SSL_get_rbio(ssl_.get()), some.data(), static_cast<int>(*n));
  co_return true;
}

awaitable<bool> tls_peer::shake_hands() {
  for (;;) {
    ERR_clear_error();
    const int status = SSL_do_handshake(ssl_.get());
    const int error = status == 1 ? SSL_ERROR_NONE : SSL_get_error(ssl_.get(), status);
    const bool there = co_await flush();
    if (!there) co_return false;
    if (error == SSL_ERROR_NONE) co_return true;
    if (error != SSL_ERROR_WANT_READ) co_return false;
    const bool more = co_await feed();
    if (!more) co_return false;
  }
}

awaitable<bool> tls_peer::say(std::string bytes) {
  std::size_t taken = 0;
  if (SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &taken) != 1) co_return false;
  co_return co_await flush();
}

awaitable<std::string> tls_peer::read_head() {
  std::string head;
  std::array<char, 4'096> some;
  while (head.find("\r\n\r\n") == head.npos) {
    std::size_t n = 0;
    ERR_clear_error();
    if (SSL_read_ex(ssl_.get(), some.data(), some.size(), &n) == 1) {
      head.append(some.data(), n);
      continue;
    }
    const bool answered = co_await flush();
    if (!answered) co_return std::string();
    const bool more = co_await feed();
    if (!more) co_return std::string();
  }
  co_return head;
}

}  // namespace bench::hostile
