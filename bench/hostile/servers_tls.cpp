// Handshakes that do not end, certificates that should not be believed, and records that say
// nothing.
#include "bench/hostile/server_host.hpp"
#include "bench/hostile/servers.hpp"
#include "bench/hostile/tls_peer.hpp"
#include "reactor/loop.hpp"

#include <openssl/core_names.h>
#include <openssl/param_build.h>

#include <array>
#include <memory>

namespace bench::hostile {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;

/// A record as it stands on the wire.
std::string record(char type, std::string_view body, std::string_view version = "\x03\x03") {
  std::string made(1, type);
  made += version;
  made += static_cast<char>(body.size() >> 8);
  made += static_cast<char>(body.size() & 0xff);
  return made + std::string(body);
}
constexpr char change_cipher = 20, alert = 21, handshake = 22, data = 23;

/// Shakes hands with these settings and serves one request; what comes then is `then`'s.
using after_request = std::function<awaitable<void>(visit& v, tls_peer& peer)>;
script peer_with(std::function<void(reactor::loop&, SSL_CTX*)> configure, after_request then = {}) {
  return [configure, then](visit& v) -> awaitable<void> {
    const std::function<void(SSL_CTX*)> set = [&](SSL_CTX* ctx) {
      if (configure) configure(v.loop, ctx);
    };
    tls_peer peer(v, set);
    const bool agreed = co_await peer.shake_hands();
    if (!agreed) co_return;
    for (;;) {
      const std::string head = co_await peer.read_head();
      if (head.empty()) co_return;
      if (then) {
        co_await then(v, peer);
        co_return;
      }
      const auto space = head.find(' ');
      const std::string target = head.substr(space + 1, head.find(' ', space + 1) - space - 1);
      std::string good =
          good_answer(head.substr(0, space), target, "00000000-0000-4000-a000-0000000000bb");
      if (good.empty()) good = chunked();
      const bool there = co_await peer.say(good);
      if (!there) co_return;
    }
  };
}

script with_chain(certificate_plan leaf, std::size_t between = 0,
                  signed_by by = signed_by::authority, std::string curve = "P-256") {
  auto made = std::make_shared<chain>();  // once: keys take time
  return peer_with([=](reactor::loop& l, SSL_CTX* ctx) {
    if (made->certificates.empty()) *made = make_chain(l, leaf, between, by, curve);
    use_chain(ctx, *made);
  });
}

script only_version(int version) {
  return peer_with([version](reactor::loop&, SSL_CTX* ctx) {
    SSL_CTX_set_min_proto_version(ctx, version);
    SSL_CTX_set_max_proto_version(ctx, version);
  });
}

script only_ciphers(const char* ciphers) {
  return peer_with([ciphers](reactor::loop&, SSL_CTX* ctx) {
    SSL_CTX_set_max_proto_version(ctx, TLS1_2_VERSION);
    SSL_CTX_set_cipher_list(ctx, ciphers);
  });
}

/// DHE with a modulus of 10,000 bits, the largest that OpenSSL takes. Nobody checks that it is
/// prime.
void use_large_group(SSL_CTX* ctx) {
  SSL_CTX_set_max_proto_version(ctx, TLS1_2_VERSION);
  SSL_CTX_set_cipher_list(ctx, "DHE");
  BIGNUM* p = BN_new();
  BN_rand(p, 10'000, BN_RAND_TOP_TWO, BN_RAND_BOTTOM_ODD);
  BIGNUM* g = BN_new();
  BN_set_word(g, 2);
  OSSL_PARAM_BLD* b = OSSL_PARAM_BLD_new();
  OSSL_PARAM_BLD_push_BN(b, OSSL_PKEY_PARAM_FFC_P, p);
  OSSL_PARAM_BLD_push_BN(b, OSSL_PKEY_PARAM_FFC_G, g);
  OSSL_PARAM* params = OSSL_PARAM_BLD_to_param(b);
  EVP_PKEY_CTX* maker = EVP_PKEY_CTX_new_from_name(nullptr, "DH", nullptr);
  EVP_PKEY* group = nullptr;
  EVP_PKEY_fromdata_init(maker);
  EVP_PKEY_fromdata(maker, &group, EVP_PKEY_KEY_PARAMETERS, params);
  if (group) SSL_CTX_set0_tmp_dh_pkey(ctx, group);
  EVP_PKEY_CTX_free(maker);
  OSSL_PARAM_free(params);
  OSSL_PARAM_BLD_free(b);
  BN_free(p);
  BN_free(g);
}

void only_tls12(reactor::loop&, SSL_CTX* ctx) {
  SSL_CTX_set_max_proto_version(ctx, TLS1_2_VERSION);
}

const std::string a_version = answer(R"({"major":"1","minor":"30","gitVersion":"v1.30.0"})");

/// Over and over what OpenSSL makes of `next`, while a head is all that was said.
after_request floods(std::function<bool(SSL*)> next, bool answer_first) {
  return [next, answer_first](visit& v, tls_peer& peer) -> awaitable<void> {
    std::string first = answer_first ? a_version : chunked();
    bool there = co_await peer.say(std::move(first));
    while (there) {
      for (int k = 0; there && k < 50; ++k) there = next(peer.ssl());
      const bool sent = co_await peer.flush();
      there = there && sent;
      // What the client answers is thrown away, so that it can go on.
      co_await breathe(v.loop);
    }
    co_await v.hold();
  };
}

std::vector<std::string> many_names(std::size_t n) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < n; ++i) all.push_back("h" + std::to_string(i) + ".example");
  return all;
}

}  // namespace

