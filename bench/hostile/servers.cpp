#include "bench/hostile/servers.hpp"

#include "reactor/loop.hpp"

#include <array>

namespace bench::hostile {

awaitable<bool> visit::say(std::string bytes) {
  const auto said = co_await to.write_all(bytes);
  co_return said.has_value();
}

awaitable<void> visit::say_for_ever(std::string piece, reactor::nanoseconds pause) {
  for (;;) {
    const auto said = co_await to.write_all(piece);
    if (!said) co_return;
    if (pause > reactor::nanoseconds::zero())
      co_await loop.sleep_for(pause);
    else
      co_await loop.yield();
  }
}

awaitable<bool> visit::drip(std::string bytes, reactor::nanoseconds pause) {
  for (const char& c : bytes) {
    const auto said = co_await to.write_all(std::span<const char>(&c, 1));
    if (!said) co_return false;
    co_await loop.sleep_for(pause);
  }
  co_return true;
}

awaitable<void> visit::hold() {
  std::array<char, 512> ignored;
  for (;;) {
    const auto n = co_await to.read_some(ignored);
    if (!n || *n == 0) co_return;
  }
}

awaitable<std::string> visit::read_head() {
  std::string head;
  std::array<char, 1> c;  // never more than the head: what follows belongs to somebody else
  while (!head.ends_with("\r\n\r\n")) {
    const auto n = co_await to.read_some(c);
    if (!n || *n == 0) co_return std::string();
    head += c[0];
  }
  co_return head;
}

awaitable<void> breathe(reactor::loop& l) {
  return l.sleep_for(l.simulated() ? 100ms : reactor::nanoseconds(-1));
}

std::string answer(std::string_view body, std::string_view status, std::string_view more_fields) {
  return "HTTP/1.1 " + std::string(status) +
         "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n" + std::string(more_fields) + "\r\n" + std::string(body);
}

std::string chunked(std::string_view more_fields) {
  return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n" +
         std::string(more_fields) + "\r\n";
}

std::string chunk(std::string_view body) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string size;
  for (std::size_t n = body.size(); n > 0; n /= 16) size.insert(size.begin(), digits[n % 16]);
  return (size.empty() ? "0" : size) + "\r\n" + std::string(body) + "\r\n";
}

std::string repeated(std::string_view piece, std::size_t times) {
  std::string all;
  all.reserve(piece.size() * times);
  while (times-- > 0) all += piece;
  return all;
}

std::string bulk(std::string_view piece) {
  return repeated(piece, 65'536 / piece.size() + 1);
}

// A script's lambda is kept by the function object, and so are its captures while the coroutine
// runs.
script says(std::string bytes) {
  return [bytes](visit& v) -> awaitable<void> { (void)co_await v.say(bytes); };
}

script says_and_holds(std::string bytes) {
  return [bytes](visit& v) -> awaitable<void> {
    const bool there = co_await v.say(bytes);
    if (there) co_await v.hold();
  };
}

script answers(lazy body) {
  return [body](visit& v) -> awaitable<void> { v.again = co_await v.say(answer(body.text())); };
}

script says_and_goes_on(std::string bytes) {
  return [bytes](visit& v) -> awaitable<void> { v.again = co_await v.say(bytes); };
}

script says_for_ever(std::string first, std::string piece, reactor::nanoseconds pause) {
  return [first, piece, pause](visit& v) -> awaitable<void> {
    const bool there = co_await v.say(first);
    if (there) co_await v.say_for_ever(piece, pause);
  };
}

script drips(std::string bytes, reactor::nanoseconds pause) {
  return [bytes, pause](visit& v) -> awaitable<void> {
    const bool there = co_await v.drip(bytes, pause);
    if (there) co_await v.hold();
  };
}

const std::vector<server>& servers() {
  static const std::vector<server> all = [] {
    std::vector<server> made;
    add_tls_servers(made);
    add_http_servers(made);
    add_body_servers(made);
    add_answer_servers(made);
    add_list_servers(made);
    add_watch_servers(made);
    return made;
  }();
  return all;
}

}  // namespace bench::hostile
