// Bodies, chunks and trailers of every wrong length, and what gzip can be made to do.
#include "bench/hostile/servers.hpp"
#include "reactor/loop.hpp"

#include <zlib.h>

#include <cstring>
#include <stdexcept>

namespace bench::hostile {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;

const std::string a_version = R"({"major":"1","minor":"30","gitVersion":"v1.30.0"})";
const std::string gzip_head = "\x1f\x8b\x08\0\0\0\0\0\0\x03"s;

/// What deflate makes of `plain`; with a gzip head and trailer, or cut after a full flush so that
/// more can follow.
enum class deflated { gzip, raw_and_open };
std::string squeezed(std::string_view plain, deflated form) {
  z_stream z{};
  if (deflateInit2(&z, 9, Z_DEFLATED, form == deflated::gzip ? 15 + 16 : -15, 9,
                   Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error("zlib");
  std::string out(plain.size() + 1024, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(plain.data()));
  z.avail_in = static_cast<uInt>(plain.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  deflate(&z, form == deflated::gzip ? Z_FINISH : Z_FULL_FLUSH);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

const std::string a_list =
    R"({"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"1000"},"items":[]})";

std::string head(const std::string& fields) {
  return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n" + fields + "\r\n";
}
std::string gzipped(const std::string& body, const std::string& coding = "gzip") {
  return head("Content-Encoding: " + coding + "\r\nContent-Length: " + std::to_string(body.size()) +
              "\r\n") +
         body;
}
const std::string open_gzip = head("Content-Encoding: gzip\r\n");  // ends with the connection

}  // namespace

void add_body_servers(std::vector<server>& to) {
  const auto add_at = [&to](place at, std::string name, script s, std::string state,
                            std::string says) {
    to.push_back({std::move(name), at, std::move(s), std::move(state), std::move(says)});
  };
  const auto body = [&](const std::string& name, script s, std::string state = "Unreachable",
                        std::string says = "get /version") {
    add_at(place::version, "body: " + name, std::move(s), std::move(state), std::move(says));
  };
  const auto gzip = [&](const std::string& name, script s, std::string state = "Unreachable",
                        std::string says = "nodes") {
    add_at(place::list, "gzip: " + name, std::move(s), std::move(state), std::move(says));
  };

  body("shorter than its length", says(head("Content-Length: 100\r\n") + a_version));
  body("longer than its length",
       says_and_holds(head("Content-Length: 49\r\n") + a_version + repeated("trailing ", 100)),
       "Live", "");
  body("without an end", says_for_ever(head(""), bulk(" ")));
  body("a length of 1 TB, sent",
       says_for_ever(head("Content-Length: 1000000000000\r\n"), bulk(" ")));
  body("a length of 1 MB, a byte a second", [](visit& v) -> awaitable<void> {
    const bool there = co_await v.say(head("Content-Length: 1000000\r\n"));
    if (there) (void)co_await v.drip(repeated(" ", 1'000'000), 1s);
  });
  body("cut in the head", says("HTTP/1.1 200 OK\r\nContent-Le"));
  body("cut after the head", says(head("Content-Length: 49\r\n")));
  body("cut in a chunk's length", says(chunked() + "3"));
  body("cut in a chunk", says(chunked() + "31\r\n{\"major\""));
  body("cut in front of the last chunk", says(chunked() + chunk(a_version)));
  body("cut in the trailers", says(chunked() + chunk(a_version) + "0\r\nX-A: b"));
  body("chunks of one byte for ever", says_for_ever(chunked(), bulk("1\r\n \r\n")));
  body("a chunk of one byte every second", says_for_ever(chunked(), "1\r\n \r\n", 1s));
  body("a chunk extension without an end", says_for_ever(chunked() + "1;a=", bulk("b")));
  body("chunk extensions, one byte of body each",
       says_for_ever(chunked(), bulk("1;a=" + std::string(1'000, 'b') + "\r\n \r\n")));
  body("a chunk's length beyond 64 bits", says_and_holds(chunked() + "FFFFFFFFFFFFFFFFF\r\n "));
  body("a chunk's length of 16 EiB", says_and_holds(chunked() + "FFFFFFFFFFFFFFFF\r\n "));
  body("a chunk's length of -1", says_and_holds(chunked() + "-1\r\n "));
  body("a chunk's length of nothing", says_and_holds(chunked() + "\r\n "));
  body("zeros in front of a chunk's length for ever", says_for_ever(chunked(), bulk("0")));
  body("a chunk without its end",
       says_and_holds(chunked() + "31\r\n" + a_version + "31\r\n" + a_version));
  body("trailers for ever",
       says_for_ever(chunked() + chunk(a_version) + "0\r\n", bulk("X-A: b\r\n")));
  body("a trailer that sets the length",
       says_and_holds(chunked() + chunk(a_version) + "0\r\nContent-Length: 5\r\n\r\n"),
       "Unreachable", "");
  body("an unknown transfer coding",
       says_and_holds(head("Transfer-Encoding: snappy\r\n") + a_version));
  body("chunks below another transfer coding",
       says_and_holds(head("Transfer-Encoding: gzip, chunked\r\n") + chunk(a_version) +
                      "0\r\n\r\n"));
  body("chunked twice", says_and_holds(head("Transfer-Encoding: chunked, chunked\r\n") +
                                       chunk(chunk(a_version)) + "0\r\n\r\n"));

  const std::string good = squeezed(a_list, deflated::gzip);
  std::string crc = good;
  crc[crc.size() - 6] = static_cast<char>(crc[crc.size() - 6] ^ 1);
  std::string length = good;
  length[length.size() - 1] = '\x7f';
  const std::string zeros = squeezed(std::string(1 << 20, ' '), deflated::raw_and_open);
  gzip("a bomb of blanks", says_for_ever(open_gzip + gzip_head, bulk(zeros)), "Syncing", "");
  to.back().look = 3s;
  gzip("a bomb within an object",
       says_for_ever(
           open_gzip + gzip_head +
               squeezed(R"({"kind":"NodeList","metadata":{"resourceVersion":"1"},"items":[{")",
                        deflated::raw_and_open),
           bulk(squeezed(std::string(1 << 20, 'a'), deflated::raw_and_open))));
  gzip("empty members for ever", says_for_ever(open_gzip, bulk(squeezed("", deflated::gzip))));
  gzip("empty stored blocks for ever",
       says_for_ever(open_gzip + gzip_head, bulk("\0\0\0\xff\xff"sv)));
  gzip("empty fixed blocks for ever",
       says_for_ever(open_gzip + gzip_head, bulk("\x02\x08\x20\x80\0"sv)));
  gzip("a file name without an end",
       says_for_ever(open_gzip + "\x1f\x8b\x08\x08\0\0\0\0\0\x03"s, bulk("a")));
  gzip("an extra field of 64 KiB in each of endless members",
       says_for_ever(open_gzip, "\x1f\x8b\x08\x04\0\0\0\0\0\x03\xff\xff"s +
                                    std::string(65'535, 'x') + "\x03\0\0\0\0\0\0\0\0\0"s));
  gzip("cut", says(gzipped(good.substr(0, good.size() / 2))));
  gzip("a wrong checksum", says_and_holds(gzipped(crc)));
  gzip("a wrong length at its end", says_and_holds(gzipped(length)));
  gzip("reserved flags", says_and_holds(gzipped("\x1f\x8b\x08\xe0" + good.substr(4))));
  gzip("text that is called gzip", says_and_holds(gzipped(a_list)));
  gzip("bytes behind the end", says_and_holds(gzipped(good + "behind the end")));
  gzip("packed twice", says_and_holds(gzipped(squeezed(good, deflated::gzip), "gzip, gzip")));
  gzip("packed twice, said once", says_and_holds(gzipped(squeezed(good, deflated::gzip))));
  gzip("an unknown coding", says_and_holds(gzipped(a_list, "br")));
  gzip("100 codings", says_and_holds(gzipped(good, repeated("gzip, ", 100) + "gzip")));
  gzip("a distance beyond the window",
       says_and_holds(gzipped(gzip_head + "\x4b\x04\x3e\0\xff\xff\xff\xff"s)));
}

}  // namespace bench::hostile
