#include "bench/hostile/kubeconfigs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

namespace bench::hostile {
namespace {

using namespace std::chrono_literals;

TEST(HostileKubeconfigs, AreRefusedWithPathAndLineOrUsedAndNeverQuotedNorWaitedFor) {
  EXPECT_GE(kubeconfigs().size(), 60u);
  (void)try_kubeconfig(kubeconfigs().back());  // OpenSSL and the worker have started
  reactor::nanoseconds worst{0};
  std::string slowest;
  for (const kubeconfig& k : kubeconfigs()) {
    SCOPED_TRACE(k.name);
    kubeconfig_outcome out = try_kubeconfig(k);
    // What the machine takes away, it takes once.
    for (int tries = 1; tries < 10 && out.took > 10ms; ++tries)
      out.took = std::min(out.took, try_kubeconfig(k).took);
    EXPECT_FALSE(out.leaked) << out.error;
    EXPECT_EQ(out.error.empty(), k.says.empty()) << out.error;
    EXPECT_NE(out.error.find(k.says), std::string::npos) << out.error;
    EXPECT_LE(out.took, 10ms);
    EXPECT_LT(out.error.size(), 500u);
    if (out.took > worst) {
      worst = out.took;
      slowest = k.name;
    }
  }
  std::cout << "## kubeconfigs " << kubeconfigs().size() << ", the longest turn of the loop "
            << static_cast<double>(worst.count()) / 1e6 << " ms (" << slowest << ")\n";
}

}  // namespace
}  // namespace bench::hostile
