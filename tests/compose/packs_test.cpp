// Packs that compose objects, in their own tests: they see what they ask for, as on a cluster.
#include "compose/rules/question.hpp"
#include "policies/host/pack.hpp"
#include "tests/policies/host/run.hpp"
#include "tests/reactor/temporary_folder.hpp"

#include <gmock/gmock.h>

namespace policies::compose {
namespace {

shared_hooks compose_hooks() {
  return std::make_shared<const hook_list>(hook_list{related_hook(), sync_hook(), data_hook()});
}

/// What its tests say against the packs below that folder; empty: nothing.
std::string complaints(const std::string& root) {
  std::string out;
  reactor::loop l(reactor::loop::mode::simulated, 1);
  run_task(l, [&]() -> reactor::awaitable<void> {
    auto reports = co_await test_packs(l, root, compose_hooks());
    EXPECT_TRUE(reports.has_value());
    if (!reports) co_return;
    for (const pack_report& r : *reports) {
      if (r.fault) out += r.fault->message() + "\n";
      EXPECT_TRUE(r.fault || !r.tests.empty()) << r.folder;
      for (const test_outcome& t : r.tests)
        if (!t.passed) out += t.name + ": " + t.message + "\n";
    }
  });
  return out;
}

TEST(ComposePacks, OfOursReadWhatTheyAskForAndNothingElse) {
  EXPECT_EQ(complaints(std::string(WINDLASS_SOURCE_DIR) + "/policies/trustee"), "");
  EXPECT_EQ(complaints(std::string(WINDLASS_SOURCE_DIR) + "/docs/compose/shop"), "");
}

/// A pack whose sync reads `key`, whose related asks for `asks`, and a test that hands over all.
std::string reads(const std::string& key, const std::string& asks) {
  reactor::temporary_folder folder;
  folder.write("policy.lua", R"lua(return { name = "p", version = "1",
  composes = { parents = { { apiVersion = "example.com/v1", kind = "Shop" } }, children = { { apiVersion = "v1", kind = "Secret" } },
    related = { { apiVersion = "v1", kind = "ConfigMap" } } },
  compose = { related = function() return { objects = { )lua" +
                                 asks + R"lua( } } end,
    sync = function(shop, related) return { children = {}, status = { seen = related[")lua" +
                                 key + R"lua("] ~= nil } } end } })lua");
  folder.write("policy_test.lua", R"lua(local policy = require("policy")
test("it sees it", function()
  local all = { ["ConfigMap/a"] = { kind = "ConfigMap", name = "a", labels = { x = "y" } },
    ["Proxy/cluster"] = { kind = "Proxy", name = "cluster" } }
  expect_true(policy.compose.sync({ kind = "Shop", name = "s" }, all, {}, {}).status.seen)
end))lua");
  return complaints(folder.path());
}

TEST(ComposePacks, ThatReadWhatTheyDoNotAskForFailTheirTests) {
  const std::string by_name = R"({ apiVersion = "v1", kind = "ConfigMap", name = "a" })",
                    by_labels =
                        R"({ apiVersion = "v1", kind = "ConfigMap", labels = { x = "y" } })",
                    others = R"({ apiVersion = "v1", kind = "ConfigMap", labels = { x = "z" } })";
  EXPECT_EQ(reads("ConfigMap/a", by_name), "");
  EXPECT_EQ(reads("ConfigMap/a", by_labels), "");
  EXPECT_THAT(reads("ConfigMap/a", others), testing::HasSubstr("expected something true"));
  EXPECT_THAT(reads("Proxy/cluster", by_name),
              testing::HasSubstr("compose.sync reads Proxy/cluster, which compose.related does not "
                                 "ask for"));
  EXPECT_THAT(
      reads("Proxy/cluster",
            R"({ apiVersion = "config.openshift.io/v1", kind = "Proxy", name = "cluster" })"),
      testing::HasSubstr(
          "compose.related asks for Proxy config.openshift.io/v1, which composes does "
          "not name"));
}

}  // namespace
}  // namespace policies::compose
