#include "bench/hostile/packs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <string>

namespace {

using namespace bench::hostile;

const char* name_of(pack::verdict v) {
  return v == pack::verdict::refused ? "refused" : v == pack::verdict::fault ? "fault" : "answered";
}

double ms(reactor::nanoseconds d) {
  return static_cast<double>(d.count()) / 1e6;
}

#ifdef __SANITIZE_ADDRESS__
constexpr double allowed_ms = 10;
#else
constexpr double allowed_ms = 2;
#endif

TEST(HostilePacks, GetTheirVerdictStallNobodyAndReachNothing) {
  ASSERT_GE(packs().size(), 200u);
  double worst = 0;
  std::string worst_pack;
  std::size_t escapes = 0;
  for (const pack& p : packs()) {
    const pack_outcome o = try_pack(p);
    EXPECT_EQ(name_of(o.verdict), std::string(name_of(p.expected))) << p.name << ": " << o.said;
    EXPECT_FALSE(o.escaped) << p.name << ": " << o.said;
    EXPECT_LE(ms(o.worst_stall), allowed_ms) << p.name << ": " << o.worst_turn;
    if (o.verdict != pack::verdict::answered) {
      EXPECT_FALSE(o.said.empty()) << p.name;
      EXPECT_LT(o.said.size(), 4000u) << p.name;
    }
    escapes += o.escaped;
    if (ms(o.worst_stall) > worst) {
      worst = ms(o.worst_stall);
      worst_pack = p.name + " (" + o.worst_turn + ")";
    }
  }
  std::cout << "## hostile packs: " << packs().size() << ", worst turn of the loop " << worst
            << " ms: " << worst_pack << "; escapes " << escapes << "\n";
}

}  // namespace
