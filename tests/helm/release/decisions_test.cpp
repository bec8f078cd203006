#include "helm/release/decisions.hpp"

#include "formats/json/json.hpp"
#include "helm/go.hpp"

#include <gtest/gtest.h>

namespace helm::release {
namespace {

history made(std::initializer_list<std::pair<int, status>> all) {
  history h;
  for (auto [revision, state] : all) {
    record r;
    r.name = "web";
    r.ns = "shops";
    r.revision = revision;
    r.state = state;
    h.push_back(std::move(r));
  }
  return h;
}

value json(const char* text) {
  auto v = read_json(text);
  EXPECT_TRUE(v) << text;
  return *v;
}
std::string text(const value& v) {
  return *write_json(v);
}

TEST(ReleasePruning, DeletesTheOldestUntilThereIsRoomButNotTheDeployed) {
  const auto s = status::superseded;
  EXPECT_EQ(revisions_to_prune(made({{1, s}, {2, s}, {3, status::deployed}}), 3),
            std::vector<int>({1}));
  EXPECT_EQ(revisions_to_prune(
                made({{1, status::deployed}, {2, status::failed}, {3, status::failed}}), 2),
            std::vector<int>({2, 3}));
  EXPECT_EQ(revisions_to_prune(made({{1, status::deployed}, {2, s}, {3, s}}), 1),
            std::vector<int>({2, 3}));
  EXPECT_EQ(revisions_to_prune(made({{1, s}, {2, s}}), 10), std::vector<int>());
  EXPECT_EQ(revisions_to_prune(made({{1, s}, {2, s}}), 0), std::vector<int>());
  EXPECT_EQ(revisions_to_prune(made({{1, status::failed}, {2, s}}), 1), std::vector<int>({1, 2}));
}

TEST(ReleaseHistory, KeepsTheContentOfTheRevisionsThatAnActionStartsFrom) {
  const auto s = status::superseded;
  history all = made({{1, s}, {2, status::deployed}, {3, s}, {4, status::failed}});
  for (record& r : all) {
    r.manifest = r.notes = "text";
    r.hooks.emplace_back();
    r.origin = std::make_shared<chart>();
  }
  keep_what_counts(all);
  std::string kept;
  for (const record& r : all) {
    kept += r.manifest.empty() ? "-" : "+";
    EXPECT_EQ(r.manifest.empty(), r.notes.empty() && r.hooks.empty() && !r.origin) << r.revision;
  }
  EXPECT_EQ(kept, "-+-+");
  EXPECT_EQ(all[2].state, s);
  history none;
  keep_what_counts(none);
}

TEST(ReleaseUpgrade, StartsFromTheNewestDeployed) {
  auto h = made({{1, status::deployed}, {2, status::deployed}, {3, status::failed}});
  auto base = upgrade_base(h, "web");
  ASSERT_TRUE(base);
  EXPECT_EQ((*base)->revision, 2);
}

TEST(ReleaseUpgrade, StartsFromAFailedOneWhenNothingWasEverDeployed) {
  for (auto s : {status::failed, status::superseded}) {
    auto h = made({{1, s}});
    auto base = upgrade_base(h, "web");
    ASSERT_TRUE(base);
    EXPECT_EQ((*base)->revision, 1);
  }
}

TEST(ReleaseUpgrade, IsRefusedWithHelmsWords) {
  EXPECT_EQ(upgrade_base({}, "web").error().text, R"("web" has no deployed releases)");
  EXPECT_EQ(upgrade_base(made({{1, status::uninstalled}}), "web").error().text,
            R"("web" has no deployed releases)");
  for (auto s : {status::pending_install, status::pending_upgrade, status::pending_rollback})
    EXPECT_EQ(upgrade_base(made({{1, status::deployed}, {2, s}}), "web").error().text,
              pending_text);
}

TEST(ReleaseValues, AreChosenAsTheFlagsSay) {
  auto c = std::make_shared<chart>();
  c->values = json(R"({"a":1,"b":{"c":1,"d":1}})");
  record current;
  current.origin = c;
  current.config = json(R"({"b":{"c":2},"e":5})");
  struct row {
    reuse how;
    const char* given;
    const char* config;
    const char* chart_values;
  };
  for (const auto& r : std::initializer_list<row>{
           {reuse::unless_given, "{}", R"({"b":{"c":2},"e":5})", nullptr},
           {reuse::unless_given, R"({"x":1})", R"({"x":1})", nullptr},
           {reuse::reset, "{}", "{}", nullptr},
           {reuse::reset, R"({"x":1})", R"({"x":1})", nullptr},
           {reuse::keep, R"({"b":{"d":7}})", R"({"b":{"c":2,"d":7},"e":5})",
            R"({"a":1,"b":{"c":2,"d":1},"e":5})"},
           {reuse::reset_then_keep, R"({"e":6})", R"({"b":{"c":2},"e":6})", nullptr},
           {reuse::keep, R"({"e":null})", R"({"b":{"c":2}})", R"({"a":1,"b":{"c":2,"d":1},"e":5})"},
       }) {
    auto chosen = choose_values(r.how, current, json(r.given), {});
    ASSERT_TRUE(chosen);
    EXPECT_EQ(text(chosen->config), r.config) << r.given;
    ASSERT_EQ(chosen->chart_values.has_value(), r.chart_values != nullptr);
    EXPECT_EQ(chosen->chart_values ? text(*chosen->chart_values) : "",
              r.chart_values ? r.chart_values : "");
  }
  EXPECT_EQ(text(current.config), R"({"b":{"c":2},"e":5})");
  EXPECT_EQ(text(c->values), R"({"a":1,"b":{"c":1,"d":1}})");
}

TEST(ReleaseLabels, AreOverlaidAndTakenAwayByNull) {
  EXPECT_EQ(merge_labels({{"a", "1"}, {"b", "2"}}, {{"b", "3"}, {"a", "null"}, {"c", "4"}}),
            label_map({{"b", "3"}, {"c", "4"}}));
}

TEST(ReleaseLabels, OfTheSystemAreRefused) {
  EXPECT_FALSE(label_problem({{"team", "a"}}));
  for (const char* name : {"name", "owner", "status", "version", "createdAt", "modifiedAt"})
    EXPECT_EQ(
        label_problem({{name, "x"}}),
        "user supplied labels contains system reserved label name. System labels: [name owner "
        "status version createdAt modifiedAt]");
}

TEST(ReleaseHooks, RunByWeightThenNameAndOtherwiseInTheirOrder) {
  std::vector<recorded_hook> all;
  auto add = [&](const char* name, int weight, std::vector<std::string> events) {
    recorded_hook h;
    h.what.name = name;
    h.what.weight = weight;
    h.what.events = std::move(events);
    all.push_back(std::move(h));
  };
  add("z", 0, {"pre-install", "post-install"});
  add("b", 5, {"pre-install"});
  add("y", -1, {"post-install"});
  add("a", 5, {"pre-install"});
  add("first", -10, {"pre-install"});
  EXPECT_EQ(hooks_for(all, "pre-install"), std::vector<std::size_t>({4, 0, 3, 1}));
  EXPECT_EQ(hooks_for(all, "post-install"), std::vector<std::size_t>({2, 0}));
  EXPECT_TRUE(hooks_for(all, "test").empty());
}

TEST(ReleaseUninstall, KeepsWhatThePolicySaysAndTakesTheRestInOrder) {
  auto split = split_for_uninstall(
      "---\n# Source: a\napiVersion: v1\nkind: Namespace\nmetadata:\n  name: n\n"
      "---\n# Source: b\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: kept\n  annotations:\n"
      "    helm.sh/resource-policy: \" Keep \"\n"
      "---\n# Source: c\napiVersion: v1\nkind: Service\nmetadata:\n  name: s\n"
      "---\n# Source: d\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: neither\n  "
      "annotations:\n"
      "    helm.sh/resource-policy: other\n");
  ASSERT_TRUE(split) << split.error().text;
  EXPECT_EQ(split->kept, "[ConfigMap] kept\n");
  EXPECT_EQ(split->doomed,
            "\n---\n# Source: c\napiVersion: v1\nkind: Service\nmetadata:\n  name: s"
            "\n---\n# Source: a\napiVersion: v1\nkind: Namespace\nmetadata:\n  name: n");
}

TEST(ReleaseUninstall, TakesEqualKindsInTheTextOrderOfTheirNumbers) {
  std::string manifest;
  for (int i = 0; i < 12; ++i)
    manifest +=
        "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c" + std::to_string(i) + "\n";
  auto split = split_for_uninstall(manifest);
  ASSERT_TRUE(split);
  std::vector<std::size_t> at;
  for (const char* name : {"c0", "c1", "c10", "c11", "c2", "c9"})
    at.push_back((split->doomed + "\n").find(std::string("name: ") + name + "\n"));
  EXPECT_TRUE(std::is_sorted(at.begin(), at.end()));
}

TEST(ReleaseUninstall, SaysThatARecordIsCorrupted) {
  auto split = split_for_uninstall("kind: [");
  ASSERT_FALSE(split);
  EXPECT_TRUE(
      split.error().text.starts_with("corrupted release record. You must manually delete the "
                                     "resources: YAML parse error on manifest-0:"));
}

TEST(ReleaseRecovery, TouchesOnlyOurOwnPendingRecordsPastTheirDeadline) {
  record r;
  r.state = status::pending_upgrade;
  EXPECT_FALSE(is_abandoned(r, "us", 100));
  r.labels = {{instance_label, "us"}, {deadline_label, "99"}};
  EXPECT_TRUE(is_abandoned(r, "us", 100));
  EXPECT_FALSE(is_abandoned(r, "us", 99));
  EXPECT_FALSE(is_abandoned(r, "others", 100));
  r.labels[deadline_label] = "99x";
  EXPECT_FALSE(is_abandoned(r, "us", 100));
  r.labels[deadline_label] = "99";
  r.state = status::deployed;
  EXPECT_FALSE(is_abandoned(r, "us", 100));
}

TEST(ReleaseRecovery, DescribesAFailureByWhatWasUnderWay) {
  record r;
  r.name = "web";
  r.state = status::pending_install;
  EXPECT_EQ(failed_description(r, "x"), R"(Release "web" failed: x)");
  r.state = status::pending_upgrade;
  EXPECT_EQ(failed_description(r, "x"), R"(Upgrade "web" failed: x)");
  r.state = status::pending_rollback;
  EXPECT_EQ(failed_description(r, "x"), R"(Rollback "web" failed: x)");
}

TEST(ReleaseList, ShowsTheLatestOfEachInTheStatesAskedFor) {
  auto all = made({{1, status::superseded}, {2, status::deployed}});
  auto other = made({{1, status::deployed}, {2, status::uninstalled}});
  for (auto& r : other) r.name = "api";
  all.insert(all.end(), other.begin(), other.end());
  auto third = made({{1, status::failed}});
  third[0].name = "db";
  all.push_back(third[0]);
  list_choice c;
  c.states = {status::deployed, status::failed};
  auto names = [](const history& h) {
    std::string out;
    for (const auto& r : h) out += r.name + std::to_string(r.revision) + " ";
    return out;
  };
  EXPECT_EQ(names(choose_listed(all, c)), "db1 web2 ");
  c.reverse = true;
  EXPECT_EQ(names(choose_listed(all, c)), "web2 db1 ");
  c.reverse = false;
  c.limit = 1;
  EXPECT_EQ(names(choose_listed(all, c)), "db1 ");
  c.offset = 1;
  EXPECT_EQ(names(choose_listed(all, c)), "web2 ");
  c.offset = 5;
  EXPECT_EQ(names(choose_listed(all, c)), "");
  c = {};
  c.states = {status::superseded};
  c.latest_only = false;
  EXPECT_EQ(names(choose_listed(all, c)), "web1 ");
}

}  // namespace
}  // namespace helm::release
