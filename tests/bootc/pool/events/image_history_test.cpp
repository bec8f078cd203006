// What the service adds to a pool's record of images, and when.
#include "bootc/pool/events/image_history.hpp"

#include "app/api/target_history.hpp"
#include "bootc/kinds/conditions.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <vector>

namespace bootc {
namespace {

namespace json = boost::json;

constexpr const char* image = "r.example/os:2";

node_pool pool_with(const std::string& kept) {
  node_pool p;
  p.spec.image_ref = image;
  p.meta.annotations = {{k8s::interned(units::history_annotation), k8s::interned(kept)}};
  return p;
}

node_pool_status status_of(std::int64_t nodes, std::int64_t updated, const char* is_done) {
  node_pool_status s;
  s.node_count = nodes;
  s.updated_count = updated;
  condition c;
  c.type = pool_condition::up_to_date;
  c.status = is_done;
  c.last_transition_time = "2026-01-01T02:00:00Z";
  s.conditions.push_back(c);
  return s;
}

constexpr const char* begun =
    R"([{"revision":1,"target":"r.example/os:1"},{"revision":2,"target":"r.example/os:2",
         "at":"2026-01-01T01:00:00Z"}])";
constexpr const char* ended =
    R"([{"revision":2,"target":"r.example/os:2","done":"2026-01-01T02:00:00Z"}])";

TEST(ImageHistory, IsBehindUntilTheImageAndItsEndAreNoted) {
  const node_pool_status moving = status_of(3, 1, "False"), done = status_of(3, 3, "True");
  struct row {
    const char* kept;
    const node_pool_status& now;
    bool behind;
  };
  for (const row& r :
       std::vector<row>{{"", moving, true},
                        {"garbage", moving, true},
                        {R"([{"revision":1,"target":"r.example/os:1"}])", done, true},
                        {begun, moving, false},
                        {begun, done, true},
                        {ended, done, false},
                        {ended, moving, false},
                        {begun, status_of(0, 0, "True"), false}})
    EXPECT_EQ(image_histories().is_behind(pool_with(r.kept), r.now), r.behind) << r.kept;
  node_pool leaving = pool_with("");
  leaving.meta.deletion_timestamp += std::chrono::hours(1);
  EXPECT_FALSE(image_histories().is_behind(leaving, done));
}

TEST(ImageHistory, IsParsedWhereItsTextIsAnotherOne) {
  image_histories all;
  node_pool_status moving = status_of(3, 0, "False");
  const node_pool pool = pool_with(begun);
  for (std::int64_t updated = 0; updated < 3; ++updated) {
    moving.updated_count = updated;
    EXPECT_FALSE(all.is_behind(pool, moving));
  }
  EXPECT_EQ(all.parsed(), 1u);
  const node_pool_status done = status_of(3, 3, "True");
  EXPECT_TRUE(all.is_behind(pool, done));
  EXPECT_EQ(all.parsed(), 1u);
  EXPECT_FALSE(all.is_behind(pool_with(ended), done));
  EXPECT_FALSE(all.is_behind(pool_with(ended), done));
  EXPECT_EQ(all.parsed(), 2u);
  all.forget(pool.meta.name.str());
  EXPECT_FALSE(all.is_behind(pool_with(ended), done));
  EXPECT_EQ(all.parsed(), 3u);
}

json::object object_with(const std::string& kept) {
  json::object o = json::parse(R"({"metadata":{"resourceVersion":"7","managedFields":[
      {"manager":"flux","time":"2026-01-01T01:30:00Z","fieldsV1":{"f:spec":{"f:image":{"f:ref":{}}}}}]},
      "spec":{"image":{"ref":"r.example/os:2"}}})")
                       .as_object();
  json::object annotations;
  annotations[units::history_annotation] = kept;
  o["metadata"].as_object()["annotations"] = std::move(annotations);
  return o;
}

std::vector<units::target_record> written(const json::object& patch) {
  return units::records_in(
      units::text_at(patch, {"metadata", "annotations", std::string(units::history_annotation)}));
}

TEST(ImageHistory, NotesWhoAskedForAnImageOnTheVersionThatWasRead) {
  const json::object patch = history_patch(object_with(""), status_of(3, 1, "False"), 1);
  EXPECT_EQ(units::text_at(patch, {"metadata", "resourceVersion"}), "7");
  const auto all = written(patch);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].manager, "flux");
  EXPECT_EQ(all[0].at, "2026-01-01T01:30:00Z");
  EXPECT_EQ(all[0].outcome, "1 of 3 updated");
  EXPECT_EQ(all[0].done, "");
}

TEST(ImageHistory, NotesWhenEveryNodeHadItAndWhatAStepTook) {
  const json::object patch = history_patch(object_with(begun), status_of(3, 3, "True"), 2);
  const auto all = written(patch);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[1].done, "2026-01-01T02:00:00Z");
  EXPECT_EQ(all[1].units, 3u);
  EXPECT_EQ(all[1].at_once, 2u);
  const std::string kept =
      units::text_at(patch, {"metadata", "annotations", std::string(units::history_annotation)});
  EXPECT_EQ(past_steps(pool_with(kept)),
            (std::vector<reactor::nanoseconds>{std::chrono::minutes(30)}));
  EXPECT_FALSE(image_histories().is_behind(pool_with(kept), status_of(3, 3, "True")));
}

TEST(ImageHistory, OfNodesThatHadTheImageBeforeTakesNoTime) {
  const std::string later =
      R"([{"revision":1,"target":"r.example/os:2","at":"2026-01-01T03:00:00Z"}])";
  const auto all = written(history_patch(object_with(later), status_of(3, 3, "True"), 1));
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].done, all[0].at);
  EXPECT_EQ(units::step_time(all[0]), std::nullopt);
}

}  // namespace
}  // namespace bootc
