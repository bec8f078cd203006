#include "app/api/target_history.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace units {
namespace {

namespace json = boost::json;

const std::vector<std::string> ref{"spec", "image", "ref"};

json::object object(const std::string& target, const std::string& manager,
                    const std::string& annotation = "") {
  json::object o = json::parse(R"({"metadata":{"managedFields":[
      {"manager":"other","time":"2026-03-01T00:00:00Z","fieldsV1":{"f:spec":{"f:image":{"f:updates":{}}}}},
      {"manager":"MANAGER","time":"2026-02-01T00:00:00Z","fieldsV1":{"f:spec":{"f:image":{"f:ref":{}}}}},
      {"manager":"older","time":"2026-01-01T00:00:00Z","fieldsV1":{"f:spec":{"f:image":{}}}},
      {"manager":"odd"}, 7]},"spec":{"image":{"ref":"TARGET"}}})")
                       .as_object();
  o["spec"].as_object()["image"].as_object()["ref"] = target;
  o["metadata"].as_object()["managedFields"].as_array()[1].as_object()["manager"] = manager;
  if (!annotation.empty()) {
    json::object annotations;
    annotations[history_annotation] = annotation;
    o["metadata"].as_object()["annotations"] = annotations;
  }
  return o;
}

TEST(TargetHistory, KnowsWhoOwnsAField) {
  const json::object o = object("r/os:1", "flux");
  EXPECT_EQ(owners_of(o, ref), (std::vector<field_owner>{{"flux", "2026-02-01T00:00:00Z"},
                                                         {"older", "2026-01-01T00:00:00Z"}}));
  EXPECT_TRUE(owners_of(o, {"spec", "rollout", "paused"}).empty());
  EXPECT_TRUE(owners_of({}, ref).empty());
  for (const char* hand : {"windlass", "kubectl", "kubectl-edit", "kubectl-client-side-apply"})
    EXPECT_TRUE(is_by_hand(hand, "windlass")) << hand;
  for (const char* other : {"argocd-controller", "kustomize-controller", "helm", "kubectlx", ""})
    EXPECT_FALSE(is_by_hand(other, "windlass")) << other;
}

TEST(TargetHistory, NamesTheFieldsOfAPatch) {
  const auto fields = fields_of(
      json::parse(R"({"spec":{"image":{"ref":"x"}},"metadata":{"annotations":{"a.b/c":"d"}}})")
          .as_object());
  ASSERT_EQ(fields.size(), 2u);
  EXPECT_EQ(text_of_field(fields[0]), "spec.image.ref");
  EXPECT_EQ(text_of_field(fields[1]), "metadata.annotations[a.b/c]");
}

TEST(TargetHistory, BeginsWithWhatTheObjectAsksForAndKeepsTen) {
  auto all = history_of(object("r/os:0", "flux"), ref, "3 of 3 updated");
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0],
            (target_record{1, "r/os:0", "flux", "", "2026-02-01T00:00:00Z", "3 of 3 updated"}));
  for (int i = 1; i < 15; ++i) {
    target_record next;
    next.target = "r/os:" + std::to_string(i);
    add_record(all, next);
    all = history_of(object(next.target, "windlass", annotation_of(all)), ref, "1 of 3 updated");
  }
  ASSERT_EQ(all.size(), most_records);
  EXPECT_EQ(all.front().revision, 6u);
  EXPECT_EQ(all.back().revision, 15u);
  EXPECT_EQ(all.back().target, "r/os:14");
}

TEST(TargetHistory, ShowsATargetThatOthersWroteMeanwhile) {
  const std::string kept = R"([{"revision":4,"target":"r/os:1","by":"admin"}])";
  const auto all = history_of(object("r/os:2", "argocd-controller", kept), ref, "0 of 3 updated");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[1].revision, 5u);
  EXPECT_EQ(all[1].manager, "argocd-controller");
}

TEST(TargetHistory, LeavesOutWhatIsNoRecord) {
  for (const std::string kept :
       {"", "[", "7", "{}", "[1,null,{}]", R"([{"revision":0,"target":"x"}])",
        R"([{"revision":-1,"target":"x"}])", R"([{"revision":99999999999,"target":"x"}])",
        R"([{"revision":"1","target":"x"}])", R"([{"revision":1,"target":""}])"}) {
    const auto all = history_of(object("r/os:1", "flux", kept), ref, "");
    ASSERT_EQ(all.size(), 1u) << kept;
    EXPECT_EQ(all[0].revision, 1u) << kept;
  }
  EXPECT_EQ(
      history_of(object("r/os:1", "flux", "[" + std::string(20'000, ' ') + "]"), ref, "").size(),
      1u);
  std::vector<target_record> large(5);
  for (target_record& r : large) r.target = std::string(5'000, 'a');
  EXPECT_LE(annotation_of(large).size(), 16u * 1024);
}

TEST(TargetHistory, KnowsHowLongAStepTook) {
  target_record r;
  r.at = "2026-01-01T00:00:00Z";
  r.done = "2026-01-01T01:00:00Z";
  r.units = 7;
  r.at_once = 2;
  EXPECT_EQ(step_time(r), std::chrono::minutes(15));
  const auto without = [&](auto&& change) {
    target_record other = r;
    change(other);
    return step_time(other);
  };
  EXPECT_EQ(without([](target_record& o) { o.units = 0; }), std::nullopt);
  EXPECT_EQ(without([](target_record& o) { o.at_once = 0; }), std::nullopt);
  EXPECT_EQ(without([](target_record& o) { o.done.clear(); }), std::nullopt);
  EXPECT_EQ(without([](target_record& o) { o.done = o.at; }), std::nullopt);
  EXPECT_EQ(without([](target_record& o) { o.at = "yesterday"; }), std::nullopt);
  r.revision = 3;
  r.target = "r/os:1";
  EXPECT_EQ(records_in(annotation_of({r})), std::vector<target_record>{r});
}

TEST(TargetHistory, UndoTakesTheOneBeforeOrARevision) {
  std::vector<target_record> all{{3, "a"}, {4, "b"}, {5, "b"}};
  ASSERT_NE(undo_target(all, 0), nullptr);
  EXPECT_EQ(undo_target(all, 0)->target, "a");
  EXPECT_EQ(undo_target(all, 4)->target, "b");
  EXPECT_EQ(undo_target(all, 9), nullptr);
  EXPECT_EQ(undo_target({{1, "a"}}, 0), nullptr);
  EXPECT_EQ(undo_target({}, 0), nullptr);
}

}  // namespace
}  // namespace units
