// What a BootcOperatorConfig at home says about asking registries, as `windlass run` reads it when
// it starts.
#include "bootc/registry_settings.hpp"

#include "formats/yaml/yaml.hpp"
#include "k8s/sim/server.hpp"
#include "reactor/loop.hpp"
#include "reactor/task_group.hpp"
#include "simulation/manifests.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace {

using namespace std::chrono_literals;
namespace json = boost::json;

enum class kinds { none, pools, all };

/// A home with kinds of deploy/crds and BootcOperatorConfigs of these names, which ask for a minute
/// and for plain HTTP.
reactor::result<bootc::registry_settings> read(kinds installed,
                                               const std::vector<std::string>& configs,
                                               const bootc::registry_settings& said = {}) {
  reactor::loop l(reactor::loop::mode::simulated, 7);
  k8s::sim::api_server api(k8s::sim::options_on(l));
  for (const std::string& text : simulation::crd_manifests()) {
    const bool config = text.find("bootcoperatorconfigs") != std::string::npos;
    if (installed == kinds::all || (installed == kinds::pools && !config))
      api.put(formats::parse_kubernetes_yaml(text, "crd")->as_object());
  }
  for (const std::string& name : configs) {
    json::object controller{{"tagResolutionPeriodSeconds", 60}, {"allowInsecureRegistry", true}};
    json::object object{{"apiVersion", "node.bootc.dev/v1alpha1"}, {"kind", "BootcOperatorConfig"}};
    object["metadata"] = json::object{{"name", name}};
    object["spec"] = json::object{{"controller", std::move(controller)}};
    api.put(std::move(object));
  }
  k8s::sim::server home(l, {.at = {"home", 6443}, .tls = nullptr});
  home.add(api);
  EXPECT_TRUE(home.start());
  k8s::connection to;
  to.server = home.url();
  auto out = bootc::with_operator_config(l, to, said, {});
  reactor::task_group tasks(l);
  tasks.start("stop", [&]() -> reactor::awaitable<void> {
    co_await home.stop();
    l.stop();
  });
  l.run();
  return out;
}

TEST(OperatorSettings, WhatTheFlagsDoNotSayIsAsTheConfigSays) {
  const auto out = read(kinds::all, {"blue"});
  ASSERT_TRUE(out) << out.error().message();
  EXPECT_EQ(out->interval.value, 1min);
  EXPECT_TRUE(out->insecure.value.empty()) << "it names no registry";
  bootc::registry_settings lab;
  lab.insecure.value = {"lab:5000"};
  lab.insecure.origin = "flag";
  const auto flags = read(kinds::all, {"blue"}, lab);
  ASSERT_TRUE(flags);
  EXPECT_EQ(flags->interval.value, 1min);
}

TEST(OperatorSettings, TwoConfigsAreAnErrorThatNamesBoth) {
  const auto out = read(kinds::all, {"blue", "green"});
  ASSERT_FALSE(out);
  EXPECT_NE(out.error().message().find("at most one is allowed, found blue, green"),
            std::string::npos)
      << out.error().message();
}

TEST(OperatorSettings, WithoutTheirKindTheDefaultsCount) {
  for (const kinds installed : {kinds::none, kinds::pools, kinds::all}) {
    const auto out = read(installed, {});
    ASSERT_TRUE(out) << out.error().message();
    EXPECT_EQ(out->interval.value, 5min);
    EXPECT_TRUE(out->insecure.value.empty());
  }
}

}  // namespace
