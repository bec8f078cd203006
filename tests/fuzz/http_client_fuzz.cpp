#include "reactor/http/client.hpp"
#include "reactor/http/gzip.hpp"
#include "reactor/loop.hpp"
#include "reactor/net/memory_network.hpp"
#include "reactor/task_group.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>

namespace {

using reactor::awaitable;
using namespace std::chrono_literals;

constexpr std::size_t limit_bytes = 256 * 1024;

/// How the conversation goes; the rest of the input is what the server says, whatever it is asked.
struct plan {
  explicit plan(std::uint8_t how)
      : head(how & 1), stays(how & 2), through_proxy(how & 4), fetches(how & 8) {}
  bool head, stays, through_proxy, fetches;
};

awaitable<void> talk(std::unique_ptr<reactor::stream> s, std::string says, plan how) {
  char asked[4096];
  auto read = co_await s->read_some(asked);
  if (!read || *read == 0) co_return;
  auto sent = co_await s->write_all(says);
  while (sent && how.stays) {
    read = co_await s->read_some(asked);
    if (!read || *read == 0) co_return;
  }
}

awaitable<void> serve(reactor::acceptor& at, reactor::task_group& tasks, std::string says,
                      plan how) {
  for (;;) {
    auto s = co_await at.accept();
    if (!s) co_return;
    tasks.start("talk", talk(std::move(*s), says, how));
  }
}

awaitable<void> ask_once(reactor::http::client& c, plan how) {
  reactor::http::request r;
  if (how.head) r.method = "HEAD";
  if (how.fetches) {
    auto got = co_await c.fetch(std::move(r), limit_bytes);
    if (got && got->body.size() > limit_bytes) std::abort();
    co_return;
  }
  auto sent = co_await c.send(std::move(r));
  if (!sent) co_return;
  auto plain = reactor::http::decoded(std::move(*sent), limit_bytes);
  if (!plain) co_return;
  std::unique_ptr<reactor::http::exchange> x = std::move(*plain);
  auto body = co_await reactor::http::read_body(x, limit_bytes, 10s);
  if (body && body->size() > limit_bytes) std::abort();
}

awaitable<void> ask(reactor::loop& l, reactor::acceptor& at, plan how, bool& ended) {
  reactor::http::client_options o;
  o.origin = {how.through_proxy, "api", static_cast<std::uint16_t>(how.through_proxy ? 443 : 80)};
  o.tls.verify = false;
  if (how.through_proxy) o.proxy.url = reactor::secret("http://api:80");
  reactor::http::client c(l, o);
  // The second one finds what the first one left behind.
  for (int times = 0; times < 2; ++times) co_await ask_once(c, how);
  co_await c.stop();
  at.close();
  ended = true;
}

}  // namespace

/// A server that says anything: interim answers, chunks, trailers, gzip, a tunnel, TLS. Every
/// request ends, in virtual time, with a bounded number of turns, and leaves nothing behind.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2 || size > 64 * 1024) return 0;
  reactor::loop l(reactor::loop::mode::simulated, data[0]);
  const plan how(data[0]);
  auto& faults = reactor::memory_network::of(l).faults("api");
  faults.latency = 1ms;
  faults.piece_limit_bytes = data[1] == 0 ? 0 : 1 + std::size_t{data[1]} * 8;
  {
    reactor::task_group tasks(l);
    const reactor::endpoint where{"api", 80};
    const auto listener = *l.net().listen(where);
    bool ended = false;
    const std::string says(reinterpret_cast<const char*>(data) + 2, size - 2);
    tasks.start("serve", serve(*listener, tasks, says, how));
    tasks.start("ask", ask(l, *listener, how, ended));
    l.run_until(l.now() + 10min);
    if (!ended || l.health().callbacks > 2'000'000) std::abort();
    tasks.cancel();
    l.run();
  }
  if (!(l.live() == reactor::live_counts{})) std::abort();
  return 0;
}
