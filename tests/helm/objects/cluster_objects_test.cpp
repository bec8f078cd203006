#include "tests/helm/objects/stage.hpp"
#include "tests/reactor/run.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace helm::objects::testing {
namespace {

const k8s::resource& config_maps() {
  return k8s::resources::config_maps();
}

std::string web_deployment(std::string image, std::string more = "") {
  return "---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: "
         "2\n"
         "  selector:\n    matchLabels: {app: web}\n  template:\n    metadata:\n      labels: "
         "{app: "
         "web}\n    spec:\n      containers:\n      - name: main\n        image: " +
         image + "\n" + more;
}

TEST(Build, FillsInNamespacesAndFlattensLists) {
  play([](stage& s) -> awaitable<void> {
    const object_list all = co_await s.built(
        config_map("a", "k: v") +
        "---\napiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Secret, metadata: "
        "{name: "
        "b, namespace: other}}\n- {apiVersion: v1, kind: Namespace, metadata: {name: c, namespace: "
        "x}}\n");
    EXPECT_EQ(all.size(), 3u);
    if (all.size() != 3) co_return;
    EXPECT_EQ(key_of(all[0]), "/ConfigMap/" + s.ns() + "/a");
    EXPECT_EQ(at(all[0].body, "/metadata/namespace"), s.ns());
    EXPECT_EQ(key_of(all[1]), "/Secret/other/b");
    EXPECT_EQ(key_of(all[2]), "/Namespace//c");
    EXPECT_EQ(at(all[2].body, "/metadata/namespace"), "");
  });
}

// Read on the worker.
TEST(Build, KeepsTheOrderOfALongManifestAndSaysWhatIsWrongWithIt) {
  play([](stage& s) -> awaitable<void> {
    std::string manifest;
    for (int i = 0; i < 200; ++i) manifest += config_map("c" + std::to_string(i), "k: v");
    const object_list all = co_await s.built(manifest);
    EXPECT_EQ(all.size(), 200u);
    for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i].name, "c" + std::to_string(i));
    auto none = co_await s.objects().build(manifest + "---\n[1]\n", s.ns());
    EXPECT_EQ(problem_of(none),
              "unable to decode \"\": json: cannot unmarshal array into Go value of type "
              "unstructured.detector");
  });
}

TEST(Build, SaysWhichKindsTheClusterLacks) {
  play([](stage& s) -> awaitable<void> {
    auto none = co_await s.objects().build(
        "apiVersion: example.com/v1\nkind: Widget\nmetadata:\n  name: w\n---\napiVersion: "
        "v1\nkind: Gadget\nmetadata:\n  name: g\n  namespace: far\n",
        s.ns());
    EXPECT_EQ(problem_of(none),
              "[resource mapping not found for name: \"w\" namespace: \"\" from \"\": no matches "
              "for kind \"Widget\" in version \"example.com/v1\"\nensure CRDs are installed first, "
              "resource mapping not found for name: \"g\" namespace: \"far\" from \"\": no matches "
              "for kind \"Gadget\" in version \"v1\"\nensure CRDs are installed first]");
  });
}

TEST(Build, NeedsAKind) {
  play([](stage& s) -> awaitable<void> {
    auto none = co_await s.objects().build("apiVersion: v1\nmetadata: {name: a}\n", s.ns());
    EXPECT_EQ(problem_of(none),
              "unable to decode \"\": Object 'Kind' is missing in "
              "'{\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\"}}'");
  });
}

TEST(Capabilities, AreTheClusters) {
  play([](stage& s) -> awaitable<void> {
    auto seen = co_await s.objects().capabilities();
    EXPECT_EQ(problem_of(seen), "");
    if (!seen) co_return;
    EXPECT_TRUE(seen->kube.version.starts_with("v1."));
    EXPECT_EQ(seen->kube.major, "1");
    const auto has = [&](const char* what) {
      return std::find(seen->api_versions.begin(), seen->api_versions.end(), what) !=
             seen->api_versions.end();
    };
    EXPECT_TRUE(has("v1"));
    EXPECT_TRUE(has("v1/Pod"));
    EXPECT_TRUE(has("v1/Eviction")) << "subresources count";
    EXPECT_TRUE(has("apps/v1/Deployment"));
    EXPECT_FALSE(has("example.com/v1"));
  });
}

