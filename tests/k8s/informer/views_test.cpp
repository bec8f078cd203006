#include "k8s/views/daemon_set.hpp"
#include "k8s/views/lease.hpp"
#include "k8s/views/node.hpp"
#include "k8s/views/pod.hpp"
#include "k8s/views/secret.hpp"
#include "tests/k8s/informer/objects.hpp"

#include <gtest/gtest.h>

namespace k8s {
namespace {

std::string object(const std::string& rest, const std::string& meta = "") {
  return R"({"metadata":{"name":"x","namespace":"ns","uid":"u","resourceVersion":"5","generation":3)" +
         meta + "}" + rest + "}";
}

TEST(PodView, HasWhatDrainingLooksAt) {
  auto p = parse_view<pod>(objects::pod_json({}));
  ASSERT_TRUE(p);
  EXPECT_EQ(p->node, "w1");
  EXPECT_EQ(p->phase, pod_phase::running);
  EXPECT_TRUE(p->empty_dir);
  EXPECT_TRUE(p->ready);
  EXPECT_FALSE(p->mirror);
  EXPECT_FALSE(p->ended());
  p = parse_view<pod>(object(R"(,"status":{"phase":"Succeeded"})",
                             R"(,"annotations":{"kubernetes.io/config.mirror":"h"})"));
  ASSERT_TRUE(p);
  EXPECT_TRUE(p->mirror);
  EXPECT_TRUE(p->ended());
}

TEST(NodeView, IgnoresHeartbeats) {
  const auto with_time = [](const std::string& t) {
    return object(
        R"(,"spec":{"unschedulable":true,"taints":[{"key":"k","effect":"NoSchedule"}]},"status":{"conditions":[{"type":"Ready","status":"False","reason":"KubeletNotReady","lastHeartbeatTime":")" +
            t + R"("}],"nodeInfo":{"bootID":"b1","osImage":"Fedora","kubeletVersion":"v1.33.0"}})",
        R"(,"annotations":{"a":"1","kubectl.kubernetes.io/last-applied-configuration":"{}"})");
  };
  const auto a = parse_view<node>(with_time("1")), b = parse_view<node>(with_time("2"));
  ASSERT_TRUE(a && b);
  EXPECT_EQ(*a, *b);
  EXPECT_TRUE(a->unschedulable);
  EXPECT_EQ(a->ready, condition_status::no);
  EXPECT_EQ(a->boot_id, "b1");
  EXPECT_EQ(a->taints.size(), 1u);
  EXPECT_EQ(a->meta.annotations.size(), 1u);
}

TEST(SecretView, DecodesItsBytes) {
  const auto s =
      parse_view<secret>(object(R"(,"type":"Opaque","data":{"kubeconfig":"YWJj","empty":""})"));
  ASSERT_TRUE(s) << s.error().message();
  ASSERT_TRUE(s->find("kubeconfig"));
  EXPECT_EQ(s->find("kubeconfig")->reveal(), "abc");
  EXPECT_TRUE(s->find("empty"));
  EXPECT_FALSE(s->find("other"));
}

TEST(SecretView, RefusesWhatIsNotBase64WithoutQuotingIt) {
  const auto s = parse_view<secret>(object(R"(,"data":{"k":"hunter2!"})"));
  ASSERT_FALSE(s);
  EXPECT_NE(s.error().detail.find("base64"), std::string::npos);
  EXPECT_EQ(s.error().detail.find("hunter2"), std::string::npos);
  EXPECT_FALSE(parse_view<secret>(object(R"(,"data":{"k":"YQ==","k":"Yg=="})")));
}

TEST(DaemonSetView, HasItsFigures) {
  const auto d = parse_view<daemon_set>(object(
      R"(,"status":{"observedGeneration":3,"desiredNumberScheduled":4,"numberReady":3,"updatedNumberScheduled":2,"numberAvailable":1})"));
  ASSERT_TRUE(d);
  EXPECT_EQ(d->observed_generation, 3);
  EXPECT_EQ(d->desired, 4);
  EXPECT_EQ(d->ready, 3);
  EXPECT_EQ(d->updated, 2);
  EXPECT_EQ(d->available, 1);
}

TEST(LeaseView, HasHolderAndTimes) {
  const auto l = parse_view<lease>(object(
      R"(,"spec":{"holderIdentity":"a","leaseDurationSeconds":15,"leaseTransitions":2,"acquireTime":"2026-11-21T10:00:00.000000Z","renewTime":"2026-11-21T10:00:10.500000Z"})"));
  ASSERT_TRUE(l);
  EXPECT_EQ(l->holder, "a");
  EXPECT_EQ(l->duration_seconds, 15);
  EXPECT_EQ(l->renewed - l->acquired, std::chrono::milliseconds(10'500));
}

}  // namespace
}  // namespace k8s
