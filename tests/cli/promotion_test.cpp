// `train promote --write` and `train facts` against a registry that fails in the middle.
#include "releases/commands/promotion.hpp"

#include "releases/commands/facts.hpp"
#include "reactor/task_group.hpp"
#include "tests/registry/repositories.hpp"

#include <boost/json.hpp>

namespace cli {
namespace {

using formats::digest_of;
using reactor::awaitable;
using reactor::http::request;
using reactor::http::response;
using registry::repositories;
using registry::respond;
using testing::AnyOf;
using testing::HasSubstr;

/// What a registry does instead of answering.
enum class trouble { unauthorized, wants_a_login, unavailable, silent, other_content };
constexpr trouble all_troubles[] = {trouble::unauthorized, trouble::wants_a_login,
                                    trouble::unavailable, trouble::silent, trouble::other_content};

/// Serves `repositories`, until request number `from`: that one and all behind it get trouble.
class troubled_server {
public:
  troubled_server(reactor::loop& l, repositories& fake, std::size_t from, trouble what)
      : loop_(l), fake_(fake), from_(from), what_(what), server_(l, options(), handler()) {
    EXPECT_TRUE(server_.start());
  }
  awaitable<void> stop() { return server_.stop(); }
  std::size_t asked() const { return asked_; }
  reactor::nanoseconds latency{};

private:
  static reactor::http::server_options options() {
    reactor::http::server_options o;
    o.at = {"reg", 5000};
    return o;
  }
  reactor::http::handler handler() {
    return [this](request r, reactor::http::responder& to) { return serve(std::move(r), to); };
  }
  awaitable<void> serve(request r, reactor::http::responder& to) {
    const bool fails = asked_++ >= from_;
    if (latency.count() > 0) co_await loop_.sleep_for(latency);
    if (fails && what_ == trouble::silent) co_await loop_.sleep_for(std::chrono::hours(24));
    response out = fails ? answer(r) : fake_(r);
    auto sent = co_await to.send(std::move(out));
    (void)sent;
  }
  response answer(const request& r) const {
    switch (what_) {
      case trouble::unauthorized:
        return respond(401, R"({"errors":[{"code":"UNAUTHORIZED","message":"expired"}]})");
      case trouble::wants_a_login:
        return respond(401, "", {{"WWW-Authenticate", R"(Basic realm="reg")"}});
      case trouble::other_content:
        if (r.method == "GET" || r.method == "HEAD") {
          const std::string other = registry::image_of_layer("of another one");
          return respond(200, other, {{"Docker-Content-Digest", digest_of(other)}});
        }
        [[fallthrough]];
      case trouble::unavailable:
      case trouble::silent: break;
    }
    return respond(503);
  }

  reactor::loop& loop_;
  repositories& fake_;
  const std::size_t from_;
  const trouble what_;
  std::size_t asked_ = 0;
  reactor::http::server server_;
};

constexpr std::size_t never = 1'000'000;

class Promotion : public registry::WebFixture {
protected:
  Promotion() {
    for (const char* arch : {"x86_64", "s390x"}) {
      const std::string text = push(std::string("kbs for ") + arch);
      fake.manifests["staged/kbs"][std::string("abc-") + arch] = text;
      plan.retags.push_back({"staged/kbs:abc-" + std::string(arch), "kbs:v1-" + std::string(arch),
                             arch, digest_of(text)});
    }
    policies::trains::index_row index;
    index.to = "kbs:v1";
    for (const auto& r : plan.retags)
      index.parts.push_back({r.from, r.digest, r.arch == "x86_64" ? "amd64" : r.arch});
    plan.indexes.push_back(std::move(index));
    options.plain_http = true;
  }
  std::string push(const std::string& layer) {
    fake.blobs["staged/kbs"].insert(digest_of(layer));
    const std::string text = registry::image_of_layer(layer);
    fake.manifests["staged/kbs"][digest_of(text)] = text;
    return text;
  }
  using outcome = reactor::result<std::vector<named_image>>;
  struct ended {
    std::optional<outcome> out;
    std::size_t asked = 0;
  };
  ended promote(std::size_t from = never, trouble what = trouble::unavailable) {
    ended e;
    run([&]() -> awaitable<void> {
      troubled_server server(l, fake, from, what);
      registry::web w(l, env());
      {
        registry::client c(l, w, options);
        std::string place = "reg:5000";
        policies::trains::train_answer asked = plan;
        e.out.emplace(co_await give_names(c, std::move(place), std::move(asked)));
      }
      e.asked = server.asked();
      co_await w.stop();
      co_await server.stop();
    });
    return e;
  }
  /// How many of the names are there. Each that is, is what was tested.
  std::size_t names() const {
    std::size_t count = 0;
    const auto kbs = fake.manifests.find("kbs");
    if (kbs == fake.manifests.end()) return 0;
    for (const auto& r : plan.retags) {
      const auto found = kbs->second.find(r.to.substr(4));
      if (found == kbs->second.end()) continue;
      ++count;
      EXPECT_EQ(digest_of(found->second), r.digest) << r.to;
    }
    if (kbs->second.contains("v1")) {
      EXPECT_EQ(count, plan.retags.size()) << "an index stands over images that are there";
      ++count;
    }
    return count;
  }

