// The tokens of members that `cluster add` made, over months of virtual time.
#include "formats/base64.hpp"
#include "formats/digest.hpp"
#include "k8s/client/client.hpp"
#include "k8s/fleet/fleet.hpp"
#include "k8s/fleet/member_token.hpp"
#include "k8s/informer/meta.hpp"
#include "k8s/sim/server.hpp"
#include "tests/reactor/run.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <algorithm>

namespace k8s {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;
using reactor::loop;

constexpr std::chrono::hours life{100};

/// A home with one member that `cluster add` made, and a fleet that follows it.
class TokenRenewal : public testing::Test {
protected:
  struct world {
    explicit world(TokenRenewal& t)
        : home_api(sim::options_on(t.l)),
          member_api(sim::options_on(t.l)),
          home(t.l, {.at = {"home", 6443}, .tls = nullptr}),
          member(t.l, {.at = {"member", 6443}, .tls = nullptr}),
          at_home(t.l, to(home, home_api)),
          admin(t.l, to(member, member_api)),
          events(t.l, at_home, {}),
          fleet(t.l, t.options(), reactor::logger([&t] { return t.l.wall(); }, t.log)) {}
    /// Starts the server: it has an address from then on.
    static connection to(sim::server& s, sim::api_server& api) {
      s.add(api);
      EXPECT_TRUE(s.start());
      return to(s);
    }
    static connection to(const sim::server& s) {
      connection c;
      c.server = s.url();
      return c;
    }
    awaitable<void> stop() {
      co_await fleet.stop();
      co_await events.stop();
      co_await at_home.stop();
      co_await admin.stop();
      co_await home.stop();
      co_await member.stop();
    }
    sim::api_server home_api, member_api;
    sim::server home, member;
    client at_home, admin;
    event_recorder events;
    k8s::fleet fleet;
  };

  fleet_options options() {
    fleet_options o;
    o.metrics = &metrics;
    o.tokens = care;
    return o;
  }

  /// As `cluster add` leaves it.
  awaitable<void> add(world& w, std::string hash = {}) {
    json::object ns, account;
    ns["metadata"] = json::object{{"name", "os"}};
    account["metadata"] = json::object{{"name", "windlass"}};
    (void)co_await w.admin.create(resources::namespaces(), "", std::move(ns));
    (void)co_await w.admin.create(resources::service_accounts(), "os", std::move(account));
    object_key of{"os", "windlass"};
    auto token = co_await request_token(w.admin, std::move(of), life, l.wall());
    if (!token) throw std::runtime_error(token.error().message());
    const reactor::secret kubeconfig = member_kubeconfig(world::to(w.member), "prod", token->text);
    member_token m{{"os", "windlass"},
                   "",
                   life,
                   token->issued,
                   token->expires,
                   hash.empty() ? formats::sha256_hex(kubeconfig.reveal()) : hash};
    json::object metadata, data, body;
    metadata["name"] = "prod";
    metadata["labels"] = json::object{{"sigs.k8s.io/multicluster-runtime-kubeconfig", "true"}};
    metadata["annotations"] = annotations_of(m);
    data["kubeconfig"] = formats::encode_base64(kubeconfig.reveal());
    body["metadata"] = std::move(metadata);
    body["data"] = std::move(data);
    auto made = co_await w.at_home.create(resources::secrets(), "default", std::move(body));
    if (!made) throw std::runtime_error(made.error().message());
  }

  std::string kubeconfig_of(world& w) {
    const auto secret = w.home_api.get("", "secrets", "default", "prod");
    return std::string(secret->at("data").at("kubeconfig").as_string());
  }
  std::string annotation(world& w, const char* key) {
    const auto secret = w.home_api.get("", "secrets", "default", "prod");
    return std::string(secret->at("metadata").at("annotations").at(key).as_string());
  }
  std::string reasons(world& w) {
    std::string all;
    for (const auto& e : w.home_api.list("events.k8s.io", "events"))
      all += std::string(e.at("reason").as_string()) + " ";
    return all;
  }

  void run(std::function<awaitable<void>(world& w)> f) {
    reactor::run_task(l, [&]() -> awaitable<void> {
      world w(*this);
      co_await f(w);
      co_await w.stop();
    });
  }

