#include "reactor/http/client.hpp"

#include "reactor/http/connect.hpp"
#include "reactor/http/wire.hpp"
#include "reactor/loop.hpp"
#include "reactor/task_group.hpp"
#include "reactor/waiters.hpp"

#include <boost/asio/error.hpp>

#include <algorithm>
#include <list>
#include <utility>
#include <vector>

namespace reactor::http {
namespace {

/// A larger body is sent in slices, each with its own deadline.
constexpr std::size_t body_slice_bytes = 256 * 1024;

bool is_idempotent(std::string_view method) {
  return method == "GET" || method == "HEAD" || method == "PUT" || method == "DELETE" ||
         method == "OPTIONS" || method == "TRACE";
}

/// How long a connection may be held back for the session of the first one.
constexpr nanoseconds session_patience = 1s;

/// One pooled connection.
struct connection {
  connection(std::unique_ptr<stream> s, std::uint64_t g) : w(std::move(s)), generation(g) {}
  wire w;
  std::uint64_t generation;  // of the TLS settings it was made with
  bool reused = false;
  steady_time idle_since{};
  steady_time last_byte{};
};

/// A connection being made.
struct attempt {
  explicit attempt(loop& l) : done(l) {}
  event done;
  std::optional<result<std::unique_ptr<stream>>> outcome;  // none when it was cancelled
};

/// A parameter, because a task that is cancelled before its first turn never runs its body.
struct finishing {
  explicit finishing(std::shared_ptr<attempt> a) : what(std::move(a)) {}
  finishing(finishing&&) noexcept = default;
  finishing& operator=(finishing&&) = delete;
  ~finishing() {
    if (what) what->done.set();
  }
  std::shared_ptr<attempt> what;
};

awaitable<void> run(loop& l, connect_plan plan, steady_time deadline, finishing shared) {
  auto s = co_await connect(l, std::move(plan), deadline);
  shared.what->outcome.emplace(std::move(s));
}

}  // namespace

/// The pool. Connections are counted by permits: one per request under way, so that
/// max_connections bounds both, because a new connection is made only while none is idle.
struct client::impl : std::enable_shared_from_this<client::impl> {
  impl(loop& l, client_options o)
      : loop_(l),
        options(std::move(o)),
        turn(l),
        ended(l),
        introduced(l),
        permits(options.max_connections) {
    new_session();
  }
  ~impl() { session->on_ready = nullptr; }

  /// The right to use one connection; given back, or handed to whoever waits longest, at its end.
  class permit {
  public:
    explicit permit(std::shared_ptr<impl> from) noexcept : from_(std::move(from)) {}
    permit(permit&& other) noexcept = default;
    permit& operator=(permit&&) = delete;
    ~permit() {
      if (from_) from_->release_permit();
    }

  private:
    std::shared_ptr<impl> from_;
  };

  class http1_exchange;

  void release_permit() {
    if (turn.size() > 0) {
      turn.wake_one();  // the permit goes along
    } else {
      ++permits;
    }
  }

  /// False when the deadline came first; else the caller makes a permit of it.
  awaitable<bool> acquire(steady_time deadline) {
    if (permits > 0) {
      --permits;
      co_return true;
    }
    const woken how = co_await turn.wait(deadline);
    co_return how == woken::by_call;
  }

  /// The most recently used connection that is still good, so that the others can age.
  std::unique_ptr<connection> take_idle() {
    while (!idle.empty()) {
      std::unique_ptr<connection> c = std::move(idle.back());
      idle.pop_back();
      // An idle peer has nothing to say: bytes or an end mean that it gave up on us.
      auto n = c->w.try_fill();
      if (n && !*n && c->w.window().empty()) {
        c->reused = true;
        return c;
      }
      --open;
    }
    return nullptr;
  }

  void give_back(std::unique_ptr<connection> c) {
    const bool keep = !stopping && c->generation == generation && c->w.window().empty() &&
                      idle.size() < options.max_idle_connections;
    if (!keep) {
      --open;
      return;
    }
    c->w.stream().expire_at(never);
    c->idle_since = loop_.now();
    idle.push_back(std::move(c));
    arm_reaper();
  }

  void drop_idle() {
    open -= idle.size();
    idle.clear();
    loop_.timers().disarm(std::exchange(reaper, 0));
  }

