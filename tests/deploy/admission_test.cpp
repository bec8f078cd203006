// The kinds that we ship: every field is described, and what the controllers would refuse is
// refused at admission. tests/live/admission.py puts the same table before a real kube-apiserver.
#include "bootc/kinds/bootc_node.hpp"
#include "bootc/kinds/node_pool.hpp"
#include "bootc/pool/slot_capacity.hpp"
#include "fleetwide/kinds/fleet_pool.hpp"
#include "formats/yaml/yaml.hpp"
#include "k8s/client/client.hpp"
#include "k8s/client/kubeconfig.hpp"
#include "k8s/informer/view.hpp"
#include "k8s/sim/objects/rule.hpp"
#include "k8s/sim/server.hpp"
#include "reactor/loop.hpp"
#include "registry/image_ref.hpp"
#include "tests/policies/host/run.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

const fs::path source = WINDLASS_SOURCE_DIR;

std::string contents_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  EXPECT_TRUE(in) << path;
  return text.str();
}

std::vector<json::object> shipped_crds() {
  std::vector<json::object> all;
  for (const auto& file : fs::recursive_directory_iterator(source / "deploy/crds")) {
    if (file.path().extension() != ".yaml") continue;
    auto read = formats::parse_kubernetes_yaml(contents_of(file.path()), file.path().string());
    EXPECT_TRUE(read) << file.path();
    if (read) all.push_back(read->as_object());
  }
  return all;
}

const json::object* part(const json::object& o, std::string_view key) {
  const json::value* v = o.if_contains(key);
  return v ? v->if_object() : nullptr;
}

using look = std::function<void(const json::object& schema, const std::string& path, bool field)>;
void each_schema(const json::object& schema, const std::string& path, bool field, const look& f) {
  f(schema, path, field);
  if (const json::object* all = part(schema, "properties"))
    for (const auto& [name, s] : *all)
      each_schema(s.as_object(), path + "." + std::string(name), true, f);
  if (const json::object* items = part(schema, "items")) each_schema(*items, path + "[]", false, f);
  if (const json::object* more = part(schema, "additionalProperties"))
    each_schema(*more, path + "{}", false, f);
}

void each_schema(const look& f) {
  const auto all = shipped_crds();
  EXPECT_EQ(all.size(), 11u);
  for (const json::object& crd : all)
    for (const json::value& version : crd.at("spec").at("versions").as_array())
      each_schema(version.at("schema").at("openAPIV3Schema").as_object(),
                  std::string(crd.at("metadata").at("name").as_string()) + ":", false, f);
}

struct Crds : testing::Test {
  /// `body` with a client of a server that has what is in `api` now.
  void on_server(const std::function<reactor::awaitable<void>(k8s::client&)>& body) {
    k8s::sim::server home(l, {.at = {"home", 6443}, .tls = nullptr});
    home.add(api);
    ASSERT_TRUE(home.start());
    k8s::connection to;
    to.server = home.url();
    k8s::client client(l, to, "test");
    policies::run_task(l, [&]() -> reactor::awaitable<void> {
      co_await body(client);
      co_await client.stop();
      co_await home.stop();
    });
  }
  reactor::loop l{reactor::loop::mode::simulated, 7};
  k8s::sim::api_server api{k8s::sim::options_on(l)};
};

TEST_F(Crds, DescribeEveryField) {
  std::size_t fields = 0;
  each_schema([&](const json::object& schema, const std::string& path, bool field) {
    // A server describes metadata itself and takes no other description.
    if (!field || path.ends_with(":.metadata")) return;
    ++fields;
    const json::value* said = schema.if_contains("description");
    ASSERT_TRUE(said && said->is_string()) << path;
    EXPECT_GE(said->get_string().size(), 8u) << path;
    EXPECT_TRUE(said->get_string().back() == '.' || said->get_string().size() > 20) << path;
  });
  EXPECT_GT(fields, 250u);
}

