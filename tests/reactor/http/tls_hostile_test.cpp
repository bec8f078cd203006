// Servers that choose what a handshake costs us, or that talk without end about keys and sessions.
// OpenSSL alone makes them, because our own server would not do such things.
#include "reactor/loop.hpp"
#include "reactor/loop_slice.hpp"
#include "reactor/net/tls.hpp"
#include "reactor/net/tls_context.hpp"
#include "tests/reactor/http/http_test.hpp"
#include "tests/reactor/http/test_certificates.hpp"

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

namespace reactor::http {
namespace {

using namespace std::string_literals;

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

struct bare_identity {
  x509_ptr certificate;
  key_ptr key;
  std::string pem;
};

/// Signed by itself, for "api".
bare_identity self_signed(key_ptr key, loop& l) {
  bare_identity made;
  made.certificate.reset(X509_new());
  X509* c = made.certificate.get();
  EXPECT_EQ(X509_set_version(c, X509_VERSION_3), 1);
  EXPECT_EQ(ASN1_INTEGER_set(X509_get_serialNumber(c), 7), 1);
  const auto now = std::chrono::floor<std::chrono::seconds>(l.wall()).time_since_epoch().count();
  EXPECT_NE(ASN1_TIME_set(X509_getm_notBefore(c), now - 3600), nullptr);
  EXPECT_NE(ASN1_TIME_set(X509_getm_notAfter(c), now + 3600), nullptr);
  EXPECT_EQ(X509_set_pubkey(c, key.get()), 1);
  X509_NAME* name = X509_get_subject_name(c);
  EXPECT_EQ(X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8,
                                       reinterpret_cast<const unsigned char*>("api"), 3, -1, 0),
            1);
  EXPECT_EQ(X509_set_issuer_name(c, name), 1);
  X509V3_CTX context;
  X509V3_set_ctx(&context, c, c, nullptr, nullptr, 0);
  X509_EXTENSION* names = X509V3_EXT_conf_nid(nullptr, &context, NID_subject_alt_name, "DNS:api");
  EXPECT_EQ(X509_add_ext(c, names, -1), 1);
  X509_EXTENSION_free(names);
  EXPECT_GT(X509_sign(c, key.get(), EVP_sha256()), 0);
  const bio_ptr out(BIO_new(BIO_s_mem()));
  EXPECT_EQ(PEM_write_bio_X509(out.get(), c), 1);
  char* text = nullptr;
  const long length = BIO_get_mem_data(out.get(), &text);
  made.pem.assign(text, static_cast<std::size_t>(length));
  made.key = std::move(key);
  return made;
}

key_ptr rsa_key(unsigned bits, unsigned long exponent) {
  const std::unique_ptr<EVP_PKEY_CTX, reactor::openssl::freer<&EVP_PKEY_CTX_free>> making(
      EVP_PKEY_CTX_new_from_name(nullptr, "RSA", nullptr));
  const std::unique_ptr<BIGNUM, reactor::openssl::freer<&BN_free>> e(BN_new());
  EXPECT_EQ(BN_set_word(e.get(), exponent), 1);
  EXPECT_EQ(EVP_PKEY_keygen_init(making.get()), 1);
  EXPECT_EQ(EVP_PKEY_CTX_set_rsa_keygen_bits(making.get(), static_cast<int>(bits)), 1);
  EXPECT_EQ(EVP_PKEY_CTX_set1_rsa_keygen_pubexp(making.get(), e.get()), 1);
  EVP_PKEY* key = nullptr;
  EXPECT_EQ(EVP_PKEY_generate(making.get(), &key), 1);
  return key_ptr(key);
}

class TlsHostile : public HttpTest {
protected:
  using setting = std::function<void(SSL_CTX*)>;
  using talk = std::function<bool(SSL*)>;  // after the handshake, again until it says false

  /// What a request to such a server comes to.
  std::string ask(const bare_identity& who, setting set, talk then = {}, bool verify = true) {
    server_.reset(SSL_CTX_new(TLS_server_method()));
    EXPECT_EQ(SSL_CTX_use_certificate(server_.get(), who.certificate.get()), 1);
    EXPECT_EQ(SSL_CTX_use_PrivateKey(server_.get(), who.key.get()), 1);
    set(server_.get());
    std::string got;
    run([&]() -> awaitable<void> {
      scripted_server peer(l, {"api", 443}, {serve(then)});
      client_options o = options({true, "api", 443});
      o.response_timeout = 20ms;
      o.tls.ca_pem = verify ? who.pem : "";
      o.tls.verify = verify;
      client c(l, o);
      request r = get("/");
      auto answer = co_await c.fetch(std::move(r));
      code = answer ? error_code{} : answer.error().code;
      got = summary(answer);
      co_await c.stop();
      co_await peer.stop();
    });
    ERR_clear_error();
    return got;
  }

