// What a server, or the names in a chart, could make of a request and its answer.
#include "formats/json/values.hpp"
#include "k8s/client/apart.hpp"
#include "k8s/client/client.hpp"
#include "k8s/client/discovery.hpp"
#include "k8s/client/list_pages.hpp"
#include "k8s/fleet/cluster.hpp"
#include "k8s/informer/informer.hpp"
#include "k8s/views/secret.hpp"
#include "reactor/net/memory_network.hpp"
#include "tests/k8s/client/api_server.hpp"
#include "tests/reactor/run.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <functional>

namespace k8s {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;
using reactor::loop;

// ---- names

TEST(ResourcePath, NeverPutsAWrongNameIntoAPath) {
  const resource& pods = resources::pods();
  EXPECT_EQ(pods.object_path("ns", "a").value_or(""), "/api/v1/namespaces/ns/pods/a");
  EXPECT_EQ(pods.object_path("ns", "a b", "status").value_or(""),
            "/api/v1/namespaces/ns/pods/a%20b/status");
  EXPECT_EQ(pods.collection_path().value_or(""), "/api/v1/pods");
  EXPECT_EQ(resources::nodes().object_path("", "a..b").value_or(""), "/api/v1/nodes/a..b");
  using namespace std::string_view_literals;
  for (const std::string_view wrong :
       {""sv, "."sv, ".."sv, "a/b"sv, "../x"sv, "a%2f"sv, "a\nb"sv, "a\0b"sv, "\x7f"sv, "/"sv}) {
    EXPECT_FALSE(pods.object_path("ns", wrong)) << wrong;
    EXPECT_FALSE(wrong.size() && pods.object_path(wrong, "a")) << wrong;
    EXPECT_FALSE(wrong.size() && pods.collection_path(wrong)) << wrong;
    EXPECT_FALSE(wrong.size() && pods.object_path("ns", "a", wrong)) << wrong;
    for (const resource& r :
         {resource{std::string(wrong), "v1", "x", "X"}, resource{"g", std::string(wrong), "x", "X"},
          resource{"g", "v1", std::string(wrong), "X"}}) {
      if (r.group.empty() && wrong.empty()) continue;  // the core group has no name
      EXPECT_FALSE(r.collection_path()) << wrong;
      EXPECT_FALSE(r.object_path("ns", "a")) << wrong;
    }
  }
}

TEST(FieldSelector, HoldsOneValueWhateverItIs) {
  EXPECT_EQ(field_is("metadata.name", "w1"), "metadata.name=w1");
  EXPECT_EQ(field_is("spec.nodeName", "a,metadata.name=b\\"),
            "spec.nodeName=a\\,metadata.name\\=b\\\\");
}

class HostileAnswers : public testing::Test {
protected:
  using body = std::function<awaitable<void>(scripted_server& server, client& api)>;
  void run(body f) {
    reactor::run_task(l, [&]() -> awaitable<void> {
      scripted_server server(l);
      client api(l, server.to());
      co_await f(server, api);
      co_await api.stop();
      co_await server.stop();
    });
  }
  void TearDown() override { EXPECT_EQ(l.live(), reactor::nothing_live); }
  loop l{loop::mode::simulated, 11};
};

template <class T>
void expect_unsent(const result<T>& r, const char* verb) {
  ASSERT_FALSE(r) << verb;
  EXPECT_EQ(r.error().code, errc::invalid) << verb;
  EXPECT_NE(r.error().message().find("nothing was sent"), std::string::npos) << r.error().message();
}

TEST_F(HostileAnswers, NoVerbSendsANameThatIsNone) {
  run([](scripted_server& server, client& api) -> awaitable<void> {
    server.always("GET", "/", answer::json(200, R"({"kind":"Status"})"));
    for (const char* wrong : {"", ".", "..", "a/../b", "x%2fy", "a\r\nHost: b"}) {
      const object_key key{"ns", wrong};
      const resource pods = resources::pods();
      const json::object nothing;
      const auto got = co_await api.get(pods, key);
      expect_unsent(got, "get");
      const auto removed = co_await api.remove(pods, key);
      expect_unsent(removed, "delete");
      const auto applied = co_await api.apply(pods, key, nothing);
      expect_unsent(applied, "apply");
      const auto patched = co_await api.merge_patch(pods, key, nothing);
      expect_unsent(patched, "patch");
      const auto replaced = co_await api.replace(pods, key, nothing);
      expect_unsent(replaced, "replace");
      const auto evicted = co_await api.evict(key);
      expect_unsent(evicted, "evict");
      const auto log = co_await api.pod_log(key, "c", 100);
      expect_unsent(log, "log");
      const auto token = co_await api.create_subresource(pods, key, "token", nothing);
      expect_unsent(token, "create a subresource");
      const std::string path = "/apis/" + std::string(wrong) + "/v1";
      const auto document = co_await api.get_path(path);
      expect_unsent(document, "a path");
      if (!*wrong) continue;  // no namespace means all of them
      list_options options;
      options.ns = wrong;
      const auto listed = co_await api.list(pods, options);
      expect_unsent(listed, "list");
      const auto opened = co_await api.open_list(pods, options);
      expect_unsent(opened, "list");
      watch_options watching;
      watching.ns = wrong;
      const auto watched = co_await api.open_watch(pods, watching);
      expect_unsent(watched, "watch");
      const auto created = co_await api.create(pods, wrong, nothing);
      expect_unsent(created, "create");
    }
    EXPECT_EQ(server.requests().size(), 0u);
  });
}

// ---- large answers

std::string pods_of(std::size_t count, std::size_t values_each, std::string_view token = {}) {
  std::string items;
  for (std::size_t i = 0; i < count; ++i) {
    items += i ? ",{\"x\":[0" : "{\"x\":[0";
    for (std::size_t v = 0; v < values_each; ++v) items += ",1";
    items += "]}";
  }
  return R"({"kind":"PodList","metadata":{"continue":")" + std::string(token) + R"("},"items":[)" +
         items + "]}";
}

/// How many all its pages have.
awaitable<std::size_t> objects_of(list_pages& pages) {  // borrowed
  std::size_t objects = 0;
  for (;;) {
    auto page = co_await pages.next();
    EXPECT_TRUE(page) << page.error().message();
    if (!page || !*page) break;
    objects += items_of(**page)->size();
  }
  co_return objects;
}

TEST(JsonValues, CountsWhatStandsOutsideOfTexts) {
  EXPECT_EQ(formats::json_values_in("1"), 1u);
  EXPECT_EQ(formats::json_values_in(R"({"a,[":"{,\"[","b":[1,2]})"), 7u);
  EXPECT_EQ(formats::json_values_in("\"no end \\"), 1u);
}

TEST_F(HostileAnswers, ADocumentOfMillionsOfValuesIsRefused) {
  run([](scripted_server& server, client& api) -> awaitable<void> {
    const std::string text = R"({"kind":"Pod","x":[1)" + std::string(400'000, ',') + "1]}";
    server.on("GET", "/api/v1/namespaces/ns/pods/a", answer::json(200, text));
    const object_key a{"ns", "a"};
    const auto got = co_await api.get(resources::pods(), a);
    EXPECT_FALSE(got);
    EXPECT_EQ(got.error().code, errc::malformed);
    EXPECT_NE(got.error().message().find("more than 200000 values"), std::string::npos)
        << got.error().message();
  });
}

TEST_F(HostileAnswers, APageThatIsTooLargeMakesNoOtherPageSmaller) {
  run([](scripted_server& server, client& api) -> awaitable<void> {
    constexpr std::size_t all = 2'000, large_at = 500;
    server.otherwise([](const scripted_server::received& r) {
      const auto number = [&](std::string_view name, std::size_t none) {
        const std::size_t at = r.target.find(name);
        return at == std::string::npos
                   ? none
                   : std::strtoul(r.target.c_str() + at + name.size(), nullptr, 10);
      };
      const std::size_t from = number("continue=", 0), limit = number("limit=", 500);
      const std::size_t n = std::min(limit, all - from);
      const std::string next = from + n < all ? std::to_string(from + n) : "";
      const bool is_large = from == large_at && limit == 500;
      return answer::json(200, pods_of(n, is_large ? 3'000 : 3, next));
    });
    list_pages pages(api, resources::pods(), {});
    const std::size_t objects = co_await objects_of(pages);
    EXPECT_EQ(objects, all);
    EXPECT_EQ(server.requests().size(), 13u) << "two of 500, nine of 62, two of 500";
  });
}

TEST_F(HostileAnswers, APageThatIsTooLargeIsAskedForInParts) {
  run([](scripted_server& server, client& api) -> awaitable<void> {
    server.otherwise([](const scripted_server::received& r) {
      const bool rest = r.target.find("continue=rest") != std::string::npos;
      if (r.target.find("limit=62&") != std::string::npos || r.target.ends_with("limit=62"))
        return answer::json(200, pods_of(rest ? 10 : 62, 3'000, rest ? "" : "rest"));
      return answer::json(200, pods_of(72, 3'000));
    });
    list_options options;
    list_pages pages(api, resources::pods(), options);
    const std::size_t objects = co_await objects_of(pages);
    EXPECT_EQ(objects, 72u);
    EXPECT_EQ(server.requests().size(), 3u) << "500, and from then on 62";
  });
}

TEST_F(HostileAnswers, WhatHasMoreThanIsAskedForIsOverBudgetAndHadWithMoreRoom) {
  run([](scripted_server& server, client& api) -> awaitable<void> {
    const std::string text(200'000, 'x');
    server.otherwise([&](const scripted_server::received& r) {
      if (r.target.find("/pods/") == std::string::npos)
        return answer::json(200, pods_of(1, 90'000));
      return answer::json(
          200, R"({"kind":"Pod","metadata":{"name":"a","annotations":{"a":")" + text + "\"}}}");
    });
    for (const std::uint64_t most : {100'000u, 300'000u, 100'000'000u}) {
      object_key key{"ns", "a"};
      const auto got = co_await api.get_within(resources::pods(), std::move(key), most);
      list_options options;
      options.limit = 5;
      options.most_bytes = most;
      list_pages pages(api, resources::pods(), std::move(options));
      auto page = co_await pages.next();
      EXPECT_EQ(got.has_value(), most > 200'000u) << (got ? "" : got.error().message());
      EXPECT_EQ(page.has_value(), most > 200'000u);
      if (most > 200'000u) continue;
      EXPECT_EQ(got.error().code, errc::over_budget);
      EXPECT_EQ(page.error().code, errc::over_budget);
      pages.allow(300'000);
      page = co_await pages.next();
      EXPECT_TRUE(page && *page && items_of(**page)->size() == 1u);
    }
  });
}

/// On the real loop: what is long to read is read elsewhere.
TEST(LongAnswers, DoNotHoldUpTheLoop) {
  // The slowest numbers to read: too many digits for the fast ways.
  std::string text = R"({"x":[1)";
  while (text.size() < 4'000'000) text += ",7.4109846876186981626485318930233205854758e-40";
  text += "]}";
  constexpr reactor::nanoseconds bound = 10ms;
  reactor::nanoseconds longest = reactor::nanoseconds::max();
  // What the machine takes away, it takes once.
  for (int tries = 0; tries < 10 && longest >= bound; ++tries) {
    loop l;
    reactor::run_task(l, [&]() -> awaitable<void> {
      apart off_loop(l);
      (void)l.take_health();
      co_await l.sleep_for(1ms);
      (void)l.take_health();
      {
        const auto document = co_await off_loop.parse(reactor::wiped_string(text));
        EXPECT_EQ(document->problem(), "");
        EXPECT_EQ(document->root()["x"].kind(), wire_kind::array);
      }
      co_await l.sleep_for(1ms);
      longest = std::min(longest, l.take_health().longest_stall);
    });
  }
  EXPECT_LT(longest, bound);
}

TEST(LongAnswers, AreReadOneAtATimeForOneCluster) {
  loop l(loop::mode::simulated, 1);
  reactor::run_task(l, [&]() -> awaitable<void> {
    apart off_loop(l);
    reactor::task_group tasks(l);
    struct counts {
      int running = 0, most = 0;
    };
    const auto jobs = std::make_shared<counts>();
    int done = 0;
    for (int i = 0; i < 5; ++i) {
      tasks.start("job", [&]() -> awaitable<void> {
        const auto job = [](const std::shared_ptr<counts>& c) {
          return c->most = std::max(c->most, ++c->running);
        };
        (void)co_await off_loop.run(job, jobs);
        --jobs->running;
        ++done;
      });
    }
    co_await tasks.join();
    EXPECT_EQ(done, 5);
    EXPECT_EQ(jobs->most, 1);
  });
}

// ---- discovery

std::string groups_of(std::size_t groups, std::size_t versions_each) {
  std::string text;
  for (std::size_t g = 0; g < groups; ++g) {
    text += text.empty() ? "" : ",";
    text += R"({"name":"g)" + std::to_string(g) + R"(","versions":[)";
    for (std::size_t v = 0; v < versions_each; ++v)
      text += (v ? "," : "") + (R"({"groupVersion":"g)" + std::to_string(g)) + "/v" +
              std::to_string(v) + R"(","version":"v"})";
    text += "]}";
  }
  return R"({"kind":"APIGroupList","groups":[)" + text + "]}";
}

TEST_F(HostileAnswers, DiscoveryTakesAsManyVersionsAsAnyClusterHas) {
  run([](scripted_server& server, client& api) -> awaitable<void> {
    server.always("GET", "/api", answer::json(200, R"({"versions":["v1","v1"]})"));
    server.always("GET", "/apis", answer::json(200, groups_of(1'000, 4)));
    discovery d(api);
    const auto read = co_await d.refresh();
    EXPECT_TRUE(read) << read.error().message();
    EXPECT_EQ(d.api_versions().size(), 4'001u);
    if (!read) co_return;
    EXPECT_EQ(d.api_versions().front(), "v1");
    EXPECT_TRUE(d.has_api_version("g999/v3"));
    EXPECT_FALSE(d.has_api_version("g999/v4"));
  });
}

TEST_F(HostileAnswers, DiscoveryRefusesMore) {
  run([](scripted_server& server, client& api) -> awaitable<void> {
    server.always("GET", "/api", answer::json(200, R"({"versions":["v1"]})"));
    server.always("GET", "/apis", answer::json(200, groups_of(6'000, 1)));
    discovery d(api);
    const auto read = co_await d.refresh();
    EXPECT_FALSE(read);
    if (read) co_return;
    EXPECT_NE(read.error().message().find("more than 5000 API versions"), std::string::npos)
        << read.error().message();
    EXPECT_TRUE(d.api_versions().empty());
  });
}

// ---- clusters

/// Secrets of a cluster, at most two of them.
struct two_secrets final : cluster_controller {
  explicit two_secrets(engagement& e) : informer_(e.loop(), e.api(), options()) {
    e.follow(informer_);
    informer_.start();
  }
  static informer_options options() {
    informer_options o;
    o.collection = resources::secrets();
    o.ns = "default";
    o.limits.budget.most_objects = 2;
    return o;
  }
  awaitable<void> stop() override { co_await informer_.stop(); }
  informer<secret> informer_;
};

class BadCluster : public testing::Test {
protected:
  void TearDown() override { EXPECT_EQ(l.live(), reactor::nothing_live); }
  cluster_options named(std::string name) {
    cluster_options o;
    o.name = std::move(name);
    o.metrics = &metrics;
    o.apis.push_back({"secrets", [](engagement& e) -> awaitable<result<void>> {
                        if (!e.part()) e.attach(std::make_unique<two_secrets>(e));
                        co_return result<void>();
                      }});
    return o;
  }
  loop l{loop::mode::simulated, 9};
  reactor::metrics metrics;
};

TEST_F(BadCluster, IsStaleAtOnceWhenItOutgrowsItsBudgetAndSaysWhy) {
  reactor::run_task(l, [&]() -> awaitable<void> {
    api_server api(l, "c1");
    api.put("a", "x");
    api.put("b", "x");
    cluster c(l, api.server.to(), named("c1"));
    c.start();
    co_await l.sleep_for(30s);
    EXPECT_TRUE(c.is_live()) << name_of(c.state());
    api.put("c", "x");
    co_await l.sleep_for(100ms);
    EXPECT_EQ(c.state(), cluster_state::stale) << "not with the next look at it";
    const json::object entry = c.to_json();
    const std::string why(entry.at("lastError").as_string());
    EXPECT_NE(why.find("follow secrets in default: there are more than this process keeps"),
              std::string::npos)
        << why;
    api.remove("b");
    co_await l.sleep_for(3min);
    EXPECT_TRUE(c.is_live()) << c.last_error();
    EXPECT_EQ(c.last_error(), "");
    co_await c.stop();
    co_await api.server.stop();
  });
}

TEST_F(BadCluster, SaysWhichViewIsNotCompleteWhenItIsStale) {
  reactor::run_task(l, [&]() -> awaitable<void> {
    api_server api(l, "c1");
    std::string said;
    cluster_options o = named("c1");
    o.on_state = [&](cluster& c, cluster_state) {
      if (c.state() == cluster_state::stale) said = c.last_error();
    };
    cluster c(l, api.server.to(), std::move(o));
    c.start();
    co_await l.sleep_for(30s);
    EXPECT_TRUE(c.is_live());
    EXPECT_EQ(said, "secrets are not complete") << "while they were listed";
    co_await c.stop();
    co_await api.server.stop();
  });
}

std::size_t count_of(const std::string& text, std::string_view part) {
  std::size_t n = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST_F(BadCluster, FiveHundredLiveClustersHaveTwoStateSeriesEach) {
  reactor::run_task(l, [&]() -> awaitable<void> {
    api_server api(l, "c");
    std::vector<std::unique_ptr<cluster>> all;
    for (int i = 0; i < 500; ++i) {
      cluster_options o;
      o.name = "c" + std::to_string(i);
      o.metrics = &metrics;
      all.push_back(std::make_unique<cluster>(l, api.server.to(), std::move(o)));
      all.back()->start();
    }
    co_await l.sleep_for(10s);
    const std::string text = metrics.text();
    EXPECT_EQ(count_of(text, "\nwindlass_cluster_state{"), 1'000u)
        << "where it is, and where it came from";
    EXPECT_EQ(count_of(text, "state=\"Live\"} 1"), 500u);
    EXPECT_EQ(count_of(text, "state=\"Syncing\"} 0"), 500u);
    EXPECT_EQ(count_of(text, "krypton_"), 0u) << "one name a fact";
    EXPECT_LE(metrics.series(), 500u * 5) << "with requests that succeeded and failed";
    for (auto& c : all) co_await c->stop();
    co_await api.server.stop();
  });
}

TEST_F(BadCluster, SaysTheSameFailureSeldom) {
  auto log = std::make_shared<reactor::log_capture>();
  reactor::run_task(l, [&]() -> awaitable<void> {
    api_server api(l, "c1");
    for (const char* name : {"a", "b", "c"}) api.put(name, "x");
    client to(l, api.server.to());
    informer_options o = two_secrets::options();
    o.log = reactor::logger([this] { return l.wall(); }, log, reactor::log_level::debug);
    informer<secret> i(l, to, std::move(o));
    i.start();
    co_await l.sleep_for(30min);
    EXPECT_GT(i.counters().over_budget, 20u);
    EXPECT_LE(log->count("following failed"), 4u);
    co_await i.stop();
    co_await to.stop();
    co_await api.server.stop();
  });
}

}  // namespace
}  // namespace k8s
