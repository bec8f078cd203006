#include "formats/digest.hpp"
#include "helm/sources/archive.hpp"
#include "helm/sources/dependencies/dependency_manager.hpp"
#include "helm/sources/lock.hpp"
#include "helm/sources/provenance.hpp"
#include "tests/helm/sources/fixture.hpp"

#include <set>

namespace helm::sources {
namespace {

using reactor::http::request;
using testing::ElementsAre;
using testing::HasSubstr;

std::string packed(const std::string& name, const std::string& version) {
  std::vector<std::string> warnings;
  auto c = load_files(
      {{"Chart.yaml", "apiVersion: v2\nname: " + name + "\nversion: " + version + "\n"}}, warnings);
  return *pack_chart(**c, 0);
}

TEST(ChartLock, HasHelmsDigest) {
  metadata m;
  ASSERT_TRUE(read_metadata(
      "apiVersion: v2\nname: app\nversion: 1.0.0\ndependencies:\n- name: sub\n  version: "
      "\">=0.1\"\n"
      "  repository: file://../sub\n  condition: sub.enabled\n  tags: [a, b]\n  import-values:\n"
      "  - data\n  - child: x\n    parent: y\n  alias: other\n",
      m));
  // Written by helm dependency update for this chart.
  EXPECT_EQ(lock_digest(m.dependencies, {{"sub", "file://../sub", "0.1.0"}}),
            "sha256:dec11e3131d9300b245cf0ca2f0704cfa1c9be0fb6cf1a71f600f37caced5591");
  chart_lock lock{"sha256:x", "2026-11-21T15:21:11Z", {{"sub", "file://../sub", "0.1.0"}}};
  EXPECT_EQ(write_lock(lock),
            "dependencies:\n- name: sub\n  repository: file://../sub\n  version: 0.1.0\n"
            "digest: sha256:x\ngenerated: \"2026-11-21T15:21:11Z\"\n");
  EXPECT_FALSE(lock_is_current(lock, m, m.dependencies));
  lock.digest = lock_digest(m.dependencies, lock.dependencies);
  EXPECT_TRUE(lock_is_current(lock, m, m.dependencies));
  lock.digest = old_lock_digest(m.dependencies);
  EXPECT_FALSE(lock_is_current(lock, m, m.dependencies));
  m.api_version = "v1";
  EXPECT_TRUE(lock_is_current(lock, m, m.dependencies));
}

TEST(DependencyRules, NameTheRepositoriesThatNobodyKnows) {
  repository_entry known;
  known.name = "shop";
  known.url = "http://shop/charts";
  dependency_list wanted;
  const auto add = [&](const char* name, const char* repository) {
    wanted.push_back(std::make_shared<dependency>());
    wanted.back()->name = name;
    wanted.back()->repository = repository;
  };
  add("a", "@shop");
  add("b", "alias:shop");
  add("c", "http://shop/charts/");
  add("d", "oci://reg/p");
  add("e", "http://elsewhere");
  add("f", "");
  auto names = repository_names(wanted, {known}, "/x");
  ASSERT_TRUE(names) << names.error().text;
  EXPECT_EQ(*names, (std::map<std::string, std::string>{
                        {"a", "shop"}, {"b", "shop"}, {"c", "shop"}, {"d", "oci://reg/p"}}));
  EXPECT_EQ(wanted[0]->repository, "http://shop/charts");
  add("g", "stable");
  EXPECT_THAT(repository_names(wanted, {known}, "/x").error().text,
              testing::StartsWith("no repository definition for stable. Please add them via 'helm "
                                  "repo add'\nNote that repositories must be URLs or aliases."));
  wanted.pop_back();
  add("h", "@other");
  EXPECT_EQ(repository_names(wanted, {known}, "/x").error().text,
            "no repository definition for @other. Please add them via 'helm repo add'");
  wanted.pop_back();
  add("i", "file://../none");
  EXPECT_EQ(repository_names(wanted, {known}, "/x/y").error().text, "directory /x/none not found");
}

class Dependencies : public SourcesTest {
protected:
  Dependencies() {
    for (const char* v : {"1.0.0", "1.1.0"}) {
      const std::string name = "db-" + std::string(v) + ".tgz";
      files["/charts/" + name] = packed("db", v);
      files["/charts/index.yaml"] +=
          "  - {apiVersion: v2, name: db, version: " + std::string(v) + ", urls: [" + name +
          "], digest: " + formats::sha256_hex(files["/charts/" + name]) + "}\n";
    }
    files["/charts/index.yaml"] = "apiVersion: v1\nentries:\n  db:\n" + files["/charts/index.yaml"];
    write("local/Chart.yaml", "apiVersion: v2\nname: local\nversion: 0.1.0\n");
  }
  void chart(const std::string& dependencies) {
    write("app/Chart.yaml",
          "apiVersion: v2\nname: app\nversion: 1.0.0\ndependencies:\n" + dependencies);
  }
  command_result helm(std::vector<std::string> arguments) {
    command_result out;
    run([&]() -> awaitable<void> {
      told_server shop(l, "shop", 80, [&](const request& r) {
        if (r.target.starts_with("/v2/") && !r.fields.has("Authorization"))
          return respond(401, "", {{"WWW-Authenticate", "Basic realm=\"shop\""}});
        const auto found = files.find(r.target);
        return found == files.end() ? respond(404) : respond(200, found->second);
      });
      command_context c{l, where(), env(), {}, {}, {}, {}};
      out = co_await run_source_command(c, arguments);
      co_await shop.stop();
      seen = shop.seen;
    });
    return out;
  }
  std::vector<std::string> charts() {
    std::vector<std::string> out;
    for (const auto& e : std::filesystem::directory_iterator(path("app/charts")))
      out.push_back(e.path().filename().string());
    std::sort(out.begin(), out.end());
    return out;
  }

