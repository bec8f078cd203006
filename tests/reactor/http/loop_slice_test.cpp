// Peers whose bytes never end: everybody else runs all the same, and deadlines pass.
#include "reactor/loop_slice.hpp"

#include "reactor/deadline.hpp"
#include "reactor/http/gzip.hpp"
#include "reactor/http/wire.hpp"
#include "tests/gzip.hpp"
#include "tests/reactor/http/http_test.hpp"

#include <future>
#include <thread>

namespace reactor::http {
namespace {

using testing::HasSubstr;

constexpr const char* plain_head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
constexpr const char* gzip_head =
    "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n";

/// Answers with `head` and then with `again`, over and over, until the other side goes away.
script without_end(std::string head, std::string again) {
  return [head, again](stream& s) -> awaitable<void> {
    const std::string asked = co_await read_head(s);
    if (asked.empty()) co_return;
    auto sent = co_await s.write_all(head);
    std::string much;
    while (much.size() < 60'000) much += again;
    while (sent) sent = co_await s.write_all(much);
  };
}

std::string one_byte_chunks(std::size_t n) {
  std::string all;
  while (n-- > 0) all += "1\r\nx\r\n";
  return all;
}

class HttpTurn : public HttpTest {
protected:
  /// Reads an answer to its end, or to where it fails; what it did in one turn at most is kept.
  std::string read(script peer_does, std::size_t limit_bytes = 1 << 24) {
    net().faults("api").latency = 1ms;
    std::string got;
    run([&]() -> awaitable<void> {
      scripted_server peer(l, {"api", 80}, {std::move(peer_does)});
      client c(l, options());
      request r = get("/");
      auto sent = co_await c.send(std::move(r));
      if (!sent) {
        got = sent.error().message();
      } else if (auto plain = decoded(std::move(*sent), limit_bytes); plain) {
        std::unique_ptr<exchange> x = std::move(*plain);
        std::uint64_t turn_number = 0;
        std::size_t steps = 0, bytes = 0, all = 0;
        for (;;) {
          auto piece = co_await x->read(10s);
          if (!piece) got = piece.error().message();
          if (!piece || piece->empty()) break;
          if (std::exchange(turn_number, l.health().callbacks) != l.health().callbacks)
            steps = bytes = 0;
          most_steps = std::max(most_steps, ++steps);
          most_bytes = std::max(most_bytes, bytes += piece->size());
          if ((all += piece->size()) > limit_bytes) {
            got = "enough";
            break;
          }
        }
      }
      co_await c.stop();
      co_await peer.stop();
    });
    return got;
  }
  std::size_t most_steps = 0, most_bytes = 0;
};

TEST_F(HttpTurn, ManySmallPiecesAreReadInManyTurns) {
  EXPECT_EQ(read(without_end(plain_head, one_byte_chunks(1000)), 100'000), "enough");
  EXPECT_LE(most_steps, loop_slice::most_steps);
}

TEST_F(HttpTurn, MuchTextOfFewBytesIsReadInManyTurns) {
  EXPECT_THAT(read(without_end(gzip_head, tests::gzip(std::string(4 << 20, 'x')))),
              HasSubstr("larger than is allowed"));
  EXPECT_GT(most_bytes, 0u);
  EXPECT_LE(most_bytes, loop_slice::most_bytes + 64 * 1024);
}

TEST_F(HttpTurn, CompressedBytesWithoutTextAreBounded) {
  EXPECT_THAT(read(without_end(gzip_head, tests::gzip(""))), HasSubstr("too little text"));
  const std::string begun = tests::gzip("").substr(0, 10);
  const std::string stored("\0\0\0\xff\xff", 5);
  EXPECT_THAT(read(without_end(gzip_head + begun, stored)), HasSubstr("too little text"));
}

TEST_F(HttpTurn, ChunksWithLittleDataAreBounded) {
  for (const std::string& chunk :
       {"1;" + std::string(1000, 'e') + "\r\nx\r\n", std::string(1000, '0') + "1\r\nx\r\n"})
    EXPECT_THAT(read(without_end(plain_head, chunk)), HasSubstr("too little data")) << chunk;
  EXPECT_THAT(read(without_end(std::string(plain_head) + "0\r\n", "T: x\r\n")),
              HasSubstr("a line has no end"));
  // Few bytes at a time, as a watch may send them, is nothing unusual.
  EXPECT_EQ(read(without_end(plain_head, one_byte_chunks(1000)), 200'000), "enough");
}

TEST_F(HttpTurn, InterimAnswersAreCounted) {
  const std::string interim = "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n";
  EXPECT_THAT(read(without_end("", interim)), HasSubstr("interim answers without end"));
  std::string some;
  for (unsigned i = 0; i < most_interim_answers; ++i) some += interim;
  EXPECT_EQ(read(answers_once(some + "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")), "");
}

TEST_F(HttpTurn, InterimAnswersOfAProxyAreCounted) {
  run([&]() -> awaitable<void> {
    scripted_server proxy(l, {"proxy", 3128}, {without_end("", "HTTP/1.1 100 Continue\r\n\r\n")});
    client_options o = options({true, "api", 443});
    o.proxy.url = reactor::secret("http://proxy:3128");
    client c(l, o);
    request r = get("/");
    auto got = co_await c.fetch(std::move(r));
    EXPECT_THAT(got.error().message(), HasSubstr("interim answers without end"));
    co_await c.stop();
    co_await proxy.stop();
  });
}

struct conversation_cost {
  nanoseconds stall{};
  std::size_t ticks = 0;
};

/// Two threads with a loop each, and sockets between them: the machine's time counts here.
class RealTurn : public testing::TestWithParam<std::pair<const char*, script>> {
protected:
  struct peer {
    explicit peer(script does) {
      std::promise<endpoint> where;
      auto known = where.get_future();
      thread = std::thread([this, does, &where] {
        loop theirs;
        auto listener = *theirs.net().listen({"127.0.0.1", 0});
        task_group tasks(theirs);
        where.set_value(listener->local());
        stop = [&] { theirs.post([&] { listener->close(); }); };
        run_task(theirs, [&]() -> awaitable<void> {
          for (;;) {
            auto s = co_await listener->accept();
            if (!s) break;
            tasks.start("script", serve(does, std::move(*s)));
          }
          co_await tasks.cancel_and_join();
        });
      });
      at = known.get();
    }
    ~peer() {
      stop();
      thread.join();
    }
    static awaitable<void> serve(script does, std::unique_ptr<stream> s) { co_await does(*s); }

    std::function<void()> stop;
    std::thread thread;
    endpoint at;
  };
  /// What 400 ms of listening to the peer take.
  conversation_cost listen();
};

conversation_cost RealTurn::listen() {
  peer hostile(GetParam().second);
  loop l;
  conversation_cost out;
  bool over = false;
  run_task(l, [&]() -> awaitable<void> {
    task_group tasks(l);
    client_options o;
    o.origin = {false, hostile.at.host, hostile.at.port};
    o.response_timeout = 300ms;
    client c(l, o);
    (void)l.take_health();
    tasks.start("ticks", [&]() -> awaitable<void> {
      while (!over) {
        co_await l.sleep_for(2ms);
        ++out.ticks;
      }
    });
    const auto converse = [&]() -> awaitable<result<std::string>> {
      for (;;) {
        request r;
        auto sent = co_await c.send(std::move(r));
        if (!sent) continue;
        auto plain = decoded(std::move(*sent), std::size_t{1} << 40);
        if (!plain) continue;
        std::unique_ptr<exchange> x = std::move(*plain);
        (void)co_await read_body(x, std::size_t{1} << 26, 1s);
      }
    };
    awaitable<result<std::string>> conversation = converse();
    auto ended =
        co_await with_deadline(l, std::move(conversation), l.now() + 400ms, "listen to it");
    EXPECT_EQ(ended.error().code, errc::timed_out);
    out.stall = l.health().longest_stall;
    over = true;
    co_await c.stop();
    co_await tasks.join();
  });
  return out;
}

TEST_P(RealTurn, NoPeerKeepsTheLoopFromItsOtherWork) {
  // The thread's own time counts, but the clock of a virtual machine's processor jumps by tens of
  // milliseconds now and then; what a peer does comes back.
  conversation_cost least = listen();
  for (int again = 0; again < 2 && least.stall >= 10ms; ++again)
    if (const conversation_cost next = listen(); next.stall < least.stall) least = next;
  std::printf("## %-22s longest turn %5.2f ms, %zu ticks beside it\n", GetParam().first,
              std::chrono::duration<double, std::milli>(least.stall).count(), least.ticks);
  EXPECT_LT(least.stall, 10ms);
  EXPECT_GT(least.ticks, 5u);
}

std::string dynamic_blocks() {
  // Text that makes zlib write a table of codes for every few bytes.
  std::string all;
  for (int i = 0; i < 50; ++i) all += tests::gzip(std::string(1, static_cast<char>(i)));
  return all;
}

INSTANTIATE_TEST_SUITE_P(
    Peers, RealTurn,
    testing::Values(
        std::pair("interim_answers", without_end("", "HTTP/1.1 103 Early Hints\r\n\r\n")),
        std::pair("one_byte_chunks", without_end(plain_head, one_byte_chunks(1000))),
        std::pair("plain_bytes", without_end("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n",
                                             std::string(60'000, 'x'))),
        std::pair("empty_members", without_end(gzip_head, tests::gzip(""))),
        std::pair("tiny_members", without_end(gzip_head, dynamic_blocks())),
        std::pair("bomb", without_end(gzip_head, tests::gzip(std::string(8 << 20, 'x')))),
        std::pair("fields", without_end("HTTP/1.1 200 OK\r\n", "a: b\r\n"))),
    [](const auto& info) { return std::string(info.param.first); });

}  // namespace
}  // namespace reactor::http
