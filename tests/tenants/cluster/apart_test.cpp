// Tenants whose charts, indexes and records are worked on as in child processes: everything crosses
// as bytes, though in virtual time no process is started.
#include "formats/base64.hpp"
#include "helm/release/own_records.hpp"
#include "helm/tenants/chart_children.hpp"
#include "tests/tenants/cluster/home_stage.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

namespace helm::tenants::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

/// A child's own code, in this process.
class child_in_this_process final : public reactor::foreign_workers {
public:
  explicit child_in_this_process(reactor::loop& l) : loop_(l) {}
  awaitable<reactor::result<std::string>> run(std::string job, std::string owner) override {
    ++jobs;
    owners.insert(std::move(owner));
    co_await loop_.sleep_for(3ms);
    if (!fails.empty() && jobs >= fails_from)
      co_return reactor::make_fault(reactor::errc::timed_out, "work on a chart", fails);
    co_return child().reply_to(std::move(job), [](char*, std::size_t) { return std::size_t{0}; });
  }
  awaitable<reactor::result<std::unique_ptr<reactor::foreign_stream>>> open(
      std::string job) override {
    ++streams;
    std::unique_ptr<reactor::foreign_stream> out = std::make_unique<stream>(*this, std::move(job));
    co_return std::move(out);
  }
  awaitable<void> stop() override { co_return; }
  /// Those that come after have no chart.
  void retire() { child_.reset(); }

  std::size_t jobs = 0, streams = 0;
  std::set<std::string> owners;
  std::string fails;           // why a job has no answer
  std::size_t fails_from = 0;  // the number of the first such job

private:
  class stream final : public reactor::foreign_stream {
  public:
    stream(child_in_this_process& of, std::string job) : of_(of), job_(std::move(job)) {}
    awaitable<reactor::result<void>> put(std::string piece) override {
      text_ += piece;
      co_await of_.loop_.sleep_for(1ms);
      co_return reactor::result<void>();
    }
    awaitable<reactor::result<std::string>> finish() override {
      const auto next = [this](char* into, std::size_t room) {
        const std::size_t n = text_.copy(into, room, used_);
        used_ += n;
        return n;
      };
      co_return of_.child().reply_to(std::move(job_), next);
    }

  private:
    child_in_this_process& of_;
    std::string job_, text_;
    std::size_t used_ = 0;
  };
  apart::bench_of_a_child& child() {
    if (!child_) child_.emplace(chart_jobs());
    return *child_;
  }
  reactor::loop& loop_;
  std::optional<apart::bench_of_a_child> child_;
};

class TenantApart : public TenantStage {};

TEST_F(TenantApart, IsInstalledUpgradedAndUninstalledByWhatChildrenSay) {
  child_in_this_process child(l);
  const reactor::attached_workers attached(l, child);
  play([&]() -> awaitable<void> {
    member& a = cluster("a");
    a.put_tenant("acme");
    auto first = start(of_version("1.2.0"));
    const bool came = co_await ready("a");
    EXPECT_TRUE(came);
    co_await l.sleep_for(5s);
    EXPECT_EQ(a.value("acme"), "standard 1.2.0");
    EXPECT_EQ(a.records("acme", "tenant-acme-a"), "1:deployed");
    EXPECT_GT(child.jobs, 0u);
    EXPECT_EQ(child.streams, 1u);
    co_await first->stop();
    auto second = start(of_version("1.3.0"));
    child.retire();
    const auto moved = [&] { return a.value("acme") == "standard 1.3.0"; };
    const bool upgraded = co_await until(moved);
    EXPECT_TRUE(upgraded);
    co_await l.sleep_for(5s);
    EXPECT_EQ(a.records("acme", "tenant-acme-a"), "1:superseded 2:deployed");
    co_await second->stop();
  });
}

/// Upgrades the Tenant, and says which records had a child of their own: "web" of a release.
struct TenantRecords : TenantApart {
  awaitable<std::set<std::string>> owners_of_upgrade(child_in_this_process& child,  // borrowed
                                                     member& on, std::string version) {
    child.owners.clear();
    auto windlass = start(of_version(version));
    const auto moved = [&] { return on.value("acme") == "standard " + version; };
    const bool upgraded = co_await until(moved);
    EXPECT_TRUE(upgraded) << version;
    co_await l.sleep_for(5s);
    co_await windlass->stop();
    std::set<std::string> out;
    for (const std::string& owner : child.owners)
      if (owner.find("record") != owner.npos) out.insert(owner);
    co_return out;
  }
};
const std::set<std::string> by_the_shared_one{release::own_records};

TEST_F(TenantRecords, ThatThisProcessWroteHaveNoChildOfTheirOwn) {
  child_in_this_process child(l);
  const reactor::attached_workers attached(l, child);
  play([&]() -> awaitable<void> {
    member& a = cluster("a");
    a.put_tenant("acme");
    for (const char* version : {"1.2.0", "1.3.0", "1.2.0"}) {
      const auto owners = co_await owners_of_upgrade(child, a, version);
      EXPECT_EQ(owners, by_the_shared_one) << version;
    }
    EXPECT_EQ(a.records("acme", "tenant-acme-a"), "1:superseded 2:superseded 3:deployed");
  });
}

