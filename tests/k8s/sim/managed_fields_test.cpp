#include "k8s/sim/api_server.hpp"
#include "tests/k8s/sim/api.hpp"

#include <gtest/gtest.h>

namespace k8s::sim {
namespace {

const std::string without = "application/json;drop=metadata.managedFields",
                  partial_list = ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
                  partial = ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1";

std::string map_path(std::string_view rest = {}) {
  return std::string(config_maps_path).append(rest);
}

/// What every request that shows an object says of it when it asks for `accept`.
std::vector<std::string> shown(bench_api& b, const std::string& accept) {
  const std::string merging = "application/merge-patch+json", plain = "application/json";
  std::vector<std::string> all;
  const auto ask = [&](const char* method, const std::string& target, std::string body = {},
                       std::string type = "application/json", std::string form = {}) {
    all.push_back(b.send(method, target, std::move(body), std::move(type), accept + form).text);
  };
  const auto watch = [&](std::string_view query, const std::string& form = {}) {
    return b.send("GET", map_path(query), {}, "", accept + form).raw.watch;
  };
  ask("POST", map_path(), config_map("a"));
  ask("GET", map_path("/a"));
  ask("GET", map_path("/a"), {}, "", partial);
  ask("GET", map_path());
  ask("GET", map_path(), {}, "", partial_list);
  const std::vector<std::shared_ptr<subscription>> watches{
      watch("?watch=1"), watch("?watch=1", partial), watch("?watch=1&labelSelector=tier%21%3Dx"),
      b.watch(map_path("?watch=1"))};
  ask("PATCH", map_path("/a"), R"({"data":{"a":"2"}})", merging);
  ask("PUT", map_path("/a"), config_map("a", "3"));
  ask("PATCH", map_path("/a?dryRun=All"), R"({"data":{"a":"4"}})", merging);
  b.merge(map_path("/a"), R"({"metadata":{"labels":{"tier":"x"}}})");
  for (std::size_t i = 0; i + 1 < watches.size(); ++i) all.push_back(watches[i]->take());
  EXPECT_NE(watches.back()->take().find("managedFields"), std::string::npos)
      << "who does not ask for it gets all";
  b.remove(map_path("/a"));
  return all;
}

TEST(DroppedManagedFields, AreInNoAnswerThatShowsAnObject) {
  bench_api b;
  for (const std::string& text : shown(b, without)) {
    EXPECT_EQ(text.find("managedFields"), std::string::npos) << text;
    EXPECT_NE(text.find("resourceVersion"), std::string::npos) << text;
    for (const std::string& line : {text.substr(0, text.find('\n'))}) {
      boost::system::error_code code;
      (void)boost::json::parse(line, code);
      EXPECT_FALSE(code) << line;
    }
  }
  b.post(config_maps_path, config_map("b"));
  EXPECT_TRUE(b.get(map_path("/b")).find("/metadata/managedFields/0")) << "and are kept";
}

TEST(DroppedManagedFields, AreKeptByAServerThatDoesNotKnowTheParameter) {
  bench_api b([](api_options& o) { o.drops_managed_fields = false; });
  for (const std::string& text : shown(b, without))
    EXPECT_NE(text.find("managedFields"), std::string::npos) << text;
}

TEST(DroppedManagedFields, AreAskedForAmongOtherFieldsAndParameters) {
  const std::pair<const char*, bool> table[] = {
      {"application/json", false},
      {"application/json;drop=metadata.managedFields", true},
      {"application/json; drop=metadata.managedFields", true},
      {"application/json;drop=spec.other+metadata.managedFields", true},
      {"application/json;drop=metadata.managedFields+spec.other", true},
      {"application/json;drop=spec.other", false},
      {"application/json;drop=", false},
      {"application/json;drop=metadata.managedFieldsAndMore", false},
      {"application/json;g=meta.k8s.io;drop=metadata.managedFields;v=v1;as=PartialObjectMetadata",
       true},
      {"application/yaml;drop=metadata.managedFields,application/json", false},
      {"application/json;drop=metadata.managedFields,application/json", true},
      {"*/*;drop=metadata.managedFields", true},
  };
  bench_api b;
  b.post(config_maps_path, config_map("a"));
  for (const auto& [accept, dropped] : table) {
    const auto got = b.send("GET", map_path("/a"), {}, "", accept);
    EXPECT_EQ(got.status, 200) << accept;
    EXPECT_EQ(got.find("/metadata/managedFields") == nullptr, dropped) << accept;
    EXPECT_TRUE(got.find("/metadata/resourceVersion")) << accept;
  }
}

}  // namespace
}  // namespace k8s::sim
