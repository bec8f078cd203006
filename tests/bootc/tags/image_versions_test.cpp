#include "bootc/tags/image_versions.hpp"

#include "reactor/loop.hpp"
#include "reactor/task_group.hpp"

#include <gtest/gtest.h>

namespace bootc {
namespace {

using namespace std::chrono_literals;

/// A registry that says the same labels of every image, after a second.
class labelled final : public registry::tag_source {
public:
  explicit labelled(reactor::loop& l) : loop_(l) {}
  registry::image_labels says;
  bool fails = false;
  std::vector<std::string> asked;
  std::size_t under_way = 0, most = 0;

  reactor::awaitable<registry::answer<std::string>> digest_of(
      registry::image_ref of, std::string, std::shared_ptr<const registry::pull_secret>) override {
    co_return of.digest;
  }
  reactor::awaitable<registry::answer<registry::image_labels>> labels_of(
      registry::image_ref of, std::shared_ptr<const registry::pull_secret>) override {
    asked.push_back(of.digest);
    most = std::max(most, ++under_way);
    co_await loop_.sleep_for(1s);
    --under_way;
    if (fails) co_return registry::failed(registry::errc::unavailable, "no route");
    co_return says;
  }

private:
  reactor::loop& loop_;
};

std::string digest(int n) {
  return "sha256:" + std::string(62, 'a') + std::to_string(10 + n);
}

class SkewImageVersions : public ::testing::Test {
protected:
  SkewImageVersions()
      : loop(reactor::loop::mode::simulated, 1),
        registry(loop),
        versions(loop, registry, {"io.kubernetes.version", "second"}),
        tasks(loop) {}
  /// As a pass does.
  carried_version want(const std::string& of) {
    carried_version is = versions.of(of);
    registry::image_ref ref;
    ref.name = "quay.io/example/os";
    ref.digest = of;
    if (versions.is_due(of)) tasks.start("ask", versions.ask(std::move(ref), nullptr));
    if (is.is_asking) versions.tell(of, "prod/workers", [this] { ++woken; });
    return is;
  }
  void go(std::function<reactor::awaitable<void>()> body) {
    tasks.start("test", [this, body = std::move(body)]() -> reactor::awaitable<void> {
      co_await body();
      loop.stop();
    });
    loop.run();
  }
  reactor::loop loop;
  labelled registry;
  image_versions versions;
  int woken = 0;
  reactor::task_group tasks;
};

TEST_F(SkewImageVersions, ARegistryIsAskedOnceForADigestAndThePassIsWoken) {
  registry.says = {{"io.kubernetes.version", "v1.33.1+k3s1"}, {"second", "v1.30.0"}};
  go([&]() -> reactor::awaitable<void> {
    EXPECT_TRUE(want(digest(1)).is_asking);
    co_await loop.sleep_for(500ms);
    EXPECT_TRUE(want(digest(1)).is_asking);
    co_await loop.sleep_for(1s);
    EXPECT_EQ(woken, 1);
    EXPECT_EQ(want(digest(1)),
              (carried_version{"v1.33.1+k3s1", "label io.kubernetes.version", false}));
    co_await loop.sleep_for(24h);
    (void)want(digest(1));
    co_await loop.sleep_for(1s);
    EXPECT_EQ(registry.asked.size(), 1u);
  });
}

TEST_F(SkewImageVersions, LabelsThatAreNoVersionsCountAsAbsent) {
  registry.says = {{"io.kubernetes.version", "latest"}, {"second", "1.30.2"}};
  go([&]() -> reactor::awaitable<void> {
    (void)want(digest(1));
    co_await loop.sleep_for(2s);
    EXPECT_EQ(want(digest(1)), (carried_version{"1.30.2", "label second", false}));
    registry.says = {{"io.kubernetes.version", std::string(100'000, '1')}, {"third", "1.30.2"}};
    (void)want(digest(2));
    co_await loop.sleep_for(2s);
    EXPECT_EQ(want(digest(2)), carried_version());
  });
}

TEST_F(SkewImageVersions, AFailureIsUnknownAndAskedAgainLater) {
  registry.fails = true;
  go([&]() -> reactor::awaitable<void> {
    (void)want(digest(1));
    co_await loop.sleep_for(2s);
    EXPECT_EQ(want(digest(1)), carried_version()) << "no pool waits for it";
    co_await loop.sleep_for(5min);
    (void)want(digest(1));
    EXPECT_EQ(registry.asked.size(), 1u);
    registry.fails = false;
    registry.says = {{"second", "v1.31.0"}};
    co_await loop.sleep_for(6min);
    EXPECT_FALSE(want(digest(1)).is_asking);
    co_await loop.sleep_for(2s);
    EXPECT_EQ(want(digest(1)).version, "v1.31.0");
    EXPECT_EQ(registry.asked.size(), 2u);
  });
}

TEST_F(SkewImageVersions, SixteenQuestionsAtATimeAndTheOthersAreToldToComeAgain) {
  go([&]() -> reactor::awaitable<void> {
    for (int n = 0; n < 40; ++n) {
      (void)want(digest(n));
      co_await loop.yield();
    }
    EXPECT_EQ(registry.asked.size(), 16u);
    co_await loop.sleep_for(1100ms);
    EXPECT_EQ(woken, 40);
    for (int n = 0; n < 40; ++n) (void)want(digest(n));
    co_await loop.sleep_for(1100ms);
    for (int n = 0; n < 40; ++n) (void)want(digest(n));
    co_await loop.sleep_for(1100ms);
    EXPECT_EQ(registry.asked.size(), 40u);
    EXPECT_EQ(registry.most, 16u);
    for (int n = 0; n < 40; ++n) EXPECT_FALSE(versions.of(digest(n)).is_asking) << n;
  });
}

TEST_F(SkewImageVersions, WhoIsCancelledLeavesTheQuestionToTheNext) {
  registry.says = {{"second", "v1.31.0"}};
  go([&]() -> reactor::awaitable<void> {
    {
      reactor::task_group other(loop);
      registry::image_ref ref;
      ref.digest = digest(1);
      other.start("ask", versions.ask(std::move(ref), nullptr));
      co_await loop.sleep_for(100ms);
      co_await other.cancel_and_join();
    }
    EXPECT_TRUE(versions.is_due(digest(1)));
    (void)want(digest(1));
    co_await loop.sleep_for(2s);
    EXPECT_EQ(want(digest(1)).version, "v1.31.0");
  });
}

TEST_F(SkewImageVersions, ANodeThatRunsTheImageCountsMoreThanItsLabel) {
  registry.says = {{"second", "v1.31.0"}};
  go([&]() -> reactor::awaitable<void> {
    versions.note_booted(digest(1), {"v1.32.0", "node w1 of prod, which runs it"});
    EXPECT_FALSE(want(digest(1)).is_asking) << "no pool waits for a label any more";
    co_await loop.sleep_for(2s);
    EXPECT_EQ(want(digest(1)).version, "v1.32.0");
  });
}

TEST(SkewImageLabels, OpenShiftsListNamesItAmongOthers) {
  EXPECT_EQ(version_in_label("machine-os=418.94,kubernetes=1.31.1"), "1.31.1");
  EXPECT_EQ(version_in_label("v1.31.1"), "v1.31.1");
  EXPECT_EQ(version_in_label(""), "");
  EXPECT_EQ(version_in_label(",,,"), ",,,");
}

}  // namespace
}  // namespace bootc
