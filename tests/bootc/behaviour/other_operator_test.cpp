#include "bootc/kinds/names.hpp"
#include "tests/bootc/behaviour/stage.hpp"
#include "tests/bootc/builders.hpp"

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

namespace bootc::behaviour {
namespace {

using testing::image_of;

/// The Lease by which operators of this API take turns, kept by `holder`.
json::object lease_of(const std::string& holder, const std::string& renewed) {
  json::object spec{{"holderIdentity", holder},
                    {"leaseDurationSeconds", 30},
                    {"renewTime", renewed},
                    {"acquireTime", renewed}};
  json::object metadata{{"name", names::lease}, {"namespace", "default"}};
  json::object body{{"apiVersion", "coordination.k8s.io/v1"}, {"kind", "Lease"}};
  body["metadata"] = std::move(metadata);
  body["spec"] = std::move(spec);
  return body;
}

awaitable<void> keep_lease(stage& s, std::string holder, std::string renewed) {  // borrowed
  json::object body = lease_of(holder, renewed);
  k8s::object_key key{"default", std::string(names::lease)};
  auto done = co_await s.api().apply(k8s::resources::leases(), std::move(key), std::move(body));
  EXPECT_TRUE(done) << (done ? "" : done.error().message());
}

TEST(OtherOperator, NothingIsDoneWhileAnotherOperatorKeepsTheLeaseAndAllOfItAfterwards) {
  play([](stage& s) -> awaitable<void> {
    if (!s.embedded()) co_return;  // it would stop the other tests
    co_await keep_lease(s, "controller-manager-7d9f", "2026-11-22T10:00:00.000000Z");
    co_await s.node("w1", "p");
    co_await s.pool("p", 'a');
    const std::uint64_t before = s.embedded()->revision();
    s.start_controller();
    for (int i = 1; i <= 4; ++i) {
      co_await s.loop().sleep_for(20s);
      co_await keep_lease(s, "controller-manager-7d9f",
                          "2026-11-22T10:0" + std::to_string(i) + ":00.000000Z");
    }
    auto object = co_await s.see("w1");
    EXPECT_FALSE(object) << "it kept renewing";
    EXPECT_EQ(s.embedded()->revision(), before + 4) << "the renewals alone";
    auto plan = co_await s.controller()->preview("p");
    EXPECT_TRUE(plan && plan->actions.empty());
    // It stops without a word: the Lease runs out.
    co_await s.until("joined after it has gone", "w1",
                     [](const bootc_node& b) { return b.spec.desired_image == image_of('a'); });
  });
}

TEST(OtherOperator, ItsNodesSayForWhomTheyWait) {
  play([](stage& s) -> awaitable<void> {
    if (!s.embedded()) co_return;
    s.start_controller();
    co_await s.node("w1", "p");
    co_await s.pool("p", 'a');
    co_await s.until("there", "w1", [](const bootc_node&) { return true; });
    co_await s.report("w1", unit_state::up_to_date, 'a');
    co_await s.until_pool("updated", "p",
                          [](const node_pool& p) { return p.status.updated_count == 1; });
    co_await keep_lease(s, "somebody", "2026-11-22T10:00:00.000000Z");
    co_await s.loop().sleep_for(11s);
    std::string moved = R"({"spec":{"image":{"ref":")" + image_of('b') + R"("}}})";
    co_await s.patch_pool("p", std::move(moved));
    co_await s.loop().sleep_for(2s);
    auto plan = co_await s.controller()->preview("p");
    EXPECT_TRUE(plan);
    std::string why;
    if (plan)
      for (const hold& h : plan->holds) why += h.unit + " " + h.code + ": " + h.sentence + "\n";
    EXPECT_NE(why.find("other-operator: somebody works on this cluster"), std::string::npos) << why;
    auto object = co_await s.see("w1");
    EXPECT_TRUE(object && object->spec.desired_image == image_of('a'));
    co_await keep_lease(s, "", "2026-11-22T10:00:05.000000Z");
    co_await s.until("moved once it was released", "w1",
                     [](const bootc_node& b) { return b.spec.desired_image == image_of('b'); });
  });
}

TEST(OtherOperator, OurOwnLeaseIsNobodyElses) {
  play([](stage& s) -> awaitable<void> {
    if (!s.embedded()) co_return;
    co_await keep_lease(s, "windlass", "2026-11-22T10:00:00.000000Z");
    s.start_controller();
    co_await s.node("w1", "p");
    co_await s.pool("p", 'a');
    co_await s.until("joined", "w1", [](const bootc_node&) { return true; });
  });
}

}  // namespace
}  // namespace bootc::behaviour
