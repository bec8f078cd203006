// `release path` against `release diff`: over pairs of the real Releases, and over catalogues drawn
// from seeds, where ways are also looked for step by step.
#include "cli/commands.hpp"
#include "reactor/plain/entropy.hpp"
#include "tests/reactor/temporary_folder.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <map>
#include <set>

namespace cli {
namespace {

namespace json = boost::json;

struct answered {
  int code = -1;
  json::object said;
};

answered release(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "release");
  arguments.insert(arguments.end(), {"-o", "json"});
  testing::internal::CaptureStdout();
  answered out;
  out.code = cli::dispatch(arguments);
  boost::system::error_code bad;
  const json::value v = json::parse(testing::internal::GetCapturedStdout(), bad);
  if (v.is_object()) out.said = v.get_object();
  return out;
}

/// The Releases of one provider in a folder.
class releases_in {
public:
  releases_in(std::string folder, std::string provider)
      : folder_(std::move(folder)), provider_(std::move(provider)) {}

  bool diff_denies(const std::string& from, const std::string& to) {
    const auto known = denied_.find({from, to});
    if (known != denied_.end()) return known->second;
    const answered one = release({"diff", provider_, from, to, "--dir", folder_});
    EXPECT_TRUE(one.code == 0 || one.code == 3 || one.code == 4)
        << provider_ << " " << from << " " << to << ": " << one.code;
    return denied_[{from, to}] = one.code == 4;
  }

  /// Whether each step is what `diff` says it is; true for a way without a denied step.
  bool path_leads(const std::string& from, const std::string& to) {
    const answered way = release({"path", provider_, from, to, "--dir", folder_});
    const std::string what = provider_ + " " + from + " " + to + " " + json::serialize(way.said);
    if (!way.said.contains("steps")) {
      ADD_FAILURE() << what;
      return false;
    }
    std::string at = from;
    bool denied = false;
    for (const json::value& step : way.said.at("steps").as_array()) {
      const std::string a = version(step.at("from")), b = version(step.at("to"));
      EXPECT_EQ(a, at) << what;
      const bool shown_denied = step.as_object().contains("denied");
      EXPECT_EQ(diff_denies(a, b), shown_denied) << a << " to " << b << " of " << what;
      denied = denied || shown_denied;
      at = b;
    }
    const bool none = way.said.at("steps").as_array().empty();
    EXPECT_TRUE(none || at == to) << what;
    EXPECT_EQ(way.code == 4, denied || none) << what;
    EXPECT_EQ(way.said.at("decision") == "deny", denied || none) << what;
    return !denied && !none;
  }

private:
  std::string version(const json::value& name) const {
    return std::string(name.as_string()).substr(provider_.size() + 1);
  }
  std::string folder_, provider_;
  std::map<std::pair<std::string, std::string>, bool> denied_;
};

TEST(ReleaseWays, OfTheRealReleasesHaveNoStepThatDiffDenies) {
  const std::map<std::string, std::vector<std::string>> offered = {
      {"aws", {"31.1.1", "32.4.0", "33.1.1", "34.4.1", "34.5.0"}},
      {"azure", {"32.1.0", "34.4.0", "34.5.0"}},
      {"vsphere", {"31.1.1", "33.2.0"}},
      {"cloud-director", {"33.1.1", "34.5.0"}}};
  std::size_t ways = 0;
  for (const auto& [provider, versions] : offered) {
    releases_in all(WINDLASS_SOURCE_DIR "/tests/data/releases", provider);
    for (std::size_t i = 0; i < versions.size(); ++i)
      for (std::size_t j = i + 1; j < versions.size(); ++j)
        ways += all.path_leads(versions[i], versions[j]) ? 1 : 0;
  }
  EXPECT_GT(ways, 5u);
}

TEST(ReleaseWays, OfDrawnCataloguesHaveNoDeniedStepWhereThereIsAWayWithout) {
  std::size_t ways = 0, blocked = 0;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    reactor::seeded_entropy dice(seed);
    const auto below = [&](std::uint64_t n) { return dice.between(std::uint64_t{0}, n - 1); };
    reactor::temporary_folder folder;
    std::vector<std::string> versions;
    for (const char* v : {"33.0.0", "33.1.0", "33.2.0", "34.0.0", "34.1.0", "35.0.0"}) {
      versions.emplace_back(v);
      const int major = std::stoi(v);
      const auto drawn = [&](int base) {
        return std::to_string(base + static_cast<int>(below(3)));
      };
      folder.write(
          "capa/v" + versions.back() + ".yaml",
          "apiVersion: release.giantswarm.io/v1alpha1\nkind: Release\nmetadata: {name: aws-" +
              versions.back() + "}\nspec:\n  state: active\n  date: \"2026-01-0" +
              std::to_string(versions.size()) +
              "T00:00:00Z\"\n  apps: []\n  components:\n  - {name: cluster-aws, version: 7." +
              drawn(5) + ".0, catalog: cluster}\n  - {name: flatcar, version: 459" + drawn(2) +
              ".2.0}\n  - {name: kubernetes, version: 1." + std::to_string(major) + "." + drawn(1) +
              "}\n  - {name: os-tooling, version: 1." + drawn(30) + ".0}\n");
    }
    releases_in all(folder.path(), "aws");
    for (std::size_t i = 0; i < versions.size(); ++i) {
      // What can be reached by steps of at most one major that `diff` lets pass.
      std::set<std::string> reached{versions[i]};
      for (std::size_t j = i + 1; j < versions.size(); ++j) {
        for (std::size_t k = i; k < j; ++k)
          if (reached.contains(versions[k]) &&
              std::stoi(versions[j]) - std::stoi(versions[k]) <= 1 &&
              !all.diff_denies(versions[k], versions[j]))
            reached.insert(versions[j]);
        const bool leads = all.path_leads(versions[i], versions[j]);
        EXPECT_EQ(leads, reached.contains(versions[j]))
            << "seed " << seed << ": " << versions[i] << " to " << versions[j];
        ++(leads ? ways : blocked);
      }
    }
  }
  EXPECT_GT(ways, 5u);
  EXPECT_GT(blocked, 5u) << "no drawn catalogue is hard";
}

}  // namespace
}  // namespace cli
