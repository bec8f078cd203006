#include "reactor/net/memory_network.hpp"

#include "tests/reactor/run.hpp"

#include <boost/asio/error.hpp>

namespace reactor {
namespace {

const endpoint server_at{"api", 443};

/// A listener and one connection through it.
struct pair {
  std::unique_ptr<acceptor> listener;
  std::unique_ptr<stream> client, server;
};

awaitable<pair> connected(loop& l) {  // borrowed
  pair p;
  auto listening = l.net().listen(server_at);
  EXPECT_TRUE(listening.has_value());
  p.listener = std::move(*listening);
  auto client = co_await l.net().connect(server_at, never);
  EXPECT_TRUE(client.has_value());
  p.client = std::move(*client);
  auto server = co_await p.listener->accept();
  EXPECT_TRUE(server.has_value());
  p.server = std::move(*server);
  co_return p;
}

class MemoryNetwork : public testing::Test {
protected:
  void run(std::function<awaitable<void>()> body) { run_task(l, std::move(body)); }
  void TearDown() override { EXPECT_EQ(l.live(), nothing_live); }
  memory_network& net() { return memory_network::of(l); }
  loop l{loop::mode::simulated, 7};
};

TEST_F(MemoryNetwork, CarriesBytesBothWaysAndTheEnd) {
  run([&]() -> awaitable<void> {
    pair p = co_await connected(l);
    EXPECT_TRUE((co_await p.client->write_all(std::string_view("ping"))).has_value());
    char buffer[16];
    auto n = co_await p.server->read_some(buffer);
    EXPECT_EQ(std::string_view(buffer, n.value()), "ping");
    EXPECT_TRUE((co_await p.server->write_all(std::string_view("pong"))).has_value());
    p.server->close();
    EXPECT_EQ(co_await read_all(*p.client), "pong");
    EXPECT_EQ(p.client->peer(), "api:443");
  });
}

TEST_F(MemoryNetwork, DeliversAfterTheLatencyOfTheLink) {
  net().faults("api").latency = 20ms;
  run([&]() -> awaitable<void> {
    const steady_time start = l.now();
    pair p = co_await connected(l);
    EXPECT_EQ(l.now() - start, 40ms);
    (void)co_await p.client->write_all(std::string_view("x"));
    char buffer[1];
    EXPECT_FALSE(p.server->try_read(buffer).value().has_value());
    (void)co_await p.server->wait_readable();
    EXPECT_EQ(l.now() - start, 60ms);
    EXPECT_EQ(p.server->try_read(buffer).value(), 1u);
  });
}

TEST_F(MemoryNetwork, SplitsWritesIntoPiecesWithoutLosingOrder) {
  net().faults("").piece_limit_bytes = 3;
  net().faults("").jitter = 5ms;
  run([&]() -> awaitable<void> {
    pair p = co_await connected(l);
    const std::string text = "the quick brown fox jumps over the lazy dog";
    (void)co_await p.client->write_all(text);
    p.client->close();
    std::string all;
    std::size_t reads = 0;
    char buffer[64];
    for (;;) {
      auto n = co_await p.server->read_some(buffer);
      if (n.value() == 0) break;
      EXPECT_LE(*n, 3u);
      all.append(buffer, *n);
      ++reads;
    }
    EXPECT_EQ(all, text);
    EXPECT_GT(reads, text.size() / 3);
  });
}

TEST_F(MemoryNetwork, AWriterWaitsWhenTheReaderDoesNotRead) {
  run([&]() -> awaitable<void> {
    pair p = co_await connected(l);
    const std::string big(100'000, 'x');
    p.client->expire_at(l.now() + 1s);
    auto written = co_await p.client->write_all(big);
    EXPECT_EQ(written.error().code, errc::timed_out);
    std::string buffer(200'000, ' ');
    EXPECT_EQ((co_await p.server->read_some(buffer)).value(), 65'536u);
    p.client->expire_at(never);
    EXPECT_TRUE((co_await p.client->write_all(std::string_view("more"))).has_value());
  });
}

TEST_F(MemoryNetwork, ABlockedWriterGoesOnWhenThereIsRoom) {
  run([&]() -> awaitable<void> {
    pair p = co_await connected(l);
    task_group tasks(l);
    const std::string big(300'000, 'x');
    tasks.start("write", [&]() -> awaitable<void> {
      EXPECT_TRUE((co_await p.client->write_all(big)).has_value());
      p.client->close();
    });
    EXPECT_EQ(co_await read_all(*p.server), big);
    co_await tasks.join();
  });
}

TEST_F(MemoryNetwork, ADeadlineEndsARunningRead) {
  run([&]() -> awaitable<void> {
    pair p = co_await connected(l);
    const steady_time start = l.now();
    p.client->expire_at(start + 1s);
    p.client->expire_at(start + 3s);  // later: the first timer must not end it
    char buffer[8];
    auto read = co_await p.client->read_some(buffer);
    EXPECT_EQ(read.error().code, errc::timed_out);
    EXPECT_EQ(l.now() - start, 3s);
    p.client->expire_at(never);
    (void)co_await p.server->write_all(std::string_view("late"));
    EXPECT_EQ((co_await p.client->read_some(buffer)).value(), 4u);
  });
}

TEST_F(MemoryNetwork, IsCutAtTheGivenByte) {
  net().faults("api").cut_to_client_after_bytes = 5;
  run([&]() -> awaitable<void> {
    pair p = co_await connected(l);
    (void)co_await p.server->write_all(std::string_view("123"));
    (void)co_await p.server->write_all(std::string_view("456789"));
    EXPECT_EQ(co_await read_all(*p.client), "12345!Connection reset by peer");
    auto more = co_await p.client->write_all(std::string_view("x"));
    EXPECT_EQ(more.error().code, asio::error::connection_reset);
  });
}

TEST_F(MemoryNetwork, ACutCanLookLikeAnOrderlyEnd) {
  net().faults("api").cut_to_client_after_bytes = 5;
  net().faults("api").cut_as = link_faults::ending::end_of_stream;
  run([&]() -> awaitable<void> {
    pair p = co_await connected(l);
    (void)co_await p.server->write_all(std::string_view("123456789"));
    EXPECT_EQ(co_await read_all(*p.client), "12345");
  });
}

TEST_F(MemoryNetwork, IsCutAtTheGivenTimeOrByHand) {
  net().on_connect = [](const endpoint& to, link_faults& f) {
    if (to.host == "api") f.cut_after = 10s;
  };
  run([&]() -> awaitable<void> {
    pair p = co_await connected(l);
    const steady_time start = l.now();
    EXPECT_EQ(co_await read_all(*p.client), "!Connection reset by peer");
    EXPECT_EQ(l.now() - start, 10s);
    net().on_connect = nullptr;
    auto again = co_await l.net().connect(server_at, never);
    EXPECT_EQ(net().connections("api"), 2u);
    EXPECT_EQ(net().cut_all("api"), 2u);
    EXPECT_EQ(co_await read_all(**again), "!Connection reset by peer");
  });
}

TEST_F(MemoryNetwork, HalfOpenBytesVanishSilently) {
  net().faults("api").lose_to_client_after_bytes = 3;
  run([&]() -> awaitable<void> {
    pair p = co_await connected(l);
    EXPECT_TRUE((co_await p.server->write_all(std::string_view("abcdef"))).has_value());
    p.server->close();
    char buffer[16];
    EXPECT_EQ((co_await p.client->read_some(buffer)).value(), 3u);
    p.client->expire_at(l.now() + 60s);
    auto silent = co_await p.client->read_some(buffer);
    EXPECT_EQ(silent.error().code, errc::timed_out);
  });
}

TEST_F(MemoryNetwork, ABlackholeLosesWhatWasSentAndAStallOnlyDelaysIt) {
  run([&]() -> awaitable<void> {
    pair p = co_await connected(l);
    char buffer[16];
    net().set_reach("api", memory_network::reach::stalled);
    (void)co_await p.server->write_all(std::string_view("held"));
    p.client->expire_at(l.now() + 5s);
    EXPECT_EQ((co_await p.client->read_some(buffer)).error().code, errc::timed_out);
    auto hanging = co_await l.net().connect(server_at, l.now() + 2s);
    EXPECT_EQ(hanging.error().code, errc::timed_out);
    net().set_reach("api", memory_network::reach::open);
    p.client->expire_at(never);
    EXPECT_EQ((co_await p.client->read_some(buffer)).value(), 4u);

    net().set_reach("api", memory_network::reach::blackhole);
    (void)co_await p.server->write_all(std::string_view("lost"));
    co_await l.sleep_for(1s);
    net().set_reach("api", memory_network::reach::open);
    (void)co_await p.server->write_all(std::string_view("after"));
    p.client->expire_at(l.now() + 5s);
    EXPECT_EQ((co_await p.client->read_some(buffer)).error().code, errc::timed_out);
  });
}

TEST_F(MemoryNetwork, RefusesWhereNobodyListensAndWhereItIsTold) {
  run([&]() -> awaitable<void> {
    auto nobody = co_await l.net().connect(server_at, never);
    EXPECT_EQ(nobody.error().code, asio::error::connection_refused);
    EXPECT_EQ(nobody.error().doing, "connect to api:443");
    auto listening = l.net().listen(server_at);
    net().set_reach("api", memory_network::reach::refused);
    auto told = co_await l.net().connect(server_at, never);
    EXPECT_EQ(told.error().code, asio::error::connection_refused);
    net().set_reach("api", memory_network::reach::open);
    auto third = co_await l.net().connect(server_at, never);
    EXPECT_TRUE(third.has_value());
    (*listening)->close();
    EXPECT_EQ(co_await read_all(**third), "!Connection reset by peer");
    auto closed = co_await l.net().connect(server_at, never);
    EXPECT_EQ(closed.error().code, asio::error::connection_refused);
  });
}

TEST_F(MemoryNetwork, ListensOnAnyAddressAndChoosesFreePorts) {
  run([&]() -> awaitable<void> {
    auto first = l.net().listen({"", 0});
    auto second = l.net().listen({"127.0.0.1", 0});
    EXPECT_NE((*first)->local().port, (*second)->local().port);
    auto taken = l.net().listen({"0.0.0.0", (*first)->local().port});
    EXPECT_EQ(taken.error().code, asio::error::address_in_use);
    const endpoint somewhere{"somewhere", (*first)->local().port};
    auto anywhere = co_await l.net().connect(somewhere, never);
    EXPECT_TRUE(anywhere.has_value());
    const endpoint localhost{"localhost", (*second)->local().port};
    auto local = co_await l.net().connect(localhost, never);
    EXPECT_TRUE(local.has_value());
  });
}

TEST_F(MemoryNetwork, BytesToAClosedEndAreAnsweredWithAReset) {
  run([&]() -> awaitable<void> {
    pair p = co_await connected(l);
    p.server->close();
    EXPECT_TRUE((co_await p.client->write_all(std::string_view("anyone?"))).has_value());
    co_await l.sleep_for(1ms);
    auto again = co_await p.client->write_all(std::string_view("hello?"));
    EXPECT_TRUE(again.has_error());
    auto closed = co_await p.server->write_all(std::string_view("x"));
    EXPECT_TRUE(is_cancelled(closed.error()));
  });
}

TEST_F(MemoryNetwork, CancellationEndsEveryKindOfWaitAndLeavesNothing) {
  run([&]() -> awaitable<void> {
    pair p = co_await connected(l);
    net().set_reach("far", memory_network::reach::blackhole);
    task_group tasks(l);
    char buffer[8];
    const std::string big(100'000, 'x');
    tasks.start("read", [&]() -> awaitable<void> { (void)co_await p.client->read_some(buffer); });
    tasks.start("wait", [&]() -> awaitable<void> { (void)co_await p.server->wait_readable(); });
    tasks.start("write", [&]() -> awaitable<void> {
      for (;;) (void)co_await p.client->write_all(big);
    });
    tasks.start("accept", [&]() -> awaitable<void> { (void)co_await p.listener->accept(); });
    const endpoint far{"far", 1};
    tasks.start("connect",
                [&]() -> awaitable<void> { (void)co_await l.net().connect(far, never); });
    co_await l.sleep_for(1s);
    co_await tasks.cancel_and_join();
  });
}

/// What one seeded, faulty conversation looked like.
std::string trace_of(std::uint64_t seed) {
  loop l(loop::mode::simulated, seed);
  auto& faults = memory_network::of(l).faults("");
  faults.latency = 1ms;
  faults.jitter = 10ms;
  faults.piece_limit_bytes = 7;
  faults.cut_chance = 0.01;
  std::string trace;
  run_task(l, [&]() -> awaitable<void> {
    pair p = co_await connected(l);
    task_group tasks(l);
    tasks.start("write", [&]() -> awaitable<void> {
      for (int i = 0; i < 50; ++i) {
        auto sent = co_await p.client->write_all(std::string_view("some words to be split"));
        if (!sent) co_return;
      }
      p.client->close();
    });
    char buffer[64];
    for (;;) {
      auto n = co_await p.server->read_some(buffer);
      if (!n || *n == 0) break;
      trace += std::to_string(l.now().time_since_epoch().count()) + ":" + std::to_string(*n) + " ";
    }
    co_await tasks.join();
  });
  EXPECT_EQ(l.live(), nothing_live);
  return trace;
}

TEST(MemoryNetworkTrace, IsTheSameForTheSameSeedAndDiffersForAnother) {
  EXPECT_EQ(trace_of(3), trace_of(3));
  EXPECT_NE(trace_of(3), trace_of(4));
}

}  // namespace
}  // namespace reactor
