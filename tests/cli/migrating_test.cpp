// docs/migrating/bootc-operator.md, held against what the original installs and leaves behind
// (tests/data/bootc-operator) and what the service does with it.
#include "cli/apis.hpp"
#include "cli/commands.hpp"
#include "formats/yaml/yaml.hpp"
#include "helm/members/predecessor.hpp"
#include "k8s/sim/server.hpp"
#include "reactor/loop.hpp"
#include "reactor/system/files.hpp"
#include "service/service.hpp"
#include "tests/reactor/run.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace cli {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;
using reactor::awaitable;

std::string file(const std::string& path) {
  const auto text = reactor::load_file(std::string(WINDLASS_SOURCE_DIR) + "/" + path, 1u << 20);
  EXPECT_TRUE(text) << path;
  return text ? *text : std::string();
}

std::vector<json::value> documents(const std::string& name) {
  const auto all =
      formats::parse_kubernetes_documents(file("tests/data/bootc-operator/" + name), name);
  EXPECT_TRUE(all) << name;
  return all ? *all : std::vector<json::value>();
}

std::string text_at(const json::value& of, std::string_view pointer) {
  boost::system::error_code none;
  const json::value* found = of.find_pointer(pointer, none);
  return found && found->is_string() ? std::string(found->get_string()) : std::string();
}

const std::string& guide() {
  static const std::string text = file("docs/migrating/bootc-operator.md");
  return text;
}

/// "spec.image.ref" and its like, below a schema.
void add_fields(const json::object& schema, const std::string& at, std::vector<std::string>& to) {
  const json::value* properties = schema.if_contains("properties");
  if (!properties || at == "spec.nodeSelector" || at == "spec.pullSecretRef")
    return to.push_back(at);
  for (const auto& [name, field] : properties->as_object())
    add_fields(field.as_object(), at + "." + std::string(name), to);
}

TEST(MigratingFromBootcOperator, ThePageNamesEveryFieldThatTheOriginalHas) {
  std::vector<std::string> fields;
  for (const json::value& d : documents("install.yaml"))
    if (text_at(d, "/metadata/name") == "bootcnodepools.node.bootc.dev")
      add_fields(
          d.at_pointer("/spec/versions/0/schema/openAPIV3Schema/properties/spec").as_object(),
          "spec", fields);
  EXPECT_EQ(fields.size(), 7u);
  for (const std::string& f : fields)
    EXPECT_NE(guide().find("`" + f + "`"), std::string::npos) << f;
}

TEST(MigratingFromBootcOperator, TheFlagsAreTakenAndRefusedAsThePageSays) {
  const auto ends_with = [](const std::string& flag) { return parsed({"run", flag}).exit_code; };
  std::size_t taken = 0, refused = 0;
  for (std::size_t at = 0; (at = guide().find("`--", at)) != std::string::npos; ++at) {
    const std::size_t line = guide().rfind('\n', at) + 1;
    if (guide().substr(line, 4) != "| `-") continue;
    const std::string row = guide().substr(line, guide().find('\n', at) - line);
    const std::string flag = guide().substr(at + 1, guide().find('`', at + 1) - at - 1);
    const std::string value = flag.ends_with("address")    ? "=:8081"
                              : flag.ends_with("interval") ? "=1m"
                              : flag.ends_with("encoder")  ? "=json"
                              : flag.ends_with("-level")   ? "=info"
                              : flag == "--kubeconfig"     ? "=file"
                              : flag.ends_with("registry") ? "=lab:5000"
                                                           : "";
    const bool is_refused = row.find("| refused") != std::string::npos;
    EXPECT_EQ(ends_with(flag + value), is_refused ? 2 : 0) << flag;
    ++(is_refused ? refused : taken);
  }
  EXPECT_EQ(taken, 7u);
  EXPECT_EQ(refused, 3u);
}

