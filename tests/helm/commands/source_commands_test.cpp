#include "helm/commands/source_commands.hpp"

#include "formats/digest.hpp"
#include "helm/sources/archive.hpp"
#include "helm/sources/index.hpp"
#include "helm/sources/provenance.hpp"
#include "tests/helm/sources/fixture.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace helm::sources {
namespace {

using reactor::http::request;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

using words = std::vector<std::string>;

std::string packed(const std::string& name, const std::string& version) {
  std::vector<std::string> warnings;
  auto c =
      load_files({{"Chart.yaml", "apiVersion: v2\nname: " + name + "\nversion: " + version + "\n"},
                  {"templates/x.yaml", "kind: X\nversion: " + version + "\n"}},
                 warnings);
  return *pack_chart(**c, 0);
}

/// A chart repository at http://shop/charts with two versions of "app".
class Commands : public SourcesTest {
protected:
  Commands() {
    for (const char* v : {"1.0.0", "1.1.0"}) {
      const std::string name = "app-" + std::string(v) + ".tgz";
      files["/charts/" + name] = packed("app", v);
      index += "  - {apiVersion: v2, name: app, version: " + std::string(v) +
               ", description: An app, urls: [" + name +
               "], digest: " + formats::sha256_hex(files["/charts/" + name]) + "}\n";
    }
    files["/charts/index.yaml"] = index;
  }

  command_result helm(words arguments, std::string epoch = {}) {
    command_result out;
    const environment around = env();
    const environment with_epoch = [=](std::string_view name) {
      return name == "SOURCE_DATE_EPOCH" ? epoch : around(name);
    };
    run([&]() -> awaitable<void> {
      told_server shop(l, "shop", 80, [&](const request& r) {
        const auto found = files.find(r.target);
        return found == files.end() ? respond(404) : respond(200, found->second);
      });
      command_context c{l,
                        where(),
                        with_epoch,
                        [] { return std::string("typed\n"); },
                        [](const std::string&) { return std::string("me"); },
                        [](const std::string&) { return reactor::secret("pw"); },
                        {}};
      out = co_await run_source_command(c, arguments);
      co_await shop.stop();
      seen = shop.seen;
    });
    return out;
  }
  void add_shop() { EXPECT_EQ(helm({"repo", "add", "shop", "http://shop/charts"}).err, ""); }