TEST_F(Crds, HaveRulesThatTheEmbeddedServerJudges) {
  std::size_t rules = 0;
  each_schema([&](const json::object& schema, const std::string& path, bool) {
    const json::value* all = schema.if_contains("x-kubernetes-validations");
    if (!all) return;
    for (const json::value& one : all->as_array()) {
      const auto compiled = k8s::sim::rule::compile(std::string_view(one.at("rule").as_string()));
      EXPECT_TRUE(compiled) << path << ": " << compiled.error();
      EXPECT_FALSE(one.at("message").as_string().empty()) << path;
      ++rules;
    }
  });
  EXPECT_GT(rules, 10u);
}

/// What the controller refuses of a pool, by its own functions; empty: nothing.
std::string refused_by_controller(const json::object& body) {
  const auto pool = k8s::parse_view<bootc::node_pool>(json::serialize(body));
  if (!pool) return pool.error().message();
  if (auto ref = registry::parse_image_ref(pool->spec.image_ref); !ref) return ref.error().detail;
  if (!pool->spec.selector_problem.empty()) return pool->spec.selector_problem;
  if (auto slots = bootc::slot_capacity(pool->spec, 10); !slots) return slots.error().detail;
  if (!bootc::parse_failure_answer(pool->spec.on_failure)) return "onFailure";
  return {};
}

/// The same of a FleetPool.
std::string refused_by_fleet(const json::object& body) {
  const auto pool = k8s::parse_view<fleetwide::fleet_pool>(json::serialize(body));
  return pool ? pool->spec_problem() : pool.error().message();
}

std::string api_version_of(std::string_view kind) {
  return kind.starts_with("Bootc")     ? "node.bootc.dev/v1alpha1"
         : kind.starts_with("Fleet")   ? "fleet.windlass.dev/v1alpha1"
         : kind.starts_with("Trustee") ? "confidentialcontainers.org/v1alpha1"
                                       : "mesh.openkcm.io/v1alpha1";
}

k8s::resource resource_of(std::string_view kind) {
  const std::string api = api_version_of(kind);
  std::string plural(kind);
  for (char& c : plural) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return {api.substr(0, api.find('/')), "v1alpha1", plural + "s", std::string(kind),
          !kind.starts_with("Bootc")};
}

TEST_F(Crds, RefuseAtAdmissionWhatTheControllerRefuses) {
  const json::value table = json::parse(contents_of(source / "tests/deploy/admission.json"));
  for (json::object& crd : shipped_crds()) api.put(std::move(crd));
  on_server([&](k8s::client& client) -> reactor::awaitable<void> {
    for (const json::value& v : table.as_array()) {
      const json::object& row = v.as_object();
      const std::string what(row.at("what").as_string()), kind(row.at("kind").as_string());
      json::object body{{"apiVersion", api_version_of(kind)}, {"kind", kind}};
      const json::value* called = row.if_contains("name");
      const std::string name(called ? called->as_string() : "tried");
      body["metadata"] = json::object{{"name", name}};
      body["spec"] = row.at("spec");
      json::object as_written = body;
      for (const char* key : {"uid", "resourceVersion"})
        as_written["metadata"].as_object()[key] = "1";
      const k8s::resource to_make = resource_of(kind);
      const std::string ns = to_make.namespaced ? "default" : "";
      auto made = co_await client.create(to_make, ns, std::move(body));
      if (row.at("refused").is_null()) {
        EXPECT_TRUE(made) << what << ": " << (made ? "" : made.error().message());
        k8s::object_key key{ns, name};
        k8s::delete_options now;
        if (made) (void)co_await client.remove(to_make, std::move(key), std::move(now));
      } else {
        EXPECT_FALSE(made) << what;
        const std::string why(row.at("refused").as_string());
        if (!made) {
          EXPECT_EQ(made.error().code, k8s::errc::invalid) << what;
          EXPECT_NE(made.error().message().find(why), std::string::npos)
              << what << ": " << made.error().message();
        }
      }
      if ((kind != "BootcNodePool" && kind != "FleetPool") || row.contains("unread")) continue;
      // A server may be stricter; what it lets in is never refused afterwards.
      const std::string said =
          kind == "FleetPool" ? refused_by_fleet(as_written) : refused_by_controller(as_written);
      if (row.contains("stricter")) continue;
      EXPECT_EQ(said.empty(), row.at("refused").is_null()) << what << ": " << said;
    }
  });
}

