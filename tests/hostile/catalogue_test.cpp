#include "bench/hostile/callers.hpp"
#include "bench/hostile/charts.hpp"
#include "bench/hostile/kubeconfigs.hpp"
#include "bench/hostile/packs.hpp"
#include "bench/hostile/servers.hpp"

#include <gtest/gtest.h>

#include <iostream>
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
            << " charts " << names_in(charts()) << "\n";
}

}  // namespace
