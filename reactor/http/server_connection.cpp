#include "reactor/http/server_connection.hpp"

#include "reactor/http/wire.hpp"
#include "reactor/loop.hpp"
#include "reactor/loop_slice.hpp"
#include "reactor/plain/memory.hpp"
#include "reactor/task_group.hpp"
#include "reactor/waiters.hpp"

#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <utility>

namespace reactor::http {
namespace {

/// After an answer that ends the connection the client may still be sending; closing at once would
/// make its kernel throw the answer away (RFC 9112, section 9.6).
constexpr nanoseconds linger = 500ms;
constexpr std::size_t linger_limit_bytes = 256 * 1024;

using waits_for = connection_place::waits_for;

struct connection;

/// A task's share in the connection, and the event that tells of its end. A parameter of its
/// coroutine, because a task that is cancelled before its first turn never runs its body, but its
/// parameters end all the same.
class share {
public:
  share(std::shared_ptr<connection> c, event& ended) noexcept
      : connection_(std::move(c)), ended_(ended) {}
  share(share&&) noexcept = default;
  share& operator=(share&&) = delete;
  ~share() {
    if (connection_) ended_.set();
  }

private:
  std::shared_ptr<connection> connection_;
  event& ended_;  // a member of it
};

/// Everything that the connection's task, its handler and its watcher share. They end in any order
/// when the server stops, so each of them owns it.
struct connection : std::enable_shared_from_this<connection> {
  connection(loop& l, task_group& t, const server_options& o, const handler& h,
             std::unique_ptr<stream> s, std::string name, std::shared_ptr<connection_place> p)
      : loop_(l),
        tasks(t),
        options(o),
        handle(h),
        w(std::move(s)),
        client_name(std::move(name)),
        place(std::move(p)),
        handled(l),
        unwatched(l) {}

  awaitable<void> serve();
  enum class received { request, nothing, trouble };
  awaitable<received> receive(request& into);                            // borrowed
  awaitable<received> receive_body(wire_parser& parser, request& into);  // borrowed
  awaitable<bool> answer(request r);
  awaitable<void> handle_one(request r, share mine);
  awaitable<void> watch(share mine);
  awaitable<void> refuse(int status, std::string why);
  awaitable<result<bool>> fill();

  loop& loop_;
  task_group& tasks;
  const server_options& options;
  const handler& handle;
  wire w;
  std::string client_name;
  std::shared_ptr<connection_place> place;
  event handled, unwatched;
  task_group::task_id handler_task = 0;
  std::function<void()> tell_gone;  // the handler's wish
  bool keep_alive = false;
  bool head_request = false;
  bool first_request = true;
  int version = 11;
};

/// Writes one response. What it may do next follows from how far it is.
class http1_responder final : public responder {
public:
  explicit http1_responder(connection& c) : c_(c) {}

  awaitable<result<void>> send(response r) override {
    if (state_ != state::nothing) co_return misused();
    state_ = state::finished;
    const bool bodiless = r.status == 204 || r.status == 304 || r.status / 100 == 1;
    auto head = write_response_head(r.status, r.fields, bodiless ? framing::none : framing::length,
                                    r.body.size(), c_.keep_alive);
    if (!head) {
      state_ = state::nothing;  // the handler may say it in other words
      co_return head.error();
    }
    std::string bytes = std::move(*head);
    if (!bodiless && !c_.head_request) bytes += r.body;
    co_return co_await write_now(std::move(bytes));
  }

  awaitable<result<void>> start(response_head head) override {
    if (state_ != state::nothing) co_return misused();
    chunked_ = c_.version >= 11;
    if (!chunked_) c_.keep_alive = false;  // HTTP/1.0 knows the end by the connection's
    auto bytes =
        write_response_head(head.status, head.fields,
                            chunked_ ? framing::chunked : framing::until_close, 0, c_.keep_alive);
    if (!bytes) co_return bytes.error();
    state_ = state::streaming;
    co_return co_await write_now(std::move(*bytes));
  }

  awaitable<result<void>> write(std::string bytes) override {
    if (state_ != state::streaming) co_return misused();
    // An empty chunk would be the last one.
    if (bytes.empty() || c_.head_request) co_return result<void>();
    if (chunked_) {
      const std::string size = chunk_header(bytes.size());
      bytes.reserve(bytes.size() + size.size() + 2);
      bytes.insert(0, size).append("\r\n");
    }
    co_return co_await write_now(std::move(bytes));
  }

  awaitable<result<void>> finish() override {
    if (state_ != state::streaming) co_return misused();
    state_ = state::finished;
    if (!chunked_ || c_.head_request) co_return result<void>();
    co_return co_await write_now("0\r\n\r\n");
  }

  void when_gone(std::function<void()> told) override { c_.tell_gone = std::move(told); }

  void abandon() noexcept override {
    state_ = state::finished;
    broken_ = true;
    c_.keep_alive = false;
    c_.w.stream().close();
  }

  std::string peer() const override { return c_.w.stream().peer(); }
  std::string client_name() const override { return c_.client_name; }

