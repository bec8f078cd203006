// Which image this process runs, as its pod says, and that an API knows it before it starts.
#include "service/own_pod.hpp"

#include "cli/apis.hpp"
#include "k8s/sim/api_server.hpp"
#include "k8s/sim/server.hpp"
#include "reactor/loop.hpp"
#include "service/service.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace cli {
namespace {

using namespace std::chrono_literals;
namespace json = boost::json;

TEST(OwnPod, NamesTheImageOfManagerOrOfTheOnlyContainer) {
  const struct {
    const char *pod, *image;
  } table[] = {
      {R"({"spec": {"containers": [{"name": "manager", "image": "r/w:1"}]}})", "r/w:1"},
      {R"({"spec": {"containers": [{"name": "windlass", "image": "r/w:2"}]}})", "r/w:2"},
      {R"({"spec": {"containers": [{"name": "proxy", "image": "r/p:1"},
                                   {"name": "manager", "image": "r/w:3"}]}})",
       "r/w:3"},
      {R"({"spec": {"containers": [{"name": "a", "image": "r/a:1"},
                                   {"name": "b", "image": "r/b:1"}]}})",
       ""},
      {R"({"spec": {"containers": []}})", ""},
      {R"({"spec": {"containers": ["manager"]}})", ""},
      {R"({"spec": 1})", ""},
      {"{}", ""},
  };
  for (const auto& row : table)
    EXPECT_EQ(own_image(json::parse(row.pod).as_object()), row.image) << row.pod;
}

class silent final : public units::running_api {
public:
  std::unique_ptr<units::cluster_controller> on_cluster(k8s::engagement&) override {
    return nullptr;
  }
};

/// What an API of a service in this pod learns; the home cluster has one called `windlass-0`.
struct learned {
  std::string image = "never asked", uid = "never asked", uid_there = {};
};

learned told_in(const std::string& pod) {
  reactor::loop l(reactor::loop::mode::simulated, 7);
  learned out;
  {
    k8s::sim::api_server api(k8s::sim::options_on(l));
    api.put(json::parse(R"({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "os"}})")
                .as_object());
    api.put(json::parse(R"({"apiVersion": "v1", "kind": "Pod",
      "metadata": {"name": "windlass-0", "namespace": "os"},
      "spec": {"containers": [{"name": "manager", "image": "registry.example.com/w:7"}]}})")
                .as_object());
    k8s::sim::server home(l, {.at = {"home", 6443}, .tls = nullptr});
    home.add(api);
    if (!home.start()) throw std::runtime_error("no home");
    service_options o = with_all_apis();
    units::api only;
    only.name = "only";
    std::function<std::string()> ask, ask_uid;
    only.make = [&](const units::api_environment& h) {
      ask = h.own_image;
      ask_uid = h.own_pod_uid;
      return std::make_unique<silent>();
    };
    o.apis = {only};
    o.home.server = home.url();
    o.pod = {"os", pod};
    service s(l, std::move(o), reactor::logger());
    reactor::task_group tasks(l);
    tasks.start("look", [&]() -> reactor::awaitable<void> {
      auto started = co_await s.start();
      if (!started) throw std::runtime_error(started.error().message());
      const auto there = api.get("", "pods", "os", "windlass-0");
      out = {ask(), ask_uid(), std::string(there->at("metadata").at("uid").as_string())};
      co_await s.stop();
      co_await home.stop();
    });
    l.run_until(l.now() + 60s);
  }
  return out;
}

TEST(OwnPod, IsReadBeforeAnApiStarts) {
  const learned there = told_in("windlass-0"), gone = told_in("gone"), none = told_in("");
  EXPECT_EQ(there.image, "registry.example.com/w:7");
  EXPECT_EQ(there.uid, there.uid_there);
  EXPECT_NE(there.uid, "");
  EXPECT_EQ(gone.image + gone.uid, "") << "the service starts all the same";
  EXPECT_EQ(none.image + none.uid, "");
}

}  // namespace
}  // namespace cli