TEST_F(Crds, RefuseToMoveAReleaseOfAFleetChart) {
  for (json::object& crd : shipped_crds()) api.put(std::move(crd));
  api.put(json::parse(R"({"apiVersion":"fleet.windlass.dev/v1alpha1","kind":"FleetChart",
    "metadata":{"name":"web","namespace":"default"},"spec":{"clusters":{"selector":{}},
    "chart":{"repository":"https://charts.example.com","name":"web"},"namespace":"shop"}})")
              .as_object());
  on_server([&](k8s::client& client) -> reactor::awaitable<void> {
    const std::pair<const char*, const char*> steps[] = {
        {R"({"spec":{"namespace":"other"}})", "spec.namespace cannot be changed"},
        {R"({"spec":{"release":"other"}})", "spec.release cannot be changed"},
        {R"({"spec":{"release":"web"}})", ""},  // as it is called anyway
        {R"({"spec":{"release":null}})", ""},
        {R"({"spec":{"chart":{"version":"2.0.0"}}})", ""}};
    for (const auto& [patch, why] : steps) {
      k8s::object_key key{"default", "web"};
      json::object body = json::parse(patch).as_object();
      k8s::resource kind = resource_of("FleetChart");
      auto done = co_await client.merge_patch(std::move(kind), std::move(key), std::move(body));
      const std::string said = done ? "" : done.error().message();
      EXPECT_EQ(done.has_value(), *why == '\0') << patch << ": " << said;
      EXPECT_NE(said.find(why), std::string::npos) << patch << ": " << said;
    }
  });
}

void take_rules_out(json::value& schema) {
  if (schema.is_array())
    for (json::value& one : schema.as_array()) take_rules_out(one);
  if (!schema.is_object()) return;
  schema.as_object().erase("x-kubernetes-validations");
  for (auto& member : schema.as_object()) take_rules_out(member.value());
}

TEST_F(Crds, DoNotJudgeAgainWhatWasStoredBefore) {
  for (json::object& crd : shipped_crds()) {
    json::value without(crd);
    take_rules_out(without);
    api.put(std::move(without.as_object()));
  }
  api.put(json::parse(R"({"apiVersion":"node.bootc.dev/v1alpha1","kind":"BootcNodePool",
    "metadata":{"name":"old"},"spec":{"nodeSelector":{},"image":{"ref":"nginx"}}})")
              .as_object());
  for (json::object& crd : shipped_crds()) api.put(std::move(crd));
  on_server([&](k8s::client& client) -> reactor::awaitable<void> {
    const auto patched = [&](const char* patch) -> reactor::awaitable<bool> {
      k8s::object_key key{"", "old"};
      json::object body = json::parse(patch).as_object();
      auto done = co_await client.merge_patch(bootc::node_pools(), std::move(key), std::move(body));
      co_return done.has_value();
    };
    const bool beside = co_await patched(R"({"spec":{"rollout":{"paused":true}}})");
    EXPECT_TRUE(beside);
    const bool worse = co_await patched(R"({"spec":{"image":{"ref":"apache"}}})");
    EXPECT_FALSE(worse);
    const bool mended = co_await patched(R"({"spec":{"image":{"ref":"quay.io/a/b:1"}}})");
    EXPECT_TRUE(mended);
  });
}

}  // namespace
