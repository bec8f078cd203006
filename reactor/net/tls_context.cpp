#include "reactor/net/tls_context.hpp"

#include "reactor/net/tls.hpp"
#include "reactor/per_thread.hpp"
#include "reactor/plain/key_memory.hpp"

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <map>
#include <vector>

namespace reactor {
namespace {

/// The protocol offered and accepted by ALPN: its length, then its name (RFC 7301).
constexpr unsigned char alpn_http11[] = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};

int choose_protocol(SSL*, const unsigned char** out, unsigned char* length,
                    const unsigned char* offered, unsigned int offered_length, void*) {
  unsigned char* chosen = nullptr;
  const int found = SSL_select_next_proto(&chosen, length, alpn_http11, sizeof alpn_http11, offered,
                                          offered_length);
  *out = chosen;
  return found == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

// What Go offers and accepts by default (crypto/tls, defaults.go). A peer chooses among what we
// offer, and with it what a handshake costs us: OpenSSL's own list lets it choose a finite-field
// group of any size, a third of a second each time.
constexpr const char* tls12_ciphers =
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:"
    "ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305";
constexpr const char* groups = "X25519:P-256:P-384:P-521";
constexpr const char* signature_algorithms =
    "rsa_pss_rsae_sha256:ECDSA+SHA256:ed25519:rsa_pss_rsae_sha384:rsa_pss_rsae_sha512:RSA+SHA256:"
    "RSA+SHA384:RSA+SHA512:ECDSA+SHA384:ECDSA+SHA512";

// The same for the keys of certificates; Go refuses larger RSA keys and exponents (crypto/tls,
// crypto/rsa).
constexpr int most_rsa_bits = 8192, most_exponent_bits = 31;
/// To sign costs thirty times what checking does, and each handshake signs: 6 ms with that many
/// bits.
constexpr int most_own_rsa_bits = 4096;
constexpr int most_intermediates = 8;
// Kubernetes' have 2 to 5 KB. Each certificate costs OpenSSL a third of a millisecond before
// anybody is asked.
constexpr long most_chain_bytes = 16 * 1024;

// The usual trust store of a whole system has 140 certificates in 220 KB.
constexpr std::size_t most_pem_bytes = 512 * 1024;
constexpr std::size_t most_certificates = 500;

fault unusable(std::string_view what) {
  return make_fault(errc::malformed, "set up TLS",
                    std::string(what) + ": " + drain_openssl_errors());
}

result<std::vector<x509_ptr>> read_certificates(std::string_view pem, std::string_view what) {
  std::vector<x509_ptr> all;
  const auto too_much = [&] {
    return make_fault(errc::malformed, "set up TLS",
                      std::string(what) + " has more than " + std::to_string(most_certificates) +
                          " certificates or " + std::to_string(most_pem_bytes) + " bytes");
  };
  if (pem.size() > most_pem_bytes) return too_much();
  ERR_clear_error();
  const bio_ptr in = pem_reader(pem);
  while (X509* found = PEM_read_bio_X509(in.get(), nullptr, nullptr, nullptr)) {
    all.emplace_back(found);
    if (all.size() > most_certificates) return too_much();
  }
  const unsigned long last = ERR_peek_last_error();
  const bool at_end =
      ERR_GET_LIB(last) == ERR_LIB_PEM && ERR_GET_REASON(last) == PEM_R_NO_START_LINE;
  if (!at_end) return unusable(what);
  ERR_clear_error();
  if (all.empty())
    return make_fault(errc::malformed, "set up TLS", std::string(what) + " holds no certificate");
  return all;
}

int no_passphrase(char*, int, int, void*) {
  return -1;  // a person is not there to be asked
}

result<tls_identity> read_identity(std::string_view certificate_pem, std::string_view key_pem,
                                   std::string_view whose) {
  auto chain = read_certificates(certificate_pem, std::string(whose) + " certificate");
  if (!chain) return chain.error();
  if (key_pem.size() > most_pem_bytes)
    return make_fault(errc::malformed, "set up TLS",
                      "the " + std::string(whose) + " certificate's private key is too long");
  const key_memory_is_wiped afterwards;
  const bio_ptr in = pem_reader(key_pem);
  key_ptr key(PEM_read_bio_PrivateKey(in.get(), nullptr, &no_passphrase, nullptr));
  if (!key) return unusable("the " + std::string(whose) + " certificate's private key");
  auto costly = too_costly(key.get());
  if (!costly && EVP_PKEY_get_base_id(key.get()) == EVP_PKEY_RSA &&
      EVP_PKEY_get_bits(key.get()) > most_own_rsa_bits)
    costly = "is an RSA key with more than " + std::to_string(most_own_rsa_bits) + " bits";
  if (costly)
    return make_fault(errc::malformed, "set up TLS",
                      "the " + std::string(whose) + " certificate's private key " + *costly +
                          ": every handshake would hold up everything else");
  if (X509_check_private_key(chain->front().get(), key.get()) != 1) {
    ERR_clear_error();
    return make_fault(
        errc::malformed, "set up TLS",
        "the " + std::string(whose) + " certificate and its private key do not match");
  }
  return tls_identity{std::move(*chain), std::move(key)};
}

result<void> use_identity(SSL_CTX* ctx, const tls_identity& identity, std::string_view whose) {
  const auto& chain = identity.certificates;
  if (SSL_CTX_use_certificate(ctx, chain.front().get()) != 1)
    return unusable(std::string(whose) + " certificate");
  for (std::size_t i = 1; i < chain.size(); ++i)
    if (SSL_CTX_add1_chain_cert(ctx, chain[i].get()) != 1)
      return unusable(std::string(whose) + " certificate chain");
  if (SSL_CTX_use_PrivateKey(ctx, identity.key.get()) != 1)
    return unusable("the " + std::string(whose) + " certificate's private key");
  return {};
}

result<void> trust(X509_STORE* store, std::string_view ca_pem, std::string_view what) {
  auto roots = read_certificates(ca_pem, what);
  if (!roots) return roots.error();
  for (const x509_ptr& root : *roots) {
    if (const auto costly = too_costly(X509_get0_pubkey(root.get())))
      return make_fault(
          errc::malformed, "set up TLS",
          std::string(what) + ": the key of \"" + subject_name(root.get()) + "\" " + *costly);
    if (X509_STORE_add_cert(store, root.get()) != 1) return unusable(what);
  }
  return {};
}

result<ssl_ctx_ptr> new_context(const SSL_METHOD* method) {
  ERR_clear_error();
  ssl_ctx_ptr ctx(SSL_CTX_new(method));
  if (!ctx || SSL_CTX_set_min_proto_version(ctx.get(), TLS1_2_VERSION) != 1 ||
      SSL_CTX_set_cipher_list(ctx.get(), tls12_ciphers) != 1 ||
      SSL_CTX_set1_groups_list(ctx.get(), groups) != 1 ||
      SSL_CTX_set1_sigalgs_list(ctx.get(), signature_algorithms) != 1)
    return unusable("OpenSSL");
  SSL_CTX_set_max_cert_list(ctx.get(), most_chain_bytes);
  SSL_CTX_set_cert_verify_callback(
      ctx.get(), [](X509_STORE_CTX* chain, void*) { return tls_certificates_shown(chain); },
      nullptr);
  // RELEASE_BUFFERS lets an idle stream give back its record buffers, 17 KB each way.
  SSL_CTX_set_mode(ctx.get(), SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_options(ctx.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_session_cache_mode(ctx.get(), SSL_SESS_CACHE_OFF);
  // Every certificate of a CA file is trusted by itself, an intermediate too, as in Go's pools.
  X509_VERIFY_PARAM* checks = SSL_CTX_get0_param(ctx.get());
  if (X509_VERIFY_PARAM_set_flags(checks, X509_V_FLAG_PARTIAL_CHAIN) != 1)
    return unusable("OpenSSL");
  X509_VERIFY_PARAM_set_depth(checks, most_intermediates);
  return ctx;
}

/// What all clients of the thread have in common.
result<ssl_ctx_ptr> client_ctx() {
  struct clients {
    ssl_ctx_ptr ctx;
  };
  ssl_ctx_ptr& shared = of_this_thread<clients>().ctx;
  if (!shared) {
    auto made = new_context(TLS_client_method());
    if (!made) return made.error();
    if (SSL_CTX_set_alpn_protos(made->get(), alpn_http11, sizeof alpn_http11) != 0)
      return unusable("OpenSSL");
    SSL_CTX_set_session_cache_mode(made->get(), SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(made->get(), [](SSL* ssl, SSL_SESSION* session) {
      tls_session_offered(ssl, session);
      return 0;  // it stays OpenSSL's
    });
    shared = std::move(*made);
  }
  require(SSL_CTX_up_ref(shared.get()) == 1);
  return ssl_ctx_ptr(shared.get());
}

/// Settings that live streams use. One per thread, like everything that streams share.
struct context_table {
  std::map<std::string, std::weak_ptr<tls_context>> all;
  std::size_t sweep_at = 16;  // with so many entries the expired ones are dropped

  /// Each connection asks here, so entries are looked through only when they have doubled.
  void sweep() {
    if (all.size() < sweep_at) return;
    std::erase_if(all, [](const auto& entry) { return entry.second.expired(); });
    sweep_at = std::max<std::size_t>(16, 2 * all.size());
  }
};
context_table& contexts() {
  return of_this_thread<context_table>();
}

/// Stands for the texts, so that the table holds no second copy of private keys.
std::string digest_of(std::initializer_list<std::string_view> texts) {
  const std::unique_ptr<EVP_MD_CTX, openssl::freer<&EVP_MD_CTX_free>> digest(EVP_MD_CTX_new());
  require(digest && EVP_DigestInit_ex(digest.get(), EVP_sha256(), nullptr) == 1);
  for (std::string_view text : texts) {
    const std::size_t length = text.size();
    require(EVP_DigestUpdate(digest.get(), &length, sizeof length) == 1);
    require(EVP_DigestUpdate(digest.get(), text.data(), text.size()) == 1);
  }
  std::string out(EVP_MAX_MD_SIZE, '\0');
  unsigned int length = 0;
  require(EVP_DigestFinal_ex(digest.get(), reinterpret_cast<unsigned char*>(out.data()), &length) ==
          1);
  out.resize(length);
  return out;
}

/// `make()` gives a result<std::shared_ptr<tls_context>>.
template <class Make>
result<std::shared_ptr<tls_context>> find_or_make(std::initializer_list<std::string_view> texts,
                                                  Make make) {
  std::string key = digest_of(texts);
  context_table& all = contexts();
  all.sweep();
  if (const auto found = all.all.find(key); found != all.all.end())
    if (auto used = found->second.lock()) return used;
  result<std::shared_ptr<tls_context>> made = make();
  if (made) all.all.insert_or_assign(std::move(key), *made);
  return made;
}

std::string text_of(X509_NAME* name) {
  char text[256];
  const char* written = X509_NAME_oneline(name, text, sizeof text);
  return written ? written : "an unreadable name";
}

std::string text_of(const ASN1_TIME* t) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(t, &parts) != 1) return "an unreadable time";
  return format_rfc3339(wall_time(std::chrono::seconds(timegm(&parts))));
}

/// "a.example, b.example, 10.0.0.1"
std::string names_of(X509* certificate) {
  std::string all;
  auto* names = static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  constexpr int most = 8;  // enough for a person to see the mistake
  for (int i = 0; names && i < sk_GENERAL_NAME_num(names); ++i) {
    if (i == most) {
      all += " …";
      break;
    }
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names, i);
    std::string text;
    if (name->type == GEN_DNS) {
      text.assign(reinterpret_cast<const char*>(ASN1_STRING_get0_data(name->d.dNSName)),
                  static_cast<std::size_t>(ASN1_STRING_length(name->d.dNSName)));
    } else if (name->type == GEN_IPADD) {
      const unsigned char* bytes = ASN1_STRING_get0_data(name->d.iPAddress);
      const int length = ASN1_STRING_length(name->d.iPAddress);
      for (int b = 0; b < length; ++b) {
        char part[8];
        if (length == 4) {
          std::snprintf(part, sizeof part, b ? ".%d" : "%d", bytes[b]);
        } else {
          std::snprintf(part, sizeof part, b && b % 2 == 0 ? ":%02x" : "%02x", bytes[b]);
        }
        text += part;
      }
    } else {
      continue;
    }
    if (!all.empty()) all += ", ";
    all += text;
  }
  GENERAL_NAMES_free(names);
  return all;
}

}  // namespace

bio_ptr pem_reader(std::string_view pem) {
  require(pem.size() <= std::size_t{std::numeric_limits<int>::max()});
  bio_ptr in(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  require(in != nullptr);
  return in;
}

std::string drain_openssl_errors() {
  const unsigned long last = ERR_peek_last_error();
  ERR_clear_error();
  if (last == 0) return "no reason given";
  const char* reason = ERR_reason_error_string(last);
  return reason ? reason : "error " + std::to_string(last);
}

std::string subject_name(X509* certificate) {
  X509_NAME* subject = X509_get_subject_name(certificate);
  char text[256];
  // By its length: a zero byte inside would otherwise hide what follows it.
  const int length = X509_NAME_get_text_by_NID(subject, NID_commonName, text, sizeof text);
  if (length > 0) return std::string(text, static_cast<std::size_t>(length));
  return text_of(subject);
}

std::optional<std::string> too_costly(const EVP_PKEY* key) {
  switch (key ? EVP_PKEY_get_base_id(key) : EVP_PKEY_NONE) {
    case EVP_PKEY_ED25519: return std::nullopt;
    case EVP_PKEY_RSA: {
      if (EVP_PKEY_get_bits(key) > most_rsa_bits)
        return "is an RSA key with more than " + std::to_string(most_rsa_bits) + " bits";
      BIGNUM* exponent = nullptr;
      const bool known = EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_RSA_E, &exponent) == 1;
      const bool small = known && BN_num_bits(exponent) <= most_exponent_bits;
      BN_free(exponent);
      if (!small) return "is an RSA key with an exponent of more than 31 bits";
      return std::nullopt;
    }
    case EVP_PKEY_EC: {
      char curve[64];
      const bool named = EVP_PKEY_get_group_name(key, curve, sizeof curve, nullptr) == 1;
      const std::array<std::string_view, 4> usual = {"secp224r1", "prime256v1", "secp384r1",
                                                     "secp521r1"};
      if (named && std::ranges::find(usual, std::string_view(curve)) != usual.end())
        return std::nullopt;
      return "is on a curve other than P-224, P-256, P-384 and P-521";
    }
    default: return "is none of RSA, ECDSA and Ed25519";
  }
}

std::string verification_sentence(int why, X509* certificate, std::string_view wanted_name) {
  const std::string who =
      certificate ? "the certificate \"" + subject_name(certificate) + "\"" : "the certificate";
  switch (why) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return who + " expired at " + text_of(X509_get0_notAfter(certificate));
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return who + " is not valid before " + text_of(X509_get0_notBefore(certificate));
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      return who + " is signed by an authority that is not trusted (" +
             text_of(X509_get_issuer_name(certificate)) + ")";
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH: {
      const std::string names = names_of(certificate);
      return who + " is for " + (names.empty() ? "no name at all" : names) + ", not for " +
             std::string(wanted_name);
    }
    default: return who + " is not accepted: " + X509_verify_cert_error_string(why);
  }
}

