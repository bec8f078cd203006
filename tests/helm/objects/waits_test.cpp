#include "reactor/side_by_side.hpp"
#include "tests/helm/objects/stage.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <gtest/gtest.h>

#include <algorithm>

namespace helm::objects::testing {
namespace {

namespace json = boost::json;

const k8s::resource replica_sets{"apps", "v1", "replicasets", "ReplicaSet", true};
const k8s::resource jobs{"batch", "v1", "jobs", "Job", true};

constexpr const char* deployment = R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "i:1"}]}
)";

constexpr const char* job = R"(
apiVersion: batch/v1
kind: Job
metadata: {name: work}
spec:
  backoffLimit: 1
  template: {spec: {restartPolicy: Never, containers: [{name: main, image: "i:1"}]}}
)";

/// Waits with `wait` while `world` does what the cluster's controllers would.
awaitable<std::string> meanwhile(std::function<awaitable<outcome<done>>()> wait,
                                 std::function<awaitable<void>()> world) {
  std::string why;
  std::function<awaitable<void>(std::size_t)> both = [&](std::size_t i) -> awaitable<void> {
    if (i == 1) {
      co_await world();
      co_return;
    }
    auto waited = co_await wait();
    why = problem_of(waited);
  };
  co_await reactor::side_by_side(2, std::move(both));
  co_return why;
}

/// What the Deployment's controller does: a ReplicaSet with its template, then statuses.
awaitable<void> roll_out(stage& s) {  // borrowed
  auto live = co_await s.see(deployments, "web");
  EXPECT_TRUE(live);
  if (!live) co_return;
  json::object set{{"apiVersion", "apps/v1"}, {"kind", "ReplicaSet"}};
  set["spec"] = json::object{{"replicas", 2},
                             {"selector", live->at("spec").at("selector")},
                             {"template", live->at("spec").at("template")}};
  json::object labels{{"app", "web"}, {"pod-template-hash", "h"}};
  set["spec"].as_object()["template"].as_object()["metadata"].as_object()["labels"] = labels;
  json::object owner{{"apiVersion", "apps/v1"},
                     {"kind", "Deployment"},
                     {"name", "web"},
                     {"uid", at(*live, "/metadata/uid")},
                     {"controller", true}};
  json::array owners;
  owners.push_back(std::move(owner));
  json::object metadata{{"name", "web-h"}};
  metadata["labels"] = labels;
  metadata["ownerReferences"] = std::move(owners);
  set["metadata"] = std::move(metadata);
  auto made = co_await s.api().create(replica_sets, s.ns(), std::move(set));
  EXPECT_TRUE(made) << (made ? "" : made.error().message());
  co_await s.loop().sleep_for(1s);
  co_await s.merge(replica_sets, "web-h",
                   R"({"status":{"observedGeneration":1,"replicas":2,"readyReplicas":2}})",
                   "status");
  co_await s.merge(deployments, "web", R"({"status":{"observedGeneration":1}})", "status");
}

TEST(WaitReady, OfADeploymentFollowsItsReplicaSet) {
  play([](stage& s) -> awaitable<void> {
    object_list list = co_await s.built(deployment);
    (void)co_await s.objects().create(list);
    std::function<awaitable<outcome<done>>()> wait = [&] {
      return s.objects().wait_ready(list, false, s.soon());
    };
    std::function<awaitable<void>()> world = [&] { return roll_out(s); };
    const std::string why = co_await meanwhile(std::move(wait), std::move(world));
    EXPECT_EQ(why, "");
  });
}

TEST(WaitReady, EndsAtItsDeadline) {
  play([](stage& s) -> awaitable<void> {
    object_list list = co_await s.built(deployment);
    (void)co_await s.objects().create(list);
    const reactor::steady_time begin = s.loop().now();
    auto waited = co_await s.objects().wait_ready(list, false, begin + 3s);
    EXPECT_EQ(problem_of(waited), "context deadline exceeded");
    EXPECT_LT(s.loop().now() - begin, 4s);
  });
}

TEST(WaitReady, OfJobsOnlyWhenAsked) {
  play([](stage& s) -> awaitable<void> {
    object_list list = co_await s.built(job);
    (void)co_await s.objects().create(list);
    auto ignored = co_await s.objects().wait_ready(list, false, s.soon());
    EXPECT_EQ(problem_of(ignored), "");
    co_await s.merge(jobs, "work", R"({"status":{"failed":2}})", "status");
    auto failed = co_await s.objects().wait_ready(list, true, s.soon());
    EXPECT_EQ(problem_of(failed), "job is failed: " + s.ns() + "/work");
  });
}

TEST(WaitReady, OfWhatIsNotThereFails) {
  play([](stage& s) -> awaitable<void> {
    object_list list = co_await s.built(deployment);
    auto waited = co_await s.objects().wait_ready(list, false, s.soon());
    EXPECT_EQ(problem_of(waited), "deployments.apps \"web\" not found");
  });
}

TEST(WaitReady, OfAServiceNeedsAnAddress) {
  play([](stage& s) -> awaitable<void> {
    object_list list = co_await s.built(
        "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: [{port: 80}]}\n" +
        config_map("a", "k: v"));
    (void)co_await s.objects().create(list);
    auto waited = co_await s.objects().wait_ready(list, false, s.soon());
    EXPECT_EQ(problem_of(waited), "");
  });
}

constexpr const char* complete =
    R"({"status":{"startTime":"2026-01-01T00:00:00Z","completionTime":"2026-01-01T00:00:01Z","succeeded":1,"conditions":[
    {"type":"SuccessCriteriaMet","status":"True"},{"type":"Complete","status":"True"}]}})";