  script serve(talk then) {
    return [this, then](stream& s) -> awaitable<void> {
      const ssl_ptr ssl(SSL_new(server_.get()));
      BIO* in = BIO_new(BIO_s_mem());
      BIO* out = BIO_new(BIO_s_mem());
      SSL_set_bio(ssl.get(), in, out);
      SSL_set_accept_state(ssl.get());
      char bytes[16 * 1024];
      bool said = false;
      for (;;) {
        ERR_clear_error();
        const int status =
            said ? SSL_read(ssl.get(), bytes, sizeof bytes) : SSL_do_handshake(ssl.get());
        const int error = status > 0 ? SSL_ERROR_NONE : SSL_get_error(ssl.get(), status);
        bool more = false;
        if (status > 0 && said) more = then ? then(ssl.get()) : answer(ssl.get());
        const bool answered = status > 0 && std::exchange(said, said || status > 0);
        do {
          for (int n = 0; (n = BIO_read(out, bytes, sizeof bytes)) > 0;) {
            auto sent = co_await s.write_all({bytes, static_cast<std::size_t>(n)});
            if (!sent) co_return;
          }
        } while (more && (more = then(ssl.get())));
        if (answered && leaves_) co_return;
        if (status > 0) continue;
        if (error != SSL_ERROR_WANT_READ) co_return;
        auto n = co_await s.read_some(bytes);
        if (!n || *n == 0) co_return;
        EXPECT_GT(BIO_write(in, bytes, static_cast<int>(*n)), 0);
      }
    };
  }
  static bool answer(SSL* ssl) {
    const std::string_view text = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
    EXPECT_GT(SSL_write(ssl, text.data(), static_cast<int>(text.size())), 0);
    return false;
  }

  bare_identity usual() { return self_signed(key_ptr(EVP_EC_gen("P-256")), l); }
  static void only12(SSL_CTX* c) { EXPECT_EQ(SSL_CTX_set_max_proto_version(c, TLS1_2_VERSION), 1); }

