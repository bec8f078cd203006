#include "formats/json/json.hpp"
#include "helm/release/actions.hpp"
#include "k8s/sim/api_server.hpp"
#include "k8s/sim/server.hpp"
#include "tests/hostile/canary.hpp"

namespace canary_run {
namespace {

using namespace helm::release;

/// Where a server that refuses repeats what it was sent.
struct refusal {
  const char* name;
  std::function<k8s::sim::answer(const std::string& proof)> make;
};

k8s::sim::answer status(int code, const std::string& message, const std::string& reason,
                        const json::object& details = {}) {
  k8s::sim::answer a;
  a.status = code;
  a.body = json::serialize(json::object{{"kind", "Status"},
                                        {"apiVersion", "v1"},
                                        {"status", "Failure"},
                                        {"message", message},
                                        {"reason", reason},
                                        {"details", details},
                                        {"code", code}});
  return a;
}

const std::vector<refusal>& refusals() {
  static const std::vector<refusal> all = {
      {"a webhook that denies",
       [](const std::string& proof) {
         return status(400, "admission webhook \"w\" denied: Bearer " + proof, "BadRequest");
       }},
      {"the proof alone", [](const std::string& p) { return status(403, p, "Forbidden"); }},
      {"the proof as the reason", [](const std::string& p) { return status(422, "no", p); }},
      {"the proof in the causes",
       [](const std::string& p) {
         return status(
             422, "no", "Invalid",
             {{"name", p}, {"causes", {{{"reason", p}, {"message", p}, {"field", "spec." + p}}}}});
       }},
      {"plain text",
       [](const std::string& p) {
         k8s::sim::answer a;
         a.status = 500;
         a.content_type = "text/plain";
         a.body = "no: " + p;
         return a;
       }},
      {"a warning",
       [](const std::string& p) {
         k8s::sim::answer a = status(409, "no", "Conflict");
         a.fields = {{"Warning", "299 - \"Bearer " + p + "\""}};
         return a;
       }},
  };
  return all;
}

std::shared_ptr<helm::prepared_chart> chart() {
  std::vector<std::string> notes;
  auto loaded = helm::load_files(
      {{"Chart.yaml", "apiVersion: v2\nname: shop\nversion: 1.0.0\n"},
       {"templates/a.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  v: \"{{ .Values.v }}\"\n"},
       {"templates/hook.yaml",
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: hook\n  annotations:\n    helm.sh/hook: "
        "pre-upgrade\nspec:\n  containers: [{name: c, image: i}]\n"}},
      notes);
  if (!loaded) throw std::runtime_error(loaded.error().text);
  return std::make_shared<helm::prepared_chart>(*loaded);
}

helm::value values(const std::string& text) {
  auto v = formats::read_json(text);
  if (!v) throw std::runtime_error(v.error().text);
  return *v;
}

TEST_F(Canary, NoRecordOfAReleaseRepeatsACredential) {
  findings found;
  const refusal* now = nullptr;
  auto o = k8s::sim::options_on(l);
  o.access.tokens[bait] = "admin";
  o.access.anonymous = false;
  k8s::sim::api_server api(std::move(o));
  api.before = [&](const k8s::sim::request& r) -> std::optional<k8s::sim::answer> {
    const bool of_release =
        r.path.find("/configmaps") != r.path.npos || r.path.find("/pods") != r.path.npos;
    if (!now || !of_release || r.method == "GET") return std::nullopt;
    return now->make(bait);
  };
  k8s::sim::server front(l, k8s::sim::server::settings{{"api", 6443}, nullptr});
  front.add(api);
  ASSERT_TRUE(front.start());
  api.put({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "shops"}}}});
  reactor::run_task(l, [&]() -> awaitable<void> {
    k8s::connection to;
    to.server = "http://api:6443";
    to.token.bytes = reactor::secret(std::string(bait));
    k8s::client client(l, to, "helm");
    {
      helm::objects::cluster_objects objects(l, client);
      cluster_records records(l, client, "shops");
      release_actions::settings s;
      s.ns = "shops";
      const auto heard = [&](const std::string& line) { found.outputs["lines"] += line + "\n"; };
      s.line = s.warning = heard;
      release_actions actions(l, client, objects, records, std::move(s));
      const auto note = [&](const char* doing, const auto& outcome) {
        EXPECT_FALSE(outcome) << doing << " with " << now->name;
        ++found.paths;
        if (!outcome) found.outputs["errors"] += outcome.error().text + "\n";
      };
      const std::shared_ptr<helm::prepared_chart> shop = chart();
      std::size_t n = 0;
      for (const refusal& r : refusals()) {
        const std::string name = "web" + std::to_string(++n);
        now = &r;
        install_request first;
        first.name = name + "x";
        first.chart = shop;
        first.values = values(R"({"v":"1"})");
        auto failed = co_await actions.install(std::move(first));
        note("install", failed);
        now = nullptr;
        api.erase("", "configmaps", "shops", "a");
        install_request good;
        good.name = name;
        good.chart = shop;
        good.values = values(R"({"v":"1"})");
        auto installed = co_await actions.install(std::move(good));
        EXPECT_TRUE(installed) << installed.error().text;
        now = &r;
        upgrade_request next;
        next.name = name;
        next.chart = shop;
        next.values = values(R"({"v":"2"})");
        auto hooked = co_await actions.upgrade(next);
        note("upgrade", hooked);
        next.work.no_hooks = true;
        auto patched = co_await actions.upgrade(std::move(next));
        note("upgrade without hooks", patched);
        uninstall_request gone;
        gone.name = name;
        gone.keep_history = true;
        auto left = co_await actions.uninstall(std::move(gone));
        note("uninstall", left);
        now = nullptr;
        for (const std::string& each : {name, name + "x"}) {
          auto all = co_await records.all_of(each);
          EXPECT_TRUE(all);
          for (const record& one : *all) found.outputs["records"] += *write_record(one) + "\n";
        }
        api.erase("", "configmaps", "shops", "a");
      }
    }
    co_await client.stop();
    co_await front.stop();
  });
  EXPECT_EQ(found.paths, refusals().size() * 4);
  EXPECT_NE(found.outputs["records"].find("***"), std::string::npos) << "no record quotes a server";
  report("releases", found);
}

}  // namespace
}  // namespace canary_run
