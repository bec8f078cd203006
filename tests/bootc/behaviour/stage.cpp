#include "tests/bootc/behaviour/stage.hpp"

#include "bootc/kinds/names.hpp"
#include "formats/base64.hpp"
#include "formats/yaml/yaml.hpp"
#include "k8s/client/kubeconfig.hpp"
#include "k8s/sim/server.hpp"
#include "tests/bootc/builders.hpp"
#include "tests/reactor/run.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace bootc::behaviour {
namespace {

json::object parse(const std::string& text) {
  return json::parse(text).as_object();
}

std::string file(const std::string& path) {
  std::ifstream in(path);
  std::stringstream out;
  out << in.rdbuf();
  return out.str();
}

void take_rules_out(json::value& schema) {
  if (schema.is_array())
    for (json::value& one : schema.as_array()) take_rules_out(one);
  if (!schema.is_object()) return;
  for (const char* key : {"x-kubernetes-validations", "pattern"}) schema.as_object().erase(key);
  for (auto& member : schema.as_object()) take_rules_out(member.value());
}

const k8s::resource& crd_files() {
  return k8s::resources::crds();
}

}  // namespace

bool stage::live() {
  return std::getenv("WINDLASS_LIVE_KUBECONFIG") != nullptr;
}

stage::stage(reactor::loop& l, std::string prefix) : loop_(l), prefix_(std::move(prefix)) {
  if (live()) {
    auto loaded = k8s::load_kubeconfig_file(std::getenv("WINDLASS_LIVE_KUBECONFIG"));
    if (!loaded) throw std::runtime_error(loaded.error().message());
    to_ = *loaded;
  } else {
    auto options = k8s::sim::options_on(l);
    options.pod_termination = 2s;
    embedded_ = std::make_unique<k8s::sim::api_server>(std::move(options));
    front_ =
        std::make_unique<k8s::sim::server>(l, k8s::sim::server::settings{{"api", 6443}, nullptr});
    front_->add(*embedded_);
    if (auto started = front_->start(); !started)
      throw std::runtime_error(started.error().message());
    to_.server = "http://api:6443";
  }
  api_ = std::make_unique<k8s::client>(l, to_, "behaviour");
}

stage::~stage() = default;

awaitable<void> stage::set_up() {
  co_await install_crds();
}

awaitable<void> stage::install_crd(std::string name, rules which) {
  auto document = formats::parse_kubernetes_yaml(
      file(std::string(WINDLASS_SOURCE_DIR) + "/deploy/crds/" + name + ".yaml"), name);
  if (!document) {
    ADD_FAILURE() << document.error().message();
    co_return;
  }
  k8s::object_key key{"", name + ".node.bootc.dev"};
  if (which == rules::none) take_rules_out(*document);
  json::object body = document->as_object();
  auto applied = co_await api_->apply(crd_files(), std::move(key), std::move(body));
  EXPECT_TRUE(applied) << name << ": " << (applied ? "" : applied.error().message());
}

awaitable<void> stage::patch_pool_without_rules(std::string name, std::string patch_json) {
  co_await install_crd("bootcnodepools", rules::none);
  k8s::object_key key{"", named(name)};
  k8s::result<json::object> done = k8s::fault();
  for (int i = 0; i < 100 && !done; ++i) {  // a server takes a schema over in a moment
    json::object patch = parse(patch_json);
    done = co_await api_->merge_patch(node_pools(), key, std::move(patch));
    if (!done) co_await loop_.sleep_for(100ms);
  }
  EXPECT_TRUE(done) << (done ? "" : done.error().message());
  co_await install_crd("bootcnodepools", rules::as_shipped);
}

awaitable<void> stage::install_crds() {
  for (const char* name : {"bootcnodepools", "bootcnodes", "bootcoperatorconfigs"}) {
    co_await install_crd(name, rules::as_shipped);
    const k8s::resource kind{std::string(names::group), std::string(names::version), name, "",
                             false};
    for (int i = 0; i < 100; ++i) {
      k8s::list_options all;
      auto listed = co_await api_->list(kind, std::move(all));
      if (listed) break;
      co_await loop_.sleep_for(100ms);
    }
  }
}