constexpr const char* failed =
    R"({"status":{"startTime":"2026-01-01T00:00:00Z","failed":2,"conditions":[
    {"type":"FailureTarget","status":"True","reason":"BackoffLimitExceeded"},
    {"type":"Failed","status":"True","reason":"BackoffLimitExceeded"}]}})";

void check_hook(const char* status, const std::string& wanted) {
  play([=](stage& s) -> awaitable<void> {
    object_list list = co_await s.built(job);
    (void)co_await s.objects().create(list);
    std::function<awaitable<outcome<done>>()> wait = [&] {
      return s.objects().wait_hook(list, 60s);
    };
    std::function<awaitable<void>()> world = [&]() -> awaitable<void> {
      co_await s.loop().sleep_for(1s);
      co_await s.merge(jobs, "work", status, "status");
    };
    const std::string why = co_await meanwhile(std::move(wait), std::move(world));
    EXPECT_EQ(why, wanted);
  });
}

TEST(WaitHook, OfAJobEndsWhenItIsComplete) {
  check_hook(complete, "");
}

TEST(WaitHook, OfAJobThatFailsSaysWhy) {
  check_hook(failed, "1 error occurred:\n\t* job work failed: BackoffLimitExceeded\n\n");
}

TEST(WaitHook, EndsWhenTheHookIsDeleted) {
  play([](stage& s) -> awaitable<void> {
    object_list list = co_await s.built(job);
    (void)co_await s.objects().create(list);
    std::function<awaitable<outcome<done>>()> wait = [&] {
      return s.objects().wait_hook(list, 60s);
    };
    std::function<awaitable<void>()> world = [&]() -> awaitable<void> {
      co_await s.loop().sleep_for(1s);
      (void)co_await s.objects().remove(list, "Background");
    };
    const std::string why = co_await meanwhile(std::move(wait), std::move(world));
    EXPECT_EQ(why, "");
  });
}

TEST(WaitHook, HasADeadline) {
  play([](stage& s) -> awaitable<void> {
    object_list list = co_await s.built(job);
    (void)co_await s.objects().create(list);
    auto waited = co_await s.objects().wait_hook(list, 3s);
    EXPECT_EQ(problem_of(waited), "1 error occurred:\n\t* timed out waiting for the condition\n\n");
  });
}

TEST(WaitHook, OfOtherKindsIsOverAtOnce) {
  play([](stage& s) -> awaitable<void> {
    object_list list = co_await s.built(config_map("a", "k: v"));
    const reactor::steady_time begin = s.loop().now();
    auto waited = co_await s.objects().wait_hook(list, 60s);
    EXPECT_EQ(problem_of(waited), "");
    EXPECT_LT(s.loop().now() - begin, 1s);
  });
}

TEST(InstallCrds, MakesTheKindUsableAndSkipsWhatIsThere) {
  play([](stage& s) -> awaitable<void> {
    const std::string group = s.ns() + ".example.com";
    const std::string widget =
        "apiVersion: " + group + "/v1\nkind: Widget\nmetadata: {name: w}\nspec: {size: 1}\n";
    auto before = co_await s.objects().build(widget, s.ns());
    EXPECT_FALSE(before);
    std::vector<std::pair<std::string, std::string>> files{{"crds/w.yaml", definition(group)}};
    auto made = co_await s.objects().install_crds(files, s.soon());
    EXPECT_EQ(problem_of(made), "");
    object_list list = co_await s.built(widget);
    auto created = co_await s.objects().create(list);
    EXPECT_EQ(problem_of(created), "");
    auto again = co_await s.objects().install_crds(files, s.soon());
    EXPECT_EQ(problem_of(again), "");
    const std::string line = "CRD widgets." + group + " is already present. Skipping.";
    EXPECT_EQ(std::count(s.lines().begin(), s.lines().end(), line), 1);

    // Custom resources are patched from manifest to manifest: drift stays.
    if (list.empty()) co_return;
    co_await s.merge(list[0].resource, "w", R"({"spec":{"size":7,"others":1}})");
    object_list next = co_await s.built(widget + "more: 1\n");
    update_options how;
    auto updated = co_await s.objects().update(list, next, how, nullptr);
    EXPECT_EQ(problem_of(updated), "");
    auto live = co_await s.see(list[0].resource, "w");
    EXPECT_TRUE(live);
    if (live) {
      EXPECT_EQ(live->at("spec").at("size").as_int64(), 7);
      EXPECT_EQ(live->at("more").as_int64(), 1);
    }
    how.three_way_for_unstructured = true;
    auto repaired = co_await s.objects().update(next, next, how, nullptr);
    EXPECT_EQ(problem_of(repaired), "");
    live = co_await s.see(list[0].resource, "w");
    EXPECT_TRUE(live);
    if (live) {
      EXPECT_EQ(live->at("spec").at("size").as_int64(), 1);
      EXPECT_EQ(live->at("spec").at("others").as_int64(), 1);
    }
    object_list crds = co_await s.built(definition(group));
    (void)co_await s.objects().remove(crds, "Background");
  });
}

TEST(InstallCrds, NamesTheFileThatFails) {
  play([](stage& s) -> awaitable<void> {
    std::vector<std::pair<std::string, std::string>> files{
        {"crds/bad.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: not_a_name}\n"}};
    auto made = co_await s.objects().install_crds(files, s.soon());
    EXPECT_TRUE(
        problem_of(made).starts_with("failed to install CRD crds/bad.yaml: 1 error occurred:"
                                     "\n\t* "))
        << problem_of(made);
    std::vector<std::pair<std::string, std::string>> empty{{"crds/none.yaml", "# nothing\n"}};
    auto none = co_await s.objects().install_crds(empty, s.soon());
    EXPECT_EQ(problem_of(none), "failed to install CRD crds/none.yaml: no objects visited");
  });
}

}  // namespace
}  // namespace helm::objects::testing
