#pragma once

#include "reactor/http/client.hpp"
#include "reactor/http/server.hpp"
#include "reactor/net/memory_network.hpp"
#include "tests/reactor/run.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <string>
#include <vector>

namespace reactor::http {

inline const origin api{false, "api", 80};

/// What a scripted peer does with one connection.
using script = std::function<awaitable<void>(stream&)>;

/// A listener whose n-th connection is handled by the n-th script, further ones by the last.
class scripted_server {
public:
  scripted_server(loop& l, endpoint at, std::vector<script> scripts)
      : scripts_(std::move(scripts)), tasks_(l) {
    listener_ = *l.net().listen(at);
    tasks_.start("accept", [this]() -> awaitable<void> {
      for (;;) {
        auto s = co_await listener_->accept();
        if (!s) co_return;
        const std::size_t n = std::min(accepted_++, scripts_.size() - 1);
        tasks_.start("script", serve(n, std::move(*s)));
      }
    });
  }
  std::size_t accepted() const noexcept { return accepted_; }
  awaitable<void> stop() {
    listener_->close();
    co_await tasks_.cancel_and_join();
    listener_.reset();
  }

private:
  awaitable<void> serve(std::size_t n, std::unique_ptr<stream> s) { co_await scripts_[n](*s); }

  std::vector<script> scripts_;
  std::unique_ptr<acceptor> listener_;
  std::size_t accepted_ = 0;
  task_group tasks_;
};

/// Bytes up to and with the next empty line; what there was when the stream ended before it.
inline awaitable<std::string> read_head(stream& s) {  // borrowed
  std::string all;
  while (!all.ends_with("\r\n\r\n")) {
    char c;
    auto n = co_await s.read_some({&c, 1});
    if (!n || *n == 0) co_return all;
    all += c;
  }
  co_return all;
}

/// Answers every request with `bytes`, then keeps the connection open.
inline script answers(std::string bytes) {
  return [bytes](stream& s) -> awaitable<void> {
    for (;;) {
      const std::string head = co_await read_head(s);
      if (head.empty()) co_return;
      auto sent = co_await s.write_all(bytes);
      if (!sent) co_return;
    }
  };
}

/// Answers one request with `bytes` and hangs up.
inline script answers_once(std::string bytes) {
  return [bytes](stream& s) -> awaitable<void> {
    const std::string head = co_await read_head(s);
    (void)co_await s.write_all(bytes);
    s.close();
  };
}

class HttpTest : public testing::Test {
protected:
  void run(std::function<awaitable<void>()> body) { run_task(l, std::move(body)); }
  void TearDown() override {
    EXPECT_EQ(l.live(), nothing_live);
    EXPECT_EQ(l.timers().size(), 0u);
  }
  memory_network& net() { return memory_network::of(l); }

  client_options options(origin to = api) const {
    client_options o;
    o.origin = std::move(to);
    return o;
  }
  static server_options at(std::uint16_t port) {
    server_options o;
    o.at = {"api", port};
    return o;
  }
  static request get(std::string target) {
    request r;
    r.target = std::move(target);
    return r;
  }

  loop l{loop::mode::simulated, 11};
};

/// "200 hello" or the fault's text.
inline std::string summary(const result<response>& r) {
  if (!r) return "! " + r.error().message();
  return std::to_string(r->status) + " " + r->body;
}

}  // namespace reactor::http
