#include "policies/host/view.hpp"

#include "run.hpp"

#include <gmock/gmock.h>

namespace policies {
namespace {

struct node {
  std::string name;
  double weight = 0;
  bool ready = false;
  std::optional<std::string> zone;
  std::map<std::string, std::string> labels;
  std::vector<std::string> taints;
};
struct fleet {
  std::vector<node> nodes;
  int count = 0;
};

}  // namespace

template <>
struct view_record<node> {
  static constexpr const char* name = "node";
  static constexpr field fields[] = {
      field_of<&node::name>("name"),     field_of<&node::weight>("weight"),
      field_of<&node::ready>("ready"),   field_of<&node::zone>("zone"),
      field_of<&node::labels>("labels"), field_of<&node::taints>("taints"),
  };
};
template <>
struct view_record<fleet> {
  static constexpr const char* name = "fleet";
  static constexpr field fields[] = {field_of<&fleet::nodes>("nodes"),
                                     field_of<&fleet::count>("count")};
};

namespace {

using testing::HasSubstr;

std::shared_ptr<const fleet> some_fleet() {
  auto f = std::make_shared<fleet>();
  f->count = 2;
  f->nodes = {{"w1", 1.5, true, "a", {{"x", "1"}, {"b", "2"}}, {"t"}},
              {"w2", 2, false, std::nullopt, {}, {}}};
  return f;
}

/// What a function body with the fleet as `f` answers.
std::string seen(const std::string& body) {
  std::vector<argument> arguments{argument(view_of(some_fleet()))};
  const evaluated e = evaluate("local f = ... " + body, 200'000, {}, arguments);
  return e.answer ? to_text(*e.answer) : "!" + e.error;
}

TEST(View, ShowsFieldsListsAndMaps) {
  EXPECT_EQ(seen("return {f.count, #f.nodes, f.nodes[1].name, f.nodes[1].weight, f.nodes[1].ready, "
                 "f.nodes[1].zone}"),
            R"([2,2,"w1",1.5,true,"a"])");
  EXPECT_EQ(seen("return {f.nodes[1].labels.x, f.nodes[1].taints[1]}"), R"(["1","t"])");
  EXPECT_EQ(seen("return f.nodes[2].zone == nil and f.nodes[2].labels.x == nil and f.nodes[3] == "
                 "nil and f.nodes[0] == nil "
                 "and f.nodes[1.5] == nil and f.nodes['x'] == nil"),
            "true");
  EXPECT_EQ(seen("return type(f) .. tostring(f)"), R"("tabletable")");
}

TEST(View, IteratesInAFixedOrder) {
  EXPECT_EQ(seen("local t = {} for i, n in ipairs(f.nodes) do t[i] = n.name end return t"),
            R"(["w1","w2"])");
  EXPECT_EQ(seen("local t = {} for i, n in pairs(f.nodes) do t[i] = n.name end return t"),
            R"(["w1","w2"])");
  EXPECT_EQ(
      seen("local t = {} for k, v in pairs(f.nodes[1].labels) do t[#t + 1] = k .. v end return t"),
      R"(["b2","x1"])");
  EXPECT_EQ(seen("local t = {} for k in pairs(f.nodes[2]) do t[#t + 1] = k end return t"),
            R"(["name","weight","ready","labels","taints"])");
  EXPECT_EQ(seen("return {empty(f.nodes[2].labels), empty(f.nodes)}"), "[true,false]");
}

TEST(View, IsReadOnly) {
  EXPECT_THAT(seen("f.count = 3"), HasSubstr("a fleet is read-only"));
  EXPECT_THAT(seen("f.nodes[1] = nil"), HasSubstr("a list is read-only"));
  EXPECT_THAT(seen("table.insert(f.nodes, 1)"), HasSubstr("a read-only view"));
  EXPECT_THAT(seen("table.sort(f.nodes)"), HasSubstr("a read-only view"));
  EXPECT_EQ(seen("return getmetatable(f)"), "false");
  EXPECT_THAT(seen("setmetatable(f, {})"), HasSubstr("!"));
}

TEST(View, NamesAFieldThatDoesNotExist) {
  EXPECT_EQ(seen("return f.nodes[1].zoen"),
            "!test/main.lua:1: a node has no field 'zoen', is it zone?");
}

TEST(View, IsNoAnswer) {
  EXPECT_EQ(seen("return {start = {f.nodes[1]}}"),
            "!start[1]: is a read-only view; answer with its name");
}

TEST(View, ComparesByWhatItShows) {
  EXPECT_EQ(seen("return {f.nodes[1] == f.nodes[1], f.nodes[1] == f.nodes[2], f.nodes == f}"),
            "[true,false,false]");
}

TEST(View, EndsWithItsCall) {
  reactor::loop l(reactor::loop::mode::simulated, 1);
  pack_files files{{"keep.lua",
                    "local kept = require('box') local f = ... "
                    "if f then kept.f = f return 1 end return kept.f.count"},
                   {"box.lua", "return {}"}};
  auto box = *sandbox::open(l, "test", files);
  run_task(l, [&]() -> reactor::awaitable<void> {
    std::vector<argument> first{argument(value("keep")), argument(view_of(some_fleet()))};
    auto kept = co_await sandbox::run(box, "evaluate", std::move(first), 100'000);
    EXPECT_TRUE(kept.has_value());
    std::vector<argument> second{argument(value("keep"))};
    auto used = co_await sandbox::run(box, "evaluate", std::move(second), 100'000);
    EXPECT_FALSE(used.has_value());
    EXPECT_THAT(used ? "" : used.error().message(), HasSubstr("from an earlier call"));
  });
}

}  // namespace
}  // namespace policies
