#include "api.hpp"

#include <gtest/gtest.h>

namespace k8s::sim {
namespace {

TEST(Faults, AnswerInsteadOfTheServer) {
  bench_api b;
  b.api.before = [](const request& r) -> std::optional<answer> {
    if (r.method != "POST") return std::nullopt;
    answer a;
    a.status = 500;
    return a;
  };
  EXPECT_EQ(b.post(config_maps_path, config_map("a")).status, 500);
  EXPECT_EQ(b.get(config_maps_path).status, 200);
}

TEST(Faults, LoseTheAnswerOfAWriteThatHappened) {
  bench_api b;
  b.api.after = [](const request& r, answer& a) { a.drop = r.method == "POST"; };
  EXPECT_TRUE(b.post(config_maps_path, config_map("a")).raw.drop);
  EXPECT_TRUE(b.api.get("", "configmaps", "default", "a"));
}

TEST(Faults, ShowThePast) {
  bench_api b;
  b.post(config_maps_path, config_map("a"));
  b.merge(std::string(config_maps_path) + "/a", R"({"data":{"a":"2"}})");
  b.api.serve_stale(1);
  EXPECT_EQ(b.get(std::string(config_maps_path) + "/a?resourceVersion=0").at("/data/a"), "1");
  EXPECT_EQ(b.get(std::string(config_maps_path) + "/a").at("/data/a"), "2");
  EXPECT_EQ(b.get(std::string(config_maps_path) + "?resourceVersion=0").at("/items/0/data/a"), "1");
  b.api.serve_stale(2, true);
  EXPECT_EQ(b.get(std::string(config_maps_path) + "/a").status, 404);
}

TEST(Faults, PutTheStorageBackToABackup) {
  bench_api b;
  b.post(config_maps_path, config_map("a"));
  const auto saved = b.api.save();
  const std::uint64_t then = b.api.revision();
  b.post(config_maps_path, config_map("b"));
  b.merge(std::string(config_maps_path) + "/a", R"({"data":{"a":"2"}})");
  const std::string future = std::to_string(b.api.revision());
  auto before = b.watch(std::string(config_maps_path) + "?watch=1");
  b.api.restore(*saved);
  EXPECT_TRUE(before->ended());
  EXPECT_EQ(b.api.revision(), then);
  EXPECT_EQ(b.get(std::string(config_maps_path) + "/b").status, 404);
  EXPECT_EQ(b.get(std::string(config_maps_path) + "/a").at("/data/a"), "1");
  EXPECT_EQ(b.get(std::string(config_maps_path) + "?resourceVersion=" + future).status, 504);
  auto after = b.watch(std::string(config_maps_path) + "?watch=1&resourceVersion=" + future);
  b.post(config_maps_path, config_map("c"));
  EXPECT_FALSE(after->ended());
  EXPECT_TRUE(after->take().empty()) << "it waits for versions beyond its own";
}

TEST(Faults, HoldWatchesWhileFrozen) {
  bench_api b;
  auto w = b.watch(std::string(config_maps_path) + "?watch=1");
  int woken = 0;
  w->on_ready = [&] { ++woken; };
  b.api.freeze(true);
  b.post(config_maps_path, config_map("a"));
  EXPECT_EQ(woken, 0);
  EXPECT_TRUE(w->take().empty());
  b.api.freeze(false);
  EXPECT_EQ(woken, 1);
  EXPECT_FALSE(w->take().empty());
}

TEST(Faults, RestartEndsWatchesAndMayLoseHistory) {
  bench_api b;
  const std::string old = std::to_string(b.api.revision());
  auto w = b.watch(std::string(config_maps_path) + "?watch=1");
  b.post(config_maps_path, config_map("a"));
  b.api.restart();
  EXPECT_TRUE(w->ended());
  EXPECT_FALSE(b.watch(std::string(config_maps_path) + "?watch=1&resourceVersion=" + old)->ended());
  b.api.restart(api_server::memory::lost);
  EXPECT_TRUE(b.watch(std::string(config_maps_path) + "?watch=1&resourceVersion=" + old)->ended());
}

TEST(Faults, TheObserverSeesEveryWriteWithBothStates) {
  bench_api b;
  std::vector<std::string> seen;
  b.api.on_write = [&](const written& w) {
    const char* types[] = {"added", "modified", "deleted"};
    seen.push_back(std::string(types[static_cast<int>(w.type)]) + " " + std::string(w.plural) +
                   " " + std::string(w.name));
    EXPECT_EQ(w.before == nullptr, w.type == write_type::added);
  };
  b.post(config_maps_path, config_map("a"));
  b.merge(std::string(config_maps_path) + "/a", R"({"data":{"a":"2"}})");
  b.merge(std::string(config_maps_path) + "/a", R"({"data":{"a":"2"}})");
  b.remove(std::string(config_maps_path) + "/a");
  EXPECT_EQ(seen, (std::vector<std::string>{"added configmaps a", "modified configmaps a",
                                            "deleted configmaps a"}));
}

TEST(Faults, TheObserverMayCompactRestartAndWrite) {
  bench_api b;
  auto w = b.watch(std::string(config_maps_path) + "?watch=1");
  b.api.on_write = [&](const written& change) {
    if (change.name != "a") return;
    b.api.compact();
    b.api.put(boost::json::parse(config_map("b")).as_object());
    b.api.restart(api_server::memory::lost);
  };
  EXPECT_EQ(b.post(config_maps_path, config_map("a")).status, 201);
  EXPECT_TRUE(w->ended());
  EXPECT_TRUE(b.api.get("", "configmaps", "default", "b"));
}

TEST(Access, KnowsTokens) {
  bench_api b([](api_options& o) {
    o.access.anonymous = false;
    o.access.tokens["secret"] = "me";
  });
  EXPECT_EQ(b.get(config_maps_path).status, 401);
  EXPECT_EQ(b.get(config_maps_path).at("/reason"), "Unauthorized");
  request r = make_request("GET", config_maps_path);
  r.fields.set("Authorization", "Bearer secret");
  EXPECT_EQ(b.api.handle(r).status, 200);
  r.fields.set("Authorization", "Bearer wrong");
  EXPECT_EQ(b.api.handle(r).status, 401);
  r.fields.remove("Authorization");
  r.user = "certificate-holder";
  EXPECT_EQ(b.api.handle(r).status, 200);
}

TEST(Access, CanBeForbidden) {
  bench_api b;
  b.api.access().authorize = [](const std::string&, const request& r) { return r.method == "GET"; };
  EXPECT_EQ(b.post(config_maps_path, config_map("a")).status, 403);
  EXPECT_EQ(b.get(config_maps_path).status, 200);
}

TEST(Simulation, PutsObjectsWithTheirStatus) {
  bench_api b;
  b.api.put(boost::json::parse(pod("p")).as_object());
  EXPECT_TRUE(b.api.get("", "pods", "default", "p")) << "without a namespace it is the default one";
  boost::json::object o = boost::json::parse(pod("q")).as_object();
  o["metadata"].as_object()["namespace"] = "default";
  o["status"] = boost::json::object{{"phase", "Running"}};
  b.api.put(o);
  EXPECT_EQ(b.get("/api/v1/namespaces/default/pods/q").at("/status/phase"), "Running");
  EXPECT_TRUE(b.api.edit("", "pods", "default", "q", [](boost::json::object& p) {
    p["status"].as_object()["phase"] = "Failed";
  }));
  EXPECT_EQ(b.get("/api/v1/namespaces/default/pods/q").at("/status/phase"), "Failed");
  EXPECT_TRUE(b.api.erase("", "pods", "default", "q"));
  EXPECT_FALSE(b.api.get("", "pods", "default", "q"));
}

}  // namespace
}  // namespace k8s::sim
