// `windlass trustee` on objects of a file: what a person sees of releases and instances.
#include "cli/commands.hpp"
#include "k8s/sim/server.hpp"
#include "reactor/loop.hpp"
#include "reactor/task_group.hpp"
#include "tests/reactor/temporary_folder.hpp"
#include "tests/trustee/seven_files.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace json = boost::json;
using testing::HasSubstr;

struct outcome {
  int code = -1;
  std::string out, err;
};

outcome run(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "trustee");
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  outcome o;
  o.code = cli::dispatch(arguments);
  o.out = testing::internal::GetCapturedStdout();
  o.err = testing::internal::GetCapturedStderr();
  return o;
}

json::object object_of(const outcome& o) {
  boost::system::error_code ec;
  json::value v = json::parse(o.out, ec);
  EXPECT_FALSE(ec) << o.out << o.err;
  return v.is_object() ? v.get_object() : json::object();
}

constexpr const char* instance =
    "apiVersion: confidentialcontainers.org/v1alpha1\nkind: TrusteeConfig\n"
    "metadata: {name: a, namespace: shops}\nspec: {version: v0.20.0}\n";

TEST(TrusteeCommand, ListsReleasesWithTheirImages) {
  const outcome o = run({"versions", "-o", "json"});
  EXPECT_EQ(o.code, 0) << o.err;
  const json::object all = object_of(o);
  const json::array& versions = all.at("versions").as_array();
  ASSERT_EQ(versions.size(), 15u);
  EXPECT_EQ(versions[0].at("version"), "v0.10.0");
  EXPECT_EQ(versions[14].at("default"), true);
  for (const json::value& v : versions) {
    EXPECT_TRUE(v.at("problem").is_null()) << v;
    EXPECT_THAT(std::string(v.at("images").at("kbs").as_string()), HasSubstr("built-in-as-"));
  }
}

/// Without digests: keys are generated for each rendering.
std::string comparable(const std::string& text) {
  std::string out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.find("windlass.dev/composed:") == line.npos && line.find("-digest:") == line.npos)
      out += line + "\n";
  return out;
}

TEST(TrusteeCommand, RendersWhatRunsNothingYetFromTheFilesOfTheVersionOnTheCommandLine) {
  reactor::temporary_folder folder;
  folder.write("a.yaml", instance);
  std::string other = instance;
  other.replace(other.find("v0.20.0"), 7, "v0.18.0");
  folder.write("b.yaml", other);
  const outcome o =
      run({"render", "a", "-n", "shops", "-f", folder.path() + "/a.yaml", "--version", "v0.18.0"});
  EXPECT_EQ(o.code, 0) << o.err;
  const outcome wanted = run({"render", "a", "-n", "shops", "-f", folder.path() + "/b.yaml"});
  EXPECT_EQ(comparable(o.out), comparable(wanted.out));
  EXPECT_THAT(o.out, HasSubstr("template-file: v0.18.0/kbs-config-permissive.toml"));
}

