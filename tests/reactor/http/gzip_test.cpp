#include "reactor/http/gzip.hpp"

#include "tests/gzip.hpp"
#include "tests/reactor/http/http_test.hpp"

namespace reactor::http {
namespace {

using testing::HasSubstr;

std::string some_text(std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; text.size() < bytes; ++i) text += "line " + std::to_string(i * i) + "\n";
  text.resize(bytes);
  return text;
}

class Gzip : public HttpTest {
protected:
  /// What a client makes of this body with this coding: the text, or "! " and the fault.
  std::string read(std::string body, std::string_view coding, std::size_t limit_bytes = 1 << 20) {
    std::string got;
    run([&]() -> awaitable<void> {
      std::string head = "HTTP/1.1 200 OK\r\n";
      if (!coding.empty()) head += "Content-Encoding: " + std::string(coding) + "\r\n";
      head += "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n";
      scripted_server peer(l, {"api", 80}, {answers_once(head + body)});
      client c(l, options());
      request r = get("/");
      auto sent = co_await c.send(std::move(r));
      EXPECT_TRUE(sent.has_value());
      auto plain = decoded(std::move(*sent), limit_bytes);
      if (!plain) {
        got = "! " + plain.error().message();
      } else {
        std::unique_ptr<exchange> x = std::move(*plain);
        largest = 0;
        for (;;) {
          auto piece = co_await x->read(10s);
          if (!piece) got = "! " + piece.error().message();
          if (!piece || piece->empty()) break;
          largest = std::max(largest, piece->size());
          got += *piece;
          co_await l.yield();
        }
      }
      co_await c.stop();
      co_await peer.stop();
    });
    return got;
  }
  std::size_t largest = 0;
};

TEST_F(Gzip, IsUndoneHoweverTheBytesArrive) {
  const std::string text = some_text(700'000);
  for (const std::size_t pieces : {std::size_t{0}, std::size_t{1'000}, std::size_t{7}}) {
    net().faults("api").piece_limit_bytes = pieces;
    EXPECT_EQ(read(tests::gzip(text), "gzip"), text) << pieces;
    EXPECT_LE(largest, 64u * 1024);
  }
}

TEST_F(Gzip, LeavesOtherBodiesAsTheyAre) {
  EXPECT_EQ(read("plain", ""), "plain");
  EXPECT_EQ(read("plain", "identity"), "plain");
  EXPECT_EQ(read("", ""), "");
}

TEST_F(Gzip, ReadsSeveralMembersAndEmptyOnes) {
  EXPECT_EQ(read(tests::gzip("one ") + tests::gzip("") + tests::gzip("two"), "gzip"), "one two");
  EXPECT_EQ(read(tests::gzip(""), "gzip"), "");
}

TEST_F(Gzip, RefusesWhatIsNoGzip) {
  EXPECT_THAT(read("plain", "gzip"), HasSubstr("! decompress answer"));
  EXPECT_THAT(read("plain", "br"), HasSubstr("its coding \"br\" was not asked for"));
  std::string damaged = tests::gzip(some_text(10'000));
  damaged[damaged.size() - 6] = static_cast<char>(damaged[damaged.size() - 6] ^ 1);
  EXPECT_THAT(read(damaged, "gzip"), HasSubstr("incorrect data check"));
  const std::string whole = tests::gzip(some_text(10'000));
  for (const std::size_t length :
       {std::size_t{0}, std::size_t{5}, whole.size() / 2, whole.size() - 1})
    EXPECT_THAT(read(whole.substr(0, length), "gzip"), HasSubstr("it ends too soon")) << length;
}

TEST_F(Gzip, BoundsWhatABombExpandsTo) {
  const std::string bomb = tests::gzip(std::string(50'000'000, '\0'));
  EXPECT_LT(bomb.size(), 100'000u);
  EXPECT_THAT(read(bomb, "gzip"), HasSubstr("larger than is allowed"));
  EXPECT_LE(largest, 64u * 1024);
}

TEST_F(Gzip, OfAWholeBodyIsUndoneToo) {
  const std::string text = some_text(200'000);
  const headers coded{{"Content-Encoding", "GZIP"}};
  EXPECT_EQ(decoded(coded, tests::gzip(text), text.size()).value(), text);
  EXPECT_EQ(decoded(coded, tests::gzip(text), text.size() - 1).error().code, errc::limit);
  EXPECT_EQ(decoded(coded, "nonsense", 100).error().code, errc::malformed);
  EXPECT_EQ(decoded(headers{}, text, 1).value(), text) << "the limit is for what it expands to";
}

}  // namespace
}  // namespace reactor::http
