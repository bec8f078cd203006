#include "tests/tenants/builders.hpp"

namespace helm::tenants {
namespace {

using release::status;
using testing::events_of;
using testing::hold_of;
using testing::noon;
using testing::situation;
using testing::step_of;
using namespace std::chrono_literals;

TEST(TenantCleanup, R1_GoesStepByStep) {
  situation s;
  s.noted().deleted().release(status::deployed);
  auto p = s.plan();
  EXPECT_EQ(step_of(p), "mark-deleting");
  EXPECT_EQ(events_of(p), "DeleteStarted");
  EXPECT_EQ(p.is, transition::deleting);
  s.annotate(names::deleting, "true");
  p = s.plan();
  EXPECT_EQ(step_of(p), "uninstall");
  EXPECT_EQ(p.action, "uninstall");
  s.world.release.reset();
  p = s.plan();
  EXPECT_EQ(step_of(p), "delete-namespace");
  EXPECT_EQ(events_of(p), "WorkspaceDeleteRequested");
  s.world.workspace.is = workspace_facts::state::terminating;
  s.world.deleting_namespace_since = noon - 10s;
  p = s.plan();
  EXPECT_EQ(step_of(p), "none");
  EXPECT_EQ(p.again_in, 2s);
  s.world.deleting_namespace_since = noon - 90s;
  EXPECT_EQ(s.plan().again_in, 5s);
  s.world.workspace = {};
  p = s.plan();
  EXPECT_EQ(step_of(p), "remove-finalizer");
  EXPECT_EQ(events_of(p), "FinalizerRemoved");
  s.finalizer("somebody.else/finalizer");
  EXPECT_EQ(step_of(s.plan()), "none");
}

TEST(TenantCleanup, R2_AnInstallUnderWayIsStoppedFirst) {
  situation s;
  s.deleted().annotate(names::deleting, "true").release(status::pending_install);
  for (const operation running : {operation::install, operation::upgrade}) {
    s.world.running = running;
    EXPECT_EQ(step_of(s.plan()), "stop-operation");
  }
  s.world.running = operation::uninstall;
  EXPECT_EQ(hold_of(s.plan()), "operating");
  s.world.running = operation::none;
  EXPECT_EQ(step_of(s.plan()), "uninstall") << "a pending record is no reason to wait";
}

TEST(TenantCleanup, R3_AFailureKeepsTheFinalizerUnlessSomebodyGivesUp) {
  situation s;
  s.deleted().annotate(names::deleting, "true").release(status::uninstalling);
  s.world.retry_in = 30s;
  auto p = s.plan();
  EXPECT_EQ(step_of(p), "none");
  EXPECT_EQ(hold_of(p), "backoff");
  EXPECT_EQ(p.again_in, 30s);
  s.annotate(names::skip_uninstall, "true");
  p = s.plan();
  EXPECT_EQ(step_of(p), "remove-finalizer");
  EXPECT_EQ(events_of(p), "CleanupSkipped FinalizerRemoved");
  s.annotate(names::skip_uninstall, "yes");
  EXPECT_EQ(step_of(s.plan()), "none") << "only the exact text";
}

TEST(TenantCleanup, R4_OnlyANamespaceThatWeMadeForItIsDeleted) {
  for (const char* owner : {"", "Tenant/other/acme", "somebody"}) {
    situation s;
    s.deleted().annotate(names::deleting, "true");
    s.world.workspace.owner = owner;
    EXPECT_EQ(step_of(s.plan()), "remove-finalizer") << owner;
  }
  for (const char* name : {"default", "kube-system", "kube-public", "fleet"}) {
    situation s;
    s.deleted().annotate(names::deleting, "true");
    s.object().meta.name = name;
    s.world.workspace.owner = "Tenant/default/" + std::string(name);
    EXPECT_EQ(step_of(s.plan()), "remove-finalizer") << name;
  }
}

TEST(TenantCleanup, R5_AReleaseThatIsGoneAlreadyIsASuccess) {
  situation s;
  s.noted().deleted().annotate(names::deleting, "true");
  EXPECT_EQ(step_of(s.plan()), "delete-namespace");
  s.release(status::uninstalled);
  EXPECT_EQ(step_of(s.plan()), "delete-namespace");
}

TEST(TenantCleanup, R6_OneThatIsMadeAgainWaitsForItsNamespace) {
  situation s;
  s.finalizer("");
  s.world.workspace.is = workspace_facts::state::terminating;
  EXPECT_EQ(step_of(s.plan()), "add-finalizer");
  s.finalizer(names::cleanup);
  EXPECT_EQ(hold_of(s.plan()), "namespace-terminating");
  s.world.workspace = {};
  EXPECT_EQ(step_of(s.plan()), "create-namespace");
}

TEST(TenantCleanup, TheFilterDoesNotApplyWhereItWasInstalled) {
  situation s;
  s.deleted().release(status::deployed);
  s.object().target.secret_name = "b";
  s.world.names_here = {"a", "b"};
  EXPECT_EQ(step_of(s.plan()), "none") << "b takes care";
  s.noted();
  EXPECT_EQ(step_of(s.plan()), "mark-deleting");
}

TEST(TenantCleanup, OneThatNobodyInstalledAndWhoseClusterHasLeftDoesNotHang) {
  situation s;
  s.deleted();
  s.object().target.secret_name = "left";
  EXPECT_EQ(step_of(s.plan()), "mark-deleting") << "the primary lets it go";
  s.annotate(names::fingerprint_annotation("left"), "f");
  EXPECT_EQ(step_of(s.plan()), "none") << "it was installed there, and hooks run there";
}

TEST(TenantCleanup, N7_WhoLostTheNamespaceNeverUninstallsTheOthersRelease) {
  situation s;
  s.deleted().release(status::deployed);
  s.world.workspace.owner = "Tenant/other/acme";
  s.world.others = {{{"Tenant", {"other", "acme"}}, noon - 30min}};
  auto p = s.plan();
  EXPECT_EQ(step_of(p), "remove-finalizer");
  EXPECT_EQ(events_of(p), "FinalizerRemoved");
}

}  // namespace
}  // namespace helm::tenants
