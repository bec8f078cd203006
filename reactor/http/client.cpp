#include "reactor/http/client.hpp"

#include "reactor/http/connection_pool.hpp"
#include "reactor/http/gathered.hpp"
#include "reactor/http/proxy.hpp"
#include "reactor/http/wire.hpp"
#include "reactor/loop.hpp"
#include "reactor/loop_slice.hpp"
#include "reactor/plain/memory.hpp"
#include "reactor/waiters.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace reactor::http {
namespace {

/// A larger body is sent in slices, each with its own deadline.
constexpr std::size_t body_slice_bytes = 256 * 1024;

bool is_idempotent(std::string_view method) {
  return method == "GET" || method == "HEAD" || method == "PUT" || method == "DELETE" ||
         method == "OPTIONS" || method == "TRACE";
}

/// The bytes of a request, body included when it is small.
result<wiped_string> head_of(const client_options& options, const request& r) {
  const origin& o = options.origin;
  const bool usual_port = o.port == (o.tls ? 443 : 80);
  const bool v6 = o.host.find(':') != std::string::npos;
  const std::string host =
      usual_port ? (v6 ? "[" + o.host + "]" : o.host) : endpoint{o.host, o.port}.text();
  auto via = parse_proxy(options.proxy);
  if (!via) return via.error();
  if (!via->forwards_requests() || o.tls) return write_request_head(r, r.target, host, {});
  return write_request_head(r, "http://" + host + r.target, host, via->authorization.reveal());
}

/// One message on a connection.
class http1_exchange final : public exchange {
public:
  http1_exchange(std::shared_ptr<connection_pool> pool, connection_pool::permit p,
                 std::unique_ptr<connection> c, wire_parser::body b, steady_time deadline)
      : pool_(std::move(pool)),
        permit_(std::move(p)),
        connection_(std::move(c)),
        deadline_(deadline),
        parser_(std::in_place, wire_parser::kind::response, pool_->options().header_limit_bytes, b),
        body_(b) {
    place_ = pool_->note_in_use(*connection_);
  }
  ~http1_exchange() override { finish(); }

  const response_head& head() const noexcept override { return head_; }
  steady_time last_byte() const noexcept override { return last_byte_; }
  void wake_reader() noexcept override {
    if (connection_) connection_->w.stream().expire_at(pool_->owner().now());
    if (lull_) lull_->wake_all();
  }
  bool nothing_came() const noexcept { return last_byte_ == steady_time{}; }

  awaitable<result<void>> write(const request& r, wiped_string head) {  // borrowed
    wire& w = connection_->w;
    if (r.body.size() <= body_slice_bytes) {
      head += r.body;
      w.stream().expire_at(after(pool_->options().response_timeout));
      co_return co_await w.write_secret(std::move(head));
    }
    w.stream().expire_at(after(pool_->options().response_timeout));
    auto sent = co_await w.write_secret(std::move(head));
    for (std::size_t done = 0; sent && done < r.body.size(); done += body_slice_bytes) {
      w.stream().expire_at(after(pool_->options().response_timeout));
      sent = co_await w.write(r.body.substr(done, body_slice_bytes));
    }
    co_return sent;
  }

  awaitable<result<void>> read_head() {
    connection_->w.stream().expire_at(after(pool_->options().response_timeout));
    for (;;) {
      auto step = next_step();
      if (!step) co_return step.error();
      if (step->what == wire_parser::event::head) {
        if (!accept_head()) {
          if (++interim_ <= most_interim_answers) continue;
          co_return failed(
              make_fault(errc::malformed, {}, "the server sends interim answers without end"));
        }
        pool_->introduced_as_far_as_it_goes(true);
        if (parser_->complete()) finish();
        co_return result<void>();
      }
      if (step->what != wire_parser::event::need_more) continue;
      auto n = fill();
      if (!n) {
        co_await loop_slice::yield();
        co_return failed(n.error());
      }
      if (*n) continue;
      auto readable = co_await connection_->w.stream().wait_readable();
      if (!readable) co_return named(readable.error());
    }
  }

