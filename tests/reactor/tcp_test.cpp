#include "reactor/net/tcp.hpp"

#include "tests/reactor/low_file_limit.hpp"
#include "tests/reactor/run.hpp"

#include <boost/asio/error.hpp>
#include <boost/system/errc.hpp>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <vector>

namespace reactor {
namespace {

/// Sockets of this machine: the only tests of the layer on real time, which is why their deadlines
/// are short.
class Tcp : public testing::Test {
protected:
  void run(std::function<awaitable<void>()> body) { run_task(l, std::move(body)); }
  void TearDown() override { EXPECT_EQ(l.live(), nothing_live); }
  loop l;
};

TEST_F(Tcp, CarriesBytesBothWaysAndTheEnd) {
  run([&]() -> awaitable<void> {
    auto listening = l.net().listen({"127.0.0.1", 0});
    auto client = co_await l.net().connect((*listening)->local(), l.now() + 5s);
    auto server = co_await (*listening)->accept();
    EXPECT_TRUE((co_await (*client)->write_all(std::string_view("ping"))).has_value());
    EXPECT_TRUE((co_await (*server)->wait_readable()).has_value());
    char buffer[16];
    EXPECT_EQ((*server)->try_read(buffer).value(), 4u);
    EXPECT_FALSE((*server)->try_read(buffer).value().has_value());
    (void)co_await (*server)->write_all(std::string_view("pong"));
    (*server)->close();
    EXPECT_EQ(co_await read_all(**client), "pong");
    EXPECT_EQ((*client)->peer(), (*listening)->local().text());
    EXPECT_EQ((*client)->try_read(buffer).value(), 0u);
    EXPECT_EQ(l.live().streams, 3u);
  });
}

TEST_F(Tcp, ResolvesNamesAndListensOnBothFamilies) {
  run([&]() -> awaitable<void> {
    auto listening = l.net().listen({"", 0});
    const endpoint localhost{"localhost", (*listening)->local().port};
    auto client = co_await l.net().connect(localhost, l.now() + 5s);
    EXPECT_TRUE(client.has_value());
    auto server = co_await (*listening)->accept();
    EXPECT_TRUE(server.has_value());
    const endpoint unknown{"no-such-host.invalid", 1};
    auto nowhere = co_await l.net().connect(unknown, l.now() + 5s);
    EXPECT_TRUE(nowhere.has_error());
    EXPECT_EQ(nowhere.error().doing,
              "connect to no-such-host.invalid:1: resolve no-such-host.invalid");
  });
}

TEST_F(Tcp, ANameLeadsToNoAddressOfTheLink) {
  run([&]() -> awaitable<void> {
    // The C library resolves these names by itself.
    for (const char* name : {"2852039166", "0xa9fea9fe", "0251.0376.43518"}) {
      endpoint there{name, 80};
      auto refused = co_await l.net().connect(std::move(there), l.now() + 5s);
      EXPECT_TRUE(refused.has_error());
      EXPECT_EQ(refused.error().code, errc::refused) << refused.error().message();
    }
  });
}

TEST_F(Tcp, ManyWhoAskForOneNameAtOnceAllGetItsAddress) {
  run([&]() -> awaitable<void> {
    auto listening = l.net().listen({"127.0.0.1", 0});
    const endpoint localhost{"localhost", (*listening)->local().port};
    int connected = 0;
    task_group tasks(l);
    std::vector<task_group::task_id> ids;
    for (int i = 0; i < 5; ++i) {
      ids.push_back(tasks.start("connect", [&]() -> awaitable<void> {
        auto client = co_await l.net().connect(localhost, l.now() + 5s);
        if (client) ++connected;
      }));
    }
    co_await l.yield();
    tasks.cancel(ids.front());  // the one that asked first; the others must not depend on it
    co_await tasks.join();
    EXPECT_GE(connected, 4);
  });
}

TEST_F(Tcp, SetsWhatNoticesADeadPeer) {
  run([&]() -> awaitable<void> {
    auto listening = l.net().listen({"127.0.0.1", 0});
    auto client = co_await l.net().connect((*listening)->local(), l.now() + 5s);
    auto server = co_await (*listening)->accept();
    int found = 0;
    for (int fd = 3; fd < 256; ++fd) {
      sockaddr_storage peer;
      socklen_t length = sizeof peer;
      if (::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &length) != 0 ||
          peer.ss_family != AF_INET)
        continue;
      ++found;
      const auto option = [fd](int level, int name) {
        int value = 0;
        socklen_t size = sizeof value;
        ::getsockopt(fd, level, name, &value, &size);
        return value;
      };
      EXPECT_EQ(option(IPPROTO_TCP, TCP_NODELAY), 1);
      EXPECT_EQ(option(SOL_SOCKET, SO_KEEPALIVE), 1);
      EXPECT_LE(option(IPPROTO_TCP, TCP_KEEPIDLE) + 2 * option(IPPROTO_TCP, TCP_KEEPINTVL), 20);
      EXPECT_EQ(option(IPPROTO_TCP, TCP_USER_TIMEOUT), 15'000);
    }
    EXPECT_EQ(found, 2);
  });
}

TEST_F(Tcp, ListenersAndFilesHaveDescriptorsLeftWhenConnectionsHaveNone) {
  const low_file_limit low(120);
  run([&]() -> awaitable<void> {
    auto listening = l.net().listen({"127.0.0.1", 0});
    std::vector<std::unique_ptr<stream>> ours;
    for (int i = 0; i < 120; ++i) {
      auto client = co_await l.net().connect((*listening)->local(), l.now() + 5s);
      if (!client) {
        EXPECT_EQ(client.error().code, boost::system::errc::too_many_files_open);
        break;
      }
      ours.push_back(std::move(*client));
    }
    EXPECT_LT(ours.size(), 100u);
    EXPECT_GT(ours.size(), 20u);
    // What the process can do nothing without has some of those that are kept back, not all.
    for (int i = 0; i < 8; ++i) {
      auto client =
          co_await l.net().connect((*listening)->local(), l.now() + 5s, precedence::essential);
      EXPECT_TRUE(client.has_value()) << i;
      if (client) ours.push_back(std::move(*client));
    }
    std::vector<std::unique_ptr<stream>> more;
    for (int i = 0; i < 60; ++i) {
      auto client =
          co_await l.net().connect((*listening)->local(), l.now() + 5s, precedence::essential);
      if (!client) break;
      more.push_back(std::move(*client));
    }
    EXPECT_LT(more.size(), 20u);
    for (int i = 0; i < 8; ++i) {
      auto server = co_await (*listening)->accept();
      EXPECT_TRUE(server.has_value());
      ours.push_back(std::move(*server));
    }
    const int file = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    EXPECT_GE(file, 0);
    ::close(file);
  });
}

TEST_F(Tcp, AnEmptyListenerRefusesAndNamesTheEndpoint) {
  run([&]() -> awaitable<void> {
    auto listening = l.net().listen({"127.0.0.1", 0});
    const endpoint at = (*listening)->local();
    auto twice = l.net().listen(at);
    EXPECT_EQ(twice.error().code, asio::error::address_in_use);
    EXPECT_EQ(twice.error().doing, "listen on " + at.text());
    (*listening)->close();
    auto refused = co_await l.net().connect(at, l.now() + 5s);
    EXPECT_EQ(refused.error().code, asio::error::connection_refused);
    auto name = l.net().listen({"example.com", 0});
    EXPECT_EQ(name.error().code, errc::refused);
  });
}

TEST_F(Tcp, ADeadlineEndsARunningReadAndLiftingItAllowsMore) {
  run([&]() -> awaitable<void> {
    auto listening = l.net().listen({"127.0.0.1", 0});
    auto client = co_await l.net().connect((*listening)->local(), l.now() + 5s);
    auto server = co_await (*listening)->accept();
    (*client)->expire_at(l.now() + 20ms);
    char buffer[8];
    auto late = co_await (*client)->read_some(buffer);
    EXPECT_EQ(late.error().code, errc::timed_out);
    auto still = co_await (*client)->wait_readable();
    EXPECT_EQ(still.error().code, errc::timed_out);
    (*client)->expire_at(never);
    (void)co_await (*server)->write_all(std::string_view("x"));
    EXPECT_EQ((co_await (*client)->read_some(buffer)).value(), 1u);
    // A writer that nobody reads from.
    (*client)->expire_at(l.now() + 50ms);
    const std::string big(64 * 1024 * 1024, 'x');
    auto stuck = co_await (*client)->write_all(big);
    EXPECT_EQ(stuck.error().code, errc::timed_out);
  });
}

TEST_F(Tcp, CloseEndsPendingOperationsAsCancelled) {
  run([&]() -> awaitable<void> {
    auto listening = l.net().listen({"127.0.0.1", 0});
    auto client = co_await l.net().connect((*listening)->local(), l.now() + 5s);
    task_group tasks(l);
    tasks.start("read", [&]() -> awaitable<void> {
      char buffer[8];
      auto read = co_await (*client)->read_some(buffer);
      EXPECT_TRUE(is_cancelled(read.error()));
    });
    tasks.start("accept", [&]() -> awaitable<void> {
      auto first = co_await (*listening)->accept();
      EXPECT_TRUE(first.has_value());
      auto second = co_await (*listening)->accept();
      EXPECT_TRUE(is_cancelled(second.error()));
    });
    co_await l.sleep_for(5ms);
    (*client)->close();
    (*listening)->close();
    co_await tasks.join();
  });
}

TEST_F(Tcp, CancellationEndsEveryKindOfWait) {
  run([&]() -> awaitable<void> {
    auto listening = l.net().listen({"127.0.0.1", 0});
    auto client = co_await l.net().connect((*listening)->local(), l.now() + 5s);
    auto server = co_await (*listening)->accept();
    task_group tasks(l);
    char buffer[8];
    const std::string big(1 << 20, 'x');
    tasks.start("read", [&]() -> awaitable<void> { (void)co_await (*client)->read_some(buffer); });
    tasks.start("wait", [&]() -> awaitable<void> { (void)co_await (*server)->wait_readable(); });
    tasks.start("write", [&]() -> awaitable<void> {
      for (;;) (void)co_await (*client)->write_all(big);
    });
    tasks.start("accept", [&]() -> awaitable<void> { (void)co_await (*listening)->accept(); });
    const endpoint unknown{"no-such-host.invalid", 1};
    tasks.start("resolve",
                [&]() -> awaitable<void> { (void)co_await l.net().connect(unknown, never); });
    co_await l.sleep_for(5ms);
    co_await tasks.cancel_and_join();
  });
}

/// An address whose connection attempts hang: a listener with a full queue that nobody accepts
/// from.
class full_listener {
public:
  full_listener() {
    fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    (void)::bind(fd_, reinterpret_cast<sockaddr*>(&address), length);
    (void)::listen(fd_, 0);
    (void)::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &length);
    port_ = ntohs(address.sin_port);
  }
  ~full_listener() { ::close(fd_); }
  endpoint at() const { return {"127.0.0.1", port_}; }

private:
  int fd_;
  std::uint16_t port_;
};

TEST_F(Tcp, AConnectThatHangsEndsAtItsDeadline) {
  full_listener hanging;
  run([&]() -> awaitable<void> {
    std::vector<std::unique_ptr<stream>> filling;
    for (int i = 0; i < 8; ++i) {
      auto made = co_await l.net().connect(hanging.at(), l.now() + 50ms);
      if (!made) {
        EXPECT_EQ(made.error().code, errc::timed_out);
        EXPECT_EQ(made.error().doing, "connect to " + hanging.at().text());
        co_return;
      }
      filling.push_back(std::move(*made));
    }
    ADD_FAILURE() << "the queue took every connection";
  });
}

TEST(Endpoint, PutsBracketsAroundIPv6) {
  EXPECT_EQ((endpoint{"10.0.0.1", 6443}.text()), "10.0.0.1:6443");
  EXPECT_EQ((endpoint{"fd00::1", 6443}.text()), "[fd00::1]:6443");
}

}  // namespace
}  // namespace reactor
