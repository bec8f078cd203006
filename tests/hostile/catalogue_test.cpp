#include "bench/hostile/callers.hpp"
#include "bench/hostile/charts.hpp"
#include "bench/hostile/kubeconfigs.hpp"
#include "bench/hostile/packs.hpp"
#include "bench/hostile/servers.hpp"
#include "bench/hostile/siege/strangers.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iostream>
#include <iterator>
#include <set>
#include <string>

namespace {

using namespace bench::hostile;

template <class Table>
std::size_t names_in(const Table& table) {
  std::set<std::string> names;
  for (const auto& one : table) names.insert(one.name);
  EXPECT_EQ(names.size(), table.size()) << "two behaviours have one name";
  return names.size();
}

TEST(HostileCatalogue, SaysHowManyPeersOfEachKindThereAre) {
  std::cout << "## servers " << names_in(servers()) << " packs " << names_in(packs())
            << " kubeconfigs " << names_in(kubeconfigs()) << " callers " << names_in(callers())
            << " charts " << names_in(charts()) << " strangers to the service "
            << names_in(strangers()) << "\n";
}

// What an attacker could copy is of no use to an operator.
TEST(HostileCatalogue, NoShippedProgramHoldsAnAttack) {
  std::set<std::string> names;
  const auto take = [&](const auto& table) {
    // A shorter one may be part of the product's own sentences.
    for (const auto& one : table)
      if (one.name.size() >= 28) names.insert(one.name);
  };
  take(servers());
  take(packs());
  take(kubeconfigs());
  take(callers());
  take(charts());
  take(strangers());
  EXPECT_GT(names.size(), 200u);
  for (const char* program : {"windlass", "windlass-node"}) {
    std::ifstream in(std::string(WINDLASS_BINARY_DIR "/") + program, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(in), {});
    ASSERT_GT(bytes.size(), 1'000'000u) << program;
    for (const std::string& name : names)
      EXPECT_EQ(bytes.find(name), std::string::npos) << program << ": " << name;
  }
}

}  // namespace
