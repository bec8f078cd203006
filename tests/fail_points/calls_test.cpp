// SQLite's method for system calls: `windlass run` over TCP, and every place that calls the kernel
// fails there in every way that the manual pages name, at its first and a late hit.
#include "tests/fail_points/service_run.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>

namespace {

using namespace fail_points;

constexpr unsigned shards = 4, together = 4;

/// Of the calm run. The others go on beside each other, and a failure may cost them a time-out or
/// two.
constexpr std::chrono::minutes patience{5};
/// Of the others: on a machine that has much else to do nothing hangs yet.
std::chrono::milliseconds patience_after(const service_outcome& calm) {
  return std::max<std::chrono::milliseconds>(std::chrono::minutes(1), calm.took * together * 4);
}

call_record& shared_record() {
  return *new (::mmap(nullptr, sizeof(call_record), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0)) call_record;
}

/// Whether a later hit finds the service in another state than the first.
bool matters_late(call what) {
  switch (what) {
    case call::receive:
    case call::send:
    case call::connect:
    case call::accept:
    case call::socket:
    case call::epoll_control:
    case call::epoll_wait:
    case call::resolve:
    case call::random: return true;
    default: return false;
  }
}

class Calls : public testing::TestWithParam<unsigned> {};

TEST_P(Calls, EndInOrderOrGoOnWhereverOneFails) {
  call_record& record = shared_record();
  const service_outcome calm = run_service(nullptr, record, patience);
  ASSERT_EQ(calm.was.how, outcome::went_on) << calm.was.text;
  std::vector<call_point> points;
  std::size_t n = 0;
  for (std::uint32_t i = 0; i < record.used; ++i) {
    const call_place& p = record.places[i];
    // Every second way to fail, so that all is done in two minutes of processor time.
    bool also_late = false;
    for (const call_failure& f : failures_of(p.what, p.on)) {
      if (n++ % shards == GetParam()) points.push_back({p, 1, f});
      also_late = !also_late;
      if (also_late && p.hits > 3 && matters_late(p.what) && n++ % shards == GetParam())
        points.push_back({p, p.hits / 2, f});
    }
  }
  std::printf("%u places, %zu points\n", record.used.load(), n);
  EXPECT_GE(n, 250u) << "hardly a system call was seen, so nothing was tried";
  const std::vector<service_outcome> all = run_services(points, together, patience_after(calm));
  tally t;
  std::size_t missed = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].reached && all[i].was.how == outcome::went_on) {
      ++missed;
      continue;
    }
    finding f{points[i].text(), all[i].was, {}};
    for (void* at : points[i].at.stack)
      if (at) f.stack.push_back(at);
    t.count(f);
    if (points[i].at.what == call::accept && all[i].calls > 500)
      ADD_FAILURE() << f.point << ": accept was called " << all[i].calls << " times";
  }
  report("system calls " + std::to_string(GetParam() + 1) + " of " + std::to_string(shards) + ", " +
             std::to_string(missed) + " not reached",
         t);
}

INSTANTIATE_TEST_SUITE_P(Shards, Calls, testing::Range(0u, shards));

TEST(CallsAlone, ARunWithoutFaultsComesToItsEnd) {
  call_record& record = shared_record();
  const service_outcome calm = run_service(nullptr, record, patience);
  EXPECT_EQ(calm.was.how, outcome::went_on) << calm.was.text;
  std::printf("%u places, %lld ms\n", record.used.load(),
              static_cast<long long>(calm.took.count()));
  for (std::uint32_t i = 0; i < record.used; ++i)
    std::printf("%6u %s/%d\n", record.places[i].hits,
                std::string(name(record.places[i].what)).c_str(),
                static_cast<int>(record.places[i].on));
}

}  // namespace
