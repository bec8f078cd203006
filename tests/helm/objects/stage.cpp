#include "tests/helm/objects/stage.hpp"

#include "k8s/sim/server.hpp"
#include "tests/reactor/run.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>

namespace helm::objects::testing {

namespace json = boost::json;

bool stage::live() {
  return std::getenv("WINDLASS_LIVE_KUBECONFIG") != nullptr;
}

stage::stage(reactor::loop& l) : loop_(l) {
  if (live()) {
    auto loaded = k8s::load_kubeconfig_file(std::getenv("WINDLASS_LIVE_KUBECONFIG"));
    if (!loaded) throw std::runtime_error(loaded.error().message());
    to_ = *loaded;
  } else {
    embedded_ = std::make_unique<k8s::sim::api_server>(k8s::sim::options_on(l));
    front_ =
        std::make_unique<k8s::sim::server>(l, k8s::sim::server::settings{{"api", 6443}, nullptr});
    front_->add(*embedded_);
    if (auto started = front_->start(); !started)
      throw std::runtime_error(started.error().message());
    to_.server = "http://api:6443";
  }
  api_ = std::make_unique<k8s::client>(l, to_, "helm");
  objects_ = std::make_unique<cluster_objects>(l, *api_);
  objects_->on_line([this](std::string line) { lines_.push_back(std::move(line)); });
}

stage::~stage() = default;

awaitable<void> stage::set_up() {
  json::object metadata{{"generateName", "objects-"}};
  json::object body;
  body["metadata"] = std::move(metadata);
  auto made = co_await api_->create(k8s::resources::namespaces(), std::string(), std::move(body));
  if (!made) throw std::runtime_error(made.error().message());
  ns_ = at(*made, "/metadata/name");
}

awaitable<void> stage::tear_down() {
  if (live()) {
    k8s::object_key key{"", ns_};
    (void)co_await api_->remove(k8s::resources::namespaces(), std::move(key));
  }
  co_await api_->stop();
  if (front_) co_await front_->stop();
}

awaitable<object_list> stage::built(std::string manifest) {
  auto list = co_await objects_->build(std::move(manifest), ns_);
  if (list) co_return std::move(*list);
  ADD_FAILURE() << list.error().text;
  co_return object_list();
}

awaitable<std::optional<json::object>> stage::see(k8s::resource r, std::string name) {
  k8s::object_key key{r.namespaced ? ns_ : "", std::move(name)};
  auto got = co_await api_->get(std::move(r), std::move(key));
  if (got) co_return std::move(*got);
  EXPECT_EQ(got.error().code, k8s::errc::not_found) << got.error().message();
  co_return std::nullopt;
}

awaitable<void> stage::merge(k8s::resource r, std::string name, std::string patch,
                             std::string subresource) {
  k8s::object_key key{r.namespaced ? ns_ : "", std::move(name)};
  json::object body = json::parse(patch).as_object();
  auto done = co_await api_->merge_patch(std::move(r), std::move(key), std::move(body),
                                         k8s::request_options().at(std::move(subresource)));
  EXPECT_TRUE(done) << (done ? "" : done.error().message());
}

void play(std::function<awaitable<void>(stage&)> scenario) {
  reactor::loop l(stage::live() ? reactor::loop::mode::real : reactor::loop::mode::simulated, 7);
  stage s(l);
  reactor::run_task(l, [&]() -> awaitable<void> {
    co_await s.set_up();
    co_await scenario(s);
    co_await s.tear_down();
  });
}

k8s::resource resource_of(std::string group, std::string plural, std::string kind) {
  return {std::move(group), "v1", std::move(plural), std::move(kind), true};
}

std::string definition(const std::string& group) {
  return "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: "
         "widgets." +
         group + "}\nspec:\n  group: " + group +
         "\n  scope: Namespaced\n  names: {plural: widgets, singular: widget, kind: Widget}\n"
         "  versions:\n  - name: v1\n    served: true\n    storage: true\n"
         "    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: "
         "true}}\n";
}

std::string config_map(std::string name, std::string data, std::string annotations) {
  return "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: " + name + "\n" +
         (annotations.empty() ? "" : "  annotations: {" + annotations + "}\n") + "data: {" + data +
         "}\n";
}

std::string at(const json::object& o, std::string_view pointer) {
  boost::system::error_code none;
  const json::value v(o);
  const json::value* found = v.find_pointer(pointer, none);
  return found && found->is_string() ? std::string(found->get_string()) : std::string();
}

}  // namespace helm::objects::testing