awaitable<void> stage::tear_down() {
  co_await stop_controller();
  if (live()) {
    std::reverse(made_.begin(), made_.end());
    for (std::size_t i = 0; i < made_.size(); ++i) {
      const auto [r, key] = made_[i];
      if (r.plural ==
          "bootcnodepools") {  // its controller is gone, so nobody else takes the finalizer away
        json::object patch = parse(R"({"metadata":{"finalizers":null}})");
        (void)co_await api_->merge_patch(r, key, std::move(patch));
      }
      k8s::delete_options now;
      now.grace_period_seconds = 0;
      (void)co_await api_->remove(r, key, std::move(now));
    }
    k8s::list_options all;
    auto left = co_await api_->list(bootc_nodes(), std::move(all));
    if (left) {
      const json::array items = left->at("items").as_array();
      for (std::size_t i = 0; i < items.size(); ++i) {
        const std::string name(items[i].at("metadata").at("name").as_string());
        if (!name.starts_with(prefix_)) continue;
        k8s::object_key key{"", name};
        co_await erase(bootc_nodes(), std::move(key));
      }
    }
  }
  co_await api_->stop();
  if (front_) co_await front_->stop();
}

awaitable<void> stage::live_in(std::string pod) {
  k8s::object_key key{"default", named(pod)};
  auto found = co_await api_->get(k8s::resources::pods(), std::move(key));
  if (!found) throw std::runtime_error(found.error().message());
  own_pod_uid_ = std::string(found->at("metadata").as_object().at("uid").as_string());
}

void stage::start_controller(rollout_policy* policy, tag_watcher* tags) {
  bootc_cluster::options o;
  o.name = "behaviour";
  o.policy = policy;
  k8s::event_options told;
  told.per_second = 1'000;  // so that a test sees them in time
  events_ = std::make_unique<k8s::event_recorder>(loop_, *api_, std::move(told));
  o.events = events_.get();
  o.tags = tags;
  o.operator_ns = o.lease_ns = "default";
  o.identity = "windlass";
  o.own_pod_uid = own_pod_uid_;
  controller_ = std::make_unique<bootc_cluster>(loop_, *api_, std::move(o));
  controller_->start();
}

awaitable<void> stage::stop_controller() {
  if (!controller_) co_return;
  co_await controller_->stop();
  controller_.reset();
  (void)co_await events_->flush(loop_.now() + 5s);
  co_await events_->stop();
  events_.reset();
}

awaitable<std::vector<std::string>> stage::told_of(std::string name, std::string ns) {
  (void)co_await events_->flush(loop_.now() + 5s);
  static const k8s::resource kind{"events.k8s.io", "v1", "events", "Event", true};
  k8s::list_options all;
  all.ns = std::move(ns);
  all.limit = 20'000;  // a real server keeps those of the tests before
  auto listed = co_await api_->list(kind, std::move(all));
  EXPECT_TRUE(listed) << (listed ? "" : listed.error().message());
  std::vector<std::pair<std::string, std::string>> found;  // by time
  if (listed)
    for (const json::value& e : listed->at("items").as_array()) {
      const json::object& o = e.as_object();
      if (o.at("regarding").at("name").as_string() != named(name)) continue;
      std::string what(o.at("reason").as_string());
      if (what == "Held" || what == "Stuck" || what == "Released") continue;  // ours, about holds
      EXPECT_EQ(o.at("reportingController").as_string(), "bootc-operator");
      if (const json::value* series = o.if_contains("series"); series && series->is_object())
        what += " x" + std::to_string(series->at("count").as_int64());
      found.emplace_back(std::string(o.at("eventTime").as_string()), std::move(what));
    }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> out;
  for (auto& [at, what] : found) out.push_back(std::move(what));
  co_return out;
}