TEST(MigratingFromBootcOperator, ThePageDeletesAllThatIsTheOriginalsAndNothingThatHoldsPools) {
  std::set<std::string> installed, taken;
  const std::set<std::string> stay = {"Namespace", "CustomResourceDefinition", "ServiceAccount"};
  for (const json::value& d : documents("install.yaml"))
    if (!stay.contains(text_at(d, "/kind")))
      installed.insert(text_at(d, "/kind") + " " + text_at(d, "/metadata/name"));
  for (const predecessor_object& o : predecessor_objects("bootc-operator")) {
    taken.insert(o.what.kind + " " + o.key.name);
    std::string kind = o.what.kind;
    std::ranges::transform(kind, kind.begin(), [](unsigned char c) { return std::tolower(c); });
    const std::size_t said = guide().find("delete " + kind + " ");
    ASSERT_NE(said, std::string::npos) << kind;
    const std::string line = guide().substr(said, guide().find('\n', said) - said);
    EXPECT_NE(line.find(" " + o.key.name), std::string::npos) << kind << " " << o.key.name;
  }
  EXPECT_EQ(taken, installed);
  EXPECT_EQ(guide().find("kubectl delete crd"), std::string::npos);
  EXPECT_EQ(guide().find("kubectl delete namespace"), std::string::npos);
}

TEST(MigratingFromBootcOperator, TheWayBackNamesAllThatWindlassInstalled) {
  const std::string back = guide().substr(guide().find("## Back"));
  const auto all = formats::parse_kubernetes_documents(file("deploy/install.yaml"), "install.yaml");
  ASSERT_TRUE(all);
  const std::set<std::string> stay = {"Namespace", "CustomResourceDefinition", "ServiceAccount"};
  for (const json::value& d : *all) {
    std::string kind = text_at(d, "/kind");
    if (stay.contains(kind)) continue;
    std::ranges::transform(kind, kind.begin(), [](unsigned char c) { return std::tolower(c); });
    bool named = false;
    for (std::size_t at = 0; (at = back.find(" delete ", at)) != std::string::npos; ++at) {
      const std::string line = back.substr(at + 8, back.find('\n', at) - at - 8) + " ";
      const std::string kinds = "," + line.substr(0, line.find(' ')) + ",";
      named = named || (kinds.find("," + kind + ",") != std::string::npos &&
                        line.find(" " + text_at(d, "/metadata/name") + " ") != std::string::npos);
    }
    EXPECT_TRUE(named) << kind << " " << text_at(d, "/metadata/name");
  }
}

/// A home with the original's two kinds and its objects as it left them, and nodes for these.
class Original {
public:
  Original() : api_(k8s::sim::options_on(l_)), front_(l_, {.at = {"home", 6443}, .tls = nullptr}) {
    front_.add(api_);
    for (const json::value& d : documents("install.yaml"))
      if (text_at(d, "/kind") == "CustomResourceDefinition") api_.put(d.as_object());
    for (const char* name : {"w1", "w2", "w3"}) put_node(name, name == std::string("w3"));
    // Owners are known by the uid that the server gives.
    std::map<std::string, json::value> uids;
    for (json::value& d : documents("objects.yaml")) {
      json::object& metadata = d.at("metadata").as_object();
      if (metadata.contains("ownerReferences")) {
        json::object& owner = metadata.at("ownerReferences").at(0).as_object();
        owner["uid"] = uids[std::string(owner.at("name").as_string())];
      }
      const json::object made = api_.put(d.as_object());
      uids[text_at(d, "/metadata/name")] = made.at("metadata").at("uid");
    }
    EXPECT_TRUE(front_.start());
  }

  /// The service works on it; `then` looks at what became of it.
  void run(std::function<awaitable<void>(Original&)> then) {
    reactor::run_task(l_, [&]() -> awaitable<void> {
      service_options o = with_all_apis();
      o.home.server = front_.url();
      service windlass(l_, std::move(o), reactor::logger());
      auto started = co_await windlass.start();
      EXPECT_TRUE(started);
      co_await l_.sleep_for(30s);
      co_await then(*this);
      co_await windlass.stop();
      co_await front_.stop();
    });
  }

  reactor::loop& loop() { return l_; }
  k8s::sim::api_server& api() { return api_; }
  json::value see(std::string_view plural, std::string_view name) const {
    const bool is_node = plural == "nodes";
    auto found = api_.get(is_node ? "" : "node.bootc.dev", plural, "", name);
    return found ? json::value(std::move(*found)) : json::value();
  }
  void report(std::string_view name, const std::function<void(json::object& status)>& change) {
    api_.edit("node.bootc.dev", "bootcnodes", "", name,
              [&](json::object& o) { change(o["status"].as_object()); });
  }

private:
  void put_node(const std::string& name, bool tagged) {
    json::object labels{{"pool", tagged ? "tagged" : "workers"}, {"bootc.dev/managed", ""}};
    json::object ready{{"type", "Ready"}, {"status", "True"}};
    json::object status, node{{"apiVersion", "v1"}, {"kind", "Node"}};
    status["conditions"] = json::array{std::move(ready)};
    node["metadata"] = json::object{{"name", name}, {"labels", std::move(labels)}};
    node["spec"] = json::object{{"unschedulable", name == "w1"}};
    node["status"] = std::move(status);
    api_.put(std::move(node));
  }

