#include "helm/sources/search.hpp"

#include "helm/commands/comparison.hpp"
#include "helm/commands/go_table.hpp"

#include <gtest/gtest.h>

namespace helm::sources {
namespace {

chart_version entry(const std::string& name, const std::string& version,
                    const std::string& description = "", std::vector<std::string> keywords = {}) {
  chart_version v;
  v.meta.name = name;
  v.meta.version = version;
  v.meta.description = description;
  v.meta.keywords = std::move(keywords);
  return v;
}

repository_index shop() {
  repository_index i;
  i.entries["nginx"] = {entry("nginx", "2.0.0-rc.1"), entry("nginx", "1.1.0", "A web server"),
                        entry("nginx", "1.0.0", "A web server")};
  i.entries["proxy"] = {entry("proxy", "0.1.0", "In front of nginx")};
  i.entries["db"] = {entry("db", "3.0.0", "Keeps things", {"sql", "nginx"})};
  return i;
}

std::string hits(search_options o) {
  search_index i;
  i.add("shop", shop(), true);
  auto found = i.find(o);
  if (!found) return "! " + found.error().text;
  std::string out;
  for (const auto& h : *found)
    out += h.name + "-" + h.version + ":" + std::to_string(h.score) + " ";
  return out;
}

TEST(SearchRepo, RanksNamesBeforeDescriptionsBeforeKeywords) {
  EXPECT_EQ(hits({"NGINX", ">0.0.0", false, false}),
            "shop/nginx-1.1.0:0 shop/proxy-0.1.0:2 shop/db-3.0.0:3 ");
}

TEST(SearchRepo, ShowsAllVersionsOrThoseThatFit) {
  EXPECT_EQ(hits({"web", ">0.0.0", false, true}), "shop/nginx-1.1.0:2 shop/nginx-1.0.0:2 ");
  EXPECT_EQ(hits({"nginx", "~1.0.0", false, false}), "shop/nginx-1.0.0:0 ");
  EXPECT_EQ(hits({"shop/nginx", ">0.0.0-0", false, false}), "shop/nginx-2.0.0-rc.1:1 ");
}

TEST(SearchRepo, TakesRegularExpressions) {
  EXPECT_EQ(hits({"^prox.$", ">0.0.0", true, false}), "");
  EXPECT_EQ(hits({"^prox.", ">0.0.0", true, false}), "shop/proxy-0.1.0:0 ");
  EXPECT_TRUE(hits({"(", ">0.0.0", true, false}).starts_with("! error parsing regexp: "));
  EXPECT_EQ(hits({"", "a b", false, false}),
            "! an invalid version/constraint format: improper constraint: \"a b\"");
}

TEST(GoTable, PadsAndCutsColumns) {
  go_table t(8);
  t.row({"NAME", "X"});
  t.row({"äöü", "longer than eight"});
  EXPECT_EQ(t.text(), "NAME\tX       \näöü \tlonge...");
}

TEST(Comparison, ShowsTheFirstDifference) {
  EXPECT_FALSE(first_difference({"a\nb\n", "WARNING: x", 0}, {"a\nb\n", "", 0}));
  EXPECT_EQ(*first_difference({"# Source: c/x.yaml\na\nb\n", "", 0},
                              {"# Source: c/x.yaml\na\nc\n", "", 0}),
            "the output differs in line 3 (c/x.yaml)\n  # Source: c/x.yaml\n  a\n- helm:     c\n"
            "+ windlass: b\n");
  EXPECT_EQ(*first_difference({"a\n", "", 0}, {"a", "", 0}),
            "the output differs in line 2\n  a\n- helm:     (ends here)\n+ windlass: \n");
  EXPECT_EQ(*first_difference({"", "", 0}, {"", "Error: x\n", 1}),
            "helm ends with 1, windlass with 0\n- helm:     Error: x\n\n+ windlass: \n");
  EXPECT_FALSE(first_difference({"", "W\nError: x\n", 1}, {"", "Error: x\n", 1}));
  EXPECT_TRUE(first_difference({"", "Error: y\n", 1}, {"", "Error: x\n", 1}));
}

}  // namespace
}  // namespace helm::sources