  using exchange::read;
  awaitable<result<std::string_view>> read(nanoseconds idle, nanoseconds pause) override {
    if (connection_) connection_->w.stream().expire_at(after(idle));
    // A piece that is here already would be handed on without waiting, and so would the next one.
    if (loop_slice::is_over()) co_await loop_slice::yield();
    loop_slice::spend();
    for (;;) {
      if (auto got = try_read()) co_return std::move(*got);
      if (broken_) {
        // Thousands may break at one moment, and closing takes time: what needs less goes first.
        co_await loop_slice::yield();
        co_return failed(*std::exchange(broken_, nullptr));
      }
      if (pause > nanoseconds::zero()) {
        connection_->w.stream().expire_at(after(pause + idle));
        if (co_await rest(std::exchange(pause, {})) == woken::by_call)
          co_return named(make_fault(errc::timed_out, {}, "it was hurried"));
        continue;
      }
      auto readable = co_await connection_->w.stream().wait_readable();
      if (!readable) co_return not_readable(readable.error());
    }
  }

private:
  /// So long from now, unless all of it has to be over before.
  steady_time after(nanoseconds wait) const {
    return std::min(pool_->owner().now() + wait, deadline_);
  }
  fault named(fault f) const {
    f.doing = "request to " + pool_->options().origin.text();
    return f;
  }
  /// Nothing more comes of this exchange.
  fault failed(fault f) {
    // A deadline that passed between the socket's word and its reading; TLS keeps it for good.
    // Under timed_out a reader would go on for ever.
    if (f.code == errc::timed_out) f.code = errc::closed;
    failed_ = std::make_unique<fault>(named(std::move(f)));
    close();
    return *failed_;
  }

  result<wire_parser::step> next_step() {
    read_window& window = connection_->w.window();
    auto step = parser_->advance(window.data());
    if (!step) return failed(step.error());
    window.consume(step->consumed);
    return step;
  }

  /// What read() answers, unless it has to wait for it; apart, so that an idle stream's coroutine
  /// is small.
  std::optional<result<std::string_view>> try_read() {
    for (;;) {
      if (failed_) return *failed_;
      if (!connection_) return std::string_view();
      auto step = next_step();
      if (!step) return step.error();
      if (step->what == wire_parser::event::piece) return step->piece;
      if (step->what == wire_parser::event::done) {
        finish();
        return std::string_view();
      }
      auto n = fill();
      if (!n) broken_ = std::make_unique<fault>(n.error());
      if (!n || !*n) return std::nullopt;
    }
  }
  awaitable<woken> rest(nanoseconds pause) {
    waiters here(pool_->owner());
    struct leaving {
      waiters*& at;
      ~leaving() { at = nullptr; }
    } const afterwards{lull_};
    lull_ = &here;
    co_return co_await here.wait(pool_->owner().now() + pause);
  }
  fault not_readable(const fault& why) {
    // Silence is the caller's to judge: it may go on reading.
    return why.code == errc::timed_out ? named(why) : failed(why);
  }

  /// True when there is something new to look at. A fault ends the exchange: the caller gives way,
  /// and then says failed() of it.
  result<bool> fill() {
    auto n = connection_->w.try_fill();
    if (!n) return n.error();
    if (!*n) return false;
    if (**n > 0) {
      last_byte_ = pool_->owner().now();
      return true;
    }
    auto complete = parser_->end_of_stream();
    if (!complete) return complete.error();
    if (!*complete)
      return make_fault(errc::closed, {}, "the server ended the connection without an answer");
    return true;
  }

  /// False for an interim answer, after which the real one follows.
  bool accept_head() {
    message_head& h = parser_->head();
    if (h.status / 100 == 1 && h.status != 101) {
      parser_.emplace(wire_parser::kind::response, pool_->options().header_limit_bytes, body_);
      return false;
    }
    head_.status = h.status;
    head_.fields = std::move(h.fields);
    return true;
  }

  void close() {
    if (!connection_) return;
    pool_->drop(std::move(connection_), place_);
    permit_.reset();
  }

  /// At the end of the message the connection can serve another request; before it, none.
  void finish() {
    if (!connection_) return;
    const bool reusable =
        !failed_ && parser_->complete() && parser_->keep_alive() && head_.status != 101;
    if (!reusable) return close();
    pool_->give_back(std::move(connection_), place_);
    permit_.reset();
  }

