#include "tests/helm/release/stage.hpp"

#include "formats/json/json.hpp"
#include "helm/go.hpp"
#include "k8s/client/kubeconfig.hpp"
#include "tests/reactor/run.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace helm::release::testing {

namespace json = boost::json;

std::shared_ptr<prepared_chart> load(std::vector<chart_file> files) {
  bool named = false;
  for (const auto& f : files) named = named || f.name == "Chart.yaml";
  if (!named)
    files.push_back(
        {"Chart.yaml", "apiVersion: v2\nname: shop\nversion: 1.0.0\nappVersion: \"7\"\n"});
  std::vector<std::string> notes;
  auto loaded = load_files(std::move(files), notes);
  if (!loaded) throw std::runtime_error(loaded.error().text);
  return std::make_shared<prepared_chart>(*loaded);
}

chart_file config_map(const std::string& name, const std::string& text) {
  return {"templates/" + name + ".yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: " +
                                             name + "\ndata:\n  v: \"" + text + "\"\n"};
}

chart_file hook_file(const std::string& name, const std::string& kind, const std::string& events,
                     std::string more) {
  std::string text = "apiVersion: v1\nkind: " + kind + "\nmetadata:\n  name: " + name +
                     "\n  annotations:\n    helm.sh/hook: " + events + "\n";
  if (!more.empty()) text += "    " + more + "\n";
  if (kind == "Pod") text += "spec:\n  restartPolicy: Never\n  containers: [{name: c, image: i}]\n";
  return {"templates/" + name + ".yaml", text};
}

value values_of(const std::string& text) {
  auto v = read_json(text);
  if (!v) throw std::runtime_error(v.error().text);
  return *v;
}

stage::stage(reactor::loop& l) : loop_(l) {
  auto options = k8s::sim::options_on(l);
  options.pod_log = [](std::string_view, std::string_view pod,
                       std::string_view container) -> std::optional<std::string> {
    if (pod == "waiting") return std::nullopt;  // on no node yet
    return "log of " + std::string(pod) + (container.empty() ? "" : "/") + std::string(container) +
           "\n";
  };
  options.access.authorize = [this](const std::string&, const k8s::sim::request& r) {
    if (r.path == "/apis") ++discoveries;
    return !(logs_forbidden && r.path.ends_with("/log"));
  };
  api_ = std::make_unique<k8s::sim::api_server>(std::move(options));
  front_ =
      std::make_unique<k8s::sim::server>(l, k8s::sim::server::settings{{"api", 6443}, nullptr});
  front_->add(*api_);
  if (auto started = front_->start(); !started) throw std::runtime_error(started.error().message());
  k8s::connection to;
  to.server = "http://api:6443";
  client_ = std::make_unique<k8s::client>(l, to, "helm");
  api_->put(
      json::object{{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "shops"}}}});
  api_->on_write = [this](const k8s::sim::written& w) {
    if (pods_) pods_(w);
    if (w.ns != "shops" || w.name.starts_with("sh.helm.")) return;
    const std::string what = std::string(w.plural) + "/" + std::string(w.name);
    if (w.type == k8s::sim::write_type::added) created.push_back(what);
    if (w.type == k8s::sim::write_type::deleted) deleted.push_back(what);
  };
  restart_actions();
}

stage::~stage() = default;

void stage::restart_actions() {
  actions_.reset();
  objects_ = std::make_unique<objects::cluster_objects>(loop_, *client_);
  records_ = std::make_unique<cluster_records>(loop_, *client_, "shops");
  release_actions::settings s;
  s.ns = "shops";
  s.instance = "tests";
  s.hook_log = [this](const std::string& text) { logs += text; };
  s.warning = [this](const std::string& line) { warnings.push_back(line); };
  actions_ = std::make_unique<release_actions>(loop_, *client_, *objects_, *records_, std::move(s));
}

awaitable<void> stage::stop() {
  actions_.reset();
  objects_.reset();
  co_await client_->stop();
  co_await front_->stop();
}

void stage::let_pods_end(ending how) {
  pods_ = [this, how](const k8s::sim::written& w) {
    if (w.type != k8s::sim::write_type::added || w.plural != "pods") return;
    const std::string ns(w.ns), name(w.name);
    loop_.post([this, how, ns, name] {
      api_->edit("", "pods", ns, name, [how](json::object& o) {
        o["status"] = {{"phase", how == ending::well ? "Succeeded" : "Failed"}};
      });
    });
  };
}

std::string stage::seen(const std::string& name) const {
  auto o = api_->get("", "configmaps", "shops", name);
  if (!o) return "-";
  const auto* data = o->if_contains("data");
  return data ? std::string(data->at("v").as_string()) : "";
}

awaitable<std::string> stage::told(std::string name, bool descriptions) {
  auto all = co_await records_->all_of(std::move(name));
  if (!all) co_return all.error().text;
  std::string out;
  for (const auto& r : *all) {
    out += (out.empty() ? "" : " ") + std::to_string(r.revision) + ":" +
           std::string(to_string(r.state));
    if (descriptions) out += "(" + r.description + ")";
  }
  co_return out;
}

void play(std::function<awaitable<void>(stage&)> scenario) {
  reactor::loop l(reactor::loop::mode::simulated, 7);
  {
    stage s(l);
    reactor::run_task(l, [&]() -> awaitable<void> {
      co_await scenario(s);
      co_await s.stop();
    });
  }
  EXPECT_EQ(l.live(), reactor::nothing_live);
}

}  // namespace helm::release::testing