void add_tls_servers(std::vector<server>& to) {
  const auto add = [&to](std::string name, script s, std::string says = {},
                         std::string state = "Unreachable") {
    server made;
    made.name = "tls: " + std::move(name);
    made.where = place::connection;
    made.answer = std::move(s);
    made.state = std::move(state);
    made.says = std::move(says);
    made.over = server::wire::raw;
    to.push_back(std::move(made));
  };
  // Handshakes.
  add("plain HTTP", says_and_holds("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"),
      "does not speak TLS");
  add("silence after the hello", says_and_holds(""), "timed out");
  add(
      "the connection ends after the hello",
      [](visit& v) -> awaitable<void> {
        std::array<char, 64> some;
        (void)co_await v.to.read_some(some);
      },
      "the peer ended the connection during the TLS handshake");
  add("DHE with 10,000 bits", peer_with([](reactor::loop&, SSL_CTX* ctx) { use_large_group(ctx); }),
      "the peer refused: sslv3 alert handshake failure");
  add("TLS 1.0 alone", only_version(TLS1_VERSION),
      "the peer refused: tlsv1 alert protocol version");
  add("TLS 1.1 alone", only_version(TLS1_1_VERSION),
      "the peer refused: tlsv1 alert protocol version");
  add("RSA key exchange alone", only_ciphers("kRSA"),
      "the peer refused: sslv3 alert handshake failure");
  add("ciphers without a key", only_ciphers("eNULL:aNULL"),
      "the peer refused: sslv3 alert handshake failure");
  add("CBC ciphers alone", only_ciphers("ECDHE-ECDSA-AES256-SHA"),
      "the peer refused: sslv3 alert handshake failure", "Unreachable");
  add("a hello in SSL 2", says_and_holds("\x80\x0b\x04\0\0\0\x02\0\0\0\x10\x01\0"s),
      "the peer does not speak TLS");
  add("hello requests for ever", says_for_ever("", bulk(record(handshake, "\0\0\0\0"sv))),
      "timed out");
  add("a hello request each second", says_for_ever("", record(handshake, "\0\0\0\0"sv), 1s),
      "timed out");
  add("one handshake message without an end",
      says_for_ever(record(handshake, std::string_view("\x02\xff\xff\xff", 4)),
                    record(handshake, std::string(16'000, 'a'))),
      "excessive message size");
  add("a handshake message of 16 MiB in records of one byte",
      says_for_ever(record(handshake, std::string_view("\x02\xff\xff\xff", 4)),
                    bulk(record(handshake, "a"))),
      "excessive message size");
  add(
      "a handshake that drips",
      [](visit& v) -> awaitable<void> {
        (void)co_await v.drip(record(handshake, std::string(200, '\x02')), 1s);
        co_await v.hold();
      },
      "timed out");
  add("warnings for ever", says_for_ever("", bulk(record(alert, "\x01\x5a"))),
      "too many warn alerts");
  add("unknown alerts for ever", says_for_ever("", bulk(record(alert, "\x01\xc8"))),
      "too many warn alerts");
  add("empty records for ever", says_for_ever("", bulk(record(handshake, ""))), "record too small");
  add("empty alerts for ever", says_for_ever("", bulk(record(alert, ""))), "invalid alert");
  add("a change of ciphers for ever",
      says_for_ever("", bulk(record(change_cipher, std::string_view("\x01", 1)))),
      "unexpected message");
  add("data before the handshake", says_for_ever("", bulk(record(data, "hello"))),
      "unexpected message");
  add("heartbeats for ever", says_for_ever("", bulk(record(24, "\x01\x40\0"sv))),
      "unexpected message");
  add("a record of 65,535 bytes",
      says_and_holds(std::string("\x16\x03\x03\xff\xff", 5) + std::string(65'535, 'a')),
      "packet length too long");
  add("a fatal alert", says_and_holds(record(alert, std::string_view("\x02\x28", 2))), "refused");
  add("an alert that says user cancelled", says_and_holds(record(alert, "\x01\x5a")), "timed out");
  add(
      "a retry of the hello for ever",
      [](visit& v) -> awaitable<void> {
        // A HelloRetryRequest is a ServerHello with this random.
        const std::string random(
            "\xCF\x21\xAD\x74\xE5\x9A\x61\x11\xBE\x1D\x8C\x02\x1E\x65\xB8\x91\xC2\xA2\x11\x16\x7A"
            "\xBB"
            "\x8C\x5E\x07\x9E\x09\xE2\xC8\xA8\x33\x9C",
            32);
        std::array<char, 1'024> hello;
        const auto n = co_await v.to.read_some(hello);
        if (!n || *n < 80) co_return;
        const std::string session(hello.data() + 44, 32);
        const std::string extensions("\0\x2b\0\x02\x03\x04\0\x33\0\x02\0\x18", 12);
        std::string body =
            "\x03\x03" + random + "\x20" + session + "\x13\x01\0\0\x0c"s + extensions;
        body = "\x02\0\0"s + static_cast<char>(body.size()) + body;
        co_await v.say_for_ever(bulk(record(handshake, body)));
      },
      "unexpected message");
  add("it asks for h2 alone", peer_with([](reactor::loop&, SSL_CTX* ctx) {
        SSL_CTX_set_alpn_select_cb(
            ctx,
            [](SSL*, const unsigned char** out, unsigned char* length, const unsigned char*,
               unsigned, void*) {
              *out = reinterpret_cast<const unsigned char*>("h2");
              *length = 2;
              return SSL_TLSEXT_ERR_OK;
            },
            nullptr);
      }),
      "bad extension");
  add("it demands a certificate of 1,000 authorities", peer_with([](reactor::loop&, SSL_CTX* ctx) {
        STACK_OF(X509_NAME)* names = sk_X509_NAME_new_null();
        for (int i = 0; i < 1'000; ++i) {
          X509_NAME* name = X509_NAME_new();
          const std::string text = "authority " + std::to_string(i);
          X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8,
                                     reinterpret_cast<const unsigned char*>(text.data()), -1, -1,
                                     0);
          sk_X509_NAME_push(names, name);
        }
        SSL_CTX_set_client_CA_list(ctx, names);
        SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, [](int, X509_STORE_CTX*) { return 1; });
      }),
      "excessive message size", "Unreachable");

  // Certificates.
  certificate_plan good;
  certificate_plan plan = good;
  plan.valid_from_day = -20;
  plan.valid_until_day = -10;
  add("an expired certificate", with_chain(plan), "expired");
  plan = good;
  plan.valid_from_day = 10;
  plan.valid_until_day = 20;
  add("a certificate of the future", with_chain(plan), "not valid before");
  plan = good;
  plan.names = {"other.example"};
  add("a certificate for another name", with_chain(plan), "not for");
  plan.names = {"*", "*.0.0.1", "host*", "*ostile"};
  add("a certificate for every name", with_chain(plan), "not for");
  plan.names = {};
  add("a certificate for no name", with_chain(plan), "not for");
  plan.subject = "x\x1b]0;pwned\x07";
  add("a certificate whose subject has escapes", with_chain(plan), "not for");
  add("a certificate signed by itself", with_chain(good, 0, signed_by::itself), "not trusted");
  plan = good;
  plan.names = many_names(400);
  add("a certificate for 400 other names", with_chain(plan), "not for");
  plan.names = many_names(8'000);
  add("a certificate beyond 100 KB", with_chain(plan), "excessive message size");
  add("a chain of 60 certificates", with_chain(good, 60), "excessive message size", "Unreachable");
  add("a chain of 90 certificates with slow signatures",
      with_chain(good, 90, signed_by::authority, "brainpoolP512r1"), "excessive message size",
      "Unreachable");
  add("a chain of 300 certificates", with_chain(good, 300), "excessive message size");
  plan = good;
  plan.curve = "P-521";
  add("a certificate on P-521", with_chain(plan), {}, "Live");

  // After the handshake.
  add("it ends without a goodbye in a body",
      peer_with({},
                [](visit&, tls_peer& peer) -> awaitable<void> {
                  (void)co_await peer.say("HTTP/1.1 200 OK\r\n\r\n{\"major\":\"1\"");
                }),
      "goodbye");
  add("renegotiation",
      peer_with(only_tls12,
                [](visit& v, tls_peer& peer) -> awaitable<void> {
                  SSL_renegotiate(peer.ssl());
                  SSL_do_handshake(peer.ssl());
                  (void)co_await peer.flush();
                  co_await v.hold();
                }),
      "timed out");
  add("renegotiation for ever",
      peer_with(only_tls12, floods(
                                [](SSL* ssl) {
                                  SSL_renegotiate(ssl);
                                  SSL_do_handshake(ssl);
                                  return true;
                                },
                                false)),
      "timed out");
  add("new keys for ever",
      peer_with({}, floods(
                        [](SSL* ssl) {
                          SSL_key_update(ssl, SSL_KEY_UPDATE_REQUESTED);
                          return SSL_do_handshake(ssl) == 1;
                        },
                        false)),
      "timed out");
  add("new keys for ever, none asked for",
      peer_with({}, floods(
                        [](SSL* ssl) {
                          SSL_key_update(ssl, SSL_KEY_UPDATE_NOT_REQUESTED);
                          return SSL_do_handshake(ssl) == 1;
                        },
                        false)),
      "timed out");
  const auto ticket = [](SSL* ssl) {
    return SSL_new_session_ticket(ssl) == 1 && SSL_do_handshake(ssl) == 1;
  };
  add("session tickets for ever", peer_with({}, floods(ticket, false)),
      "the peer offers TLS sessions without end");
  add("session tickets for ever behind a good answer", peer_with({}, floods(ticket, true)),
      "does not speak the Kubernetes API", "Unreachable");
  add("records of one byte for ever",
      peer_with({}, floods(
                        [](SSL* ssl) {
                          std::size_t n = 0;
                          return SSL_write_ex(ssl, "5\r\n     \r\n", 10, &n) == 1;
                        },
                        false)),
      "timed out");
  add("plain bytes among the secret ones",
      peer_with({},
                [](visit& v, tls_peer& peer) -> awaitable<void> {
                  (void)co_await peer.say(chunked());
                  (void)co_await v.say(a_version);
                  co_await v.hold();
                }),
      "TLS");
  add("a record that was changed under way",
      peer_with({},
                [](visit& v, tls_peer&) -> awaitable<void> {
                  (void)co_await v.say(record(data, std::string(300, 'x')));
                  co_await v.hold();
                }),
      "decryption failed or bad record mac");
}

}  // namespace bench::hostile
