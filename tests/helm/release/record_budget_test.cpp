#include "helm/release/record_store.hpp"
#include "tests/helm/release/stage.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace helm::release::testing {
namespace {

using ::testing::HasSubstr;

TEST(ReleaseRecords, OfOneHistoryHaveOneBudget) {
  play([](stage& s) -> awaitable<void> {
    for (int revision = 1; revision <= 3; ++revision) {
      record r;
      r.name = "web";
      r.ns = "shops";
      r.revision = revision;
      r.state = revision == 3 ? status::deployed : status::superseded;
      r.manifest = std::string(1u << 20, 'x');
      auto made = co_await s.records().create(std::move(r));
      EXPECT_TRUE(made);
    }
    const auto reader = [&](std::uint64_t bytes) {
      return std::make_unique<cluster_records>(
          s.loop(), s.client(), "shops", cluster_records::driver::secrets, std::nullopt, bytes);
    };
    // Two of them fit, and no one is left out without a word.
    const auto small = reader(2u << 20 | 1u << 19);
    auto cut = co_await small->all_of("web");
    EXPECT_FALSE(cut);
    if (!cut) {
      EXPECT_THAT(cut.error().text, HasSubstr("its records take more than 2621440 bytes unpacked"));
    }
    auto one = co_await small->get("web", 3);
    EXPECT_TRUE(one);
    const auto tiny = reader(1000);
    auto none = co_await tiny->get("web", 3);
    EXPECT_FALSE(none);
    if (!none) {
      EXPECT_THAT(none.error().text, HasSubstr("takes more than 1000 bytes unpacked"));
    }
    const auto large = reader(4u << 20);
    auto all = co_await large->all_of("web");
    EXPECT_TRUE(all);
    if (all) {
      EXPECT_EQ(all->size(), 3u);
    }
    // Whoever names no budget has Helm's.
    auto theirs = co_await s.records().all_of("web");
    EXPECT_TRUE(theirs);
  });
}

}  // namespace
}  // namespace helm::release::testing