  loop l{loop::mode::simulated, 31};
  token_care care = token_care::ours;
  reactor::metrics metrics;
  std::shared_ptr<reactor::log_capture> log = std::make_shared<reactor::log_capture>();
};

TEST_F(TokenRenewal, HappensBeforeFourFifthsOfItsLifeAreOverAndTheClusterGoesOn) {
  run([&](world& w) -> awaitable<void> {
    co_await add(w);
    const std::string before = kubeconfig_of(w);
    w.fleet.discover(w.at_home, &w.events);
    co_await l.sleep_for(life * 59 / 100);
    EXPECT_EQ(kubeconfig_of(w), before) << "not before 60 %";
    co_await l.sleep_for(life * 22 / 100);
    EXPECT_NE(kubeconfig_of(w), before);
    EXPECT_EQ(log->count("token renewed"), 1u);
    co_await l.sleep_for(5s);
    cluster* c = w.fleet.find("prod");
    const bool live = c && c->is_live();
    EXPECT_TRUE(live);
    if (live) {
      EXPECT_TRUE(c->token_expires() && *c->token_expires() > l.wall() + life / 2);
    }
    EXPECT_EQ(annotation(w, "windlass.dev/kubeconfig-sha256"),
              formats::sha256_hex(*formats::decode_base64(kubeconfig_of(w))));
  });
}

TEST_F(TokenRenewal, GoesOnForTwoWeeks) {
  run([&](world& w) -> awaitable<void> {
    co_await add(w);
    w.fleet.discover(w.at_home, &w.events);
    for (int i = 0; i < 5; ++i) {
      co_await l.sleep_for(72h);
      cluster* c = w.fleet.find("prod");
      const bool live = c && c->is_live();
      EXPECT_TRUE(live) << "after " << (i + 1) * 3 << " days";
    }
    // Each lives 60 to 80 hours until it is renewed.
    EXPECT_GE(log->count("token renewed"), 4u);
    EXPECT_LE(log->count("token renewed"), 6u);
    EXPECT_EQ(log->count("token not renewed"), 0u);
  });
}

TEST_F(TokenRenewal, NeverTouchesWhatAPersonWrote) {
  run([&](world& w) -> awaitable<void> {
    co_await add(w, std::string(64, '0'));  // the annotations are of another kubeconfig
    const std::string before = kubeconfig_of(w);
    w.fleet.discover(w.at_home, &w.events);
    co_await l.sleep_for(life * 2);
    EXPECT_EQ(kubeconfig_of(w), before);
    EXPECT_EQ(log->count("token renewed"), 0u);
    EXPECT_EQ(log->count("token not renewed"), 0u);
  });
}

TEST_F(TokenRenewal, IsLeftToOthersByWhoOnlyLooks) {
  care = token_care::others;
  run([&](world& w) -> awaitable<void> {
    co_await add(w);
    const std::string before = kubeconfig_of(w);
    co_await l.sleep_for(life * 90 / 100);
    w.fleet.discover(w.at_home, nullptr);
    co_await l.sleep_for(10s);
    EXPECT_EQ(kubeconfig_of(w), before);
    cluster* c = w.fleet.find("prod");
    const std::string problem = c ? c->token_problem() : std::string();
    EXPECT_NE(problem.find("it was not renewed"), std::string::npos) << problem;
  });
}

TEST_F(TokenRenewal, ThatIsForbiddenThereIsSaidAndTriedAgain) {
  bool allowed = false;
  run([&](world& w) -> awaitable<void> {
    co_await add(w);
    w.member_api.access().authorize = [&](const std::string& user, const sim::request& r) {
      return allowed || !user.starts_with("system:serviceaccount:") || !r.path.ends_with("/token");
    };
    w.fleet.discover(w.at_home, &w.events);
    co_await l.sleep_for(life * 82 / 100);
    cluster* c = w.fleet.find("prod");
    const std::string problem = c ? c->token_problem() : std::string();
    EXPECT_NE(problem.find("could not be renewed"), std::string::npos) << problem;
    EXPECT_NE(problem.find("serviceaccounts/token"), std::string::npos) << problem;
    EXPECT_NE(reasons(w).find("TokenNotRenewed"), std::string::npos);
    const std::size_t tries = log->count("token not renewed");
    EXPECT_GE(tries, 2u);
    EXPECT_LE(tries, 40u) << "with a growing pause";
    allowed = true;
    co_await l.sleep_for(2h);
    EXPECT_EQ(log->count("token renewed"), 1u);
    co_await l.sleep_for(10s);
    c = w.fleet.find("prod");
    const bool mended = c && c->token_problem().empty();
    EXPECT_TRUE(mended);
  });
}

TEST_F(TokenRenewal, ThatCannotBeWrittenAtHomeNamesTheRight) {
  run([&](world& w) -> awaitable<void> {
    co_await add(w);
    w.home_api.access().authorize = [](const std::string&, const sim::request& r) {
      return r.method != "PATCH" || r.path.find("/secrets/") == std::string::npos;
    };
    w.fleet.discover(w.at_home, &w.events);
    co_await l.sleep_for(life * 82 / 100);
    cluster* c = w.fleet.find("prod");
    const std::string problem = c ? c->token_problem() : std::string();
    EXPECT_NE(problem.find("cannot be written at home: patch secrets default/prod"),
              std::string::npos)
        << problem;
  });
}

TEST_F(TokenRenewal, OfAClusterThatIsAwayWaitsForIt) {
  run([&](world& w) -> awaitable<void> {
    co_await add(w);
    w.fleet.discover(w.at_home, &w.events);
    co_await l.sleep_for(life * 50 / 100);
    w.member_api.freeze(true);
    co_await l.sleep_for(life * 35 / 100);
    EXPECT_EQ(log->count("token renewed"), 0u);
    w.member_api.freeze(false);
    co_await l.sleep_for(2h);
    EXPECT_EQ(log->count("token renewed"), 1u);
  });
}

TEST_F(TokenRenewal, NoTokenIsEverLogged) {
  run([&](world& w) -> awaitable<void> {
    co_await add(w);
    w.fleet.discover(w.at_home, &w.events);
    co_await l.sleep_for(life);
  });
  EXPECT_GE(log->count("token renewed"), 1u);
  for (const reactor::log_record& r : log->records())
    for (const auto& field : r.fields)
      EXPECT_EQ(r.field(field.key).find("sim."), std::string::npos) << r.message;
}

TEST(MemberToken, IsReadAsItWasWritten) {
  const member_token m{{"os", "windlass"},
                       "uid",
                       1h,
                       reactor::wall_time(1'000'000s),
                       reactor::wall_time(1'003'600s),
                       std::string(64, 'a')};
  std::vector<string_map::member> noted;
  for (const auto& [key, value] : annotations_of(m))
    noted.emplace_back(interned(std::string_view(key)),
                       interned(std::string_view(value.get_string())));
  EXPECT_EQ(read_member_token(string_map(noted)), m);
  for (std::size_t i = 0; i < noted.size(); ++i) {
    if (noted[i].first.str() == "windlass.dev/cluster-uid") continue;
    auto wrong = noted;
    wrong[i].second = interned(std::string_view("x/y/z"));
    const auto read = read_member_token(string_map(wrong));
    const bool hash_or_account = noted[i].first.str() == "windlass.dev/kubeconfig-sha256" ||
                                 noted[i].first.str() == "windlass.dev/token-account";
    EXPECT_TRUE(!read || hash_or_account) << noted[i].first.str();
  }
}

TEST(MemberToken, SpreadsRenewalsOverAFifthOfTheLife) {
  const member_token m{{"os", "windlass"},       "", 100h, reactor::wall_time(),
                       reactor::wall_time(100h), "x"};
  reactor::wall_time first = reactor::wall_time::max(), last{};
  for (int i = 0; i < 500; ++i) {
    const auto at = renewal_due(m, "cluster-" + std::to_string(i));
    first = std::min(first, at);
    last = std::max(last, at);
  }
  EXPECT_GE(first, reactor::wall_time(60h));
  EXPECT_LE(last, reactor::wall_time(80h));
  EXPECT_GT(last - first, 15h);
}

TEST(MemberToken, AKubeconfigChangesItsTokenAndNothingElse) {
  connection to;
  to.server = "https://10.0.0.1:6443/prefix";
  to.tls_server_name = "kubernetes";
  to.proxy_url = reactor::secret("http://user:pass@proxy:3128");
  const reactor::secret first = member_kubeconfig(to, "prod", reactor::secret("one"));
  const auto second = with_token(first, reactor::secret("two"));
  ASSERT_TRUE(second);
  EXPECT_TRUE(*second == member_kubeconfig(to, "prod", reactor::secret("two")));
  const auto read = load_kubeconfig(second->reveal(), {});
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->server, to.server);
  EXPECT_EQ(read->token.bytes.reveal(), "two");
  EXPECT_FALSE(with_token(reactor::secret("users: 7"), reactor::secret("two")));
  EXPECT_FALSE(with_token(reactor::secret(R"({"users":[{"user":{}}]})"), reactor::secret("two")));
}

}  // namespace
}  // namespace k8s
