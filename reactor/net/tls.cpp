// One stream over OpenSSL, its callbacks and its handshake: they share the buffers of a connection,
// so they stay together.
#include "reactor/net/tls.hpp"

#include "reactor/loop.hpp"
#include "reactor/loop_slice.hpp"
#include "reactor/net/read_window.hpp"
#include "reactor/net/tls_context.hpp"
#include "reactor/per_thread.hpp"

#include <boost/asio/error.hpp>
#include <openssl/err.h>

#include <algorithm>
#include <utility>

namespace reactor {
namespace {

/// Several records at once while a sender is faster than we are.
constexpr std::size_t ciphertext_bytes = 64 * 1024;
/// How much is encrypted before it is sent: some records, and well below a socket's buffer.
constexpr std::size_t write_slice_bytes = 64 * 1024;
/// What OpenSSL may want to send on its own account between two writes: alerts, key updates.
constexpr std::size_t unsent_limit_bytes = 256 * 1024;

/// What all TLS streams of the thread, which is to say of its loop, take turns with.
struct shared_memory {
  shared_buffer ciphertext{ciphertext_bytes, shared_buffer::content::ciphertext};
  std::string spare_output;  // capacity of the last output, for the next
};
shared_memory& shared() {
  return of_this_thread<shared_memory>();
}

/// How long a session may stand in for looking at the server's certificate.
constexpr nanoseconds longest_resumption = 1h;

/// What both sides must have for a handshake.
constexpr const char* wanted = "TLS 1.3, or TLS 1.2 with ECDHE and an AEAD cipher, is needed";

/// A server, eight intermediates and their root.
constexpr int most_shown_certificates = 10;

/// Servers offer one or two sessions after a handshake. Each costs work, and 700 fit into one
/// record.
constexpr unsigned most_kept_sessions = 4, most_offered_sessions = 32;

std::time_t to_seconds(wall_time t) {
  return std::chrono::system_clock::to_time_t(std::chrono::floor<std::chrono::seconds>(t));
}

}  // namespace

struct tls_resumption::impl {
  session_ptr session;
  wall_time verified{};  // when the certificate was looked at
};

tls_resumption::tls_resumption() : impl_(std::make_unique<impl>()) {}
tls_resumption::~tls_resumption() = default;

bool tls_resumption::ready(wall_time now) const noexcept {
  if (!impl_->session || SSL_SESSION_is_resumable(impl_->session.get()) != 1) return false;
  if (now < impl_->verified || now - impl_->verified > longest_resumption) return false;
  const X509* certificate = SSL_SESSION_get0_peer(impl_->session.get());
  std::time_t at = to_seconds(now);
  return !certificate || X509_cmp_time(X509_get0_notAfter(certificate), &at) > 0;
}

struct resumption_access {
  /// A copy, because OpenSSL marks the session of a connection that breaks as not to be resumed.
  static session_ptr session(const tls_resumption& r) {
    return session_ptr(SSL_SESSION_dup(r.impl_->session.get()));
  }
  static wall_time verified(const tls_resumption& r) noexcept { return r.impl_->verified; }
  static void keep(tls_resumption& r, SSL_SESSION* session, wall_time verified) {
    r.impl_->session.reset(SSL_SESSION_dup(session));
    r.impl_->verified = verified;
    if (r.on_ready) r.on_ready();
  }
  static void forget(tls_resumption& r) noexcept { r.impl_->session.reset(); }
};

namespace {

/// Members  more than twenty: the two directions of one stream, each of which may wait, end or fail
///          by itself.
class openssl_stream final : public tls_stream {
public:
  enum class role { client, server };

  openssl_stream(loop& l, std::unique_ptr<stream> over, std::shared_ptr<tls_context> with, role as,
                 std::string name, std::shared_ptr<tls_resumption> session)
      : inner_(std::move(over)),
        context_(std::move(with)),
        ciphertext_(shared().ciphertext),
        ssl_(context_->connection()),
        name_(std::move(name)),
        resumption_(std::move(session)),
        verified_(l.wall()) {
    BIO* bio = ssl_ ? BIO_new(bio_method()) : nullptr;
    require(bio != nullptr);
    BIO_set_data(bio, this);
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl_.get(), bio, bio);
    X509_VERIFY_PARAM* checks = SSL_get0_param(ssl_.get());
    X509_VERIFY_PARAM_set_time(checks, to_seconds(verified_));
    if (as == role::client) {
      SSL_set_connect_state(ssl_.get());
      name_expected_ = expect_name(checks);
      if (resumption_ && resumption_->ready(verified_)) {
        const session_ptr known = resumption_access::session(*resumption_);
        trying_ = known && SSL_set_session(ssl_.get(), known.get()) == 1;
      }
    } else {
      SSL_set_accept_state(ssl_.get());
    }
    require(SSL_set_app_data(ssl_.get(), this) == 1);
    // A client looks at the certificate in any case, if only at what its key costs; a server asks
    // for one or does not.
    const bool asks = as == role::client || context_->verifies();
    SSL_set_verify(ssl_.get(), asks ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, &verified);
  }
  ~openssl_stream() override { close(); }