  void arm_reaper() {
    if (reaper != 0 || idle.empty()) return;
    const auto oldest = std::min_element(
        idle.begin(), idle.end(),
        [](const auto& a, const auto& b) { return a->idle_since < b->idle_since; });
    reaper = loop_.timers().arm((*oldest)->idle_since + options.idle_connection, [this] {
      reaper = 0;
      const steady_time limit = loop_.now() - options.idle_connection;
      open -= std::erase_if(idle, [&](const auto& c) { return c->idle_since <= limit; });
      arm_reaper();
    });
  }

  /// The first connection to an https origin is made alone. Those that are asked for meanwhile wait for the session that
  /// it is given, so that a fleet of watches costs each server one certificate's work, not one for each watch.
  awaitable<void> wait_for_session() {
    const steady_time until = loop_.now() + session_patience;
    while (introducing && wants_introduction() && loop_.now() < until)
      (void)co_await introduced.wait(until);
    introducing = wants_introduction();
  }
  bool wants_introduction() const {
    return options.origin.tls && !no_session && !session->ready(loop_.wall());
  }
  /// The first connection has got its session, or will not get one any more.
  void end_introduction() {
    introducing = false;
    introduced.wake_all();
  }
  /// An answer is here, or its connection is gone: a server that offers sessions would have done so by now.
  void introduced_as_far_as_it_goes(bool answered) {
    if (!introducing) return;
    no_session = answered && options.origin.tls;
    end_introduction();
  }
  void new_session() {
    if (session) session->on_ready = nullptr;
    session = std::make_shared<tls_resumption>();
    session->on_ready = [this] {
      if (introducing) end_introduction();
    };
    no_session = false;
  }

  awaitable<result<std::unique_ptr<connection>>> open_connection() {
    co_await wait_for_session();
    if (stopping) co_return stopped();
    auto how = plan_connection(options);
    if (!how) {
      end_introduction();
      co_return how.error();
    }
    how->session = session;
    context = how->tls;
    const std::uint64_t made_with = generation;
    struct counted {
      std::size_t& n;
      bool kept = false;
      ~counted() { n -= kept ? 0 : 1; }
    } count{++open};
    // A task of its own, so that stop() can end it; it ends with us, too.
    auto shared = std::make_shared<attempt>(loop_);
    struct started {
      task_group& tasks;
      task_group::task_id id;
      ~started() { tasks.cancel(id); }
    } connecting{tasks, tasks.start("connect",
                                    run(loop_, std::move(*how),
                                        loop_.now() + options.connect_timeout, finishing(shared)))};
    if (connecting.id != 0) co_await shared->done.wait();
    if (stopping || !shared->outcome) co_return stopped();
    if (!*shared->outcome) {
      end_introduction();
      co_return shared->outcome->error();
    }
    count.kept = true;
    co_return std::make_unique<connection>(std::move(**shared->outcome), made_with);
  }

  fault stopped() const {
    return make_fault(asio::error::operation_aborted, "request to " + options.origin.text(),
                      "the client is stopping");
  }

  /// The bytes of a request, body included when it is small.
  result<std::string> head_of(const request& r) {
    const origin& o = options.origin;
    const bool usual_port = o.port == (o.tls ? 443 : 80);
    const bool v6 = o.host.find(':') != std::string::npos;
    const std::string host =
        usual_port ? (v6 ? "[" + o.host + "]" : o.host) : endpoint{o.host, o.port}.text();
    auto via = parse_proxy(options.proxy);
    if (!via) return via.error();
    if (!via->used() || o.tls) return write_request_head(r, r.target, host, {});
    return write_request_head(r, "http://" + host + r.target, host, via->authorization.reveal());
  }

  awaitable<result<std::unique_ptr<exchange>>> send(request r);
  awaitable<result<std::unique_ptr<exchange>>> try_once(const request& r, bool fresh, bool& died);

  struct in_flight {
    explicit in_flight(std::shared_ptr<impl> i) : self(std::move(i)) { ++self->sending; }
    ~in_flight() {
      if (--self->sending == 0) self->ended.wake_all();
    }
    in_flight(const in_flight&) = delete;
    in_flight& operator=(const in_flight&) = delete;
    std::shared_ptr<impl> self;
  };