TEST(Capabilities, OfAnUnreachableClusterAreAProblem) {
  reactor::loop l(reactor::loop::mode::simulated, 1);
  k8s::connection to;
  to.server = "http://nowhere:1";
  k8s::client api(l, to, "helm");
  cluster_objects objects(l, api);
  std::string why;
  reactor::run_task(l, [&]() -> awaitable<void> {
    auto seen = co_await objects.capabilities();
    why = problem_of(seen);
    co_await api.stop();
  });
  EXPECT_TRUE(why.starts_with("Kubernetes cluster unreachable: ")) << why;
}

TEST(Create, MakesAllAndCollectsProblems) {
  play([](stage& s) -> awaitable<void> {
    object_list first = co_await s.built(config_map("a", "k: v"));
    auto made = co_await s.objects().create(std::move(first));
    EXPECT_EQ(problem_of(made), "");
    object_list again = co_await s.built(config_map("a", "k: v") + config_map("b", "k: v"));
    auto failed = co_await s.objects().create(std::move(again));
    EXPECT_EQ(problem_of(failed), "1 error occurred:\n\t* configmaps \"a\" already exists\n\n");
    auto b = co_await s.see(config_maps(), "b");
    EXPECT_TRUE(b) << "the others are made all the same";
    object_list both = co_await s.built(config_map("a", "k: v") + config_map("b", "k: v"));
    auto twice = co_await s.objects().create(std::move(both));
    EXPECT_EQ(problem_of(twice),
              "2 errors occurred:\n\t* configmaps \"a\" already exists\n\t* configmaps \"b\" "
              "already exists\n\n");
  });
}

TEST(Create, GoesAsHelm) {
  play([](stage& s) -> awaitable<void> {
    object_list list = co_await s.built(config_map("a", "k: v"));
    (void)co_await s.objects().create(std::move(list));
    auto a = co_await s.see(config_maps(), "a");
    EXPECT_TRUE(a);
    EXPECT_EQ(a ? at(*a, "/metadata/managedFields/0/manager") : "", "helm");
  });
}

TEST(Create, TellsTheNamesThatTheServerGenerated) {
  play([](stage& s) -> awaitable<void> {
    object_list list =
        co_await s.built(config_map("a", "k: v") +
                         "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: made-}\n");
    object_list made;
    auto created = co_await s.objects().create(list, &made);
    EXPECT_EQ(problem_of(created), "");
    EXPECT_EQ(made.size(), 2u);
    if (made.size() != 2) co_return;
    EXPECT_EQ(made[0].name, "a");
    EXPECT_TRUE(made[1].name.starts_with("made-")) << made[1].name;
    const remove_result did = co_await s.objects().remove(list, "Background");
    EXPECT_EQ(did.errors, std::vector<std::string>{"resource name may not be empty"});
    auto still = co_await s.see(config_maps(), made[1].name);
    EXPECT_TRUE(still) << "no name must not mean all names";
  });
}

TEST(Live, IsNothingForWhatIsNotThere) {
  play([](stage& s) -> awaitable<void> {
    object_list list = co_await s.built(config_map("a", "k: v"));
    auto none = co_await s.objects().live(list[0]);
    EXPECT_TRUE(none && !*none);
    (void)co_await s.objects().create(list);
    auto one = co_await s.objects().live(list[0]);
    EXPECT_TRUE(one && *one);
  });
}

TEST(Update, CreatesPatchesAndDeletes) {
  play([](stage& s) -> awaitable<void> {
    object_list before = co_await s.built(config_map("old", "k: v") + config_map("both", "k: v"));
    (void)co_await s.objects().create(before);
    co_await s.merge(config_maps(), "both", R"({"data":{"others":"x","k":"drifted"}})");
    object_list after = co_await s.built(config_map("both", "k: w") + config_map("new", "k: v"));
    update_result did;
    update_options plain;
    auto done = co_await s.objects().update(before, after, plain, &did);
    EXPECT_EQ(problem_of(done), "");
    EXPECT_EQ(did.created.size(), 1u);
    EXPECT_EQ(did.updated.size(), 1u);
    EXPECT_EQ(did.deleted.size(), 1u);
    auto both = co_await s.see(config_maps(), "both");
    EXPECT_TRUE(both);
    if (both) {
      EXPECT_EQ(at(*both, "/data/k"), "w");
      EXPECT_EQ(at(*both, "/data/others"), "x");
    }
    auto old = co_await s.see(config_maps(), "old");
    EXPECT_FALSE(old);
  });
}