  awaitable<result<void>> shake_hands() {
    if (!name_expected_) {
      ERR_clear_error();
      co_return make_fault(errc::refused, "TLS handshake with " + peer(),
                           "the server's name cannot be asked for or looked up in a certificate");
    }
    for (;;) {
      // Half a millisecond of the thread each time, and after a network was away hundreds of peers
      // answer at once: what needs less goes first.
      if (SSL_is_server(ssl_.get()) == 0) co_await loop_slice::yield();
      ERR_clear_error();
      const int status = SSL_do_handshake(ssl_.get());
      const int error = status == 1 ? SSL_ERROR_NONE : SSL_get_error(ssl_.get(), status);
      if (error != SSL_ERROR_NONE && error != SSL_ERROR_WANT_READ) {
        // The next attempt does without what may have been in the way.
        if (trying_) resumption_access::forget(*resumption_);
        co_return failure(error, "TLS handshake with ");
      }
      if (!out_.empty()) {
        auto sent = co_await flush();
        if (!sent) co_return sent.error();
      }
      if (error == SSL_ERROR_NONE) {
        established_ = true;
        if (resumption_ && resumed()) verified_ = resumption_access::verified(*resumption_);
        co_return result<void>();
      }
      if (std::exchange(paused_, false)) {
        co_await loop_slice::yield();
        continue;
      }
      auto readable = co_await inner_->wait_readable();
      if (!readable) co_return readable.error();
      drained_ = false;
    }
  }

  awaitable<result<std::size_t>> read_some(std::span<char> into) override {
    for (;;) {
      auto n = try_read(into);
      if (!n) co_return n.error();
      if (*n) co_return **n;
      auto readable = co_await wait_readable();
      if (!readable) co_return readable.error();
    }
  }

  awaitable<result<void>> wait_readable() override {
    if (std::exchange(paused_, false)) return after_the_others();
    if (!wants_more_ || failed_) return at_once();
    // Ahead of time, so that an idle stream needs no coroutine of its own; a caller that reads
    // before looks once for nothing.
    drained_ = false;
    return inner_->wait_readable();
  }

  result<std::optional<std::size_t>> try_read(std::span<char> into) override {
    if (failed_) return *failed_;
    if (closed_) return make_fault(asio::error::operation_aborted, "read from " + peer());
    if (wants_more_ && drained_) return std::optional<std::size_t>();
    std::size_t total = 0;
    ERR_clear_error();
    while (total < into.size()) {
      std::size_t n = 0;
      const int status = SSL_read_ex(ssl_.get(), into.data() + total, into.size() - total, &n);
      if (status == 1) {
        wants_more_ = false;
        total += n;
        continue;
      }
      const int error = SSL_get_error(ssl_.get(), status);
      if (error == SSL_ERROR_WANT_READ) {
        wants_more_ = !paused_;
        if (total == 0) return std::optional<std::size_t>();
        break;
      }
      // What was read before counts first; the next call comes here again.
      if (total > 0) break;
      if (error == SSL_ERROR_ZERO_RETURN) return std::optional<std::size_t>(0);
      return failure(error, "read from ");
    }
    return std::optional<std::size_t>(total);
  }

  awaitable<result<void>> write_all(std::span<const char> bytes) override {
    while (!bytes.empty()) {
      if (failed_) co_return *failed_;
      if (closed_) co_return make_fault(asio::error::operation_aborted, "write to " + peer());
      if (writing_)
        co_return make_fault(errc::closed, "write to " + peer(), "an earlier write was cut off");
      const auto slice = bytes.first(std::min(bytes.size(), write_slice_bytes));
      ERR_clear_error();
      std::size_t taken = 0;
      const int status = SSL_write_ex(ssl_.get(), slice.data(), slice.size(), &taken);
      if (status != 1) co_return failure(SSL_get_error(ssl_.get(), status), "write to ");
      bytes = bytes.subspan(taken);
      auto sent = co_await flush();
      if (!sent) co_return sent.error();
    }
    co_return result<void>();
  }