namespace {

x509_store_ptr& kept_system_trust() {
  struct trust {
    x509_store_ptr kept;
  };
  return of_this_thread<trust>().kept;
}

}  // namespace

const char* system_bundle(const std::function<bool(const char*)>& is_there) {
  for (const char* file : {"/etc/ssl/certs/ca-certificates.crt",  // Debian, Ubuntu
                           "/etc/pki/tls/certs/ca-bundle.crt",    // Fedora
                           "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
                           "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"})
    if (is_there(file)) return file;
  return nullptr;
}

x509_store_ptr read_system_trust() {
  x509_store_ptr read(X509_STORE_new());
  if (!read || X509_STORE_set_default_paths(read.get()) != 1) return nullptr;
  const auto is_there = [](const char* file) { return ::access(file, R_OK) == 0; };
  const bool has_own = std::getenv(X509_get_default_cert_file_env()) ||
                       std::getenv(X509_get_default_cert_dir_env()) ||
                       is_there(X509_get_default_cert_file()) ||
                       is_there(X509_get_default_cert_dir());
  const char* const bundle = has_own ? nullptr : system_bundle(is_there);
  // What OpenSSL cannot read is left out, as it does with its own files.
  if (bundle && X509_STORE_load_file(read.get(), bundle) != 1) ERR_clear_error();
  return read;
}

