#include "bench/hostile/callers.hpp"

#include "reactor/deadline.hpp"
#include "reactor/loop.hpp"
#include "reactor/task_group.hpp"

#include <array>

namespace bench::hostile {
namespace {

using namespace std::string_literals;

using held = std::vector<std::unique_ptr<reactor::stream>>;
constexpr std::string_view get_healthz = "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n";
constexpr std::string_view still_open = "…open";

/// Asks this and reads the answer.
auto asks(std::string bytes, reactor::nanoseconds patience = 20s) {
  return [bytes, patience](call& c) -> awaitable<std::string> {
    std::string said = co_await c.ask(bytes, patience);
    co_return said;
  };
}

/// Says `first` and then `piece` until the listener has had enough.
auto floods(std::string first, std::string piece, reactor::nanoseconds pause = {},
            std::size_t most = 100'000) {
  return [first, piece, pause, most](call& c) -> awaitable<std::string> {
    auto to = co_await c.connect();
    if (!to) co_return "refused";
    auto written = co_await to->write_all(first);
    for (std::size_t i = 0; written && i < most; ++i) {
      if (pause > reactor::nanoseconds::zero())
        co_await c.loop.sleep_for(pause);
      else
        co_await c.loop.yield();
      to->expire_at(c.loop.now() + 40s);
      written = co_await to->write_all(piece);
    }
    std::string said = co_await c.read(*to, 5s);
    co_return said;
  };
}

/// `n` connections at once that say this and then nothing, for a while.
auto crowd(std::size_t n, std::string says, reactor::nanoseconds stays = 15s) {
  return [n, says, stays](call& c) -> awaitable<std::string> {
    held all;
    for (std::size_t i = 0; i < n; ++i) {
      auto one = co_await c.connect();
      if (!one) break;
      (void)one->try_write(says);
      all.push_back(std::move(one));
    }
    co_await c.loop.sleep_for(stays);
    co_return "any";
  };
}

/// `n` connections one after the other.
auto in_a_row(std::size_t n, std::string says) {
  return [n, says](call& c) -> awaitable<std::string> {
    for (std::size_t i = 0; i < n; ++i) {
      auto one = co_await c.connect();
      if (!one) co_return "refused";
      (void)one->try_write(says);
    }
    co_return "any";
  };
}

/// Asks for much and reads a byte a second of it.
auto reads_slowly(std::string bytes) {
  return [bytes](call& c) -> awaitable<std::string> {
    auto to = co_await c.connect();
    if (!to) co_return "refused";
    (void)co_await to->write_all(bytes);
    std::array<char, 1> one;
    for (int i = 0; i < 60; ++i) {
      const auto n = co_await to->read_some(one);
      if (!n || *n == 0) break;
      co_await c.loop.sleep_for(1s);
    }
    co_return "any";
  };
}

std::string repeated(std::string_view piece, std::size_t times) {
  std::string all;
  while (times-- > 0) all += piece;
  return all;
}

std::string get(std::string_view target, std::string_view fields = "Host: a\r\n") {
  return "GET " + std::string(target) + " HTTP/1.1\r\n" + std::string(fields) + "\r\n";
}
std::string closing(std::string_view target, std::string_view fields = "Host: a\r\n") {
  return get(target, std::string(fields) + "Connection: close\r\n");
}

std::vector<caller> make() {
  std::vector<caller> all;
  const auto add = [&all](std::string name, std::function<awaitable<std::string>(call&)> run,
                          std::string answered, reactor::nanoseconds within = 30s) {
    const auto at = name.starts_with("the page")         ? caller::listener::page
                    : name.find("/metrics") != name.npos ? caller::listener::metrics
                                                         : caller::listener::health;
    all.push_back({std::move(name), std::move(run), std::move(answered), within, at});
  };
  const std::string refused = "HTTP/1.1 400|HTTP/1.1 505|HTTP/1.1 501|closed";

  // Slow and silent ones.
  add("a connection that never says a word", asks("", 40s), "closed|HTTP/1.1 408", 15s);
  add("200 connections that never say a word", crowd(200, ""), "any");
  add("1,000 connections that never say a word", crowd(1'000, ""), "any");
  add("300 connections in the middle of a head", crowd(300, "GET /healthz HTTP/1.1\r\nHos"), "any");
  add("300 connections in the middle of a body",
      crowd(300, "POST /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc"), "any");
  add("300 connections that asked once and stay", crowd(300, std::string(get_healthz)), "any");
  add("a head that drips a byte a second",
      floods("GET /healthz HTTP/1.1\r\nHost: a\r\nX-A: ", "b", 1s, 60),
      "closed|HTTP/1.1 408|HTTP/1.1 400", 20s);
  add("a head field every five seconds",
      floods("GET /healthz HTTP/1.1\r\nHost: a\r\n", "X-A: b\r\n", 5s, 20),
      "closed|HTTP/1.1 408|HTTP/1.1 400", 25s);
  add("a blank line every second in front of a request", floods("", "\r\n", 1s, 60),
      "closed|HTTP/1.1 408|HTTP/1.1 400", 20s);
  add("/metrics, read a byte a second", reads_slowly(closing("/metrics")), "any", 70s);
  add("2,000 requests for /metrics at once, read a byte a second",
      reads_slowly(repeated(get("/metrics"), 2'000)), "any", 90s);

  // Large ones.
  add("a head without an end", floods("GET / HTTP/1.1\r\nX: ", std::string(16'384, 'a'), {}, 200),
      "HTTP/1.1 431|HTTP/1.1 400|closed");
  add("head fields without an end",
      floods("GET / HTTP/1.1\r\n", repeated("X-A: b\r\n", 2'000), {}, 200),
      "HTTP/1.1 431|HTTP/1.1 400|closed");
  add("a target of 1 MB", asks(closing("/" + std::string(1 << 20, 'a'))), "HTTP/1.1 4|closed");
  add("a method of 60 KB", asks(std::string(60'000, 'M') + " / HTTP/1.1\r\nHost: a\r\n\r\n"),
      "HTTP/1.1 4|HTTP/1.1 501|closed");
  add("10,000 head fields", asks([] {
        std::string fields = "Host: a\r\n";
        for (int i = 0; i < 10'000; ++i) fields += "X-" + std::to_string(i) + ": a\r\n";
        return closing("/healthz", fields);
      }()),
      "HTTP/1.1 431|HTTP/1.1 400|closed");
  add("a body without an end",
      floods("GET /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000000\r\n\r\n",
             std::string(65'536, 'a'), {}, 1'000),
      "HTTP/1.1 413|HTTP/1.1 400|HTTP/1.1 200|closed");
  add("chunks of one byte without an end",
      floods("POST /healthz HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
             repeated("1\r\na\r\n", 10'000), {}, 500),
      "HTTP/1.1 413|HTTP/1.1 400|HTTP/1.1 200|closed", 60s);
  add("chunk extensions without an end",
      floods("POST /healthz HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;a=",
             std::string(65'536, 'b'), {}, 500),
      "HTTP/1.1 4|closed", 60s);
  add("trailers without an end",
      floods("POST /healthz HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n",
             repeated("X-A: b\r\n", 8'000), {}, 500),
      "HTTP/1.1 4|closed", 60s);
  add("a chunk of 16 EiB",
      asks("POST /healthz HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: "
           "chunked\r\n\r\nFFFFFFFFFFFFFFFF\r\na",
           130s),
      "HTTP/1.1 4|closed", 125s);
  add(
      "10,000 requests for /metrics at once, never read",
      [](call& c) -> awaitable<std::string> {
        auto to = co_await c.connect();
        if (!to) co_return "refused";
        to->expire_at(c.loop.now() + 20s);
        (void)co_await to->write_all(repeated(get("/metrics"), 10'000));
        co_await c.loop.sleep_for(10s);
        co_return "any";
      },
      "any", 60s);
  add("1,000 requests at once, read", asks(repeated(get("/healthz"), 999) + closing("/healthz")),
      "HTTP/1.1 200");

  // Crowds that come and go.
  add("10,000 connections in a row", in_a_row(10'000, ""), "any", 120s);
  add("2,000 requests in a row whose answer nobody waits for",
      in_a_row(2'000, std::string(get_healthz)), "any", 120s);
  add("2,000 requests in a row that end in the middle", in_a_row(2'000, "GET /met"), "any", 120s);
  add(
      "gone in the middle of /metrics",
      [](call& c) -> awaitable<std::string> {
        for (int i = 0; i < 100; ++i) {
          auto to = co_await c.connect();
          if (!to) co_return "refused";
          (void)co_await to->write_all(get("/metrics"));
          std::array<char, 16> some;
          (void)co_await to->read_some(some);
          to->close();
        }
        co_return "any";
      },
      "any", 60s);

  // Readers of the page.
  const std::string events = get("/events", "Host: localhost\r\n");
  add("the page's stream by 300 readers that never read", crowd(300, events), "any");
  add("the page's stream, read a byte a second", reads_slowly(events), "any", 90s);
  add("the page's stream by 2,000 readers in a row that leave", in_a_row(2'000, events), "any",
      120s);
  add("the page's stream from a place of 8 KB",
      asks(get("/events", "Host: localhost\r\nLast-Event-ID: " + std::string(8'000, '9') + "\r\n"),
           3s),
      "HTTP/1.1 200");
  add("the page by the name of another host",
      asks(closing("/", "Host: rebound.evil.example.com\r\n")), "HTTP/1.1 421");
  add("the page's data by the name of another host",
      asks(closing("/data/fleet", "Host: localhost.evil.example.com\r\n")), "HTTP/1.1 421");
  add("the page's data of a name that is a script",
      asks(closing("/data/cluster?name=%3Cscript%3Ealert(1)%3C/script%3E", "Host: localhost\r\n")),
      "HTTP/1.1 404");
  add("the page's form, sent by another site",
      asks("POST /login HTTP/1.1\r\nHost: localhost\r\nOrigin: https://evil.example.com\r\n"
           "Content-Length: 7\r\nConnection: close\r\n\r\ntoken=a"),
      "HTTP/1.1 403");
  add("the page's form with a token of 8 MB",
      floods("POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 8000000\r\n\r\ntoken=",
             std::string(65'536, 'a'), {}, 130),
      "HTTP/1.1 413|closed");

  // Not HTTP, or not ours.
  add("TLS on the plain port",
      asks(std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11) +
           std::string(505, '\x41') + "\r\n\r\n"),
      refused);
  add("a banner of ssh", asks("SSH-2.0-OpenSSH_9.2p1\r\n\r\n"), refused);
  add("random bytes", asks("\x01\x02\xff\xfe\0\0\r\n\r\n"s), refused);
  add("an HTTP/2 preface", asks("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), refused);
  add("HTTP/0.9", asks("GET /healthz\r\n\r\n"), refused);
  add("HTTP/7.3", asks("GET /healthz HTTP/7.3\r\nHost: a\r\n\r\n"), refused);
  add("HTTP/1.0", asks("GET /healthz HTTP/1.0\r\n\r\n"), "HTTP/1.1 200|HTTP/1.0 200|HTTP/1.1 400");
  add("a method that nobody knows",
      asks("BREW /healthz HTTP/1.1\r\nHost: a\r\nConnection: "
           "close\r\n\r\n"),
      "HTTP/1.1 405|HTTP/1.1 501|HTTP/1.1 200|HTTP/1.1 400");
  add("a method in small letters",
      asks("get /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"), "HTTP/1.1 ");
  add("CONNECT", asks("CONNECT 10.0.0.1:22 HTTP/1.1\r\nHost: 10.0.0.1:22\r\n\r\n", 5s),
      "HTTP/1.1 4|HTTP/1.1 501|closed");
  add("TRACE",
      asks("TRACE / HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer x\r\nConnection: "
           "close\r\n\r\n"),
      "HTTP/1.1 4|HTTP/1.1 501");
  add("DELETE of everything",
      asks("DELETE /clusters HTTP/1.1\r\nHost: a\r\nConnection: "
           "close\r\n\r\n"),
      "HTTP/1.1 405|HTTP/1.1 200|HTTP/1.1 404");
  add("another host's address as a target",
      asks(closing("http://169.254.169.254/latest/meta-data")), "HTTP/1.1 404|HTTP/1.1 400");
  add("a path that climbs", asks(closing("/../../../../etc/passwd")), "HTTP/1.1 404|HTTP/1.1 400");
  add("a path that climbs, encoded", asks(closing("/%2e%2e/%2e%2e/etc/passwd%00")),
      "HTTP/1.1 404|HTTP/1.1 400");
  add("a path with control characters", asks(closing("/\x1b]0;pwned\x07")),
      "HTTP/1.1 404|HTTP/1.1 400|closed");
  add("an upgrade to websockets",
      asks(closing("/healthz", "Host: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n")),
      "HTTP/1.1 200|HTTP/1.1 400");
  add("a body only after 100-continue",
      asks("POST /healthz HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: "
           "10000000000\r\n\r\n",
           20s),
      "HTTP/1.1 4|HTTP/1.1 200|HTTP/1.1 100|closed");
  add("an expectation that nobody knows",
      asks(closing("/healthz", "Host: a\r\nExpect: the-unexpected\r\n")),
      "HTTP/1.1 417|HTTP/1.1 200");

  // Requests within requests.
  add("a length and chunks",
      asks("POST /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 44\r\nTransfer-Encoding: "
           "chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"),
      "HTTP/1.1 400|closed");
  add("two different lengths",
      asks("POST /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nContent-Length: 35\r\n\r\n"
           "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"),
      "HTTP/1.1 400|closed");
  add("a transfer coding that is nearly chunked",
      asks("POST /healthz HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"),
      "HTTP/1.1 400|HTTP/1.1 501|closed|HTTP/1.1 408", 60s);
  add("a negative length", asks("POST /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n"),
      "HTTP/1.1 400|closed");
  add("a length beyond 64 bits",
      asks("POST /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n"),
      "HTTP/1.1 400|HTTP/1.1 413|closed");
  add("a folded head field",
      asks(closing("/healthz", "Host: a\r\nX-A: b\r\n Content-Length: 5\r\n")),
      "HTTP/1.1 400|HTTP/1.1 200|closed");
  add("a NUL in a head field", asks(closing("/healthz", "Host: a\r\nX-A: b\0c\r\n"s)),
      "HTTP/1.1 400|closed");
  add("a bare carriage return in a head field",
      asks(closing("/healthz", "Host: a\r\nX-A: b\rX-B: c\r\n")), "HTTP/1.1 400|closed");
  add("a blank in front of the colon",
      asks(closing("/healthz", "Host: a\r\nContent-Length : 5\r\n")), "HTTP/1.1 400|closed");
  add("two hosts", asks(closing("/healthz", "Host: a\r\nHost: evil.example\r\n")),
      "HTTP/1.1 400|HTTP/1.1 200|closed");
  add("no host", asks(closing("/healthz", "")), "HTTP/1.1 400|HTTP/1.1 200");
  add("a host with a page in it", asks(closing("/nowhere", "Host: <script>alert(1)</script>\r\n")),
      "HTTP/1.1 404|HTTP/1.1 400");
  return all;
}

}  // namespace

awaitable<std::unique_ptr<reactor::stream>> call::connect() {
  auto made = co_await loop.net().connect(to, loop.now() + 10s);
  if (!made) co_return nullptr;
  co_return std::move(*made);
}

awaitable<std::string> call::ask(std::string bytes, reactor::nanoseconds patience) {
  auto stream = co_await connect();
  if (!stream) co_return "refused";
  stream->expire_at(loop.now() + patience);
  (void)co_await stream->write_all(bytes);
  std::string said = co_await read(*stream, patience);
  co_return said;
}

awaitable<std::string> call::read(reactor::stream& from, reactor::nanoseconds patience) {
  std::string all;
  std::array<char, 4'096> some;
  from.expire_at(loop.now() + patience);
  for (;;) {
    const auto n = co_await from.read_some(some);
    if (!n && n.error().code == reactor::errc::timed_out) {
      all += still_open;
      break;
    }
    if (!n || *n == 0) break;
    if (all.size() < 4'096) all.append(some.data(), *n);
  }
  if (all.empty()) all = "closed";
  co_return all;
}

bool is_expected(std::string_view said, std::string_view answered) {
  for (;;) {
    const auto bar = answered.find('|');
    if (said.starts_with(answered.substr(0, bar))) return true;
    if (bar == answered.npos) return false;
    answered.remove_prefix(bar + 1);
  }
}

const std::vector<caller>& callers() {
  static const std::vector<caller> all = make();
  return all;
}

}  // namespace bench::hostile