  loop& loop_;
  client_options options;
  waiters turn, ended, introduced;
  std::size_t permits;
  std::size_t open = 0;
  std::size_t sending = 0;
  std::uint64_t generation = 0;
  bool stopping = false;
  bool introducing = false;  // the first connection is on its way to a session
  bool no_session = false;   // the server offers none
  std::shared_ptr<tls_resumption> session;
  std::shared_ptr<tls_context> context;  // kept between connections
  std::vector<std::unique_ptr<connection>> idle;
  timer_id reaper = 0;
  std::list<connection*> in_use;
  task_group tasks{loop_};
};

class client::impl::http1_exchange final : public exchange {
public:
  http1_exchange(std::shared_ptr<impl> pool, permit p, std::unique_ptr<connection> c,
                 wire_parser::body b)
      : pool_(std::move(pool)),
        permit_(std::move(p)),
        connection_(std::move(c)),
        parser_(std::in_place, wire_parser::kind::response, pool_->options.header_limit_bytes, b),
        body_(b) {
    place_ = pool_->in_use.insert(pool_->in_use.end(), connection_.get());
  }
  ~http1_exchange() override { finish(); }

  const response_head& head() const noexcept override { return head_; }
  steady_time last_byte() const noexcept override { return last_byte_; }
  bool nothing_came() const noexcept { return last_byte_ == steady_time{}; }

  awaitable<result<void>> write(const request& r, std::string head) {  // borrowed
    wire& w = connection_->w;
    if (r.body.size() <= body_slice_bytes) {
      head += r.body;
      w.stream().expire_at(pool_->loop_.now() + pool_->options.response_timeout);
      co_return co_await w.write(std::move(head));
    }
    w.stream().expire_at(pool_->loop_.now() + pool_->options.response_timeout);
    auto sent = co_await w.write(std::move(head));
    for (std::size_t done = 0; sent && done < r.body.size(); done += body_slice_bytes) {
      w.stream().expire_at(pool_->loop_.now() + pool_->options.response_timeout);
      sent = co_await w.write(r.body.substr(done, body_slice_bytes));
    }
    co_return sent;
  }

  awaitable<result<void>> read_head() {
    connection_->w.stream().expire_at(pool_->loop_.now() + pool_->options.response_timeout);
    for (;;) {
      auto step = next_step();
      if (!step) co_return step.error();
      if (step->what == wire_parser::event::head) {
        if (!accept_head()) continue;
        pool_->introduced_as_far_as_it_goes(true);
        if (parser_->complete()) finish();
        co_return result<void>();
      }
      if (step->what != wire_parser::event::need_more) continue;
      auto n = fill();
      if (!n) co_return n.error();
      if (*n) continue;
      auto readable = co_await connection_->w.stream().wait_readable();
      if (!readable) co_return named(readable.error());
    }
  }

  awaitable<result<std::string_view>> read(nanoseconds idle) override {
    if (connection_) connection_->w.stream().expire_at(pool_->loop_.now() + idle);
    for (;;) {
      if (auto got = try_read()) co_return std::move(*got);
      auto readable = co_await connection_->w.stream().wait_readable();
      if (!readable) co_return not_readable(readable.error());
    }
  }

private:
  fault named(fault f) const {
    f.doing = "request to " + pool_->options.origin.text();
    return f;
  }
  /// Nothing more comes of this exchange.
  fault failed(fault f) {
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

  /// What read() answers, unless it has to wait for it; apart, so that an idle stream's coroutine is small.
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
      if (!n) return n.error();
      if (!*n) return std::nullopt;
    }
  }
  fault not_readable(const fault& why) {
    // Silence is the caller's to judge: it may go on reading.
    return why.code == errc::timed_out ? named(why) : failed(why);
  }

  /// True when there is something new to look at.
  result<bool> fill() {
    auto n = connection_->w.try_fill();
    if (!n) return failed(n.error());
    if (!*n) return false;
    if (**n > 0) {
      last_byte_ = pool_->loop_.now();
      return true;
    }
    auto complete = parser_->end_of_stream();
    if (!complete) return failed(complete.error());
    if (!*complete) {
      return failed(
          make_fault(errc::closed, {}, "the server ended the connection without an answer"));
    }
    return true;
  }

  /// False for an interim answer, after which the real one follows.
  bool accept_head() {
    message_head& h = parser_->head();
    if (h.status / 100 == 1 && h.status != 101) {
      parser_.emplace(wire_parser::kind::response, pool_->options.header_limit_bytes, body_);
      return false;
    }
    head_.status = h.status;
    head_.fields = std::move(h.fields);
    return true;
  }

