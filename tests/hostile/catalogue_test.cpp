#include "bench/hostile/callers.hpp"
#include "bench/hostile/charts.hpp"
#include "bench/hostile/kubeconfigs.hpp"
#include "bench/hostile/packs.hpp"
#include "bench/hostile/servers.hpp"
#include "bench/hostile/siege/strangers.hpp"

#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

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
  // Looked for together: hundreds of searches through a program take a minute.
  std::multimap<std::string_view, std::string_view> by_start;
  std::array<std::array<bool, 65'536>, 4> pairs{};  // of bytes, the first eight of any name
  const auto pair_at = [](const char* at) {
    return static_cast<unsigned char>(at[0]) * 256u + static_cast<unsigned char>(at[1]);
  };
  for (const std::string& name : names) {
    by_start.emplace(std::string_view(name).substr(0, 8), name);
    for (std::size_t i = 0; i < pairs.size(); ++i) pairs[i][pair_at(&name[i * 2])] = true;
  }
  for (const char* program : {"windlass", "windlass-node"}) {
    std::ostringstream read;
    read << std::ifstream(std::string(WINDLASS_BINARY_DIR "/") + program, std::ios::binary).rdbuf();
    const std::string bytes = std::move(read).str();
    ASSERT_GT(bytes.size(), 1'000'000u) << program;
    for (const char *at = bytes.data(), *end = at + bytes.size() - 8; at < end; ++at) {
      if (!pairs[0][pair_at(at)] || !pairs[1][pair_at(at + 2)] || !pairs[2][pair_at(at + 4)] ||
          !pairs[3][pair_at(at + 6)])
        continue;
      const auto [first, last] = by_start.equal_range(std::string_view(at, 8));
      for (auto name = first; name != last; ++name)
        EXPECT_FALSE(
            std::string_view(at, static_cast<std::size_t>(end + 8 - at)).starts_with(name->second))
            << program << ": " << name->second;
    }
  }
}

}  // namespace