  std::shared_ptr<connection_pool> pool_;
  std::optional<connection_pool::permit> permit_;
  std::unique_ptr<connection> connection_;  // none once the message is complete or has failed
  connection_pool::place place_;
  steady_time deadline_;
  std::optional<wire_parser> parser_;
  wire_parser::body body_;
  unsigned interim_ = 0;
  response_head head_;
  std::unique_ptr<fault> broken_;  // what read() is about to say
  std::unique_ptr<fault> failed_;
  steady_time last_byte_{};
  waiters* lull_ = nullptr;  // where a read() rests
};

awaitable<result<std::unique_ptr<exchange>>> try_once(std::shared_ptr<connection_pool> pool,
                                                      const request& r, steady_time deadline,
                                                      bool fresh, bool& died) {  // borrowed
  auto head = head_of(pool->options(), r);
  if (!head) co_return head.error();
  const bool acquired = co_await pool->acquire(
      r.answer, std::min(pool->owner().now() + pool->options().response_timeout, deadline));
  if (!acquired) {
    co_return make_fault(
        errc::timed_out, "request to " + pool->options().origin.text(),
        "all " + std::to_string(pool->most(r.answer)) + " connections stayed in use");
  }
  connection_pool::permit right(pool, r.answer);
  // An idle connection is looked at before it is used again, which a turn that is over would not
  // do.
  if (loop_slice::is_over()) co_await loop_slice::yield();
  if (pool->is_stopping()) co_return pool->stopped();
  std::unique_ptr<connection> c;
  if (!fresh) c = pool->take_idle();
  if (!c) {
    auto opened = co_await pool->open_connection(deadline);
    if (!opened) co_return opened.error();
    c = std::move(*opened);
    if (deadline != never) deadline += c->waited;
  }
  const bool reused = c->reused;
  const auto body = r.method == "HEAD" ? wire_parser::body::none : wire_parser::body::expected;
  auto x = std::make_unique<http1_exchange>(pool, std::move(right), std::move(c), body, deadline);
  auto sent = co_await x->write(r, std::move(*head));
  if (!sent && (is_cancelled(sent.error()) || sent.error().code == errc::timed_out))
    co_return sent.error();
  // A server may answer and hang up before it has read everything; the answer says why.
  auto got = co_await x->read_head();
  if (got) co_return std::unique_ptr<exchange>(std::move(x));
  const fault why = sent ? got.error() : sent.error();
  died = reused && x->nothing_came() && why.code != errc::timed_out && !is_cancelled(why);
  co_return why;
}

awaitable<result<std::unique_ptr<exchange>>> send_on(std::shared_ptr<connection_pool> pool,
                                                     request r, steady_time deadline) {
  const connection_pool::request_under_way here(pool);
  // It may have held a Secret.
  struct wiping {
    std::string& text;
    ~wiping() { wipe(text); }
  } const afterwards{r.body};
  bool died = false;
  auto first = co_await try_once(pool, r, deadline, false, died);
  if (first || !died || !is_idempotent(r.method)) co_return first;
  co_return co_await try_once(pool, r, deadline, true, died);
}

}  // namespace

client::client(loop& l, client_options options)
    : pool_(std::make_shared<connection_pool>(l, std::move(options))) {}

client::~client() {
  pool_->begin_stop();
}

awaitable<result<std::unique_ptr<exchange>>> client::send(request r) {
  return send_on(pool_, std::move(r), never);
}

awaitable<result<response>> client::fetch(request r, std::size_t limit_bytes,
                                          steady_time deadline) {
  const std::shared_ptr<connection_pool> pool = pool_;
  const auto judged = [&](const fault& why) {
    return pool->owner().now() < deadline || is_cancelled(why)
               ? why
               : make_fault(errc::timed_out, "request to " + pool->options().origin.text());
  };
  auto got = co_await send_on(pool, std::move(r), deadline);
  if (!got) co_return judged(got.error());
  std::unique_ptr<exchange> x = std::move(*got);
  auto body = co_await read_body(x, limit_bytes, pool->options().response_timeout);
  if (!body) co_return judged(body.error());
  response out;
  out.status = x->head().status;
  out.fields = x->head().fields;
  out.body = std::move(*body);
  co_return out;
}

void client::set_tls(tls_settings tls) {
  pool_->replace_tls(std::move(tls));
}

const client_options& client::options() const noexcept {
  return pool_->options();
}

std::size_t client::connections() const noexcept {
  return pool_->open();
}

awaitable<void> client::stop() {
  const std::shared_ptr<connection_pool> pool = pool_;
  co_await pool->stop();
}

awaitable<result<std::string>> read_body(std::unique_ptr<exchange>& from, std::size_t limit_bytes,
                                         nanoseconds idle) {
  gathered all;
  for (;;) {
    auto piece = co_await from->read(idle);
    if (!piece) co_return piece.error();
    if (piece->empty()) break;
    if (piece->size() > limit_bytes - all.size()) {
      co_return make_fault(errc::limit, "read response",
                           "the body is larger than " + std::to_string(limit_bytes) + " bytes");
    }
    if (!memory_allows([&] { all.append(*piece); }))
      co_return make_fault(errc::limit, "read response", "there is not enough memory for its body");
  }
  if (!all.fits_in_memory())
    co_return make_fault(errc::limit, "read response", "there is not enough memory for its body");
  std::string body = co_await all.join();
  co_return body;
}

}  // namespace reactor::http
