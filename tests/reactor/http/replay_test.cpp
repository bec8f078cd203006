// One recorded conversation, replayed with every kind of trouble at each of its bytes and steps.
#include "tests/reactor/http/http_test.hpp"
#include "tests/reactor/http/test_certificates.hpp"

namespace reactor::http {
namespace {

/// Four exchanges of every shape: a fetch, a body, a stream read to its end, one that is left
/// early.
class conversation {
public:
  conversation(loop& l, const test_authority* ca)
      : loop_(l), server_(l, serving(ca), answer()), client_(l, asking(ca)) {
    EXPECT_TRUE(server_.start().has_value());
  }

  awaitable<void> hold() {
    request a;
    a.target = "/a";
    auto first = co_await client_.fetch(std::move(a));
    note(summary(first));
    request b;
    b.method = "POST";
    b.target = "/b";
    b.body = "body";
    auto second = co_await client_.fetch(std::move(b));
    note(summary(second));
    for (const bool to_the_end : {true, false}) {
      request c;
      c.target = "/stream";
      auto streamed = co_await client_.send(std::move(c));
      if (!streamed) {
        note("! " + streamed.error().message());
        continue;
      }
      for (int n = 0; n < (to_the_end ? 1000 : 1); ++n) {
        auto piece = co_await (*streamed)->read(10s);
        if (!piece) note("! " + piece.error().message());
        if (!piece || piece->empty()) break;
        note(std::string(*piece));
      }
    }
    ended_ = true;
  }
  awaitable<void> stop() {
    co_await client_.stop();
    co_await server_.stop();
  }
  const std::string& notes() const noexcept { return notes_; }
  bool ended() const noexcept { return ended_; }

private:
  void note(std::string text) { notes_ += text; }

  static server_options serving(const test_authority* ca) {
    server_options o;
    o.at = {"api", 443};
    if (ca) o.tls = std::make_unique<tls_server_settings>(ca->server({"api"}));
    return o;
  }
  static client_options asking(const test_authority* ca) {
    client_options o;
    o.origin = {ca != nullptr, "api", 443};
    if (ca) o.tls = ca->client();
    return o;
  }
  handler answer() {
    return [this](request r, responder& to) -> awaitable<void> {
      if (r.target == "/stream") {
        response_head head{200, {{"Content-Type", "text/plain"}}};
        auto sent = co_await to.start(std::move(head));
        for (int n = 0; sent && n < 3; ++n) {
          sent = co_await to.write("piece\n");
          co_await loop_.sleep_for(100ms);
        }
        (void)co_await to.finish();
        co_return;
      }
      response out;
      out.body = r.method + r.body + "\n";
      (void)co_await to.send(std::move(out));
    };
  }