  ssl_ctx_ptr server_;
  bool leaves_ = false;  // after its answer, without a goodbye
  error_code code;
};

TEST_F(TlsHostile, ServersThatGoReachesAreReached) {
  EXPECT_EQ(ask(usual(), [](SSL_CTX*) {}), "200 hi");
  EXPECT_EQ(ask(usual(), only12), "200 hi");
  const bare_identity rsa = self_signed(rsa_key(2048, 65537), l);
  EXPECT_EQ(ask(rsa, [](SSL_CTX*) {}), "200 hi");
  for (const char* suite : {"ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-RSA-AES256-GCM-SHA384",
                            "ECDHE-RSA-CHACHA20-POLY1305"})
    EXPECT_EQ(ask(rsa,
                  [&](SSL_CTX* c) {
                    only12(c);
                    EXPECT_EQ(SSL_CTX_set_cipher_list(c, suite), 1);
                  }),
              "200 hi");
  EXPECT_EQ(ask(self_signed(key_ptr(EVP_EC_gen("P-521")), l), only12), "200 hi");
}

TEST_F(TlsHostile, AServerWithFiniteFieldsOnlyIsRefusedWithASentence) {
  const bare_identity rsa = self_signed(rsa_key(2048, 65537), l);
  for (const char* suites :
       {"DHE-RSA-AES128-GCM-SHA256", "AES128-GCM-SHA256", "ECDHE-RSA-AES128-SHA256"}) {
    EXPECT_THAT(ask(rsa,
                    [&](SSL_CTX* c) {
                      only12(c);
                      EXPECT_EQ(SSL_CTX_set_cipher_list(c, suites), 1);
                      EXPECT_EQ(SSL_CTX_set_dh_auto(c, 1), 1);
                    }),
                HasSubstr("TLS 1.2 with ECDHE and an AEAD cipher"))
        << suites;
    EXPECT_EQ(code, errc::refused);
  }
  // The same choice exists in TLS 1.3, where the server asks for another group.
  EXPECT_THAT(ask(rsa, [](SSL_CTX* c) { EXPECT_EQ(SSL_CTX_set1_groups_list(c, "ffdhe8192"), 1); }),
              HasSubstr("TLS 1.2 with ECDHE and an AEAD cipher"));
  EXPECT_EQ(code, errc::refused);
}

TEST_F(TlsHostile, AnOldVersionIsRefusedWithASentence) {
  EXPECT_THAT(ask(usual(),
                  [](SSL_CTX* c) {
                    EXPECT_EQ(SSL_CTX_set_min_proto_version(c, TLS1_VERSION), 1);
                    EXPECT_EQ(SSL_CTX_set_max_proto_version(c, TLS1_1_VERSION), 1);
                    EXPECT_EQ(SSL_CTX_set_cipher_list(c, "ALL:@SECLEVEL=0"), 1);
                  }),
              testing::AnyOf(HasSubstr("protocol version"), HasSubstr("no common TLS version")));
  EXPECT_EQ(code, errc::refused);
}

TEST_F(TlsHostile, CertificatesWhoseKeysAreCostlyAreRefusedEvenUnverified) {
  const bare_identity exponent = self_signed(rsa_key(2048, 4'294'967'311UL), l);
  const bare_identity curve = self_signed(key_ptr(EVP_EC_gen("secp256k1")), l);
  EXPECT_THAT(
      ask(exponent, [](SSL_CTX*) {}, {}, false), HasSubstr("an exponent of more than 31 bits"));
  EXPECT_EQ(code, errc::unverified);
  EXPECT_THAT(ask(exponent, [](SSL_CTX*) {}), HasSubstr("an exponent of more than 31 bits"));
  EXPECT_THAT(ask(curve, [](SSL_CTX*) {}), HasSubstr("on a curve other than"));
  EXPECT_EQ(code, errc::malformed);  // already the trusted one is not taken
}

TEST_F(TlsHostile, SessionsWithoutEndEndTheConnection) {
  EXPECT_THAT(ask(
                  usual(), [](SSL_CTX*) {},
                  [](SSL* ssl) {
                    for (int i = 0; i < 20; ++i) EXPECT_EQ(SSL_new_session_ticket(ssl), 1);
                    EXPECT_EQ(SSL_do_handshake(ssl), 1);
                    return true;
                  }),
              HasSubstr("TLS sessions without end"));
}

TEST_F(TlsHostile, NewKeysWithoutEndDoNotKeepDeadlinesFromPassing) {
  net().faults("api").latency = 1ms;
  const std::string got = ask(
      usual(), [](SSL_CTX*) {},
      [](SSL* ssl) {
        for (int i = 0; i < 100; ++i) {
          EXPECT_EQ(SSL_key_update(ssl, SSL_KEY_UPDATE_NOT_REQUESTED), 1);
          EXPECT_EQ(SSL_do_handshake(ssl), 1);
        }
        return true;
      });
  EXPECT_THAT(got, HasSubstr("timed out"));
}

TEST_F(TlsHostile, ACutIsACutWhereNobodyVerifies) {
  const std::string got = ask(
      usual(), [](SSL_CTX*) {},
      [](SSL* ssl) {
        (void)answer(ssl);
        return false;
      },
      false);
  EXPECT_EQ(got, "200 hi");
  // The server goes away in the middle of its answer.
  const auto half = [](SSL* ssl) {
    const std::string_view text = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi";
    EXPECT_GT(SSL_write(ssl, text.data(), static_cast<int>(text.size())), 0);
    return false;
  };
  leaves_ = true;
  EXPECT_THAT(ask(
                  usual(), [](SSL_CTX*) {}, half, false),
              AllOf(testing::StartsWith("! "), Not(HasSubstr("trusted")), HasSubstr("ended")));
  EXPECT_EQ(code, errc::closed);
}

TEST_F(TlsHostile, ANameThatNoCertificateCanBeForIsNotAsked) {
  test_authority ca(l);
  for (const std::string& name : {"other\0.example"s, std::string(300, 'n')}) {
    run([&]() -> awaitable<void> {
      server_options so;
      so.at = {"api", 443};
      so.tls = std::make_unique<tls_server_settings>(ca.server({"api"}));
      server s(l, std::move(so), [](request, responder& to) -> awaitable<void> {
        response out;
        (void)co_await to.send(std::move(out));
      });
      EXPECT_TRUE(s.start().has_value());
      client_options o = options({true, "api", 443});
      o.tls = ca.client();
      o.tls.server_name = name;
      client c(l, o);
      request r = get("/");
      auto got = co_await c.fetch(std::move(r));
      EXPECT_FALSE(got.has_value());
      co_await c.stop();
      co_await s.stop();
    });
  }
}

TEST(SystemTrust, IsLookedForWhereEachDistributionKeepsIt) {
  const auto found = [](const std::set<std::string>& files) {
    const char* file =
        reactor::system_bundle([&](const char* name) { return files.contains(name); });
    return std::string(file ? file : "none");
  };
  EXPECT_EQ(found({"/etc/ssl/certs/ca-certificates.crt"}), "/etc/ssl/certs/ca-certificates.crt");
  EXPECT_EQ(found({"/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"}),
            "/etc/pki/tls/certs/ca-bundle.crt");
  EXPECT_EQ(found({"/etc/ssl/cert.pem"}), "/etc/ssl/cert.pem");
  EXPECT_EQ(found({}), "none");
}

}  // namespace
}  // namespace reactor::http