awaitable<void> stage::create(k8s::resource r, std::string ns, json::object body) {
  k8s::object_key key{ns, std::string(body.at("metadata").at("name").as_string())};
  auto created = co_await api_->create(r, std::move(ns), std::move(body));
  EXPECT_TRUE(created) << (created ? "" : created.error().message());
  made_.emplace_back(std::move(r), std::move(key));
}

awaitable<void> stage::node(std::string name, std::string pool_label,
                            std::string more_labels_json) {
  json::object body =
      parse(R"({"apiVersion":"v1","kind":"Node","status":{"nodeInfo":{"bootID":"boot-1"},
      "conditions":[{"type":"Ready","status":"True","reason":"KubeletReady","message":""}]}})");
  json::object labels = parse(more_labels_json);
  labels["pool"] = named(pool_label);
  json::object metadata{{"name", named(name)}};
  metadata["labels"] = std::move(labels);
  body["metadata"] = std::move(metadata);
  if (live()) {  // every field of nodeInfo is required there
    json::object info{{"bootID", "boot-1"}};
    for (const char* field :
         {"machineID", "systemUUID", "kernelVersion", "osImage", "containerRuntimeVersion",
          "kubeletVersion", "kubeProxyVersion", "operatingSystem", "architecture"})
      info[field] = "x";
    body["status"].as_object()["nodeInfo"] = std::move(info);
  }
  co_await create(k8s::resources::nodes(), std::string(), std::move(body));
}

awaitable<void> stage::patch_node(std::string name, std::string patch_json) {
  k8s::object_key key{"", named(name)};
  json::object patch = parse(patch_json);
  auto done = co_await api_->merge_patch(k8s::resources::nodes(), std::move(key), std::move(patch));
  EXPECT_TRUE(done) << (done ? "" : done.error().message());
}

awaitable<void> stage::label(std::string node, std::string key, std::optional<std::string> value) {
  json::object labels;
  labels[key] = value ? json::value(named(*value)) : json::value(nullptr);
  json::object metadata;
  metadata["labels"] = std::move(labels);
  json::object patch;
  patch["metadata"] = std::move(metadata);
  std::string text = json::serialize(patch);
  co_await patch_node(std::move(node), std::move(text));
}

awaitable<void> stage::set_ready(std::string node, bool ready) {
  k8s::object_key key{"", named(node)};
  json::object patch = parse(
      std::string(
          R"({"status":{"conditions":[{"type":"Ready","reason":"Test","message":"","status":")") +
      (ready ? "True" : "False") + R"("}]}})");
  auto done = co_await api_->merge_patch(k8s::resources::nodes(), key, patch,
                                         k8s::request_options().at("status"));
  // A kubelet says it again where the server did not answer.
  for (int again = 0; again < 10 && !done; ++again) {
    co_await loop_.sleep_for(1s);
    done = co_await api_->merge_patch(k8s::resources::nodes(), key, patch,
                                      k8s::request_options().at("status"));
  }
  EXPECT_TRUE(done) << (done ? "" : done.error().message());
}

awaitable<void> stage::pool(std::string name, char image, std::string rollout_json,
                            std::string pool_label) {
  json::object body{{"apiVersion", names::api_version}, {"kind", "BootcNodePool"}};
  body["metadata"] = json::object{{"name", named(name)}};
  json::object labels;
  labels["pool"] = named(pool_label.empty() ? name : pool_label);
  json::object selector;
  selector["matchLabels"] = std::move(labels);
  json::object spec;
  spec["nodeSelector"] = std::move(selector);
  spec["image"] = json::object{{"ref", testing::image_of(image)}};
  spec["rollout"] = parse(rollout_json);
  body["spec"] = std::move(spec);
  co_await create(node_pools(), std::string(), std::move(body));
}

awaitable<void> stage::patch_pool(std::string name, std::string patch_json) {
  k8s::object_key key{"", named(name)};
  json::object patch = parse(patch_json);
  auto done = co_await api_->merge_patch(node_pools(), std::move(key), std::move(patch));
  EXPECT_TRUE(done) << (done ? "" : done.error().message());
}