  loop& loop_;
  server server_;
  client client_;
  std::string notes_;
  bool ended_ = false;
};

const std::string undisturbed = "200 GET\n200 POSTbody\npiece\npiece\npiece\npiece\n";

/// Holds one conversation on a loop of its own; what it noted.
std::string replay(bool secured, const link_faults& with) {
  loop l(loop::mode::simulated, 11);
  memory_network::of(l).faults("api") = with;
  std::optional<test_authority> ca;
  if (secured) ca.emplace(l);
  std::string notes;
  run_task(l, [&]() -> awaitable<void> {
    conversation c(l, ca ? &*ca : nullptr);
    co_await c.hold();
    EXPECT_TRUE(c.ended());
    notes = c.notes();
    co_await c.stop();
  });
  EXPECT_LE(l.now().time_since_epoch(), 1h + 200s);
  EXPECT_EQ(l.live(), nothing_live);
  EXPECT_TRUE(l.timers().empty());
  return notes;
}

class Replay : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(PlainAndTls, Replay, testing::Bool(),
                         [](const auto& p) { return p.param ? "Tls" : "Plain"; });

/// Longer than what any connection of the conversation carries in one direction.
std::size_t longest(bool secured) {
  return secured ? 1'800 : 400;
}

TEST_P(Replay, IsTheSameInPiecesOfAnySize) {
  std::string joined;
  for (const std::size_t pieces : {0, 1, 2, 3, 7, 50}) {
    link_faults f;
    f.piece_limit_bytes = pieces;
    f.jitter = pieces % 2 == 1 ? nanoseconds(1ms) : nanoseconds(0);
    std::string got = replay(GetParam(), f);
    // The one piece read from the last stream may be a part of a chunk then.
    EXPECT_TRUE(got.starts_with(undisturbed.substr(0, undisturbed.size() - 6))) << got;
  }
}

TEST_P(Replay, EndsInAFaultWhereverTheAnswerIsCut) {
  const std::size_t step = GetParam() ? 13 : 1;
  for (std::size_t n = 0; n < longest(GetParam()); n += step) {
    for (const auto as : {link_faults::ending::reset, link_faults::ending::end_of_stream}) {
      link_faults f;
      f.cut_to_client_after_bytes = n;
      f.cut_as = as;
      const std::string got = replay(GetParam(), f);
      EXPECT_FALSE(got.empty());
      if (HasFailure()) {
        ADD_FAILURE() << "cut after byte " << n << ": " << got;
        return;
      }
    }
  }
}

TEST_P(Replay, EndsInAFaultWhereverTheRequestIsCutOrLost) {
  const std::size_t step = GetParam() ? 29 : 1;
  for (std::size_t n = 0; n < longest(GetParam()) / 2; n += step) {
    link_faults cut;
    cut.cut_to_server_after_bytes = n;
    (void)replay(GetParam(), cut);
    link_faults lost;
    lost.lose_to_server_after_bytes = n;
    (void)replay(GetParam(), lost);
    link_faults silent;
    silent.lose_to_client_after_bytes = n;
    (void)replay(GetParam(), silent);
    if (HasFailure()) {
      ADD_FAILURE() << "after byte " << n;
      return;
    }
  }
}

TEST_P(Replay, LeavesNothingWhereverItIsCancelled) {
  for (std::size_t steps = 0; steps < 5'000; ++steps) {
    loop l(loop::mode::simulated, 11);
    std::optional<test_authority> ca;
    if (GetParam()) ca.emplace(l);
    bool ended = false;
    {
      conversation c(l, ca ? &*ca : nullptr);
      task_group talking(l), stopping(l);
      talking.start("conversation", c.hold());
      for (std::size_t done = 0; done < steps && !talking.empty() && l.run_one();) ++done;
      ended = c.ended();
      const steady_time at = l.now();
      talking.cancel();
      while (!talking.empty() && l.run_one()) {
      }
      EXPECT_TRUE(talking.empty());
      stopping.start("stop", c.stop());
      while (!stopping.empty() && l.run_one()) {
      }
      EXPECT_TRUE(stopping.empty());
      EXPECT_LE(l.now() - at, 1s);
    }
    l.run();
    EXPECT_EQ(l.live(), nothing_live);
    EXPECT_TRUE(l.timers().empty());
    if (HasFailure()) {
      ADD_FAILURE() << "cancelled after step " << steps;
      return;
    }
    if (ended) return;
  }
  ADD_FAILURE() << "it never ends";
}

TEST_P(Replay, LeavesNothingWhereverItsOwnersStop) {
  for (std::size_t steps = 0; steps < 5'000; ++steps) {
    loop l(loop::mode::simulated, 11);
    std::optional<test_authority> ca;
    if (GetParam()) ca.emplace(l);
    bool ended = false;
    {
      conversation c(l, ca ? &*ca : nullptr);
      task_group talking(l), stopping(l);
      talking.start("conversation", c.hold());
      for (std::size_t done = 0; done < steps && !talking.empty() && l.run_one();) ++done;
      ended = c.ended();
      const steady_time at = l.now();
      stopping.start("stop", c.stop());
      while (!(talking.empty() && stopping.empty()) && l.run_one()) {
      }
      EXPECT_TRUE(talking.empty());
      EXPECT_TRUE(stopping.empty());
      EXPECT_LE(l.now() - at, 1s);
    }
    l.run();
    EXPECT_EQ(l.live(), nothing_live);
    if (HasFailure()) {
      ADD_FAILURE() << "stopped after step " << steps;
      return;
    }
    if (ended) return;
  }
  ADD_FAILURE() << "it never ends";
}

}  // namespace
}  // namespace reactor::http