  std::string index = "apiVersion: v1\nentries:\n  app:\n";
  std::map<std::string, std::string> files;
  std::vector<request> seen;
};

TEST_F(Commands, AddListUpdateSearchAndRemoveARepository) {
  EXPECT_EQ(helm({"repo", "list"}).err, "Error: no repositories to show\n");
  EXPECT_EQ(helm({"repo", "update"}).err,
            "Error: no repositories found. You must add one before updating\n");
  EXPECT_EQ(helm({"search", "repo"}).err, "Error: no repositories configured\n");
  auto r =
      helm({"repo", "add", "shop", "http://shop/charts", "--username", "me", "--password", "pw"});
  EXPECT_EQ(r.out, "\"shop\" has been added to your repositories\n") << r.err;
  EXPECT_EQ(read(".cache/helm/repository/shop-index.yaml"), index);
  EXPECT_EQ(read(".cache/helm/repository/shop-charts.txt"), "app\n");
  EXPECT_EQ(seen.at(0).fields.get("Authorization"), "Basic bWU6cHc=");
  const auto mode = std::filesystem::status(path(".config/helm/repositories.yaml")).permissions();
  EXPECT_EQ(mode, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  EXPECT_EQ(
      helm({"repo", "add", "shop", "http://shop/charts", "--username", "me", "--password", "pw"})
          .out,
      "\"shop\" already exists with the same configuration, skipping\n");
  EXPECT_EQ(helm({"repo", "add", "shop", "http://shop/charts"}).err,
            "Error: repository name (shop) already exists, please specify a different name\n");
  EXPECT_EQ(helm({"repo", "list"}).out, "NAME\tURL               \nshop\thttp://shop/charts\n");
  EXPECT_EQ(helm({"repo", "list", "-o", "json"}).out,
            "[{\"name\":\"shop\",\"url\":\"http://shop/charts\"}]\n");
  EXPECT_EQ(helm({"repo", "update"}).out,
            "Hang tight while we grab the latest from your chart repositories...\n"
            "...Successfully got an update from the \"shop\" chart repository\n"
            "Update Complete. ⎈Happy Helming!⎈\n");
  EXPECT_EQ(helm({"search", "repo", "app"}).out,
            "NAME    \tCHART VERSION\tAPP VERSION\tDESCRIPTION\n"
            "shop/app\t1.1.0        \t           \tAn app     \n");
  EXPECT_EQ(helm({"search", "repo", "-l", "-o", "yaml"}).out,
            "- app_version: \"\"\n  description: An app\n  name: shop/app\n  version: 1.1.0\n"
            "- app_version: \"\"\n  description: An app\n  name: shop/app\n  version: 1.0.0\n");
  EXPECT_EQ(helm({"repo", "update", "x"}).err,
            "Error: no repositories found matching 'x'.  Nothing will be updated\n");
  EXPECT_EQ(helm({"repo", "remove", "x"}).err, "Error: no repo named \"x\" found\n");
  EXPECT_EQ(helm({"repo", "remove", "shop"}).out,
            "\"shop\" has been removed from your repositories\n");
  EXPECT_FALSE(exists(".cache/helm/repository/shop-index.yaml"));
}

TEST_F(Commands, RefuseARepositoryThatIsNone) {
  EXPECT_EQ(helm({"repo", "add", "x", "http://shop/other"}).err,
            "Error: looks like \"http://shop/other\" is not a valid chart repository or cannot be "
            "reached: failed to fetch http://shop/other/index.yaml : 404 Not Found\n");
  EXPECT_EQ(helm({"repo", "add", "a/b", "http://shop/charts"}).err,
            "Error: repository name (a/b) contains '/', please specify a different name without "
            "'/'\n");
  files["/charts/index.yaml"] = "entries: {}\n";
  const auto r = helm({"repo", "add", "x", "http://me:geheim@shop/charts"});
  EXPECT_EQ(r.err,
            "Error: looks like \"http://shop/charts\" is not a valid chart repository or cannot be "
            "reached: no API version specified\n");
  EXPECT_FALSE(exists(".config/helm/repositories.yaml"));
}

TEST_F(Commands, IndexAFolder) {
  write("r/app-1.0.0.tgz", packed("app", "1.0.0"));
  write("r/more/db-2.0.0.tgz", packed("db", "2.0.0"));
  write("r/broken.tgz", "no");
  EXPECT_EQ(helm({"repo", "index", path("r"), "--url", "http://h/c"}).err, "");
  auto made = read_index(read("r/index.yaml"), "x");
  ASSERT_TRUE(made) << made.error().text;
  EXPECT_EQ(made->index.entries.at("app")[0].urls[0], "http://h/c/app-1.0.0.tgz");
  EXPECT_EQ(made->index.entries.at("app")[0].digest, formats::sha256_hex(packed("app", "1.0.0")));
  EXPECT_EQ(made->index.entries.at("db")[0].urls[0], "http://h/c/more/db-2.0.0.tgz");
  std::filesystem::remove(path("r/app-1.0.0.tgz"));
  EXPECT_EQ(helm({"repo", "index", path("r"), "--merge", path("r/index.yaml"), "--json"}).err, "");
  made = read_index(read("r/index.yaml"), "x");
  EXPECT_EQ(made->index.entries.at("app")[0].urls[0], "http://h/c/app-1.0.0.tgz");
  EXPECT_EQ(made->index.entries.at("db")[0].urls[0], "more/db-2.0.0.tgz");
}

TEST_F(Commands, PullFromARepository) {
  add_shop();
  EXPECT_EQ(helm({"pull", "shop/app", "-d", folder}).err, "");
  EXPECT_EQ(read("app-1.1.0.tgz"), files["/charts/app-1.1.0.tgz"]);
  EXPECT_EQ(
      helm({"pull", "app", "--repo", "http://shop/charts", "--version", "~1.0", "-d", folder}).err,
      "");
  EXPECT_TRUE(exists("app-1.0.0.tgz"));
  EXPECT_EQ(helm({"pull", "shop/app", "--untar", "-d", folder}).err, "");
  EXPECT_THAT(read("app/Chart.yaml"), HasSubstr("version: 1.1.0"));
  EXPECT_THAT(helm({"pull", "shop/app", "--untar", "-d", folder}).err,
              HasSubstr("failed to untar: a file or directory with the name"));
}

TEST_F(Commands, PullSaysWhatItCannotFind) {
  add_shop();
  const std::vector<std::pair<words, std::string>> rows{
      {{"pull", "app"},
       "Error: non-absolute URLs should be in form of repo_name/path_to_chart, got: app\n"},
      {{"pull", "other/app"}, "Error: repo other not found\n"},
      {{"pull", "shop/db"},
       "Error: chart \"db\" matching  not found in shop index. (try 'helm repo update'): no chart "
       "name found\n"},
      {{"pull", "shop/app", "--version", "9"},
       "Error: chart \"app\" matching 9 not found in shop index. (try 'helm repo update'): no "
       "chart "
       "version found for app-9\n"},
      {{"pull", "app", "--repo", "http://shop/charts", "--version", "9"},
       "Error: chart \"app\" version \"9\" not found in http://shop/charts repository\n"},
      {{"pull", "http://shop/charts/none-1.tgz"},
       "Error: failed to fetch http://shop/charts/none-1.tgz : 404 Not Found\n"},
      {{"pull", "shop/app", "--verify"},
       "Error: failed to fetch provenance \"http://shop/charts/app-1.1.0.tgz.prov\"\n"},
      {{"pull"},
       "Error: \"helm pull\" requires at least 1 argument\n\nUsage:  helm pull [chart URL | "
       "repo/chartname] [...] [flags]\n"}};
  for (const auto& [arguments, text] : rows) EXPECT_EQ(helm(arguments).err, text);
  files["/charts/app-1.1.0.tgz"] += "x";
  EXPECT_THAT(helm({"pull", "shop/app"}).err,
              StartsWith("Error: sha256 sum does not match for app-1.1.0.tgz: "));
}

TEST_F(Commands, NothingIsStoredOutsideTheFolder) {
  files["/charts/index.yaml"] =
      "apiVersion: v1\nentries:\n  app:\n  - {apiVersion: v2, name: app, version: 1.0.0, urls: "
      "['http://shop/..']}\n";
  add_shop();
  EXPECT_EQ(helm({"pull", "shop/app", "-d", folder}).exit_code, 1);
  files["/charts/evil-1.tgz"] = "no archive";
  EXPECT_NE(helm({"pull", "http://shop/charts/evil-1.tgz", "--untar", "-d", folder}).err, "");
}

TEST_F(Commands, PackageAChart) {
  write("app/Chart.yaml", "apiVersion: v2\nname: app\nversion: 1.0.0\n");
  write("app/values.yaml", "a: 1\n");
  auto r = helm({"package", path("app"), "-d", folder, "--version", "2.0.0", "--app-version", "x"});
  EXPECT_EQ(r.out, "Successfully packaged chart and saved it to: " + path("app-2.0.0.tgz") + "\n")
      << r.err;
  std::vector<std::string> warnings;
  auto c = load_chart(path("app-2.0.0.tgz"), warnings);
  ASSERT_TRUE(c);
  EXPECT_EQ((*c)->meta.app_version, "x");
  EXPECT_EQ(helm({"package"}).err, "Error: need at least one argument, the path to the chart\n");
  EXPECT_EQ(helm({"package", path("none")}).err,
            "Error: stat " + path("none") + ": no such file or directory\n");
  EXPECT_EQ(helm({"package", path("app"), "--sign"}).err,
            "Error: --key is required for signing a package\n");
  write("app/Chart.yaml",
        "apiVersion: v2\nname: app\nversion: 1.0.0\ndependencies: [{name: db, version: '1', "
        "repository: ''}]\n");
  EXPECT_EQ(helm({"package", path("app")}).err,
            "Error: found in Chart.yaml, but missing in charts/ directory: db\n");
}

TEST_F(Commands, PackageGivesTheSameBytesForOneSourceDateEpoch) {
  write("app/Chart.yaml", "apiVersion: v2\nname: app\nversion: 1.0.0\n");
  const auto packed_with = [&](const std::string& epoch) {
    EXPECT_EQ(helm({"package", path("app"), "-d", folder}, epoch).exit_code, 0);
    run([&]() -> awaitable<void> { co_await l.sleep_for(std::chrono::hours(1)); });
    return read("app-1.0.0.tgz");
  };
  const std::string once = packed_with("1790000000");
  EXPECT_EQ(packed_with("1790000000"), once);
  EXPECT_NE(packed_with("1790000001"), once);
  for (const char* none : {"", "-1", "soon", "17e8"}) {
    const std::string now = packed_with(none);
    EXPECT_NE(packed_with(none), now) << none;
  }
}

TEST_F(Commands, FindsChartsForOtherCommands) {
  add_shop();
  const auto locate = [&](std::string reference, chart_origin how) {
    std::string out;
    run([&]() -> awaitable<void> {
      told_server shop(l, "shop", 80, [&](const request& r) {
        const auto found = files.find(r.target);
        return found == files.end() ? respond(404) : respond(200, found->second);
      });
      chart_source source(l, where(), env());
      auto got = co_await source.locate(reference, how);
      out = got ? got->path : "! " + got.error().text;
      co_await source.stop();
      co_await shop.stop();
    });
    return out;
  };
  EXPECT_EQ(locate("shop/app", {}), path(".cache/helm/repository/app-1.1.0.tgz"));
  EXPECT_EQ(locate(" http://shop/charts/app-1.0.0.tgz ", {}),
            path(".cache/helm/repository/app-1.0.0.tgz"));
  EXPECT_EQ(locate("./none", {}), "! path \"./none\" not found");
  write("local/Chart.yaml", "x");
  EXPECT_EQ(locate(path("local"), {}), path("local"));
  chart_origin verified;
  verified.verify = true;
  EXPECT_EQ(locate(path("local"), verified), "! unpacked charts cannot be verified");
}

TEST_F(Commands, LoginsAreKeptAndForgotten) {
  files["/v2/"] = "{}";
  auto r = helm({"registry", "login", "shop:80", "--plain-http", "-u", "me", "--password-stdin"});
  EXPECT_EQ(r.err, "Login Succeeded\n");
  EXPECT_THAT(read(".config/helm/registry/config.json"), HasSubstr("\"auth\": \"bWU6dHlwZWQ=\""));
  r = helm({"registry", "logout", "shop:80"});
  EXPECT_EQ(r.err, "Removing login credentials for shop:80\n");
  EXPECT_EQ(read(".config/helm/registry/config.json").find("bWU6"), std::string::npos);
  files.erase("/v2/");
  EXPECT_EQ(
      helm({"registry", "login", "shop:80", "--plain-http", "-u", "me", "-p", "geheim"}).err,
      "WARNING: Using --password via the CLI is insecure. Use --password-stdin.\n"
      "Error: authenticating to \"shop:80\": GET \"http://shop:80/v2/\": response status code "
      "404: Not Found\n");
}

TEST_F(Commands, LoginsWaitForTheLockOfTheirFile) {
  files["/v2/"] = "{}";
  write(".config/helm/registry/config.lock", "");
  const int held = ::open(path(".config/helm/registry/config.lock").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(::flock(held, LOCK_EX), 0);
  for (const char* verb : {"login", "logout"}) {
    std::vector<std::string> words{"registry", verb, "shop:80"};
    if (words[1] == "login")
      words.insert(words.end(), {"--plain-http", "-u", "me", "--password-stdin"});
    EXPECT_THAT(helm(words).err, HasSubstr("config.lock is locked by another process")) << verb;
  }
  EXPECT_FALSE(exists(".config/helm/registry/config.json"));
  ::close(held);
  EXPECT_EQ(
      helm({"registry", "login", "shop:80", "--plain-http", "-u", "me", "--password-stdin"}).err,
      "Login Succeeded\n");
}

TEST_F(Commands, PushSaysWhatCannotBePushed) {
  EXPECT_EQ(helm({"push", path("none.tgz"), "oci://shop"}).err,
            "Error: " + path("none.tgz") + ": no such file\n");
  EXPECT_EQ(helm({"push", folder, "oci://shop"}).err,
            "Error: cannot push directory, must provide chart archive (.tgz)\n");
  EXPECT_EQ(helm({"push", folder, "shop"}).err,
            "Error: scheme prefix missing from remote (e.g. \"oci://\")\n");
}

TEST_F(Commands, TellWrongUsageFromWhatIsNotSupported) {
  EXPECT_EQ(helm({"repo", "frobnicate"}).err,
            "Error: unknown command \"frobnicate\" for \"helm repo\"\n");
  EXPECT_EQ(helm({"pull", "--frob"}).err, "Error: unknown flag: --frob\n");
  EXPECT_EQ(helm({"search", "hub"}).exit_code, 2);
}

}  // namespace
}  // namespace helm::sources
