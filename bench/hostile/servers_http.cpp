// Heads that are none, too long, too slow or of two minds, and answers that need no head at all.
#include "bench/hostile/servers.hpp"
#include "reactor/loop.hpp"

namespace bench::hostile {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;

const std::string ok = "HTTP/1.1 200 OK\r\n";
const std::string a_version = R"({"major":"1","minor":"30","gitVersion":"v1.30.0"})";

/// A head with these fields and a good body.
script with_fields(const std::string& fields) {
  return says_and_goes_on(ok + fields + "\r\n" + a_version);
}

std::string many_fields(std::size_t n) {
  std::string all;
  for (std::size_t i = 0; i < n; ++i) all += "X-" + std::to_string(i) + ": a\r\n";
  return all;
}

}  // namespace

void add_http_servers(std::vector<server>& to) {
  const auto add = [&to](std::string name, script s, std::string state = "Unreachable",
                         std::string says = "get /version", place at = place::version) {
    to.push_back({"http: " + std::move(name), at, std::move(s), std::move(state), std::move(says)});
  };
  add("silence", says_and_holds(""));
  add("ends the connection at once", says(""));
  add("a banner of ssh", says_and_holds("SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n"));
  add("random bytes", says_and_holds("\x16\x7f\x02 \xff\xfe\x9b\x31m\x01\x02\x03\r\n\r\n"));
  add("a body without a head (HTTP/0.9)", says(a_version));
  add("an HTTP/2 preface and settings",
      says_and_holds("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0"s));
  add("settings frames of HTTP/2 for ever", says_for_ever("", bulk("\0\0\0\x04\0\0\0\0\0"sv)));
  add("a head field after the other for ever", says_for_ever(ok, bulk("X-A: b\r\n")));
  add("a head that drips", drips(ok + repeated("X-A: b\r\n", 100)));
  add("a head that drips faster than a patience", drips(ok + repeated("X-A: b\r\n", 5'000), 20ms));
  add("a head line of 70 KiB", with_fields("X-A: " + std::string(70 * 1024, 'a') + "\r\n"));
  add("a head line without an end", says_for_ever(ok + "X-A: ", std::string(65'536, 'a')));
  add("10,000 head fields", with_fields(many_fields(10'000)));
  add("a reason phrase without an end", says_for_ever("HTTP/1.1 200 ", std::string(65'536, 'a')));
  add("a head field without a colon", with_fields("Content-Length 49\r\n"));
  add("a head field without a name", with_fields(": a\r\nContent-Length: 49\r\n"));
  add("a blank in front of the colon", with_fields("Content-Length : 49\r\n"));
  add("a NUL in a head field", with_fields("X-A: a\0b\r\nContent-Length: 49\r\n"s));
  add("a bare carriage return in a head field", with_fields("X-A: a\rb\r\nContent-Length: 49\r\n"));
  add("a folded head field", with_fields("X-A: a\r\n b\r\nContent-Length: 49\r\n"), "Live", "");
  add("lines that end in LF alone",
      says_and_holds("HTTP/1.1 200 OK\nContent-Length: 49\n\n" + a_version));
  add("two different lengths", with_fields("Content-Length: 49\r\nContent-Length: 50\r\n"));
  add("two lengths in one field", with_fields("Content-Length: 49, 50\r\n"));
  add("a length and chunks",
      says_and_holds(ok + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n" +
                     chunk(a_version) + "0\r\n\r\n"));
  add("a negative length", with_fields("Content-Length: -1\r\n"));
  add("a length beyond 64 bits", with_fields("Content-Length: 99999999999999999999\r\n"));
  add("a hexadecimal length", with_fields("Content-Length: 0x31\r\n"));
  add("a length of 8 EiB, then silence", with_fields("Content-Length: 9223372036854775807\r\n"));
  add("103 for ever", says_for_ever("", bulk("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")));
  add("100 for ever", says_for_ever("", bulk("HTTP/1.1 100 Continue\r\n\r\n")));
  add("102 every second", says_for_ever("", "HTTP/1.1 102 Processing\r\n\r\n", 1s));
  add("101, another protocol",
      says_and_holds("HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: "
                     "Upgrade\r\n\r\n" +
                     a_version));
  add("204 with a body",
      says_and_holds("HTTP/1.1 204 No Content\r\nContent-Length: 49\r\n\r\n" + a_version));
  add("304 that nobody asked for", says_and_holds("HTTP/1.1 304 Not Modified\r\n\r\n"));
  add("206, a part", says_and_holds("HTTP/1.1 206 Partial Content\r\nContent-Range: bytes "
                                    "0-9/49\r\nContent-Length: 10\r\n\r\n{\"major\":\""));
  add("a status of four digits", says_and_holds("HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n\r\n"));
  add("a status of letters", says_and_holds("HTTP/1.1 abc OK\r\nContent-Length: 0\r\n\r\n"));
  add("status 000", says_and_holds("HTTP/1.1 000 no\r\nContent-Length: 0\r\n\r\n"));
  add("status 999", says_and_holds("HTTP/1.1 999 no\r\nContent-Length: 0\r\n\r\n"));
  add("HTTP/7.3", says_and_holds("HTTP/7.3 200 OK\r\nContent-Length: 49\r\n\r\n" + a_version));
  add("ICY", says_and_holds("ICY 200 OK\r\nContent-Length: 49\r\n\r\n" + a_version));
  add("HTTP/1.0 without a length", says("HTTP/1.0 200 OK\r\n\r\n" + a_version), "Live", "");
  add(
      "two answers to one request",
      [](visit& v) -> awaitable<void> {
        // The second one must not be taken for the answer to the next request.
        (void)co_await v.say(
            answer(a_version) +
            answer(R"({"kind":"Status","code":401,"message":"smuggled"})", "401 Unauthorized"));
        v.again = true;
      },
      "Live", "");
  add(
      "an answer before the request",
      [](visit& v) -> awaitable<void> {
        (void)co_await v.say(answer(R"({"major":"6","minor":"66","gitVersion":"v6.66.0"})"));
        co_await v.hold();
      },
      "Syncing", "", place::connection);
  add(
      "the connection is taken and nothing is said",
      [](visit& v) -> awaitable<void> { co_await v.hold(); }, "Unreachable", "", place::connection);
  add(
      "the connection is taken and closed", [](visit&) -> awaitable<void> { co_return; },
      "Unreachable", "", place::connection);
}

}  // namespace bench::hostile