  reactor::loop l_{reactor::loop::mode::simulated, 5};
  k8s::sim::api_server api_;
  k8s::sim::server front_;
};

TEST(MigratingFromBootcOperator, ARolloutGoesOnWhereItStoppedOnTheTwoKindsAlone) {
  Original o;
  o.run([](Original& at) -> awaitable<void> {
    const json::value w1 = at.see("bootcnodes", "w1"), w2 = at.see("bootcnodes", "w2");
    EXPECT_EQ(text_at(w1, "/spec/desiredImageState"), "Booted") << "it keeps its slot";
    EXPECT_NE(text_at(w1, "/metadata/annotations/windlass.dev~1approved-at"), "")
        << "its reboot timeout counts from now";
    EXPECT_EQ(text_at(w2, "/spec/desiredImageState"), "Staged") << "one at a time";
    EXPECT_NE(json::serialize(at.see("bootcnodepools", "workers")).find("bootc.dev/pool-cleanup"),
              std::string::npos);
    at.report("w1", [](json::object& status) {
      status["booted"] = status["staged"];
      status.erase("staged");
      json::object idle{{"type", "Idle"}, {"status", "True"}, {"reason", "Idle"}, {"message", ""}};
      idle["lastTransitionTime"] = "2026-06-12T10:10:00Z";
      status["conditions"].as_array().front() = std::move(idle);
    });
    co_await at.loop().sleep_for(30s);
    const std::string freed = json::serialize(at.see("bootcnodes", "w1"));
    EXPECT_EQ(freed.find("in-reboot-slot"), std::string::npos) << freed;
    EXPECT_EQ(json::serialize(at.see("nodes", "w1")).find(R"("unschedulable":true)"),
              std::string::npos)
        << "as schedulable as before";
    EXPECT_NE(json::serialize(at.see("bootcnodes", "w2")).find("in-reboot-slot"),
              std::string::npos);
  });
}

TEST(MigratingFromBootcOperator, ARefusedTagIsHeldAndItsNodesKeepWhatTheyRun) {
  Original o;
  const json::value before = o.see("bootcnodes", "w3");
  o.run([&](Original& at) -> awaitable<void> {
    EXPECT_EQ(at.see("bootcnodes", "w3").at("spec"), before.at("spec"));
    const std::string said =
        text_at(at.see("bootcnodepools", "tagged"), "/status/conditions/0/message");
    EXPECT_NE(said.find("tag resolution not yet supported"), std::string::npos) << said;
    co_return;
  });
}

TEST(MigratingFromBootcOperator, NothingIsWrittenWhileNothingChanges) {
  Original o;
  o.run([](Original& at) -> awaitable<void> {
    std::string written;
    co_await at.loop().sleep_for(60s);
    at.api().on_write = [&](const k8s::sim::written& w) {
      if (w.plural != "leases" && w.plural != "events") written += std::string(w.name) + " ";
    };
    co_await at.loop().sleep_for(10min);
    EXPECT_EQ(written, "") << "what the original's kinds have no field for is no change";
    at.api().on_write = nullptr;
  });
}

TEST(MigratingFromBootcOperator, ThePageTakesTheFinalizerOffForTheWayBack) {
  EXPECT_NE(guide().find(R"(kubectl patch {} --type=merge -p '{"metadata":{"finalizers":null}}')"),
            std::string::npos);
  Original o;
  o.run([](Original&) -> awaitable<void> { co_return; });
  // Windlass is gone, and only a pool without its finalizer can be deleted.
  const auto call = [&](std::string method, std::string body) {
    const std::string path = "/apis/node.bootc.dev/v1alpha1/bootcnodepools/workers";
    return o.api()
        .handle(k8s::sim::make_request(std::move(method), path, std::move(body),
                                       "application/merge-patch+json"))
        .status;
  };
  EXPECT_EQ(call("DELETE", ""), 200);
  EXPECT_FALSE(o.see("bootcnodepools", "workers").is_null()) << "it waits for its finalizer";
  EXPECT_EQ(call("PATCH", R"({"metadata":{"finalizers":null}})"), 200);
  EXPECT_TRUE(o.see("bootcnodepools", "workers").is_null());
}

}  // namespace
}  // namespace cli