  bool untouched() const noexcept { return state_ == state::nothing; }
  bool complete() const noexcept { return state_ == state::finished && !broken_; }

private:
  enum class state { nothing, streaming, finished };

  static fault misused() {
    return make_fault(errc::refused, "answer a request",
                      "the response is at another point than this call needs");
  }

  awaitable<result<void>> write_now(std::string bytes) {
    if (broken_) co_return make_fault(errc::closed, "answer " + peer(), "the client is gone");
    broken_ = true;  // and stays so when this is cancelled half way
    reactor::stream& s = c_.w.stream();
    const std::size_t sent = loop_slice::is_over() ? 0 : s.try_write(bytes);
    loop_slice::spend(sent);
    if (sent < bytes.size()) {
      s.expire_at(c_.loop_.now() + c_.options.write_timeout);
      c_.place->wait_for(waits_for::client, c_.loop_.now());
      auto written = co_await s.write_all(std::span<const char>(bytes).subspan(sent));
      if (!written) co_return written;
      c_.place->wait_for(waits_for::handler, c_.loop_.now());
      s.expire_at(never);
    }
    broken_ = false;
    co_return result<void>();
  }

  connection& c_;
  state state_ = state::nothing;
  bool chunked_ = true;
  bool broken_ = false;
};

/// Waits for more bytes. False at the end of the stream.
awaitable<result<bool>> connection::fill() {
  for (;;) {
    auto n = w.try_fill();
    if (!n) co_return n.error();
    if (*n) co_return **n > 0;
    auto readable = co_await w.stream().wait_readable();
    if (!readable) co_return readable.error();
  }
}

awaitable<void> connection::refuse(int status, std::string why) {
  keep_alive = false;
  response r;
  r.status = status;
  r.fields.add("Content-Type", "text/plain; charset=utf-8");
  r.body = std::move(why) + "\n";
  http1_responder to(*this);
  auto sent = co_await to.send(std::move(r));
  if (!sent) co_return;
  w.stream().expire_at(loop_.now() + linger);
  place->wait_for(waits_for::request, loop_.now());
  for (std::size_t thrown_away = 0; thrown_away < linger_limit_bytes;) {
    w.window().consume(w.window().data().size());
    auto more = co_await fill();
    if (!more || !*more) co_return;
    thrown_away += w.window().data().size();
  }
}

int status_for(const fault& f) {
  return f.code == errc::limit ? 431 : 400;
}

awaitable<connection::received> connection::receive(request& into) {
  wire_parser parser(wire_parser::kind::request, options.header_limit_bytes);
  bool begun = !w.window().empty();
  head_request = false;
  version = 11;
  // Who has just connected has something to say.
  const bool at_once = std::exchange(first_request, false) || begun;
  w.stream().expire_at(loop_.now() + (at_once ? options.header_timeout : options.idle_timeout));
  place->wait_for(begun ? waits_for::client : waits_for::request, loop_.now());
  for (;;) {
    auto step = parser.advance(w.window().data());
    if (!step) {
      co_await refuse(status_for(step.error()), step.error().message());
      co_return received::trouble;
    }
    w.window().consume(step->consumed);
    if (step->what == wire_parser::event::head) break;
    auto more = co_await fill();
    if (!more && more.error().code == errc::timed_out && begun) {
      co_await refuse(408, "the request's header took too long");
      co_return received::trouble;
    }
    if (!more && more.error().code == errc::limit) {
      co_await refuse(431, "the request's header is too large");
      co_return received::trouble;
    }
    if (!more || !*more) co_return received::nothing;
    // From the first byte on, however slowly the others follow.
    if (!std::exchange(begun, true)) {
      w.stream().expire_at(loop_.now() + options.header_timeout);
      place->wait_for(waits_for::client, loop_.now());
    }
  }

  message_head& head = parser.head();
  version = head.version;
  head_request = head.method == "HEAD";
  keep_alive = parser.keep_alive() && version >= 11;
  into.method = std::move(head.method);
  into.target = std::move(head.target);
  into.fields = std::move(head.fields);
  if (into.target.starts_with("http://") || into.target.starts_with("https://")) {
    const std::size_t path = into.target.find('/', into.target.find("://") + 3);
    into.target = path == std::string::npos ? "/" : into.target.substr(path);
  }
  const bool whole_server = into.method == "OPTIONS" && into.target == "*";
  if (!into.target.starts_with('/') && !whole_server) {
    co_await refuse(400, "the request's target is not a path");
    co_return received::trouble;
  }
  const auto hosts = std::count_if(into.fields.begin(), into.fields.end(),
                                   [](const auto& f) { return same_name(f.first, "Host"); });
  if (hosts > 1 || (hosts == 0 && version >= 11)) {
    co_await refuse(400, "the request needs one Host field");
    co_return received::trouble;
  }
  co_return co_await receive_body(parser, into);
}

awaitable<connection::received> connection::receive_body(wire_parser& parser, request& into) {
  const auto too_large = [&](std::uint64_t size) { return size > options.body_limit_bytes; };
  const std::string limit =
      "the request's body is larger than " + std::to_string(options.body_limit_bytes) + " bytes";
  if (const auto length = parser.content_length(); length && too_large(*length)) {
    co_await refuse(413, limit);
    co_return received::trouble;
  }
  const std::string_view expected = into.fields.get("Expect");
  if (!expected.empty() && version >= 11 && !parser.complete()) {
    if (!same_name(expected, "100-continue")) {
      co_await refuse(417, "only 100-continue can be expected");
      co_return received::trouble;
    }
    if (w.window().empty()) {
      auto sent = co_await w.write("HTTP/1.1 100 Continue\r\n\r\n");
      if (!sent) co_return received::nothing;
    }
  }
  // One deadline for all of it, so that a trickle of bytes does not hold the connection.
  w.stream().expire_at(loop_.now() + options.idle_timeout);
  for (;;) {
    auto step = parser.advance(w.window().data());
    if (!step) {
      co_await refuse(status_for(step.error()), step.error().message());
      co_return received::trouble;
    }
    if (step->what == wire_parser::event::piece) {
      if (too_large(into.body.size() + step->piece.size())) {
        co_await refuse(413, limit);
        co_return received::trouble;
      }
      if (!memory_allows([&] { into.body.append(step->piece); })) {
        co_await refuse(503, "there is not enough memory for the request's body");
        co_return received::trouble;
      }
    }
    w.window().consume(step->consumed);
    if (step->what == wire_parser::event::done) co_return received::request;
    if (step->what != wire_parser::event::need_more) continue;
    auto more = co_await fill();
    if (!more && more.error().code == errc::timed_out) {
      co_await refuse(408, "the request's body took too long");
      co_return received::trouble;
    }
    if (!more && more.error().code == errc::limit) {
      co_await refuse(400, "a chunk's header is too large");
      co_return received::trouble;
    }
    if (!more || !*more) co_return received::nothing;
  }
}

awaitable<void> connection::handle_one(request r, share) {
  http1_responder to(*this);
  bool threw = false;
  try {
    // What it asked to be called is a part of it.
    struct forgetting {
      std::function<void()>& told;
      ~forgetting() { told = nullptr; }
    } const afterwards{tell_gone};
    co_await handle(std::move(r), to);
  } catch (const boost::system::system_error& e) {
    if (is_cancelled(e.code())) throw;
    threw = true;
  } catch (const std::exception&) {
    threw = true;
  }
  if (threw) keep_alive = false;
  if (to.untouched()) {
    response r;
    r.status = 500;
    r.fields.add("Content-Type", "text/plain; charset=utf-8");
    r.body = threw ? "the request could not be answered because of a programming error\n"
                   : "this request was not answered\n";
    auto sent = co_await to.send(std::move(r));
    if (!sent) keep_alive = false;
  }
  if (!to.complete()) keep_alive = false;
}

/// Notices that the client went away while the handler waits. A next request that comes early is
/// kept; once it fills the window, there are no more looks until the handler ends.
awaitable<void> connection::watch(share) {
  for (;;) {
    auto more = co_await fill();
    if (more && *more) continue;
    if (!more && more.error().code == errc::limit) co_return;
    // Ended by us: the answer is complete, and nothing is known about the client.
    if (handled.is_set() || (!more && is_cancelled(more.error()))) co_return;
    keep_alive = false;
    if (const auto told = std::exchange(tell_gone, nullptr)) {
      w.stream().close();  // ends a write that waits for room
      told();
    } else {
      tasks.cancel(handler_task);
    }
    co_return;
  }
}

/// Runs the handler. True when another request may follow.
awaitable<bool> connection::answer(request r) {
  w.stream().expire_at(never);
  place->wait_for(waits_for::handler, loop_.now());
  handled.reset();
  handler_task =
      tasks.start("request", handle_one(std::move(r), share(shared_from_this(), handled)));
  if (handler_task == 0) co_return false;
  // Most answers are at hand; only those that wait are worth a watcher.
  for (int turns = 0; turns < 2 && !handled.is_set(); ++turns) co_await loop_.yield();
  if (!handled.is_set()) {
    unwatched.reset();
    const auto watcher = tasks.start("watch client", watch(share(shared_from_this(), unwatched)));
    if (watcher != 0) {
      co_await handled.wait();
      w.stream().expire_at(loop_.now());  // costs less than a cancellation, which unwinds it
      co_await unwatched.wait();
      w.stream().expire_at(never);
    }
  }
  co_return keep_alive;
}

awaitable<void> connection::serve() {
  for (;;) {
    request r;
    const received what = co_await receive(r);
    if (what != received::request) break;
    const bool again = co_await answer(std::move(r));
    if (!again) break;
  }
  w.stream().close();
}

}  // namespace

awaitable<void> serve_connection(loop& l, task_group& tasks, const server_options& options,
                                 const handler& handle, std::unique_ptr<stream> s,
                                 std::string client_name, std::shared_ptr<connection_place> place) {
  auto c = std::make_shared<connection>(l, tasks, options, handle, std::move(s),
                                        std::move(client_name), std::move(place));
  co_await c->serve();
}

}  // namespace reactor::http
