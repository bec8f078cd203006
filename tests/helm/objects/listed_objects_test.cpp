#include "helm/objects/listed_objects.hpp"

#include "formats/plain/deep_stack.hpp"
#include "tests/helm/objects/stage.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace helm::objects::testing {
namespace {

namespace json = boost::json;
using presence = listed_objects::presence;

object object_of(k8s::resource of, std::string ns, std::string name) {
  object o;
  o.kind = of.kind;
  o.resource = std::move(of);
  o.ns = std::move(ns);
  o.name = std::move(name);
  return o;
}
object map_of(std::string name, std::string ns = "a") {
  return object_of(k8s::resources::config_maps(), std::move(ns), std::move(name));
}

TEST(ListedObjects, AreOfCollectionsThatAreAskedForOften) {
  k8s::resource roles{"rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole", false};
  struct row {
    const char* what;
    object_list wanted;
    std::vector<std::string> listed;
  };
  const row rows[] = {
      {"none", {}, {}},
      {"two need two requests either way", {map_of("x"), map_of("y")}, {}},
      {"three", {map_of("x"), map_of("y"), map_of("z")}, {"a"}},
      {"in one namespace", {map_of("x"), map_of("y"), map_of("z", "b")}, {}},
      {"each namespace",
       {map_of("x"), map_of("y", "b"), map_of("y"), map_of("z", "b"), map_of("z"),
        map_of("x", "b")},
       {"a", "b"}},
      {"without a name there is nothing to find", {map_of("x"), map_of("y"), map_of("")}, {}},
      {"of one kind",
       {map_of("x"), map_of("y"), object_of(k8s::resources::secrets(), "a", "z")},
       {}},
      {"a cluster-scoped kind is as long as the cluster has it",
       {object_of(roles, "", "x"), object_of(roles, "", "y"), object_of(roles, "", "z")},
       {}},
      {"a namespace that is no part of a path",
       {map_of("x", "a/b"), map_of("y", "a/b"), map_of("z", "a/b")},
       {}},
  };
  for (const row& r : rows) {
    std::vector<std::string> listed;
    for (const collection& c : worth_listing(r.wanted)) listed.push_back(c.ns);
    EXPECT_EQ(listed, r.listed) << r.what;
  }
}

TEST(ListedObjects, KnowWhatIsNotThereOnlyFromAWholeList) {
  reactor::loop l(reactor::loop::mode::simulated, 1);
  k8s::connection to;
  to.server = "http://api:1";
  k8s::client api(l, to);
  struct row {
    const char* page;
    presence x, other;
  };
  const row rows[] = {
      {R"({"metadata":{},"items":[{"metadata":{"name":"x"}}]})", presence::present,
       presence::absent},
      {R"({"metadata":{},"items":[]})", presence::absent, presence::absent},
      {R"({"metadata":{"continue":"t"},"items":[{"metadata":{"name":"x"}}]})", presence::present,
       presence::unknown},
      {R"({"items":[{"metadata":{"name":"x"}}]})", presence::present, presence::unknown},
      {R"({"metadata":{},"items":null})", presence::unknown, presence::unknown},
      {R"({"metadata":{}})", presence::unknown, presence::unknown},
      {R"({"metadata":{},"items":[1,{"metadata":[]},{}]})", presence::absent, presence::absent},
  };
  for (const row& r : rows) {
    listed_objects all(api, formats::unbounded);
    all.take({k8s::resources::config_maps(), "a"}, json::parse(r.page).as_object());
    EXPECT_EQ(all.find(map_of("x")).is, r.x) << r.page;
    EXPECT_EQ(all.find(map_of("x")).object != nullptr, r.x == presence::present) << r.page;
    EXPECT_EQ(all.find(map_of("y")).is, r.other) << r.page;
    EXPECT_EQ(all.find(map_of("x", "b")).is, presence::unknown) << "was not listed";
    EXPECT_EQ(all.find(map_of("")).is, presence::unknown);
  }
}

TEST(ListedObjects, CarryTheirMarks) {
  play([](stage& s) -> awaitable<void> {
    auto list = co_await s.built(config_map("a", "k: v", "k: mark") + config_map("b", "k: v") +
                                 config_map("c", "k: v"));
    object_list some{list[0]};
    auto made = co_await s.objects().create(std::move(some));
    EXPECT_EQ(problem_of(made), "");
    listed_objects all(s.api(), formats::unbounded);
    co_await all.read(list);
    const listed_objects::finding x = all.find(list[0]);
    EXPECT_EQ(x.is, presence::present);
    EXPECT_EQ(x.object ? at(*x.object, "/metadata/annotations/k") : "", "mark");
    EXPECT_EQ(all.find(list[1]).is, presence::absent);
  });
}

}  // namespace
}  // namespace helm::objects::testing
