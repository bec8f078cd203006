#include "k8s/skew/server_versions.hpp"

#include "k8s/client/client.hpp"
#include "k8s/client/discovery.hpp"
#include "k8s/client/kubeconfig.hpp"
#include "tests/k8s/scripted_server.hpp"
#include "tests/reactor/run.hpp"

#include <gtest/gtest.h>

namespace k8s {
namespace {

using namespace std::chrono_literals;

answer version_answer(const std::string& text) {
  return answer::json(200, R"({"major":"1","minor":"33+","gitVersion":")" + text + R"("})");
}

class SkewServerVersions : public testing::Test {
protected:
  void run(std::function<awaitable<void>(scripted_server& server, skew::server_versions&)> f) {
    reactor::run_task(l, [&]() -> awaitable<void> {
      scripted_server server(l);
      client api(l, server.to());
      discovery known(api);
      skew::server_versions versions(l, known, api);
      co_await f(server, versions);
      co_await api.stop();
      co_await server.stop();
    });
  }
  using texts = std::vector<std::string>;
  reactor::loop l{reactor::loop::mode::simulated, 3};
};

TEST_F(SkewServerVersions, SeveralBehindABalancerAreSeenAndOneThatIsGoneIsForgotten) {
  run([this](scripted_server& server, skew::server_versions& v) -> awaitable<void> {
    server.always("GET", "/version", version_answer("v1.33.1-eks-0a1b2c3"));
    co_await v.look(true);
    EXPECT_EQ(v.seen(), texts{"v1.33.1-eks-0a1b2c3"});
    server.always("GET", "/version", version_answer("v1.34.0+k3s1"));
    co_await v.look(true);
    EXPECT_EQ(server.count("GET", "/version"), 1u) << "at most once a minute";
    co_await l.sleep_for(61s);
    co_await v.look(true);
    EXPECT_EQ(v.seen(), (texts{"v1.33.1-eks-0a1b2c3", "v1.34.0+k3s1"}));
    for (int i = 0; i < 5; ++i) {
      co_await l.sleep_for(61s);
      co_await v.look(true);
    }
    EXPECT_EQ(v.seen(), texts{"v1.34.0+k3s1"});
    co_await l.sleep_for(6min);
    EXPECT_EQ(v.seen(), texts{}) << "what was said long ago is not known now";
  });
}

TEST_F(SkewServerVersions, AServerThatRefusesLiesOrRambleSaysNothing) {
  run([this](scripted_server& server, skew::server_versions& v) -> awaitable<void> {
    const answer bad[] = {answer::failure(403, "Forbidden", "no"), answer::json(200, "[1]"),
                          answer::json(200, R"({"gitVersion":7})"), version_answer(""),
                          version_answer(std::string(5'000, '1'))};
    for (const answer& a : bad) {
      server.always("GET", "/version", a);
      co_await v.look(true);
      EXPECT_EQ(v.seen(), texts{});
      co_await l.sleep_for(61s);
    }
    EXPECT_EQ(server.count("GET", "/version"), std::size(bad));
  });
}

/// A mirror pod, as the kubelet shows a static one.
std::string static_pod(const std::string& node, const std::string& image,
                       const std::string& annotations) {
  return R"({"metadata": {"name": "kube-apiserver-)" + node + R"(", "annotations": {)" +
         annotations + R"(}}, "spec": {"nodeName": ")" + node +
         R"(", "containers": [{"name": "kube-apiserver", "image": ")" + image + R"("}]}})";
}

TEST_F(SkewServerVersions, StaticPodsOfKubeadmAreKnownByTheirNode) {
  run([this](scripted_server& server, skew::server_versions& v) -> awaitable<void> {
    const std::string mirror = R"("kubernetes.io/config.mirror": "abc")";
    const std::string kubeadm =
        mirror + R"(, "kubeadm.kubernetes.io/kube-apiserver.advertise-address.endpoint": "a:6443")";
    server.always("GET", "/version", version_answer("v1.33.1"));
    const auto pods = [&](const std::string& items) {
      server.always(
          "GET", "/api/v1/namespaces/kube-system/pods",
          answer::json(200, R"({"kind": "PodList", "metadata": {}, "items": [)" + items + "]}"));
    };
    pods(static_pod("cp1", "registry.k8s.io/kube-apiserver:v1.33.1", kubeadm) + "," +
         static_pod("cp2", "localhost:5000/a@sha256:" + std::string(64, 'a'), kubeadm) + "," +
         static_pod("cp3", "localhost:5000/kube-apiserver:v1.34.0@sha256:ab", kubeadm) + "," +
         static_pod("cp4", "rancher/hardened-kubernetes:v1.34.0-rke2r1-build1", mirror) + "," +
         static_pod("cp5", "registry.k8s.io/kube-apiserver:latest", kubeadm) + ",7,{}");
    co_await v.look(true);
    using found = skew::server_versions::by_node;
    EXPECT_EQ(v.on_nodes(), (found{{"cp1", "v1.33.1"}, {"cp3", "v1.34.0"}}));
    server.always("GET", "/api/v1/namespaces/kube-system/pods",
                  answer::failure(403, "Forbidden", "no"));
    co_await l.sleep_for(61s);
    co_await v.look(true);
    EXPECT_EQ(v.on_nodes().size(), 2u) << "what was seen lately counts";
    EXPECT_EQ(v.seen(), texts{"v1.33.1"}) << "who may not list pods still hears the servers";
    co_await l.sleep_for(6min);
    EXPECT_TRUE(v.on_nodes().empty());
  });
}

TEST_F(SkewServerVersions, OneThatSaysAnotherEachTimeFillsNoMemory) {
  run([this](scripted_server& server, skew::server_versions& v) -> awaitable<void> {
    for (int i = 0; i < 100; ++i) {
      server.always("GET", "/version", version_answer("v1.33." + std::to_string(i)));
      co_await v.look(true);
      EXPECT_LE(v.seen().size(), skew::server_versions::most);
      co_await l.sleep_for(61s);
    }
  });
}

}  // namespace
}  // namespace k8s