awaitable<void> stage::remove_pool(std::string name) {
  k8s::object_key key{"", named(name)};
  co_await erase(node_pools(), std::move(key));
}

awaitable<void> stage::remove_node(std::string name) {
  k8s::object_key key{"", named(name)};
  co_await erase(k8s::resources::nodes(), std::move(key));
}

awaitable<void> stage::report(std::string node, unit_state state, char booted, char staged) {
  bootc_node shown;
  shown.status.booted = testing::booted(booted);
  testing::situation::report(shown, state);
  shown.status.booted = testing::booted(booted);
  if (staged != 0) shown.status.staged = testing::booted(staged);
  json::object patch = status_patch({}, shown.status);
  if (!shown.status.staged) patch["status"].as_object()["staged"] = nullptr;
  k8s::object_key key{"", named(node)};
  auto done = co_await api_->merge_patch(bootc_nodes(), std::move(key), std::move(patch),
                                         k8s::request_options().at("status"));
  EXPECT_TRUE(done) << (done ? "" : done.error().message());
}

awaitable<void> stage::pod(std::string name, std::string node, std::string app) {
  json::object body = parse(
      R"({"apiVersion":"v1","kind":"Pod","spec":{"containers":[{"name":"c","image":"quay.io/x/y:1"}],
      "automountServiceAccountToken":false}})");
  json::object labels{{"app", named(app)}};
  json::object metadata{{"name", named(name)}, {"namespace", "default"}};
  metadata["labels"] = std::move(labels);
  body["metadata"] = std::move(metadata);
  body["spec"].as_object()["nodeName"] = named(node);
  co_await create(k8s::resources::pods(), "default", std::move(body));
  k8s::object_key key{"default", named(name)};
  json::object running =
      parse(R"({"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}})");
  auto done = co_await api_->merge_patch(k8s::resources::pods(), std::move(key), std::move(running),
                                         k8s::request_options().at("status"));
  EXPECT_TRUE(done) << (done ? "" : done.error().message());
}

awaitable<void> stage::pull_secret(std::string name, std::string docker_config) {
  json::object body =
      parse(R"({"apiVersion":"v1","kind":"Secret","type":"kubernetes.io/dockerconfigjson"})");
  json::object metadata{{"name", named(name)}, {"namespace", "default"}};
  body["metadata"] = std::move(metadata);
  body["stringData"] = json::object{{".dockerconfigjson", docker_config}};
  if (embedded_) {  // which has nobody to turn stringData into data
    body.erase("stringData");
    body["data"] = json::object{{".dockerconfigjson", formats::encode_base64(docker_config)}};
  }
  k8s::object_key key{"default", named(name)};
  auto there = co_await api_->get(k8s::resources::secrets(), key);
  if (there) {
    auto done =
        co_await api_->merge_patch(k8s::resources::secrets(), std::move(key), std::move(body));
    EXPECT_TRUE(done) << (done ? "" : done.error().message());
    co_return;
  }
  co_await create(k8s::resources::secrets(), "default", std::move(body));
}

awaitable<void> stage::budget(std::string name, std::string app, std::string min_available) {
  json::object body =
      parse(R"({"apiVersion":"policy/v1","kind":"PodDisruptionBudget","spec":{"minAvailable":)" +
            min_available + R"(,"selector":{"matchLabels":{"app":")" + named(app) + R"("}}}})");
  json::object metadata{{"name", named(name)}, {"namespace", "default"}};
  body["metadata"] = std::move(metadata);
  k8s::resource budgets{"policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", true};
  co_await create(std::move(budgets), "default", std::move(body));
}

awaitable<void> stage::erase(k8s::resource r, k8s::object_key key) {
  k8s::delete_options plain;
  auto done = co_await api_->remove(std::move(r), std::move(key), std::move(plain));
  EXPECT_TRUE(done) << (done ? "" : done.error().message());
}

awaitable<std::optional<node_pool>> stage::see_pool(std::string name) {
  k8s::object_key key{"", named(name)};
  auto got = co_await api_->get(node_pools(), std::move(key));
  if (!got) co_return std::nullopt;
  auto view = k8s::parse_view<node_pool>(json::serialize(*got));
  if (!view) co_return std::nullopt;
  co_return *view;
}