X509_STORE* system_trust() {
  if (!has_system_trust()) keep_system_trust(read_system_trust());
  return kept_system_trust().get();
}

bool has_system_trust() noexcept {
  return kept_system_trust() != nullptr;
}

void keep_system_trust(x509_store_ptr read) {
  if (!has_system_trust()) kept_system_trust() = std::move(read);
}

ssl_ptr tls_context::connection() const {
  ssl_ptr ssl = with_identity();
  if (!ssl) return nullptr;
  X509_STORE* trusted = trusts_system_ ? system_trust() : trusted_.get();
  if (trusts_system_ && !trusted) return nullptr;
  if (trusted && SSL_set1_verify_cert_store(ssl.get(), trusted) != 1) return nullptr;
  return ssl;
}

ssl_ptr tls_context::with_identity() const {
  ssl_ptr ssl(SSL_new(ctx_.get()));
  if (!ssl) return nullptr;
  const auto& chain = identity_.certificates;
  if (chain.empty()) return ssl;
  if (SSL_use_certificate(ssl.get(), chain.front().get()) != 1) return nullptr;
  for (std::size_t i = 1; i < chain.size(); ++i)
    if (SSL_add1_chain_cert(ssl.get(), chain[i].get()) != 1) return nullptr;
  if (SSL_use_PrivateKey(ssl.get(), identity_.key.get()) != 1) return nullptr;
  return ssl;
}