  void expire_at(steady_time deadline) override { inner_->expire_at(deadline); }

  void close() noexcept override {
    if (std::exchange(closed_, true)) return;
    if (established_ && !failed_ && !writing_) {
      ERR_clear_error();
      (void)SSL_shutdown(ssl_.get());  // whether it could be said changes nothing any more
      ERR_clear_error();
      send_what_fits();
    }
    inner_->close();
  }
  void charge_to(std::shared_ptr<allowance> peer) override { inner_->charge_to(std::move(peer)); }
  std::string peer() const override { return inner_->peer(); }
  bool resumed() const noexcept override { return SSL_session_reused(ssl_.get()) == 1; }

  /// A server offers a session, with TLS 1.3 some time after the handshake.
  void offered(SSL_SESSION* session) {
    if (++offered_sessions_ > most_offered_sessions && !transport_failure_)
      transport_failure_ = std::make_unique<fault>(make_fault(
          errc::malformed, "read from " + peer(), "the peer offers TLS sessions without end"));
    if (resumption_ && offered_sessions_ <= most_kept_sessions &&
        SSL_SESSION_is_resumable(session) == 1)
      resumption_access::keep(*resumption_, session, verified_);
  }

  /// The peer's certificates are here. What their keys would cost is looked at before any of them
  /// is used, who they are for only where that is asked for.
  int shown(X509_STORE_CTX* store) {
    const STACK_OF(X509)* all = X509_STORE_CTX_get0_untrusted(store);
    if (sk_X509_num(all) > most_shown_certificates) {
      not_verified_ = "it shows " + std::to_string(sk_X509_num(all)) + " certificates";
      X509_STORE_CTX_set_error(store, X509_V_ERR_APPLICATION_VERIFICATION);
      return 0;
    }
    for (int i = 0; i < sk_X509_num(all); ++i) {
      X509* one = sk_X509_value(all, i);
      const auto costly = too_costly(X509_get0_pubkey(one));
      if (!costly) continue;
      not_verified_ = "the key of the certificate \"" + subject_name(one) + "\" " + *costly;
      X509_STORE_CTX_set_error(store, X509_V_ERR_APPLICATION_VERIFICATION);
      return 0;
    }
    if (context_->verifies()) return X509_verify_cert(store);
    X509_STORE_CTX_set_error(store, X509_V_OK);
    return 1;
  }
  static int certificates_shown(X509_STORE_CTX* store) { return of(store)->shown(store); }