TEST_F(TenantRecords, OfWhichOneByteDiffersHaveTheirOwn) {
  child_in_this_process child(l);
  const reactor::attached_workers attached(l, child);
  play([&]() -> awaitable<void> {
    member& a = cluster("a");
    a.put_tenant("acme");
    (void)co_await owners_of_upgrade(child, a, "1.2.0");
    // The time in the head of the gzip: what is in the record stays as it was.
    a.api.edit("", "secrets", "acme", release::storage_name("tenant-acme-a", 1),
               [](json::object& o) {
                 json::value& stored = o.at("data").at("release");
                 auto text = formats::decode_base64(*formats::decode_base64(stored.as_string()));
                 (*text)[4] ^= 1;
                 stored = formats::encode_base64(formats::encode_base64(*text));
               });
    const auto changed = co_await owners_of_upgrade(child, a, "1.3.0");
    EXPECT_THAT(changed, Contains(HasSubstr("/tenant-acme-a"))) << "the one that was changed";
    // This process has marked it as superseded since; what is in it is still a stranger's.
    const auto still = co_await owners_of_upgrade(child, a, "1.2.0");
    EXPECT_THAT(still, Contains(HasSubstr("/tenant-acme-a")));
    EXPECT_EQ(a.records("acme", "tenant-acme-a"), "1:superseded 2:superseded 3:deployed");
  });
}

TEST_F(TenantRecords, OfAnotherProcessHaveTheirOwn) {
  play([&]() -> awaitable<void> {
    member& a = cluster("a");
    a.put_tenant("acme");
    {
      child_in_this_process former(l);
      const reactor::attached_workers attached(l, former);
      (void)co_await owners_of_upgrade(former, a, "1.2.0");
    }
    child_in_this_process child(l);
    const reactor::attached_workers attached(l, child);
    const auto owners = co_await owners_of_upgrade(child, a, "1.3.0");
    EXPECT_THAT(owners, Contains(HasSubstr("/tenant-acme-a")));
  });
}

constexpr const char* ended = "the child process was stopped after 1m0s";

/// The Events of that reason, as text.
std::vector<std::string> events_of(const member& on, const std::string& reason) {
  std::vector<std::string> out;
  for (const json::object& e : on.api.list("", "events"))
    if (e.at("reason") == json::value(reason)) out.push_back(json::serialize(e));
  return out;
}

/// Whichever job it was that its child did not finish: the archive, the definitions, the templates.
TEST_F(TenantApart, SaysOnTheObjectWhyAChildWasEndedAndGoesOnWhenItsChartCanBeWorkedOn) {
  // A chart that the child does not have yet is two jobs. Of one that cannot be loaded the Event
  // names the repository.
  const struct {
    std::size_t from;
    const char *reason, *says;
  } rows[] = {{1, "ChartNotLoaded", "http://charts"}, {3, "HelmInstallFailed", ended}};
  for (const auto& [from, reason, says] : rows) {
    SCOPED_TRACE(from);
    child_in_this_process child(l);
    const reactor::attached_workers attached(l, child);
    play([&, from = from, reason = reason, says = says]() -> awaitable<void> {
      member& a = cluster("a");
      a.put_tenant("acme");
      child.fails = ended;
      child.fails_from = from;
      auto windlass = start(of_version("1.2.0"));
      co_await l.sleep_for(10s);
      EXPECT_NE(a.phase("acme"), "Ready");
      EXPECT_THAT(events_of(a, reason), Contains(HasSubstr(says)));
      const json::object tenant = a.tenant("acme");
      EXPECT_THAT(json::serialize(tenant), HasSubstr(ended));
      child.fails.clear();
      const bool came = co_await ready("a", "acme", 20min);
      EXPECT_TRUE(came);
      co_await windlass->stop();
    });
  }
}

class DeploymentApart : public KryptonAtHome {};

TEST_F(DeploymentApart, SaysOnTheObjectWhyAChildWasEnded) {
  for (const std::size_t from : {1, 3}) {
    SCOPED_TRACE(from);
    child_in_this_process child(l);
    const reactor::attached_workers attached(l, child);
    play([&, from]() -> awaitable<void> {
      put_way("eu-kubeconfig", "eu");
      (void)cluster("eu");
      put("shop", "eu");
      child.fails = ended;
      child.fails_from = from;
      auto windlass = std::make_unique<home_process>(l, of_version("1.2.0"), home());
      co_await l.sleep_for(10s);
      EXPECT_THAT(message("shop"), HasSubstr(ended)) << says("shop");
      child.fails.clear();
      const bool came = co_await until_says("shop", "Ready/Deployed", 20min);
      EXPECT_TRUE(came) << says("shop");
      co_await windlass->stop();
    });
  }
}

}  // namespace
}  // namespace helm::tenants::testing
