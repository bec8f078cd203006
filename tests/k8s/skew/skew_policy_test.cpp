#include "k8s/skew/skew_policy.hpp"

#include <gtest/gtest.h>

#include <string>

namespace k8s::skew {
namespace {

std::string name_of(const rule* r) {
  return r ? std::string(r->name) : "fine";
}

std::string minor_of(std::string_view text) {
  const auto v = parse_version(text);
  return v ? std::to_string(v->minor) : "unknown";
}

/// The policy's own table, each cell of it: which difference of minors is fine.
TEST(SkewPolicy, EveryPairOfMinorsIsJudgedAsThePolicySays) {
  struct row {
    part of, beside;
    int newer, older, newer_before_25, older_before_25;
    const char* name;
  };
  const row table[] = {
      {part::kubelet, part::api_server, 0, 3, 0, 2, "kubelet"},
      {part::kube_proxy, part::api_server, 0, 3, 0, 2, "kube-proxy"},
      {part::kube_proxy, part::kubelet, 3, 3, 2, 2, "kube-proxy-beside-kubelet"},
      {part::api_server, part::api_server, 1, 1, 1, 1, "api-servers"},
      {part::kubelet, part::control_plane, 0, 3, 0, 2, "control-plane-first"},
      {part::control_plane, part::former, 1, 1, 1, 1, "one-minor"},
  };
  EXPECT_EQ(std::size(table), rules.size()) << "a rule without a row of its own";
  std::size_t cells = 0;
  for (const row& r : table)
    for (int minor = 15; minor <= 40; ++minor)
      for (int beside = 15; beside <= 40; ++beside, ++cells) {
        const int newer = minor < 25 ? r.newer_before_25 : r.newer,
                  older = minor < 25 ? r.older_before_25 : r.older;
        const bool fine = minor - beside <= newer && beside - minor <= older;
        EXPECT_EQ(name_of(broken_rule(r.of, static_cast<unsigned>(minor), r.beside,
                                      static_cast<unsigned>(beside))),
                  fine ? "fine" : r.name)
            << "1." << minor << " beside 1." << beside;
      }
  EXPECT_EQ(cells, 6u * 26 * 26);
}

TEST(SkewPolicy, TheExamplesOfThePolicyHold) {
  const auto kubelet = [](unsigned minor, unsigned server) {
    return name_of(broken_rule(part::kubelet, minor, part::api_server, server));
  };
  EXPECT_EQ(kubelet(35, 35), "fine");
  EXPECT_EQ(kubelet(32, 35), "fine");
  EXPECT_EQ(kubelet(31, 35), "kubelet");
  EXPECT_EQ(kubelet(36, 35), "kubelet");
  EXPECT_EQ(kubelet(24, 26), "fine");
  EXPECT_EQ(kubelet(24, 27), "kubelet") << "below 1.25 two minors, not three";
  EXPECT_EQ(kubelet(25, 28), "fine");
}

TEST(SkewPolicy, PairsThatThePolicyDoesNotNameAreFine) {
  EXPECT_EQ(name_of(broken_rule(part::former, 10, part::kubelet, 40)), "fine");
}

TEST(SkewVersion, ForksAreReadByTheirMinorAndKeepTheirText) {
  for (const char* text :
       {"v1.33.1-eks-0a1b2c3", "v1.33.1+k3s1", "v1.33.1+rke2r1", "v1.33.1-gke.1000", "1.33",
        "v1.33", "1.33.0", "v1.33.0-rc.1+build.5", "1.33+", " v1.33.9\n", "v1.33.1-0+deadbeef"})
    EXPECT_EQ(minor_of(text), "33") << text;
  EXPECT_EQ(parse_version(" v1.33.1+k3s1 ")->text, "v1.33.1+k3s1");
}

TEST(SkewVersion, GarbageIsUnknown) {
  for (const std::string& text : {std::string(),
                                  std::string("v"),
                                  std::string("1"),
                                  std::string("1."),
                                  std::string("latest"),
                                  std::string("v1.x.1"),
                                  std::string("1.33garbage"),
                                  std::string("1.33."),
                                  std::string("1.33.x"),
                                  std::string("41.20261120.0"),
                                  std::string("2.1.0"),
                                  std::string("11.3.0"),
                                  std::string("1.-3"),
                                  std::string("1.4294967297"),
                                  std::string("1.99999999999999999999999"),
                                  std::string("1.1000"),
                                  std::string("vv1.33.1"),
                                  std::string("1.33.1 or so"),
                                  std::string("1.33.1-\xff"),
                                  std::string("1.33.1") + char(0),
                                  "1.33.1-" + std::string(300, 'a'),
                                  std::string("<html>"),
                                  std::string("1,33,1")})
    EXPECT_EQ(minor_of(text), "unknown") << text;
}

}  // namespace
}  // namespace k8s::skew