  std::string peer_common_name() const override {
    X509* certificate = SSL_get0_peer_certificate(ssl_.get());
    if (!certificate || !context_->verifies() || SSL_get_verify_result(ssl_.get()) != X509_V_OK)
      return {};
    return subject_name(certificate);
  }

private:
  /// False for a name that no certificate can be compared with. OpenSSL takes an empty one for
  /// "any", and one with a zero byte for less than it is.
  bool expect_name(X509_VERIFY_PARAM* checks) {
    if (name_.empty()) return !context_->verifies();
    if (name_.find('\0') != std::string::npos) return false;
    // SNI is for names only (RFC 6066).
    if (X509_VERIFY_PARAM_set1_ip_asc(checks, name_.c_str()) == 1) return true;
    // As Go does: the subject is not a name, and a wildcard stands for a whole label.
    X509_VERIFY_PARAM_set_hostflags(
        checks, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return SSL_set_tlsext_host_name(ssl_.get(), name_.c_str()) == 1 &&
           X509_VERIFY_PARAM_set1_host(checks, name_.data(), name_.size()) == 1;
  }

  static openssl_stream* of(X509_STORE_CTX* store) {
    auto* ssl =
        static_cast<SSL*>(X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
    return static_cast<openssl_stream*>(SSL_get_app_data(ssl));
  }

  static int verified(int ok, X509_STORE_CTX* store) {
    if (ok == 1) return 1;
    auto* me = of(store);
    if (me->not_verified_.empty())
      me->not_verified_ = verification_sentence(X509_STORE_CTX_get_error(store),
                                                X509_STORE_CTX_get_current_cert(store), me->name_);
    return 0;
  }

  static awaitable<result<void>> at_once() { co_return result<void>(); }
  static awaitable<result<void>> after_the_others() {
    co_await loop_slice::yield();
    co_return result<void>();
  }

  /// What OpenSSL says went wrong, as ours. Fatal: every later call gives the same.
  fault failure(int error, std::string_view doing) {
    const std::string what = std::string(doing) + peer();
    const unsigned long last = ERR_peek_last_error();
    const int reason = ERR_GET_LIB(last) == ERR_LIB_SSL ? ERR_GET_REASON(last) : 0;
    const std::string sentence = drain_openssl_errors();
    fault why;
    if (closed_) {
      why = make_fault(asio::error::operation_aborted, what);
    } else if (transport_failure_) {
      why = *transport_failure_;
    } else if (!not_verified_.empty()) {
      why = make_fault(errc::unverified, what, not_verified_);
    } else if (reason == SSL_R_UNEXPECTED_EOF_WHILE_READING || error == SSL_ERROR_ZERO_RETURN) {
      why = make_fault(errc::closed, what,
                       established_ ? "the peer ended the connection without a TLS goodbye"
                                    : "the peer ended the connection during the TLS handshake");
    } else if (reason == SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE) {
      why = make_fault(errc::refused, what, "the peer refused: " + sentence + "; " + wanted);
    } else if (reason >= SSL_AD_REASON_OFFSET) {
      why = make_fault(errc::refused, what, "the peer refused: " + sentence);
    } else if (reason == SSL_R_WRONG_VERSION_NUMBER || reason == SSL_R_HTTP_REQUEST) {
      why = make_fault(errc::malformed, what, "the peer does not speak TLS");
    } else if (reason == SSL_R_UNSUPPORTED_PROTOCOL || reason == SSL_R_NO_SHARED_CIPHER ||
               reason == SSL_R_WRONG_CIPHER_RETURNED || reason == SSL_R_UNKNOWN_CIPHER_RETURNED ||
               reason == SSL_R_WRONG_CURVE || reason == SSL_R_BAD_KEY_SHARE) {
      why = make_fault(errc::refused, what,
                       "no common TLS version or cipher: " + sentence + "; " + wanted);
    } else {
      why = make_fault(errc::malformed, what, "TLS: " + sentence);
    }
    if (!writing_) send_what_fits();  // the alert that tells the peer what is wrong
    failed_ = std::make_unique<fault>(why);
    return why;
  }

  /// Sends what OpenSSL has put out. Nothing of it is lost when reading adds more meanwhile.
  awaitable<result<void>> flush() {
    std::string sending = std::exchange(out_, {});
    const std::size_t sent = loop_slice::is_over() ? 0 : inner_->try_write(sending);
    loop_slice::spend(sent);
    if (sent < sending.size()) {
      writing_ = true;  // and stays so when this is cancelled: what follows would not be understood
      auto written = co_await inner_->write_all(std::span<const char>(sending).subspan(sent));
      if (!written) co_return written;
      writing_ = false;
    }
    sending.clear();
    // not kept by an idle stream
    if (sending.capacity() <= 2 * write_slice_bytes) std::swap(shared().spare_output, sending);
    co_return result<void>();
  }

  void send_what_fits() noexcept {
    (void)inner_->try_write(out_);
    out_.clear();
  }

  static BIO_METHOD* bio_method() {
    static BIO_METHOD* const method = [] {
      BIO_METHOD* m = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "reactor stream");
      require(m != nullptr);
      const bool made =
          BIO_meth_set_read(
              m, [](BIO* b, char* into, int n) { return self(b).take(b, into, n); }) == 1 &&
          BIO_meth_set_write(
              m, [](BIO* b, const char* from, int n) { return self(b).give(b, from, n); }) == 1 &&
          BIO_meth_set_ctrl(m, [](BIO* b, int command, long, void*) -> long {
            if (command == BIO_CTRL_FLUSH) return 1;
            if (command == BIO_CTRL_EOF) return self(b).ended_ ? 1 : 0;
            return 0;
          }) == 1;
      require(made);
      return m;
    }();
    return method;
  }
  static openssl_stream& self(BIO* b) { return *static_cast<openssl_stream*>(BIO_get_data(b)); }

  /// OpenSSL reads.
  int take(BIO* bio, char* into, int n) {
    BIO_clear_retry_flags(bio);
    // A record costs what it costs, also one without data: between two of them others may run.
    if (loop_slice::is_over()) {
      paused_ = true;
      BIO_set_retry_read(bio);
      return -1;
    }
    if (transport_failure_) return -1;
    if (ciphertext_.empty() && !read_more()) {
      if (!ended_ && !transport_failure_) BIO_set_retry_read(bio);
      return ended_ ? 0 : -1;
    }
    const std::size_t taken = ciphertext_.data().copy(into, static_cast<std::size_t>(n));
    ciphertext_.consume(taken);
    return static_cast<int>(taken);
  }

  bool read_more() {
    if (drained_ || ended_ || transport_failure_ || closed_) return false;
    const std::span<char> room = ciphertext_.prepare();
    auto n = inner_->try_read(room);
    if (!n) {
      transport_failure_ = std::make_unique<fault>(n.error());
      return false;
    }
    // Less than there was room for: the next look would find nothing, so it is spared.
    drained_ = !*n || **n < room.size();
    if (!*n) return false;
    ended_ = **n == 0;
    ciphertext_.commit(**n);
    return !ended_;
  }

  /// OpenSSL writes.
  int give(BIO* bio, const char* from, int n) {
    BIO_clear_retry_flags(bio);
    if (out_.size() + static_cast<std::size_t>(n) > unsent_limit_bytes) return -1;
    if (out_.capacity() < static_cast<std::size_t>(n)) {
      std::string& spare = shared().spare_output;
      if (out_.empty() && spare.capacity() > out_.capacity()) std::swap(out_, spare);
    }
    out_.append(from, static_cast<std::size_t>(n));
    return n;
  }

  std::unique_ptr<stream> inner_;
  std::shared_ptr<tls_context> context_;
  read_window ciphertext_;
  std::string out_;  // encrypted, not yet handed to inner_
  ssl_ptr ssl_;
  std::string name_;
  std::string not_verified_;
  std::shared_ptr<tls_resumption> resumption_;         // none = never
  wall_time verified_;                                 // when the peer's certificate was looked at
  std::unique_ptr<fault> transport_failure_, failed_;  // rarely there, so kept outside
  unsigned offered_sessions_ = 0;
  bool name_expected_ = true;  // by the side that verifies; of a client
  bool trying_ = false;        // to resume
  bool established_ = false;
  bool closed_ = false;
  bool writing_ = false;  // a record is sent in part, perhaps for ever
  bool ended_ = false;
  bool paused_ = false;      // the turn was over before everything that is here was looked at
  bool wants_more_ = false;  // OpenSSL has nothing to decrypt until more arrives
  bool drained_ = false;     // the transport had nothing more when last asked
};

}  // namespace

int tls_certificates_shown(X509_STORE_CTX* chain) {
  return openssl_stream::certificates_shown(chain);
}

void tls_session_offered(SSL* to, SSL_SESSION* session) {
  if (auto* stream = static_cast<openssl_stream*>(SSL_get_app_data(to))) stream->offered(session);
}

namespace {

awaitable<result<std::unique_ptr<tls_stream>>> establish(std::unique_ptr<openssl_stream> s) {
  auto done = co_await s->shake_hands();
  if (!done) co_return done.error();
  co_return std::unique_ptr<tls_stream>(std::move(s));
}

}  // namespace

awaitable<result<std::unique_ptr<tls_stream>>> tls_connect(
    loop& l, std::unique_ptr<stream> over, std::shared_ptr<tls_context> with, std::string name,
    std::shared_ptr<tls_resumption> session) {
  if (with->trusts_system() && !has_system_trust()) {
    auto read = co_await l.offload(&read_system_trust);
    keep_system_trust(std::move(read));
  }
  auto client = std::make_unique<openssl_stream>(l, std::move(over), std::move(with),
                                                 openssl_stream::role::client, std::move(name),
                                                 std::move(session));
  auto secured = co_await establish(std::move(client));
  co_return secured;
}

awaitable<result<std::unique_ptr<tls_stream>>> tls_accept(loop& l, std::unique_ptr<stream> over,
                                                          std::shared_ptr<tls_context> with) {
  return establish(std::make_unique<openssl_stream>(l, std::move(over), std::move(with),
                                                    openssl_stream::role::server, "", nullptr));
}

}  // namespace reactor