awaitable<std::optional<bootc_node>> stage::see(std::string node) {
  k8s::object_key key{"", named(node)};
  auto got = co_await api_->get(bootc_nodes(), std::move(key));
  if (!got) co_return std::nullopt;
  auto view = k8s::parse_view<bootc_node>(json::serialize(*got));
  if (!view) co_return std::nullopt;
  co_return *view;
}

awaitable<std::optional<k8s::node>> stage::see_node(std::string name) {
  k8s::object_key key{"", named(name)};
  auto got = co_await api_->get(k8s::resources::nodes(), std::move(key));
  if (!got) co_return std::nullopt;
  auto view = k8s::parse_view<k8s::node>(json::serialize(*got));
  if (!view) co_return std::nullopt;
  co_return *view;
}

awaitable<void> stage::until_pool(std::string what, std::string name,
                                  std::function<bool(const node_pool&)> holds) {
  const auto deadline = loop_.now() + patience();
  for (;;) {
    auto p = co_await see_pool(name);
    if (p && holds(*p)) co_return;
    if (loop_.now() >= deadline) {
      ADD_FAILURE() << "pool " << name << ": never " << what << "; "
                    << (p ? degraded(*p) + " " + testing::up_to_date_of(p->status) : "absent");
      co_return;
    }
    co_await loop_.sleep_for(50ms);
  }
}

awaitable<void> stage::until(std::string what, std::string node,
                             std::function<bool(const bootc_node&)> holds) {
  const auto deadline = loop_.now() + patience();
  for (;;) {
    auto b = co_await see(node);
    if (b && holds(*b)) co_return;
    if (loop_.now() >= deadline) {
      std::string shown = "absent";
      if (b) {
        shown = b->spec.desired_image + " " + std::string(text(b->spec.desired_state)) +
                (b->in_slot() ? " in slot" : "");
        for (const auto& c : b->status.conditions)
          shown += " " + c.type + "=" + c.status + "/" + c.reason + "/" + c.message;
      }
      ADD_FAILURE() << "BootcNode " << node << ": never " << what << "; " << shown;
      co_return;
    }
    co_await loop_.sleep_for(50ms);
  }
}

awaitable<void> stage::until_node(std::string what, std::string name,
                                  std::function<bool(const k8s::node&)> holds) {
  const auto deadline = loop_.now() + patience();
  for (;;) {
    auto n = co_await see_node(name);
    if (n && holds(*n)) co_return;
    if (loop_.now() >= deadline) {
      ADD_FAILURE() << "Node " << name << ": never " << what;
      co_return;
    }
    co_await loop_.sleep_for(50ms);
  }
}

awaitable<void> stage::until_gone(std::string node) {
  const auto deadline = loop_.now() + patience();
  for (;;) {
    auto b = co_await see(node);
    if (!b) co_return;
    if (loop_.now() >= deadline) {
      ADD_FAILURE() << "BootcNode " << node << " is still there";
      co_return;
    }
    co_await loop_.sleep_for(50ms);
  }
}

void play(std::function<awaitable<void>(stage&)> scenario) {
  std::string prefix = ::testing::UnitTest::GetInstance()->current_test_info()->name();
  prefix = prefix.substr(0, prefix.find('_'));
  std::transform(prefix.begin(), prefix.end(), prefix.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  reactor::loop loop(stage::live() ? reactor::loop::mode::real : reactor::loop::mode::simulated, 7);
  stage s(loop, stage::live() ? prefix + "-" : std::string());
  reactor::run_task(loop, [&]() -> awaitable<void> {
    co_await s.set_up();
    co_await scenario(s);
    co_await s.tear_down();
  });
}

std::string degraded(const node_pool& p) {
  return testing::degraded_of(p.status);
}
bool holds_slot(const bootc_node& b) {
  return b.in_slot();
}

}  // namespace bootc::behaviour
