#include "reactor/deadline.hpp"
#include "reactor/limiter.hpp"
#include "reactor/net/memory_network.hpp"
#include "reactor/work_queue.hpp"
#include "tests/reactor/cancel_everywhere.hpp"
#include "tests/reactor/run.hpp"

#include <string>

namespace reactor {
namespace {

struct exchange {
  explicit exchange(loop& l) : queue(l), limit(l, {.per_second = 2, .burst = 1}) {}
  std::unique_ptr<acceptor> listener;
  std::unique_ptr<stream> client, server;
  work_queue<int> queue;
  limiter limit;
};

const endpoint meeting{"api", 1};

awaitable<void> serve(loop& l, std::shared_ptr<exchange> with) {
  auto listening = l.net().listen(meeting);
  with->listener = std::move(*listening);
  auto accepted = co_await with->listener->accept();
  if (!accepted) co_return;
  with->server = std::move(*accepted);
  char buffer[64];
  for (;;) {
    auto n = co_await with->server->read_some(buffer);
    if (!n || *n == 0) co_return;
    auto sent = co_await with->server->write_all({buffer, *n});
    if (!sent) co_return;
  }
}

awaitable<void> ask(loop& l, std::shared_ptr<exchange> with) {
  co_await l.yield();
  auto connected = co_await l.net().connect(meeting, l.now() + 5s);
  if (!connected) co_return;
  with->client = std::move(*connected);
  with->client->expire_at(l.now() + 10s);
  const std::string big(70'000, 'x');
  auto sent = co_await with->client->write_all(std::string_view(big).substr(0, 100));
  if (!sent) co_return;
  auto ready = co_await with->client->wait_readable();
  if (!ready) co_return;
  char buffer[64];
  for (std::size_t got = 0; got < 100;) {
    auto n = co_await with->client->read_some(buffer);
    if (!n || *n == 0) co_return;
    got += *n;
  }
  with->client->close();
}

TEST(CancelledAnywhere, AConversationOverALossyLinkLeavesNothing) {
  const std::size_t steps = cancel_everywhere([](loop& l, task_group& tasks) {
    auto& faults = memory_network::of(l).faults("");
    faults.latency = 3ms;
    faults.jitter = 5ms;
    faults.piece_limit_bytes = 40;
    auto with = std::make_shared<exchange>(l);
    tasks.start("serve", serve(l, with));
    tasks.start("ask", ask(l, with));
    return with;
  });
  EXPECT_GT(steps, 30u);
}

TEST(CancelledAnywhere, QueuesLimitersDeadlinesAndOffloadedWorkLeaveNothing) {
  const std::size_t steps = cancel_everywhere([](loop& l, task_group& tasks) {
    auto with = std::make_shared<exchange>(l);
    tasks.start("producer", [&l, with]() -> awaitable<void> {
      for (int i = 0; i < 4; ++i) {
        with->queue.add_after(i, 1s);
        with->queue.add(i + 10);
        const auto job = [](int n) { return std::to_string(n); };
        const std::string text = co_await l.offload(job, i);
        EXPECT_FALSE(text.empty());
        co_await l.sleep_for(300ms);
      }
      co_await l.sleep_for(10s);
      with->queue.close();
    });
    for (int worker = 0; worker < 2; ++worker) {
      tasks.start("worker", [&l, with]() -> awaitable<void> {
        for (;;) {
          auto key = co_await with->queue.get();
          if (!key) co_return;
          co_await with->limit.acquire();
          auto answer = co_await with_deadline(l, answer_after(l, *key % 2 ? 1h : 10ms),
                                               l.now() + 1s, "work");
          if (answer)
            with->queue.forget(*key);
          else if (with->queue.failures(*key) < 2)
            with->queue.retry(*key);
          with->queue.done(*key);
        }
      });
    }
    return with;
  });
  EXPECT_GT(steps, 50u);
}

}  // namespace
}  // namespace reactor
