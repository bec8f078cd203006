#include "policies/disruption.hpp"
#include "policies/host/pack.hpp"
#include "reactor/loop.hpp"
#include "tests/reactor/run.hpp"

#include <gmock/gmock.h>

#include <optional>
#include <string>

namespace policies {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

/// policy.lua with that in `signals`, loaded.
reactor::result<std::vector<signal_declaration>> load(const std::string& signals) {
  reactor::loop l(reactor::loop::mode::simulated, 7);
  std::optional<reactor::result<std::shared_ptr<pack>>> got;
  reactor::run_task(l, [&]() -> reactor::awaitable<void> {
    pack_files files{{"policy.lua", "return { name = 'p', signals = " + signals + " }"}};
    got.emplace(co_await pack::load(l, "p", files));
  });
  if (!*got) return got->error();
  return (**got)->about().signals;
}

std::string why_not(const std::string& signals) {
  const auto got = load(signals);
  return got ? "it was taken" : got.error().message();
}
std::string one(const std::string& fields) {
  return "{ { name = 'errors', " + fields + " } }";
}

TEST(DeclaredSignals, AreReadWithTheirDefaults) {
  const auto got = load(one("prometheus = 'https://prom.example.com/base', query = 'up'"));
  ASSERT_TRUE(got) << got.error().message();
  const signal_declaration& s = got->front();
  EXPECT_EQ(s.name, "errors");
  EXPECT_EQ(s.from, signal_declaration::source::prometheus);
  EXPECT_EQ(s.url, "https://prom.example.com/base");
  EXPECT_EQ(s.query, "up");
  EXPECT_EQ(s.every, 15s);
  EXPECT_EQ(s.window, 0s);
  EXPECT_EQ(s.stale_after, 60s);
  EXPECT_EQ(s.secret, "");
  const auto all = load(
      one("http = 'http://x:1/y?z=1', every = 5, window = 600, stale_after = 30, secret = 'a-b'"));
  ASSERT_TRUE(all) << all.error().message();
  EXPECT_EQ(all->front().from, signal_declaration::source::http);
  EXPECT_EQ(all->front().window, 600s);
  EXPECT_EQ(all->front().stale_after, 30s);
  EXPECT_EQ(all->front().secret, "a-b");
}

TEST(DeclaredSignals, AreRefusedWithPlaceAndReason) {
  const std::string good = "prometheus = 'https://x', query = 'up'";
  struct row {
    std::string signals, says;
  };
  std::string many = "{ ";
  for (int i = 0; i < 17; ++i)
    many += "{ name = 's" + std::to_string(i) + "', http = 'http://x' }, ";
  const row rows[] = {
      {"'x'", "signals: expected a table"},
      {"{ 'x' }", "signals[1]: expected a table, got a string"},
      {one(good + ", evry = 5"), "signals[1]: unknown entry 'evry', is it every?"},
      {one(good + ", every = '5s'"), "signals[1].every: expected a number, got a string"},
      {one(good + ", every = 4"), "signals[1].every: expected 5 to 3600 seconds"},
      {one(good + ", every = 0/0"), "signals[1].every: is not a finite number"},
      {one(good + ", window = 20000"), "signals[1].window: expected 0 to 15000 seconds"},
      {one(good + ", stale_after = 14"), "signals[1].stale_after: expected 15 to 86400 seconds"},
      {one("query = 'up'"), "signals[1]: exactly one of prometheus and http"},
      {one(good + ", http = 'http://x'"), "signals[1]: exactly one of prometheus and http"},
      {one("prometheus = 'https://x'"), "signals[1].query: a Prometheus is asked a query"},
      {one("http = 'https://x', query = 'up'"), "signals[1].query: an http address has none"},
      {one("http = 'ftp://x'"), "signals[1].http: 'ftp://x' is no http://"},
      {one("http = 'x'"), "signals[1].http: 'x' is no http://"},
      {one("http = 'https://me:pw@x'"), "signals[1].http: an address has no login"},
      {one("prometheus = 'https://x?a=b', query = 'up'"), "signals[1].prometheus: the address"},
      {one("prometheus = 'https://x', query = '" + std::string(2'049, 'a') + "'"),
       "signals[1].query: expected 1 to 2048 bytes, got 2049"},
      {one("http = ''"), "signals[1].http: expected 1 to 1024 bytes, got 0"},
      {one("http = 'https://${nam}'"), "signals[1].http: no placeholder ${nam}; known are"},
      {one("http = 'https://${cluster'"), "signals[1].http: a placeholder ${ has no end"},
      {one("prometheus = 'https://x', query = 'up == ${cluster}'"), "stands outside of quotes"},
      {one("prometheus = 'https://x', query = 'up{a=\"\\\\\"}${cluster}\"}'"), "taken"},
      {one(good + ", secret = 'A b'"), "signals[1].secret: expected the name of a Secret"},
      {"{ { name = 'Errors', " + good + " } }", "signals[1].name: expected lower-case"},
      {"{ { " + good + " } }", "signals[1].name"},
      {"{ { name = 'a', " + good + " }, { name = 'a', " + good + " } }",
       "signals[2].name: 'a' is declared twice"},
      {many + "}", "signals: 17 of them; 16 at most"},
  };
  for (const row& r : rows) EXPECT_THAT(why_not(r.signals), HasSubstr(r.says)) << r.signals;
  EXPECT_THAT(why_not("{ { } }"), HasSubstr("policy.lua: signals[1].name")) << "the file is named";
}

TEST(DeclaredSignals, WithoutAHookThatSeesThemAreRefused) {
  reactor::loop l(reactor::loop::mode::simulated, 7);
  reactor::run_task(l, [&]() -> reactor::awaitable<void> {
    for (const char* hook : {"rollout = { plan = f }", "disruption = { admit = f }",
                             "version = '1', versions = { select = f }"}) {
      pack_files files{{"policy.lua", "local function f() end return { name = 'p', signals = " +
                                          one("http = 'http://x'") + ", " + std::string(hook) +
                                          " }"}};
      auto got = co_await pack::load(l, "p", files);
      EXPECT_EQ(got.has_value(), std::string(hook).find("versions") == std::string::npos) << hook;
    }
  });
}

/// What `policy check` says of a pack whose admit reads that.
std::string slips_of(const std::string& expression) {
  const pack_files files{
      {"policy.lua", "local function admit(unit, peers, fleet)\n  return { admit = " + expression +
                         " }\nend\nreturn { admit = admit }"}};
  signal_declaration declared;
  declared.name = "errors";
  std::string out;
  for (const source_slip& s : find_slips(files, {disruption_hook()}, {declared}))
    out += s.message() + "\n";
  return out;
}

TEST(DeclaredSignals, AreTheOnlyNamesThatAPackMayRead) {
  EXPECT_EQ(slips_of("fleet.signals.errors.value < 1"), "");
  EXPECT_EQ(slips_of("fleet.signals.erors.value < 1"),
            "policy.lua:2: the pack declares no signal 'erors'\n");
  EXPECT_EQ(slips_of("fleet.signals.errors.valeu < 1"),
            "policy.lua:2: nothing has a field 'valeu', is it value?\n");
}

TEST(Placeholders, AreFilledForACluster) {
  const std::map<std::string, std::string> labels{{"env", "prod"}, {"windlass.dev/r", "eu-1"}};
  const auto url =
      fill_placeholders("https://${label:env}.x/${cluster}", filled_for::address, "a/b", labels);
  ASSERT_TRUE(url);
  EXPECT_EQ(*url, "https://prod.x/a%2Fb");
  const auto query = fill_placeholders(R"(up{cluster="${cluster}",r="${label:windlass.dev/r}"})",
                                       filled_for::query, "a/b", labels);
  ASSERT_TRUE(query);
  EXPECT_EQ(*query, R"(up{cluster="a/b",r="eu-1"})");
}

TEST(Placeholders, ChangeNothingButTheirPlace) {
  // No value gets another host, or out of its quotes.
  for (const std::string name : {"evil.example/", "me@evil", "a:1", "a#", "a?b", "a b"}) {
    const auto url = fill_placeholders("https://${cluster}.x", filled_for::address, name, {});
    ASSERT_TRUE(url);
    EXPECT_EQ(url->find_first_of("/@:#? ", 8), std::string::npos) << *url;
  }
  for (const std::string& name :
       {std::string("a\"} or vector(0) #"), std::string("a'"), std::string("a`"),
        std::string("a\\"), std::string("a\n"), std::string(1, char{})}) {
    EXPECT_FALSE(fill_placeholders("up{a=\"${cluster}\"}", filled_for::query, name, {})) << name;
  }
  const auto none = fill_placeholders("\"${label:x}\"", filled_for::query, "a", {});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().detail, "the cluster has no label x");
}

}  // namespace
}  // namespace policies