TEST(Update, WithoutChangesSendsNoPatch) {
  play([](stage& s) -> awaitable<void> {
    object_list list = co_await s.built(web_deployment("i:1") + config_map("a", "k: v"));
    (void)co_await s.objects().create(list);
    auto before = co_await s.see(deployments, "web");
    update_options plain;
    auto done = co_await s.objects().update(list, list, plain, nullptr);
    EXPECT_EQ(problem_of(done), "");
    auto after = co_await s.see(deployments, "web");
    EXPECT_TRUE(before && after);
    if (!before || !after) co_return;
    EXPECT_EQ(at(*before, "/metadata/resourceVersion"), at(*after, "/metadata/resourceVersion"));
    const std::string said = "Looks like there are no changes for Deployment \"web\"";
    EXPECT_EQ(std::count(s.lines().begin(), s.lines().end(), said), 1);
  });
}

TEST(Update, MergesListsByTheirKeys) {
  play([](stage& s) -> awaitable<void> {
    object_list before =
        co_await s.built(web_deployment("i:1", "        env: [{name: A, value: old}]\n"));
    (void)co_await s.objects().create(before);
    co_await s.merge(
        deployments, "web",
        R"({"spec":{"template":{"spec":{"containers":[{"name":"main","image":"i:1","env":[{"name":"A","value":"old"}]},{"name":"side","image":"s"}]}}}})");
    object_list after =
        co_await s.built(web_deployment("i:2", "        env: [{name: B, value: new}]\n"));
    update_options plain;
    auto done = co_await s.objects().update(before, after, plain, nullptr);
    EXPECT_EQ(problem_of(done), "");
    auto live = co_await s.see(deployments, "web");
    EXPECT_TRUE(live);
    if (!live) co_return;
    const std::string pod = "/spec/template/spec/containers";
    EXPECT_EQ(at(*live, pod + "/0/image"), "i:2");
    EXPECT_EQ(at(*live, pod + "/0/env/0/name"), "B");
    EXPECT_EQ(at(*live, pod + "/0/env/1/name"), "");
    EXPECT_EQ(at(*live, pod + "/1/name"), "side") << "somebody else's container stays";
  });
}

TEST(Update, OfWhatTheReleaseDoesNotHaveIsRefused) {
  play([](stage& s) -> awaitable<void> {
    object_list list = co_await s.built(config_map("a", "k: v"));
    (void)co_await s.objects().create(list);
    object_list none;
    update_options plain;
    auto done = co_await s.objects().update(none, list, plain, nullptr);
    EXPECT_EQ(problem_of(done), "no ConfigMap with the name \"a\" found");
  });
}

TEST(Update, CollectsPatchProblemsAndThenDeletesNothing) {
  play([](stage& s) -> awaitable<void> {
    object_list before = co_await s.built(web_deployment("i:1") + config_map("old", "k: v"));
    (void)co_await s.objects().create(before);
    object_list after = co_await s.built(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  selector: "
        "{matchLabels: {app: other}}\n  template:\n    metadata: {labels: {app: other}}\n    spec: "
        "{containers: [{name: main, image: i}]}\n");
    update_result did;
    update_options plain;
    auto done = co_await s.objects().update(before, after, plain, &did);
    EXPECT_TRUE(problem_of(done).starts_with(
        "cannot patch \"web\" with kind Deployment: Deployment.apps \"web\" is invalid: "
        "spec.selector: Invalid value: "))
        << problem_of(done);
    EXPECT_TRUE(problem_of(done).ends_with("field is immutable")) << problem_of(done);
    EXPECT_EQ(did.updated.size(), 1u);
    auto old = co_await s.see(config_maps(), "old");
    EXPECT_TRUE(old);
  });
}

TEST(Update, ThatCannotCreateSaysSo) {
  play([](stage& s) -> awaitable<void> {
    object_list bad =
        co_await s.built("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: not_a_name}\n");
    object_list none;
    update_result did;
    update_options plain;
    auto done = co_await s.objects().update(none, bad, plain, &did);
    EXPECT_TRUE(problem_of(done).starts_with(
        "failed to create resource: ConfigMap \"not_a_name\" is invalid: metadata.name: "))
        << problem_of(done);
    EXPECT_EQ(did.created.size(), 1u) << "for --cleanup-on-fail";
  });
}