  void close() {
    if (!connection_) return;
    pool_->in_use.erase(place_);
    pool_->introduced_as_far_as_it_goes(false);
    connection_.reset();
    --pool_->open;
    permit_.reset();
  }

  /// At the end of the message the connection can serve somebody else; before it, nobody.
  void finish() {
    if (!connection_) return;
    const bool reusable =
        !failed_ && parser_->complete() && parser_->keep_alive() && head_.status != 101;
    if (!reusable) return close();
    pool_->in_use.erase(place_);
    pool_->give_back(std::move(connection_));
    permit_.reset();
  }

  std::shared_ptr<impl> pool_;
  std::optional<permit> permit_;
  std::unique_ptr<connection> connection_;  // none once the message is complete or has failed
  std::list<connection*>::iterator place_;
  std::optional<wire_parser> parser_;
  wire_parser::body body_;
  response_head head_;
  std::unique_ptr<fault> failed_;
  steady_time last_byte_{};
};

awaitable<result<std::unique_ptr<exchange>>> client::impl::try_once(const request& r, bool fresh,
                                                                    bool& died) {  // borrowed
  auto head = head_of(r);
  if (!head) co_return head.error();
  const bool acquired = co_await acquire(loop_.now() + options.response_timeout);
  if (!acquired) {
    co_return make_fault(
        errc::timed_out, "request to " + options.origin.text(),
        "all " + std::to_string(options.max_connections) + " connections stayed in use");
  }
  permit right(shared_from_this());
  if (stopping) co_return stopped();
  std::unique_ptr<connection> c;
  if (!fresh) c = take_idle();
  if (!c) {
    auto opened = co_await open_connection();
    if (!opened) co_return opened.error();
    c = std::move(*opened);
  }
  const bool reused = c->reused;
  const auto body = r.method == "HEAD" ? wire_parser::body::none : wire_parser::body::expected;
  auto x =
      std::make_unique<http1_exchange>(shared_from_this(), std::move(right), std::move(c), body);
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

awaitable<result<std::unique_ptr<exchange>>> client::impl::send(request r) {
  const in_flight here(shared_from_this());
  bool died = false;
  auto first = co_await try_once(r, false, died);
  if (first || !died || !is_idempotent(r.method)) co_return first;
  co_return co_await try_once(r, true, died);
}

client::client(loop& l, client_options options)
    : impl_(std::make_shared<impl>(l, std::move(options))) {}

client::~client() {
  impl_->stopping = true;
  impl_->drop_idle();
}

awaitable<result<std::unique_ptr<exchange>>> client::send(request r) {
  return impl_->send(std::move(r));
}

awaitable<result<response>> client::fetch(request r, std::size_t limit_bytes) {
  const std::shared_ptr<impl> self = impl_;
  auto got = co_await self->send(std::move(r));
  if (!got) co_return got.error();
  std::unique_ptr<exchange> x = std::move(*got);
  auto body = co_await read_body(x, limit_bytes, self->options.response_timeout);
  if (!body) co_return body.error();
  response out;
  out.status = x->head().status;
  out.fields = x->head().fields;
  out.body = std::move(*body);
  co_return out;
}

void client::set_tls(tls_settings tls) {
  impl_->options.tls = std::move(tls);
  ++impl_->generation;
  impl_->context.reset();
  impl_->new_session();
  impl_->drop_idle();
}

const client_options& client::options() const noexcept {
  return impl_->options;
}

std::size_t client::connections() const noexcept {
  return impl_->open;
}

awaitable<void> client::stop() {
  const std::shared_ptr<impl> self = impl_;
  self->stopping = true;
  self->drop_idle();
  for (connection* c : self->in_use) c->w.stream().close();
  while (self->turn.size() > 0) self->turn.wake_one();
  self->end_introduction();
  co_await self->tasks.cancel_and_join();
  while (self->sending > 0) co_await self->ended.wait();
}

awaitable<result<std::string>> read_body(std::unique_ptr<exchange>& from, std::size_t limit_bytes,
                                         nanoseconds idle) {
  std::string all;
  for (;;) {
    auto piece = co_await from->read(idle);
    if (!piece) co_return piece.error();
    if (piece->empty()) co_return all;
    if (piece->size() > limit_bytes - all.size()) {
      co_return make_fault(errc::limit, "read response",
                           "the body is larger than " + std::to_string(limit_bytes) + " bytes");
    }
    all.append(*piece);
  }
}

}  // namespace reactor::http
