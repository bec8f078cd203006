#include "reactor/http/wire.hpp"

#include <gmock/gmock.h>

namespace reactor::http {
namespace {

/// Feeds `bytes` in pieces of `size`, as a stream would, and returns "status|body|what is left".
std::string parsed(std::string_view bytes, std::size_t size, bool ends = true) {
  wire_parser p(wire_parser::kind::response, 64 * 1024);
  std::string window, body;
  std::size_t fed = 0;
  for (;;) {
    auto step = p.advance(window);
    if (!step) return "!" + step.error().message();
    body += step->piece;
    window.erase(0, step->consumed);
    if (step->what == wire_parser::event::done) break;
    if (step->what != wire_parser::event::need_more) continue;
    if (fed < bytes.size()) {
      window += bytes.substr(fed, size);
      fed += size;
      continue;
    }
    if (!ends) return "more";
    auto end = p.end_of_stream();
    if (!end) return "!" + end.error().message();
    if (!*end) return "nothing";
  }
  return std::to_string(p.head().status) + "|" + body + "|" + window +
         std::string(bytes.substr(std::min(fed, bytes.size())));
}

TEST(WireParser, FindsTheSameHoweverTheBytesAreSplit) {
  const std::pair<const char*, const char*> cases[] = {
      {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloNEXT", "200|hello|NEXT"},
      {"HTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\nX: y\r\n\r\n"
       "3\r\nabc\r\n00a;q=\"1\"\r\n0123456789\r\n0\r\nT: u\r\n\r\nNEXT",
       "404|abc0123456789|NEXT"},
      {"HTTP/1.1 200 OK\r\nServer: x\r\n\r\nuntil the end", "200|until the end|"},
      {"HTTP/1.1 204 No Content\r\n\r\nNEXT", "204||NEXT"},
      {"HTTP/1.0 200 OK\r\nFolded: a\r\n b\r\nContent-Length: 1\r\n\r\nx", "200|x|"},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nd: e\r\n\r\n", "200||"},
      {"", "nothing"},
  };
  for (const auto& [bytes, wanted] : cases)
    for (std::size_t size = 1; size <= 80; ++size) EXPECT_EQ(parsed(bytes, size), wanted) << size;
}

TEST(WireParser, NeverTakesAPartForTheWhole) {
  const std::string whole =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
  for (std::size_t n = 1; n < whole.size(); ++n) {
    EXPECT_EQ(parsed(whole.substr(0, n), 7, false), "more") << n;
    EXPECT_EQ(parsed(whole.substr(0, n), 7), "!the message was cut short") << n;
  }
}

TEST(WireParser, RefusesRequestsWhoseLengthIsOpenToInterpretation) {
  const auto code = [](std::string_view bytes) {
    wire_parser p(wire_parser::kind::request, 64 * 1024);
    for (;;) {
      auto step = p.advance(bytes);
      if (!step) return step.error().code;
      bytes.remove_prefix(step->consumed);
      if (step->what == wire_parser::event::done) return error_code{};
      if (step->what == wire_parser::event::need_more) return make_error_code(errc::closed);
    }
  };
  const std::string post = "POST / HTTP/1.1\r\nHost: a\r\n";
  EXPECT_EQ(code(post + "Content-Length: 1\r\n\r\nx"), error_code{});
  for (const char* fields :
       {"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: gzip\r\nContent-Length: 1\r\n\r\nx",
        "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "Content-Length: 1\r\nContent-Length: 2\r\n\r\nx", "Content-Length: 1, 2\r\n\r\nx",
        "Content-Length: +1\r\n\r\nx", "Content-Length: 0x1\r\n\r\nx", "Content-Length: \r\n\r\nx",
        "Content-Length: 99999999999999999999\r\n\r\nx",
        "Transfer-Encoding: chunked\r\n\r\n-1\r\nx\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nx\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n1\r\nxy\r\n0\r\n\r\n", "Content-Length : 1\r\n\r\nx"})
    EXPECT_EQ(code(post + fields), errc::malformed) << fields;
  EXPECT_EQ(code("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
            errc::malformed);
}

TEST(WireParser, CountsTheHeaderHoweverItComes) {
  // Each piece ends one byte into the next field, where Beast's own limit begins anew.
  wire_parser p(wire_parser::kind::request, 4096);
  std::string window = "GET / HTTP/1.1\r\nX";
  error_code code;
  int pieces = 0;
  for (; !code && pieces < 1000; ++pieces) {
    auto step = p.advance(window);
    if (!step) code = step.error().code;
    if (step) window.erase(0, step->consumed);
    window += ": 0123456789\r\nX";
  }
  EXPECT_EQ(code, errc::limit);
  EXPECT_LT(pieces, 300);
}

TEST(ReadWindow, KeepsWhatIsLeftWhenAnotherStreamReads) {
  shared_buffer memory(16);
  read_window a(memory), b(memory);
  const auto put = [](read_window& w, std::string_view bytes) {
    bytes.copy(w.prepare().data(), bytes.size());
    w.commit(bytes.size());
  };
  put(a, "hello");
  a.consume(2);
  EXPECT_EQ(a.data(), "llo");
  put(b, "other");
  EXPECT_EQ(a.data(), "llo");
  EXPECT_EQ(b.data(), "other");
  a.consume(1);
  put(a, "!");
  EXPECT_EQ(a.data(), "lo!");
  EXPECT_EQ(b.data(), "other");
  b.consume(5);
  EXPECT_TRUE(b.empty());
  EXPECT_EQ(b.prepare().size(), 16u);
  EXPECT_EQ(a.data(), "lo!");
  put(a, "0123456789abc");
  EXPECT_TRUE(a.prepare().empty());
}

}  // namespace
}  // namespace reactor::http
