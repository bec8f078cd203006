// Tenants whose charts, indexes and records are worked on as in child processes: everything crosses
// as bytes, though in virtual time no process is started.
#include "helm/tenants/chart_children.hpp"
#include "tests/tenants/cluster/stage.hpp"

#include <gmock/gmock.h>

#include <algorithm>

namespace helm::tenants::testing {
namespace {

/// A child's own code, in this process.
class child_in_this_process final : public reactor::foreign_workers {
public:
  explicit child_in_this_process(reactor::loop& l) : loop_(l) {}
  awaitable<reactor::result<std::string>> run(std::string job) override {
    ++jobs;
    co_await loop_.sleep_for(3ms);
    if (!fails.empty())
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
  std::string fails;

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

TEST_F(TenantApart, SaysWhyAChildWasEndedAndGoesOnWhenItsChartCanBeWorkedOn) {
  child_in_this_process child(l);
  const reactor::attached_workers attached(l, child);
  play([&]() -> awaitable<void> {
    member& a = cluster("a");
    a.put_tenant("acme");
    child.fails = "it was stopped after 1m0s";
    auto windlass = start(of_version("1.2.0"));
    co_await l.sleep_for(10s);
    EXPECT_NE(a.phase("acme"), "Ready");
    bool told = false;
    for (const auto& r : windlass->lines->records())
      told = told || reactor::format_json(r).find(child.fails) != std::string::npos;
    EXPECT_TRUE(told);
    child.fails.clear();
    const bool came = co_await ready("a", "acme", 20min);
    EXPECT_TRUE(came);
    co_await windlass->stop();
  });
}

}  // namespace
}  // namespace helm::tenants::testing
