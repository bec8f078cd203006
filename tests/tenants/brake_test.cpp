// What is left of a plan for a placed chart while the brake is on: what is under way ends, and
// nothing begins.
#include "helm/tenants/plan/deployment_plan.hpp"
#include "tests/tenants/builders.hpp"

namespace helm::tenants {
namespace {

using release::status;
using testing::noon;
using testing::situation;

units::hold brake_hold() {
  return {"", "braked", "the brake is on: a test", "`windlass brake off`"};
}

/// "none/braked": the step with the brake on, which begins nothing.
std::string braked(situation& s) {
  s.world.braked = brake_hold();
  const tenant_plan p = s.plan();
  EXPECT_FALSE(placed::begins(p.next)) << testing::step_of(p);
  if (p.hold && p.hold->code == "braked") {
    EXPECT_TRUE(p.events.empty()) << testing::events_of(p);
    EXPECT_EQ(p.action, "held");
    EXPECT_EQ(p.is, transition::held);
  }
  return testing::step_of(p) + "/" + testing::hold_of(p);
}

TEST(BrakedTenant, EveryWayToAReleaseWaits) {
  situation fresh;
  fresh.finalizer("");
  EXPECT_EQ(braked(fresh), "none/braked");
  situation without_namespace;
  without_namespace.world.workspace = {};
  EXPECT_EQ(braked(without_namespace), "none/braked");
  situation loading;
  EXPECT_EQ(braked(loading), "none/braked") << "no chart is fetched for it either";
  situation loaded;
  EXPECT_EQ(braked(loaded.loaded()), "none/braked");
  situation changed;
  changed.release(status::deployed).chart_version = "1.1.0";
  EXPECT_EQ(braked(changed.loaded()), "none/braked");
  situation abandoned;
  abandoned.release(status::pending_upgrade).last_deployed = noon - std::chrono::hours(2);
  abandoned.world.pending_seen = noon - std::chrono::hours(1);
  EXPECT_EQ(braked(abandoned), "none/braked");
  situation begun;
  begun.release(status::uninstalling);
  EXPECT_EQ(braked(begun), "none/braked");
}

TEST(BrakedTenant, EveryWayOutWaits) {
  situation told;
  told.deleted();
  told.release(status::deployed);
  EXPECT_EQ(braked(told), "none/braked");
  told.annotate(names::deleting, "true");
  EXPECT_EQ(braked(told), "none/braked");
  told.world.running = operation::upgrade;
  EXPECT_EQ(braked(told), "none/braked") << "the operation is not cut";
  told.world.running = operation::none;
  told.world.release.reset();
  EXPECT_EQ(braked(told), "none/braked") << "its namespace stays";
}

TEST(BrakedTenant, AnOperationUnderWayIsShownAsSuchAndItsEndIsNoted) {
  situation s;
  s.loaded().world.running = operation::install;
  EXPECT_EQ(braked(s), "none/operating");
  situation ended;
  ended.release(status::deployed);
  ended.world.applied = ended.world.wanted.fingerprint;
  EXPECT_EQ(braked(ended), "note-fingerprint/");
  situation settled;
  settled.release(status::deployed);
  settled.noted();
  EXPECT_EQ(braked(settled), "none/") << "what is as wanted waits for nothing";
}

TEST(TenantUnderASpeedLimit, WaitsForItsTime) {
  situation s;
  s.loaded();
  units::stop limit;
  limit.code = "speed-limit";
  limit.sentence = "as many changes began as may";
  limit.asked_again = "2026-11-21T12:00:30Z";
  limit.again_in = std::chrono::seconds(30);
  s.world.braked = limit;
  const tenant_plan p = s.plan();
  EXPECT_EQ(placed::name_of(p.next), "none");
  ASSERT_TRUE(p.hold);
  EXPECT_EQ(p.hold->code, "speed-limit");
  EXPECT_EQ(p.hold->asked_again, "2026-11-21T12:00:30Z");
  EXPECT_EQ(p.again_in, std::chrono::seconds(30));
}

TEST(BrakedDeployment, EveryStepThatBeginsSomethingWaits) {
  deployment_world w;
  krypton_deployment d;
  d.meta.name = "shop";
  d.meta.ns = "team";
  d.account = "acme";
  d.region = "eu";
  d.created = noon;
  w.object = std::move(d);
  w.discovery_ns = "fleet";
  w.wanted.fingerprint = "f";
  w.now = noon;
  const auto held = [&](const deployment_plan& p) {
    EXPECT_FALSE(placed::begins(p.next)) << placed::name_of(p.next);
    EXPECT_TRUE(p.events.empty());
    const auto h = hold_of(*w.object, p);
    return h ? h->code : std::string();
  };
  EXPECT_EQ(placed::name_of(plan_deployment(w).next), "add-finalizer");
  w.braked = brake_hold();
  EXPECT_EQ(held(plan_deployment(w)), "braked");
  k8s::interned finalizer(names::deployment_cleanup);
  w.object->meta.finalizers = k8s::shared_array<k8s::interned>(std::span(&finalizer, 1));
  EXPECT_EQ(held(plan_deployment(w)), "braked") << "no namespace";
  w.workspace = {workspace_facts::state::present, "KryptonDeployment/team/shop"};
  w.chart.is = chart_facts::state::loaded;
  EXPECT_EQ(held(plan_deployment(w)), "braked") << "no release, and nothing is said of a repair";
  EXPECT_FALSE(plan_deployment(w).is);
  w.object->meta.deletion_timestamp = noon;
  EXPECT_EQ(held(plan_deployment(w)), "braked");
}

}  // namespace
}  // namespace helm::tenants
