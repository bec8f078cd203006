// Accounts try what they have no right to, by the table rights.json, on the embedded API server
// with RBAC judged and all that the chart installs. tests/live/rights.py tries the same table on a
// real one, where admission policies count as well.
#include "formats/yaml/yaml.hpp"
#include "helm/commands/commands.hpp"
#include "k8s/sim/api_server.hpp"
#include "reactor/plain/entropy.hpp"
#include "reactor/system/files.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <filesystem>
#include <iostream>
#include <map>
#include <string>
#include <vector>

namespace {

namespace json = boost::json;
namespace fs = std::filesystem;

const std::string root = WINDLASS_SOURCE_DIR;

std::string bytes_of(const std::string& path) {
  const auto text = reactor::load_file(path, 4u << 20);
  EXPECT_TRUE(text) << path;
  return text ? *text : std::string();
}

std::string text_of(const json::object& o, std::string_view member) {
  const json::value* v = o.if_contains(member);
  return v && v->is_string() ? std::string(v->get_string()) : std::string();
}

class HostileRights : public testing::Test {
protected:
  HostileRights() : api_(options()) {
    const std::vector<std::string> words = {
        "template",
        "bootc-operator",
        root + "/deploy/chart",
        "-n",
        "bootc-operator",
        "--set",
        "image.registry=registry.example.com,namespace.create=true,releases.enabled=true,trustee."
        "enabled=true,tenants.enabled=true,"
        "kryptondeployments.enabled=true,controller.policies=rules,pullSecrets={pull},"
        "fleetPools.enabled=true,fleetCharts.enabled=true"};
    const helm::command_result chart = helm::run_command(words);
    EXPECT_EQ(chart.exit_code, 0) << chart.err;
    put_all(chart.out, "chart");
    for (const auto& file : fs::directory_iterator(root + "/deploy/crds/tenants"))
      if (file.path().extension() == ".yaml") put_all(bytes_of(file.path()), file.path());
    put_all(bytes_of(root + "/tests/hostile/rights_stage.yaml"), "rights_stage.yaml");
    tokens_ = {{"tenant", token("team", "boss")},
               {"daemon", token("bootc-operator-daemon", "bootc-operator-daemon")},
               {"service", token("bootc-operator", "bootc-operator-controller-manager")}};
  }

  k8s::sim::api_options options() {
    k8s::sim::api_options o;
    o.now = [] { return reactor::steady_time(); };
    o.wall = [] { return reactor::wall_time(std::chrono::seconds(1'800'000'000)); };
    o.entropy = &random_;
    o.access.judge = k8s::sim::authorization::rbac;
    o.access.groups["admin"] = {"system:masters"};
    return o;
  }
  void put_all(const std::string& yaml, const std::string& source) {
    const auto documents = formats::parse_kubernetes_documents(yaml, source);
    ASSERT_TRUE(documents) << documents.error().message();
    for (const json::value& d : *documents)
      if (d.is_object()) {
        EXPECT_FALSE(api_.put(d.get_object()).empty()) << source << ": " << d;
      }
  }
  std::string token(const std::string& ns, const std::string& account) {
    k8s::sim::request r = k8s::sim::make_request(
        "POST", "/api/v1/namespaces/" + ns + "/serviceaccounts/" + account + "/token",
        R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest"})");
    r.user = "admin";
    const k8s::sim::answer a = api_.handle(r);
    EXPECT_EQ(a.status, 201) << a.body;
    return a.status == 201 ? std::string(json::parse(a.body).at("status").at("token").as_string())
                           : std::string();
  }
  k8s::sim::answer tried(const json::object& way) {
    const json::value* body = way.if_contains("body");
    const std::string type = text_of(way, "type").empty() ? text_of(way, "method") == "PATCH"
                                                                ? "application/merge-patch+json"
                                                                : "application/json"
                                                          : text_of(way, "type");
    k8s::sim::request r =
        k8s::sim::make_request(text_of(way, "method"), text_of(way, "path"),
                               body ? json::serialize(*body) : std::string(), type);
    r.fields.set("Authorization", "Bearer " + tokens_.at(text_of(way, "as")));
    if (const json::value* other = way.if_contains("impersonate")) {
      r.fields.set("Impersonate-User", text_of(other->as_object(), "user"));
      if (const std::string g = text_of(other->as_object(), "group"); !g.empty())
        r.fields.set("Impersonate-Group", g);
    }
    return api_.handle(r);
  }

  reactor::seeded_entropy random_{11};
  k8s::sim::api_server api_;
  std::map<std::string, std::string> tokens_;
};

TEST_F(HostileRights, NoWayLeadsOutOfWhatAnAccountMay) {
  const json::value table = json::parse(bytes_of(root + "/tests/hostile/rights.json"));
  std::map<std::string, std::size_t> refused;
  std::size_t by_admission = 0;
  for (const json::value& row : table.as_array()) {
    const json::object& way = row.as_object();
    if (way.contains("works")) continue;
    // Judged by a policy that this server stores and does not evaluate.
    if (way.contains("admission")) {
      ++by_admission;
      continue;
    }
    const std::uint64_t before = api_.revision();
    const k8s::sim::answer a = tried(way);
    EXPECT_EQ(a.status, 403) << row << a.body;
    EXPECT_EQ(api_.revision(), before) << row << " wrote";
    ++refused[text_of(way, "as")];
  }
  EXPECT_GE(refused["tenant"], 40u);
  EXPECT_GE(refused["daemon"], 12u);
  std::cout << "## rights: tenant " << refused["tenant"] << " daemon " << refused["daemon"]
            << " service " << refused["service"] << " refused, " << by_admission
            << " for a server with admission\n";
}

TEST_F(HostileRights, EachAccountDoesItsWorkOnAHardenedCluster) {
  // There no account reads the version or the kinds by default.
  for (const char* granted : {"system:discovery", "system:public-info-viewer"}) {
    k8s::sim::request r = k8s::sim::make_request(
        "DELETE", std::string("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/") + granted,
        "");
    r.user = "admin";
    EXPECT_EQ(api_.handle(r).status, 200);
  }
  const json::value table = json::parse(bytes_of(root + "/tests/hostile/rights.json"));
  for (const json::value& row : table.as_array()) {
    if (!row.as_object().contains("works")) continue;
    const k8s::sim::answer a = tried(row.as_object());
    EXPECT_TRUE(a.status == 200 || a.status == 201) << row << a.body;
  }
}

}  // namespace