TEST(TrusteeCommand, RendersARunningInstanceWithTheFilesThatItKeeps) {
  reactor::temporary_folder folder;
  std::string running = instance;
  running.replace(running.find("namespace: shops"), 16, "namespace: shops, uid: u1");
  folder.write("a.yaml", running + R"(---
apiVersion: v1
kind: ConfigMap
metadata:
  name: a-kbs-config
  namespace: shops
  annotations: {windlass.dev/composed-by: windlass-trustee}
  ownerReferences:
  - {apiVersion: confidentialcontainers.org/v1alpha1, kind: TrusteeConfig, name: a, uid: u1, controller: true}
data: {kbs-config.toml: "# mine"}
)");
  const outcome o =
      run({"render", "a", "-n", "shops", "-f", folder.path() + "/a.yaml", "--version", "v0.18.0"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_THAT(o.out, HasSubstr("# mine"));
}

TEST(TrusteeCommand, SaysWhatAnotherVersionChanges) {
  reactor::temporary_folder folder;
  folder.write("a.yaml", instance);
  const std::vector<std::string> words = {"diff", "a",       "-n", "shops",
                                          "--to", "v0.18.0", "-f", folder.path() + "/a.yaml"};
  std::vector<std::string> machine = words;
  machine.insert(machine.end(), {"-o", "json"});
  const json::object o = object_of(run(machine));
  EXPECT_EQ(o.at("version").at("from"), "v0.20.0");
  EXPECT_EQ(o.at("version").at("to"), "v0.18.0");
  EXPECT_THAT(std::string(o.at("images").at("kbs").at("to").as_string()), HasSubstr("v0.18.0"));
  EXPECT_EQ(o.at("files").as_array().size(), 5u);
  for (const json::value& f : o.at("files").as_array()) {
    EXPECT_TRUE(f.as_object().contains("action"));
    EXPECT_TRUE(f.at("keys").is_array());
  }
  EXPECT_TRUE(o.at("restarts").is_array());
  bool stale = false;
  for (const json::value& c : o.at("conditions").as_array())
    stale = stale || c.at("reason") == "TemplateVersionMismatch";
  EXPECT_TRUE(stale);
  EXPECT_THAT(run(words).out, HasSubstr("v0.20.0 -> v0.18.0"));
  EXPECT_THAT(
      run({"diff", "b", "-n", "shops", "--to", "latest", "-f", folder.path() + "/a.yaml"}).err,
      HasSubstr("find TrusteeConfig shops/b: it is not there; there are shops/a"));
}

TEST(TrusteeCommand, RendersObjectsWithoutAnyBytesOfSecrets) {
  reactor::temporary_folder folder;
  folder.write("a.yaml",
               std::string(instance) +
                   "---\napiVersion: v1\nkind: Secret\nmetadata: {name: attestation-status, "
                   "namespace: shops}\ndata: {status: Y2FuYXJ5LTQyNzE=}\n");
  const outcome o = run({"render", "a", "-n", "shops", "-f", folder.path() + "/a.yaml"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_THAT(o.out, HasSubstr("kind: KbsConfig"));
  EXPECT_THAT(o.out, HasSubstr("name: a-kbs-config"));
  EXPECT_EQ(o.out.find("Y2FuYXJ5"), o.out.npos);
  EXPECT_EQ(o.out.find("canary-4271"), o.out.npos);
  const outcome list = run({"list", "-f", folder.path() + "/a.yaml"});
  EXPECT_THAT(list.out, HasSubstr("v0.20.0"));
}

TEST(TrusteeCommand, ListsWhatAnInstanceRunsInPlaceOfTheVersionThatItAsksFor) {
  reactor::temporary_folder folder;
  folder.write(
      "a.yaml",
      "apiVersion: confidentialcontainers.org/v1alpha1\nkind: TrusteeConfig\n"
      "metadata: {name: a, namespace: shops}\nspec: {version: v0.99.0}\nstatus:\n"
      "  effectiveVersion: latest\n  conditions:\n"
      "  - {type: CatalogueLoaded, status: 'True', reason: Loaded, message: fine}\n"
      "  - {type: VersionResolved, status: 'False', reason: UnknownVersion, message: v0.99.0 "
      "is not in the catalogue}\n"
      "  - {type: Ready, status: 'True', reason: Ready, message: The instance is ready.}\n");
  const std::vector<std::string> words = {"list", "-f", folder.path() + "/a.yaml"};
  const outcome list = run(words);
  EXPECT_THAT(list.out, HasSubstr("PROBLEM"));
  const std::string told = "VersionResolved UnknownVersion: v0.99.0 is not in the catalogue";
  EXPECT_THAT(list.out, HasSubstr(told));
  std::vector<std::string> machine = words;
  machine.insert(machine.end(), {"-o", "json"});
  EXPECT_EQ(object_of(run(machine)).at("instances").at(0).at("problem"), told.c_str());
}

TEST(TrusteeCommand, RendersASecretOfTheInstanceWithoutTheCopyThatKubectlKeeps) {
  reactor::temporary_folder folder;
  folder.write(
      "a.yaml",
      std::string(instance) +
          "---\napiVersion: v1\nkind: Secret\nmetadata:\n  name: mine\n  namespace: shops\n"
          "  annotations:\n    kubectl.kubernetes.io/last-applied-configuration: "
          "'{\"data\":{\"key\":\"Y2FuYXJ5LTQyNzE=\"}}'\n    example.com/stays: \"yes\"\n"
          "  ownerReferences: [{apiVersion: confidentialcontainers.org/v1alpha1, kind: "
          "TrusteeConfig, name: a, uid: preview-1, controller: true}]\n"
          "data: {key: Y2FuYXJ5LTQyNzE=}\nstringData: {more: canary-4271}\n");
  const outcome o = run({"render", "a", "-n", "shops", "-f", folder.path() + "/a.yaml"});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_THAT(o.out, HasSubstr("name: mine"));
  EXPECT_THAT(o.out, HasSubstr("example.com/stays"));
  EXPECT_EQ(o.out.find("Y2FuYXJ5"), o.out.npos) << o.out;
  EXPECT_EQ(o.out.find("canary-4271"), o.out.npos) << o.out;
}

TEST(TrusteeCommand, VerifiesAFolderOfTemplates) {
  reactor::temporary_folder folder;
  namespace fs = std::filesystem;
  const std::string mine = folder.path() + "/templates";
  fs::copy(WINDLASS_SOURCE_DIR "/policies/trustee/data", mine, fs::copy_options::recursive);
  outcome o = run({"verify", mine, "--dedupe", "-o", "json"});
  EXPECT_EQ(o.code, 0) << o.err << o.out;
  EXPECT_TRUE(object_of(o).at("repeated").as_array().empty()) << o.out;
  fs::copy(mine + "/v0.17.0/kbs-config-permissive.toml", mine + "/v0.18.0/again.toml");
  fs::remove_all(mine + "/v0.18.0");
  fs::copy(mine + "/v0.17.0", mine + "/v0.18.0");
  o = run({"verify", mine, "--dedupe"});
  EXPECT_THAT(o.out, HasSubstr("v0.18.0/kbs-config-permissive.toml equals "
                               "v0.17.0/kbs-config-permissive.toml"));
  folder.write("templates/versions.json", "{\"supported_versions\": [\"latest\", \"latest\"]}");
  o = run({"verify", mine});
  EXPECT_EQ(o.code, 1);
  EXPECT_THAT(o.out, HasSubstr("CatalogueLoaded=False CatalogueInvalid"));
  EXPECT_EQ(run({"verify", mine + "/nowhere"}).code, 1);
  EXPECT_EQ(run({"diff", "a"}).code, 2);
}

namespace fs = std::filesystem;
using trustee_test::shipped;
using trustee_test::text_of;

TEST(TrusteeCommand, VerifiesSevenFilesAReleaseAndSaysWhatIsShippedBesideThem) {
  reactor::temporary_folder folder;
  trustee_test::write_seven_files(folder);
  const outcome o = run({"verify", folder.path(), "-o", "json"});
  EXPECT_EQ(o.code, 0) << o.out << o.err;
  const json::object all = object_of(o);
  const json::array& versions = all.at("versions").as_array();
  ASSERT_EQ(versions.size(), 3u);
  for (const json::value& v : versions) {
    EXPECT_TRUE(v.at("problem").is_null()) << v;
    const std::string cpu(v.at("files").at("Permissive attestation-policy-cpu").as_string());
    EXPECT_EQ(cpu, std::string(v.at("version").as_string()) + "/attestation-policy.rego");
  }
  EXPECT_EQ(versions[2].at("files").at("Permissive attestation-policy-gpu"),
            "shipped/latest/ear_default_attestation_policy_gpu.rego");
  EXPECT_EQ(versions[2].at("files").at("Restricted IBM SE resource-policy"),
            "shipped/latest/resource-policy-ibm.rego");
  EXPECT_THAT(std::string(versions[1].at("images").at("kbs").as_string()), HasSubstr("v0.11.0"));
}

TEST(TrusteeCommand, VerifyEndsWith1WhereTheServiceWouldRefuseOrIgnoreSomething) {
  const struct {
    const char *path, *from, *to, *said;
  } table[] = {
      {"v0.18.0/kbs-config-restricted.toml", "[http_server]", "[http_server",
       "v0.18.0/kbs-config-restricted.toml: it is no TOML"},
      {"latest/rvps-reference-values.json", "{}", "{", "rvps-reference-values.json: it is no JSON"},
      {"v0.10.0/tdx-config.json", "}", "", "tdx-config.json: it is no JSON"},
      {"versions.json", "\"version_mappings\": {", "\"version_mappings\": {\"v9.9.9\": {},",
       "version_mappings.v9.9.9: it is not in supported_versions"},
      {"versions.json", "\"supported_versions\": [", "\"supported_versions\": [\"v0.99.0\",",
       "ImagesResolved=False ImageMappingMissing"},
      {"versions.json", "\"omit\": [\"gpu-policy\"]",
       "\"omit\": [\"gpu-policy\", \"resource-restricted\"]",
       "Restricted: TemplatesResolved=False TemplateMissing: resource-restricted of v0.1"},
  };
  for (const auto& row : table) {
    reactor::temporary_folder folder;
    const std::string mine = folder.path() + "/templates";
    fs::copy(shipped, mine, fs::copy_options::recursive);
    std::string text = text_of(mine + "/" + row.path);
    const std::size_t at = text.find(row.from);
    ASSERT_NE(at, text.npos) << row.from;
    text.replace(at, std::string(row.from).size(), row.to);
    folder.write(std::string("templates/") + row.path, text);
    if (row.said == std::string(table[5].said))
      for (const char* release : {"v0.10.0", "v0.11.0"})
        fs::remove(mine + "/" + release + "/resource-policy-restrictive.rego");
    const outcome o = run({"verify", mine});
    EXPECT_EQ(o.code, 1) << row.said << o.out;
    EXPECT_THAT(o.out, HasSubstr(row.said));
    EXPECT_EQ(run({"versions", "--templates", mine}).code, 1) << row.said;
  }
}

TEST(TrusteeCommand, VerifiesAFlatFolderAsTheServiceTakesIt) {
  reactor::temporary_folder folder;
  const std::string mine = folder.path() + "/flat";
  fs::copy(shipped + "/latest", mine, fs::copy_options::recursive);
  const outcome o = run({"verify", mine});
  EXPECT_EQ(o.code, 0) << o.out << o.err;
  EXPECT_THAT(o.out, HasSubstr("kbs-config-permissive.toml"));
  std::ofstream(mine + "/kbs-config-permissive.toml") << "[";
  EXPECT_EQ(run({"verify", mine}).code, 1);
}

TEST(TrusteeCommand, AVersionThatThereIsNotEndsWith1) {
  reactor::temporary_folder folder;
  folder.write("a.yaml", instance);
  for (const char* version : {"bogus", "v9.9.9"})
    for (const char* command : {"diff", "render"}) {
      const outcome o =
          run({command, "a", "-n", "shops", "--to", version, "-f", folder.path() + "/a.yaml"});
      EXPECT_EQ(o.code, 1) << command << version;
      EXPECT_THAT(o.err, HasSubstr("VersionResolved=False UnknownVersion")) << command << version;
    }
  folder.write("b.yaml",
               "apiVersion: confidentialcontainers.org/v1alpha1\nkind: TrusteeConfig\nmetadata: "
               "{name: b, namespace: shops}\nspec: {profileType: Restricted}\n");
  const outcome lacking = run({"render", "b", "-n", "shops", "-f", folder.path() + "/b.yaml"});
  EXPECT_EQ(lacking.code, 1);
  EXPECT_THAT(lacking.err, HasSubstr("InputsValid=False TlsSecretRequired"));
  EXPECT_EQ(
      run({"diff", "a", "-n", "shops", "--to", "latest", "-f", folder.path() + "/a.yaml"}).code, 0);
}

/// The preview applies with what the pack's manager applied, which managedFields tell.
TEST(TrusteeCommand, AsksAClusterForObjectsWithTheirManagers) {
  std::vector<std::string> accepted;
  std::promise<std::string> url;
  std::promise<reactor::loop*> served;
  std::thread server([&] {
    reactor::loop l;
    k8s::sim::api_server api(k8s::sim::options_on(l));
    api.before = [&](const k8s::sim::request& r) -> std::optional<k8s::sim::answer> {
      accepted.emplace_back(r.fields.get("accept"));
      return std::nullopt;
    };
    k8s::sim::server front(l, {{"127.0.0.1", 0}, nullptr});
    front.add(api);
    EXPECT_TRUE(front.start());
    url.set_value(front.url());
    served.set_value(&l);
    l.run();
    reactor::task_group stopping(l);
    stopping.start("stop", [&]() -> reactor::awaitable<void> {
      co_await front.stop();
      l.stop();
    });
    l.run();
    l.post([&l] { l.stop(); });
    l.run();
  });
  reactor::temporary_folder folder;
  folder.write("kubeconfig", "current-context: x\nclusters:\n- name: c\n  cluster: {server: '" +
                                 url.get_future().get() +
                                 "'}\ncontexts:\n- name: x\n  context: {cluster: c, user: "
                                 "u}\nusers:\n- name: u\n  user: {}\n");
  (void)run({"diff", "a", "-n", "shops", "--to", "latest", "--kubeconfig",
             folder.path() + "/kubeconfig"});
  reactor::loop* of_server = served.get_future().get();
  of_server->post([of_server] { of_server->stop(); });
  server.join();
  ASSERT_FALSE(accepted.empty());
  EXPECT_THAT(accepted, testing::Each(testing::Not(HasSubstr("drop="))));
}

}  // namespace
