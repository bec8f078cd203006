#include "api.hpp"

#include <gtest/gtest.h>

namespace k8s::sim {
namespace {

using namespace std::chrono_literals;

std::string at(std::string_view rest) {
  return std::string(config_maps_path) + std::string(rest);
}

TEST(History, RefusesAWatchFromBeforeTheCompaction) {
  bench_api b;
  b.post(config_maps_path, config_map("a"));
  const std::string old = std::to_string(b.api.revision());
  b.post(config_maps_path, config_map("b"));
  b.api.compact();
  auto w = b.watch(at("?watch=1&resourceVersion=" + old));
  ASSERT_TRUE(w);
  EXPECT_TRUE(w->ended());
  const std::string lines = w->take();
  EXPECT_NE(lines.find("\"type\":\"ERROR\""), std::string::npos);
  EXPECT_NE(lines.find("\"code\":410"), std::string::npos);
  EXPECT_NE(lines.find("too old resource version: " + old), std::string::npos);
}

TEST(History, IsForgottenByCount) {
  bench_api b([](api_options& o) { o.history_changes = 3; });
  const std::string old = std::to_string(b.api.revision());
  for (int i = 0; i < 5; ++i) b.post(config_maps_path, config_map("m" + std::to_string(i)));
  EXPECT_TRUE(b.watch(at("?watch=1&resourceVersion=" + old))->ended());
  EXPECT_FALSE(
      b.watch(at("?watch=1&resourceVersion=" + std::to_string(b.api.revision() - 2)))->ended());
}

TEST(History, IsForgottenByAge) {
  bench_api b([](api_options& o) { o.history_age = 10s; });
  const std::string old = std::to_string(b.api.revision());
  b.post(config_maps_path, config_map("a"));
  b.post(config_maps_path, config_map("b"));
  b.steady += 11s;
  EXPECT_TRUE(b.watch(at("?watch=1&resourceVersion=" + old))->ended());
}

TEST(History, RefusesAPageTokenFromBeforeTheCompactionAndGivesAnother) {
  bench_api b;
  for (int i = 0; i < 4; ++i) b.post(config_maps_path, config_map("m" + std::to_string(i)));
  auto first = b.get(at("?limit=2"));
  b.post(config_maps_path, config_map("z"));
  b.api.compact();
  auto expired = b.get(at("?limit=2&continue=" + std::string(first.at("/metadata/continue"))));
  EXPECT_EQ(expired.status, 410);
  EXPECT_EQ(expired.at("/reason"), "Expired");
  auto rest = b.get(at("?continue=" + std::string(expired.at("/metadata/continue"))));
  EXPECT_EQ(rest.find("/items")->as_array().size(), 3u);
}

TEST(History, KeepsPagesOfOneMoment) {
  bench_api b;
  for (int i = 0; i < 4; ++i) b.post(config_maps_path, config_map("m" + std::to_string(i)));
  auto first = b.get(at("?limit=2"));
  b.remove(at("/m3"));
  b.merge(at("/m2"), R"({"data":{"a":"changed"}})");
  auto second = b.get(at("?limit=2&continue=" + std::string(first.at("/metadata/continue"))));
  ASSERT_EQ(second.find("/items")->as_array().size(), 2u);
  EXPECT_EQ(second.at("/items/0/data/a"), "1");
}

TEST(Watch, IsCutOffWhenItsReaderIsTooSlow) {
  bench_api b([](api_options& o) { o.watch_pending_limit = 3; });
  auto w = b.watch(at("?watch=1&resourceVersion=" + std::to_string(b.api.revision())));
  w->on_ready = [] {};
  for (int i = 0; i < 6; ++i) b.post(config_maps_path, config_map("m" + std::to_string(i)));
  EXPECT_TRUE(w->ended());
}

TEST(Watch, SendsABookmarkOnlyWhenThereIsNews) {
  bench_api b;
  auto w = b.watch(
      at("?watch=1&allowWatchBookmarks=true&resourceVersion=" + std::to_string(b.api.revision())));
  b.steady = w->next_due();
  w->poll(b.steady, b.api.revision());
  EXPECT_TRUE(w->take().empty());
  b.post("/api/v1/namespaces/kube-system/configmaps", config_map("elsewhere"));
  b.steady = w->next_due();
  w->poll(b.steady, b.api.revision());
  EXPECT_NE(w->take().find("\"type\":\"BOOKMARK\""), std::string::npos);
}

TEST(Watch, EndsAfterAtMostAnHour) {
  bench_api b;
  auto w = b.watch(at("?watch=1"));
  b.steady += 61min;
  w->poll(b.steady, b.api.revision());
  EXPECT_TRUE(w->ended());
}

TEST(Watch, EndsWithItsServer) {
  std::shared_ptr<subscription> w;
  {
    bench_api b;
    w = b.watch(at("?watch=1"));
  }
  EXPECT_TRUE(w->ended());
}

TEST(Watch, ShowsTablesWhenAskedTo) {
  bench_api b;
  auto w = b.send("GET", at("?watch=1"), {}, "", "application/json;as=Table;g=meta.k8s.io;v=v1")
               .raw.watch;
  b.post(config_maps_path, config_map("a"));
  EXPECT_NE(w->take().find("\"kind\":\"Table\""), std::string::npos);
}

TEST(Watch, CostsNothingOnceDropped) {
  bench_api b;
  b.watch(at("?watch=1")).reset();
  b.post(config_maps_path, config_map("a"));
  EXPECT_EQ(b.api.watch_count(), 0u);
}

}  // namespace
}  // namespace k8s::sim