  repositories fake;
  policies::trains::train_answer plan;
  registry::client_options options;
};

TEST_F(Promotion, SaysWhatIsNamedWhereTheRegistryFailsAndASecondRunGoesOn) {
  const repositories before = fake;
  const ended whole = promote();
  ASSERT_TRUE(*whole.out) << whole.out->error().message();
  ASSERT_EQ(names(), 3u);
  const repositories finished = fake;
  std::size_t in_part = 0;
  for (const trouble what : all_troubles) {
    for (std::size_t at = 0; at < whole.asked; ++at) {
      fake = before;
      const ended first = promote(at, what);
      ASSERT_FALSE(*first.out) << "request " << at;
      const std::size_t there = names();
      // The last one that was written may not have been proved.
      const std::string said = first.out->error().message();
      const auto told = [](std::size_t n) {
        return HasSubstr("(" + std::to_string(n) + " of 3 are named)");
      };
      if (there > 0) {
        EXPECT_THAT(said, AnyOf(told(there), told(there - 1))) << "request " << at;
      }
      in_part += there == 1 || there == 2;
      const ended second = promote();
      ASSERT_TRUE(*second.out) << second.out->error().message();
      EXPECT_EQ(fake.manifests, finished.manifests) << "request " << at;
      std::size_t already = 0;
      for (const named_image& n : **second.out)
        already += n.how == named_image::naming::there_already;
      EXPECT_EQ(already, there) << "request " << at;
    }
  }
  EXPECT_GT(in_part, 0u);
}

TEST_F(Promotion, WritesNothingWhereOneNameIsTakenByAnotherDigest) {
  for (const char* taken : {"v1-x86_64", "v1-s390x", "v1"}) {
    fake.manifests.erase("kbs");
    fake.manifests["kbs"][taken] = registry::image_of_layer("another one");
    const repositories before = fake;
    const ended e = promote();
    ASSERT_FALSE(*e.out) << taken;
    EXPECT_THAT(e.out->error().message(), HasSubstr("names stay where they are")) << taken;
    EXPECT_THAT(e.out->error().message(), HasSubstr(std::string("kbs:") + taken + " is sha256:"));
    EXPECT_EQ(fake.manifests, before.manifests) << taken;
  }
}

TEST_F(Promotion, OfTwoAtOnceThatDifferNoMoreThanOneSaysThatItIsDone) {
  const std::string rebuilt = push("kbs for x86_64, built again");
  fake.manifests["staged/kbs"]["def-x86_64"] = rebuilt;
  policies::trains::train_answer other = plan;
  other.retags[0].from = "staged/kbs:def-x86_64";
  other.retags[0].digest = digest_of(rebuilt);
  other.indexes[0].parts[0].from = other.retags[0].from;
  other.indexes[0].parts[0].digest = other.retags[0].digest;
  const repositories before = fake;
  std::size_t refused_before_writing = 0, one_done = 0;
  for (int delay = 0; delay < 60; ++delay) {
    for (const bool same : {true, false}) {
      fake = before;
      std::vector<outcome> ended;
      run([&]() -> awaitable<void> {
        troubled_server server(l, fake, never, trouble::unavailable);
        server.latency = std::chrono::microseconds(100);
        registry::web w(l, env());
        {
          registry::client c(l, w, options);
          reactor::task_group tasks(l);
          const auto start = [&](policies::trains::train_answer asked, reactor::nanoseconds wait) {
            tasks.start("promote", [&, asked, wait]() -> awaitable<void> {
              co_await l.sleep_for(wait);
              std::string place = "reg:5000";
              policies::trains::train_answer mine = asked;
              auto done = co_await give_names(c, std::move(place), std::move(mine));
              ended.push_back(std::move(done));
            });
          };
          start(plan, std::chrono::nanoseconds(0));
          start(same ? plan : other, std::chrono::microseconds(50) * delay);
          while (ended.size() < 2) co_await l.sleep_for(std::chrono::milliseconds(1));
          co_await tasks.cancel_and_join();
        }
        co_await w.stop();
        co_await server.stop();
      });
      const auto done =
          std::count_if(ended.begin(), ended.end(), [](const outcome& o) { return o.has_value(); });
      if (same) {
        EXPECT_EQ(done, 2) << delay << (ended[0] ? "" : ended[0].error().message())
                           << (ended[1] ? "" : ended[1].error().message());
        continue;
      }
      EXPECT_LE(done, 1) << delay;
      one_done += done == 1;
      for (const outcome& o : ended) {
        if (o) {
          // What it says is what is there.
          for (const named_image& n : *o) {
            const std::string tag = n.ref.substr(n.ref.rfind(':') + 1);
            EXPECT_EQ(digest_of(fake.manifests["kbs"][tag]), n.digest) << delay << " " << n.ref;
          }
        } else {
          const std::string said = o.error().message();
          EXPECT_THAT(said, AnyOf(HasSubstr("names stay where they are"), HasSubstr("by now")));
          refused_before_writing += said.find("are named") == said.npos;
        }
      }
    }
  }
  EXPECT_GT(one_done, 0u);
  EXPECT_GT(refused_before_writing, 0u);
}

TEST_F(Promotion, FactsOfARegistryThatFailsInTheMiddleAreNone) {
  policies::host packs(l, policies::host::options());
  std::string told;
  const auto look = [&](std::size_t from, trouble what) {
    std::optional<reactor::result<boost::json::object>> out;
    std::size_t asked = 0;
    std::vector<std::string> notes;
    run([&]() -> awaitable<void> {
      troubled_server server(l, fake, from, what);
      registry::web w(l, env());
      {
        registry::client c(l, w, options);
        fact_settings settings;
        settings.registry = "reg:5000";
        settings.images = {"staged/kbs", "kbs"};
        settings.known["staged/kbs:abc-s390x"] = plan.retags[1].digest;
        settings.asks = [&told](const std::string& repository) {
          return [&told, repository](std::size_t done, std::size_t of) {
            told += repository + " " + std::to_string(done) + "/" + std::to_string(of) + "\n";
          };
        };
        out.emplace(co_await collect_facts(l, c, packs, std::move(settings), notes));
      }
      asked = server.asked();
      co_await w.stop();
      co_await server.stop();
    });
    return std::pair(std::move(*out), asked);
  };
  ASSERT_TRUE(*promote().out);
  const auto [whole, asked] = look(never, trouble::unavailable);
  ASSERT_TRUE(whole) << whole.error().message();
  EXPECT_EQ(whole->at("images").as_array().size(), 5u);
  EXPECT_GT(asked, 6u);
  // Before each question, who waits for it is told.
  EXPECT_THAT(told, HasSubstr("reg:5000/staged/kbs 0/2\n"));
  EXPECT_THAT(told, HasSubstr("reg:5000/kbs 2/3\n"));
  for (const trouble what : all_troubles) {
    if (what == trouble::other_content) continue;  // that is a fact
    for (std::size_t at = 0; at < asked; ++at) {
      const auto [facts, until] = look(at, what);
      ASSERT_FALSE(facts) << "request " << at;
      EXPECT_THAT(facts.error().message(), HasSubstr("reg:5000")) << "request " << at;
    }
  }
}

}  // namespace
}  // namespace cli