result<std::shared_ptr<tls_context>> tls_client_context(const tls_settings& s) {
  const auto make = [&]() -> result<std::shared_ptr<tls_context>> {
    auto ctx = client_ctx();
    if (!ctx) return ctx.error();
    x509_store_ptr trusted;  // none where the system's are trusted
    if (!s.ca_pem.empty() || !s.verify) {
      trusted.reset(X509_STORE_new());
      if (!trusted) return unusable("OpenSSL");
    }
    if (!s.ca_pem.empty())
      if (auto done = trust(trusted.get(), s.ca_pem, "CA"); !done) return done.error();
    tls_identity identity;
    if (!s.certificate_pem.empty() || !s.key_pem.empty()) {
      auto read = read_identity(s.certificate_pem, s.key_pem.reveal(), "client");
      if (!read) return read.error();
      identity = std::move(*read);
    }
    auto made = std::make_shared<tls_context>(std::move(*ctx), s.verify, std::move(trusted),
                                              std::move(identity));
    if (!made->with_identity()) return unusable("client certificate");
    return made;
  };
  return find_or_make(
      {"client", s.verify ? "verify" : "", s.ca_pem, s.certificate_pem, s.key_pem.reveal()}, make);
}

result<std::shared_ptr<tls_context>> tls_server_context(const tls_server_settings& s) {
  const auto make = [&]() -> result<std::shared_ptr<tls_context>> {
    const bool verify = !s.client_ca_pem.empty();
    auto ctx = new_context(TLS_server_method());
    if (!ctx) return ctx.error();
    SSL_CTX_set_alpn_select_cb(ctx->get(), &choose_protocol, nullptr);
    auto identity = read_identity(s.certificate_pem, s.key_pem, "server");
    if (!identity) return identity.error();
    if (auto used = use_identity(ctx->get(), *identity, "server"); !used) return used.error();
    if (verify) {
      auto trusted = trust(SSL_CTX_get_cert_store(ctx->get()), s.client_ca_pem, "client CA");
      if (!trusted) return trusted.error();
      // A resumed session would bring its client's certificate along without looking at it again.
      SSL_CTX_set_options(ctx->get(), SSL_OP_NO_TICKET);
    }
    if (SSL_CTX_set_num_tickets(ctx->get(), verify ? 0 : 1) != 1) return unusable("OpenSSL");
    return std::make_shared<tls_context>(std::move(*ctx), verify);
  };
  return find_or_make({"server", s.certificate_pem, s.key_pem, s.client_ca_pem}, make);
}

}  // namespace reactor