  std::map<std::string, std::string> files;
  std::vector<request> seen;
};

TEST_F(Dependencies, AreUpdatedLockedAndBuilt) {
  (void)helm({"repo", "add", "shop", "http://shop/charts"});
  chart(
      "- {name: db, version: ~1.0, repository: '@shop'}\n- {name: local, version: '>=0', "
      "repository: 'file://../local'}\n");
  auto r = helm({"dependency", "update", path("app")});
  EXPECT_EQ(r.err, "");
  EXPECT_EQ(r.out,
            "Hang tight while we grab the latest from your chart repositories...\n"
            "...Successfully got an update from the \"shop\" chart repository\n"
            "Update Complete. ⎈Happy Helming!⎈\n"
            "Saving 2 charts\n"
            "Downloading db from repo http://shop/charts\n"
            "Deleting outdated charts\n");
  EXPECT_THAT(charts(), ElementsAre("db-1.0.0.tgz", "local-0.1.0.tgz"));
  const std::string lock = read("app/Chart.lock");
  EXPECT_THAT(lock, HasSubstr("- name: db\n  repository: http://shop/charts\n  version: 1.0.0\n"));
  EXPECT_EQ(helm({"dep", "list", path("app")}).out,
            "NAME \tVERSION\tREPOSITORY     \tSTATUS\n"
            "db   \t~1.0   \t@shop          \tok    \n"
            "local\t>=0    \tfile://../local\tok    \n\n");

  std::filesystem::remove(path("app/charts/db-1.0.0.tgz"));
  write("app/charts/old-1.0.0.tgz", packed("old", "1.0.0"));
  write("app/charts/_notes.txt", "not a chart");
  EXPECT_THAT(helm({"dep", "list", path("app")}).out, HasSubstr("missing"));
  r = helm({"dependency", "build", path("app"), "--skip-refresh"});
  EXPECT_EQ(r.err, "");
  EXPECT_THAT(charts(), ElementsAre("_notes.txt", "db-1.0.0.tgz", "local-0.1.0.tgz"));
  EXPECT_EQ(read("app/Chart.lock"), lock);

  chart("- {name: db, version: ~1.1, repository: '@shop'}\n");
  EXPECT_EQ(helm({"dependency", "build", path("app")}).err,
            "Error: the lock file (Chart.lock) is out of sync with the dependencies file "
            "(Chart.yaml). Please update the dependencies\n");
}

TEST_F(Dependencies, ComeFromRepositoriesThatNobodyAdded) {
  chart("- {name: db, version: '>=1', repository: 'http://shop/charts'}\n");
  auto r = helm({"dependency", "update", path("app")});
  EXPECT_EQ(r.err, "");
  EXPECT_EQ(r.out,
            "Getting updates for unmanaged Helm repositories...\n"
            "...Successfully got an update from the \"http://shop/charts\" chart repository\n"
            "Saving 1 charts\n"
            "Downloading db from repo http://shop/charts\n"
            "Deleting outdated charts\n");
  EXPECT_THAT(charts(), ElementsAre("db-1.1.0.tgz"));
  EXPECT_EQ(helm({"dependency", "build", path("app")}).err,
            "Error: no repository definition for http://shop/charts. Please add the missing repos "
            "via 'helm repo add'\n");
}

TEST_F(Dependencies, AreFetchedWithTheLoginOfTheirRepositoryAndNoOther) {
  const auto logins = [&] {
    std::set<std::string> out;
    for (const auto& r : seen)
      if (r.target.ends_with(".tgz")) out.emplace(r.fields.get("Authorization"));
    return out;
  };
  chart("- {name: db, version: '1.0.0', repository: 'http://shop/charts'}\n");
  (void)helm({"dependency", "update", path("app"), "--username", "flag", "--password", "pw"});
  EXPECT_THAT(logins(), ElementsAre(""));
  (void)helm({"repo", "add", "shop", "http://shop/charts", "--username", "me", "--password", "pw"});
  (void)helm({"dependency", "update", path("app"), "--username", "flag", "--password", "pw"});
  EXPECT_THAT(logins(), ElementsAre("Basic bWU6cHc="));
}

TEST_F(Dependencies, AreAskedForWithTheLoginOfTheFlagsWhereTheChartNamesASingleRegistry) {
  const std::string of_shop = "- {name: db, version: '>=1', repository: 'oci://shop:80/charts'}\n",
                    of_other = "- {name: eb, version: '>=1', repository: 'oci://other/charts'}\n",
                    said = "so the login of the flags is sent to none of them";
  struct row {
    std::string chart;
    bool sent;
  };
  for (const row& r : {row{of_shop, true}, row{of_shop + of_other, false}}) {
    chart(r.chart);
    const auto got = helm({"dependency", "update", path("app"), "--plain-http", "--username", "me",
                           "--password", "pw"});
    EXPECT_EQ((got.out + got.err).find(said) == std::string::npos, r.sent) << got.out << got.err;
    ASSERT_FALSE(seen.empty());
    bool sent = false;
    for (const auto& asked : seen) sent = sent || asked.fields.has("Authorization");
    EXPECT_EQ(sent, r.sent) << r.chart;
  }
}

TEST_F(Dependencies, LeaveTheFolderAloneWhenOneCannotBeHad) {
  write("app/charts/kept-1.0.0.tgz", packed("kept", "1.0.0"));
  chart(
      "- {name: local, version: '0', repository: 'file://../local'}\n"
      "- {name: db, version: '>=1', repository: 'http://shop/charts'}\n");
  files["/charts/db-1.1.0.tgz"] += "x";
  const auto r = helm({"dependency", "update", path("app")});
  EXPECT_THAT(r.err,
              testing::StartsWith("Error: could not download http://shop/charts/db-1.1.0.tgz: "
                                  "sha256 sum does not match"));
  EXPECT_THAT(charts(), ElementsAre("kept-1.0.0.tgz"));
  EXPECT_FALSE(exists("app/Chart.lock"));
}

TEST_F(Dependencies, SayWhatCannotBeChosen) {
  const std::vector<std::pair<std::string, std::string>> rows{
      {"- {name: db, version: '9', repository: 'http://shop/charts'}\n",
       "Error: can't get a valid version for 1 subchart(s): \"db\" (repository "
       "\"http://shop/charts\", "
       "version \"9\"). Make sure a matching chart version exists in the repo, or change the "
       "version "
       "constraint in Chart.yaml\n"},
      {"- {name: none, version: '1', repository: 'http://shop/charts'}\n",
       "Error: none chart not found in repo http://shop/charts\n"},
      {"- {name: db, version: 'a b', repository: 'http://shop/charts'}\n",
       "Error: dependency \"db\" has an invalid version/constraint format: improper constraint: "
       "\"a "
       "b\"\n"},
      {"- {name: local, version: '0.2', repository: 'file://../local'}\n",
       "Error: can't get a valid version for 1 subchart(s): \"local\" (repository "
       "\"file://../local\", version \"0.2\"). Make sure a matching chart version exists in the "
       "repo, "
       "or change the version constraint in Chart.yaml\n"},
      {"- {name: x, version: '1', repository: ''}\n",
       "Error: directory " + path("app/charts/x") + " not found\n"}};
  for (const auto& [dependencies, text] : rows) {
    chart(dependencies);
    EXPECT_EQ(helm({"dependency", "update", path("app")}).err, text);
  }
  EXPECT_THAT(helm({"dependency", "update", path("none")}).err,
              HasSubstr("could not find " + path("none")));
}

TEST_F(Dependencies, AreListedWithWhatIsWrong) {
  chart(
      "- {name: a, version: '1', repository: ''}\n- {name: b, version: '1', repository: ''}\n"
      "- {name: c, version: '2', repository: ''}\n- {name: d, version: '1', repository: ''}\n"
      "- {name: e, version: '1', repository: ''}\n");
  write("app/charts/a/Chart.yaml", "apiVersion: v2\nname: a\nversion: 1.0.0\n");
  write("app/charts/c-1.0.0.tgz", packed("c", "1.0.0"));
  write("app/charts/d-1.0.0.tgz", packed("d", "1.0.0"));
  write("app/charts/d-1.0.1.tgz", packed("d", "1.0.1"));
  write("app/charts/e-1.0.0.tgz", packed("other", "1.0.0"));
  const auto out = helm({"dependency", "list", path("app")}).out;
  EXPECT_EQ(out,
            "NAME\tVERSION\tREPOSITORY\tSTATUS          \n"
            "a   \t1      \t          \tunpacked        \n"
            "b   \t1      \t          \tmissing         \n"
            "c   \t2      \t          \twrong version   \n"
            "d   \t1      \t          \ttoo many matches\n"
            "e   \t1      \t          \tmisnamed        \n\n"
            "WARNING: \"" +
                path("app/charts/e-1.0.0.tgz") + "\" is not in Chart.yaml.\n");
  write("app/Chart.yaml", "apiVersion: v2\nname: app\nversion: 1.0.0\n");
  std::filesystem::remove_all(path("app/charts"));
  EXPECT_EQ(helm({"dependency", "list", path("app")}).out,
            "WARNING: no dependencies at " + path("app/charts") + "\n");
}

// Helm works on an empty list of dependencies as on any other, and on none not at all.
TEST_F(Dependencies, AreAListThatMayBeEmpty) {
  write("app/charts/s/Chart.yaml", "apiVersion: v2\nname: s\nversion: 0.1.0\n");
  for (const std::string none : {"", "dependencies: null\n", "dependencies:\n"}) {
    write("app/Chart.yaml", "apiVersion: v2\nname: app\nversion: 1.0.0\n" + none);
    EXPECT_EQ(helm({"dependency", "list", path("app")}).out,
              "WARNING: no dependencies at " + path("app/charts") + "\n");
    EXPECT_EQ(helm({"dependency", "update", path("app")}).out, "");
    EXPECT_FALSE(std::filesystem::exists(path("app/Chart.lock")));
  }
  chart("  []\n");
  EXPECT_EQ(helm({"dependency", "list", path("app")}).out,
            "NAME\tVERSION\tREPOSITORY\tSTATUS\n\nWARNING: \"" + path("app/charts/s") +
                "\" is not in Chart.yaml.\n");
  EXPECT_EQ(helm({"dependency", "update", path("app")}).out,
            "Saving 0 charts\nDeleting outdated charts\n");
  EXPECT_TRUE(std::filesystem::exists(path("app/Chart.lock")));
}

}  // namespace
}  // namespace helm::sources