TEST(Update, KeepsWhatThePolicyOfTheLiveObjectKeeps) {
  play([](stage& s) -> awaitable<void> {
    object_list before = co_await s.built(config_map("a", "k: v"));
    (void)co_await s.objects().create(before);
    co_await s.merge(config_maps(), "a",
                     R"({"metadata":{"annotations":{"helm.sh/resource-policy":"keep"}}})");
    object_list none;
    update_result did;
    update_options plain;
    auto done = co_await s.objects().update(before, none, plain, &did);
    EXPECT_TRUE(done);
    EXPECT_TRUE(did.deleted.empty());
    auto a = co_await s.see(config_maps(), "a");
    EXPECT_TRUE(a);
  });
}

TEST(Update, ByForceReplaces) {
  play([](stage& s) -> awaitable<void> {
    object_list before = co_await s.built(config_map("a", "k: v"));
    (void)co_await s.objects().create(before);
    co_await s.merge(config_maps(), "a", R"({"data":{"others":"x"}})");
    object_list after = co_await s.built(config_map("a", "k: w"));
    update_options force;
    force.force = true;
    auto done = co_await s.objects().update(before, after, force, nullptr);
    EXPECT_EQ(problem_of(done), "");
    auto a = co_await s.see(config_maps(), "a");
    EXPECT_TRUE(a);
    if (!a) co_return;
    EXPECT_EQ(at(*a, "/data/k"), "w");
    EXPECT_EQ(at(*a, "/data/others"), "");
  });
}

TEST(Update, OnTheServerAppliesAsWindlassHelm) {
  play([](stage& s) -> awaitable<void> {
    object_list before = co_await s.built(config_map("a", "k: v, gone: x"));
    object_list none;
    update_options apply;
    apply.server_side = true;
    update_result did;
    auto made = co_await s.objects().update(none, before, apply, &did);
    EXPECT_EQ(problem_of(made), "");
    EXPECT_EQ(did.created.size(), 1u);
    object_list after = co_await s.built(config_map("a", "k: w"));
    auto done = co_await s.objects().update(before, after, apply, nullptr);
    EXPECT_EQ(problem_of(done), "");
    auto a = co_await s.see(config_maps(), "a");
    EXPECT_TRUE(a);
    if (!a) co_return;
    EXPECT_EQ(at(*a, "/data/k"), "w");
    EXPECT_EQ(at(*a, "/data/gone"), "");
    EXPECT_EQ(at(*a, "/metadata/managedFields/0/manager"), "windlass-helm");
    co_await s.merge(config_maps(), "a", R"({"data":{"k":"taken"}})");
    auto conflict = co_await s.objects().update(after, after, apply, nullptr);
    EXPECT_EQ(problem_of(conflict),
              "cannot patch \"a\" with kind ConfigMap: Apply failed with 1 conflict: conflict "
              "with \"helm\" using v1: .data.k");
    apply.force_conflicts = true;
    auto forced = co_await s.objects().update(after, after, apply, nullptr);
    EXPECT_EQ(problem_of(forced), "");
  });
}

TEST(Remove, IgnoresWhatIsGone) {
  play([](stage& s) -> awaitable<void> {
    object_list list = co_await s.built(config_map("a", "k: v") + config_map("b", "k: v"));
    object_list only_a{list[0]};
    (void)co_await s.objects().create(only_a);
    const remove_result did = co_await s.objects().remove(list, "Background");
    EXPECT_TRUE(did.errors.empty());
    EXPECT_EQ(did.removed.size(), 2u);
    auto gone = co_await s.objects().wait_gone(list, s.soon());
    EXPECT_EQ(problem_of(gone), "");
  });
}

TEST(WaitGone, EndsAtItsDeadline) {
  play([](stage& s) -> awaitable<void> {
    object_list list = co_await s.built(config_map("a", "k: v"));
    (void)co_await s.objects().create(list);
    auto gone = co_await s.objects().wait_gone(list, s.loop().now() + 3s);
    EXPECT_EQ(problem_of(gone), "context deadline exceeded");
  });
}

}  // namespace
}  // namespace helm::objects::testing
