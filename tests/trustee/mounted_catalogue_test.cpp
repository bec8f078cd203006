// The catalogue of a mounted ConfigMap, swapped as the kubelet does it.
#include "tests/reactor/temporary_folder.hpp"
#include "tests/trustee/cluster_stage.hpp"
#include "tests/trustee/seven_files.hpp"

#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace trustee_test {
namespace {

/// A folder as the kubelet mounts a ConfigMap: what is read are links into the folder that `..data`
/// points to, and that link is swapped.
class mounted_config_map {
public:
  explicit mounted_config_map(const std::filesystem::path& at) : at_(at) {}
  void show(const std::function<void(std::string& catalogue)>& edit) {
    namespace fs = std::filesystem;
    const std::string next = "..2026_" + std::to_string(++count_);
    fs::copy(std::string(WINDLASS_SOURCE_DIR) + "/policies/trustee/data", at_ / next,
             fs::copy_options::recursive);
    std::string text = file((at_ / next / "versions.json").string());
    edit(text);
    std::ofstream(at_ / next / "versions.json") << text;
    fs::create_directory_symlink(next, at_ / "..data_tmp");
    fs::rename(at_ / "..data_tmp", at_ / "..data");
    for (const auto& one : fs::directory_iterator(at_ / next)) {
      const fs::path name = one.path().filename();
      if (!fs::is_symlink(at_ / name)) fs::create_symlink(fs::path("..data") / name, at_ / name);
    }
    if (count_ > 1) fs::remove_all(at_ / ("..2026_" + std::to_string(count_ - 1)));
  }

private:
  std::filesystem::path at_;
  int count_ = 0;
};

void swap_text(std::string& in, std::string_view what, std::string_view with) {
  const std::size_t at = in.find(what);
  if (at == in.npos) throw std::runtime_error("no " + std::string(what));
  in.replace(at, what.size(), with);
}

TEST_F(TrusteeCluster, AMountedCatalogueIsFollowedAndABrokenOneLeavesTheLastGoodInForce) {
  reactor::temporary_folder folder;
  templates_ = folder.path();
  mounted_config_map mounted(folder.path());
  const auto with_a_newer = [](std::string& text) {
    swap_text(text, "\"latest\"\n  ],", "\"latest\", \"v0.99.0\"\n  ],");
    swap_text(text, "\"version_mappings\": {",
              "\"version_mappings\": {\n    \"v0.99.0\": {\"kbs_image\": "
              "\"registry.example.com/kbs:v0.99.0\", \"extends\": \"v0.21.0\"},");
  };
  mounted.show([](std::string&) {});
  const auto put = [this](const std::string& name, const char* version) {
    server().put({{"apiVersion", "confidentialcontainers.org/v1alpha1"},
                  {"kind", "TrusteeConfig"},
                  {"metadata", {{"name", name}, {"namespace", "default"}}},
                  {"spec", {{"version", version}, {"instanceName", name}}}});
  };
  const auto image = [this](const std::string& name) {
    return field("deployments", "trustee-deployment-" + name,
                 "/spec/template/spec/containers/0/image");
  };
  const auto lines = std::make_shared<reactor::log_capture>();
  log_ = reactor::logger([this] { return loop_->wall(); }, lines);
  put("a", "v0.21.0");
  go([&, this]() -> awaitable<void> {
    co_await serving([&, this](windlass&) -> awaitable<void> {
      roll_out("trustee-deployment-a");
      co_await loop_->sleep_for(10s);
      EXPECT_EQ(is("trusteeconfigs", "a", "CatalogueLoaded"), "True/Loaded");
      mounted.show(with_a_newer);
      co_await loop_->sleep_for(16s);
      put("b", "v0.99.0");
      co_await loop_->sleep_for(14s);
      EXPECT_EQ(image("b"), "registry.example.com/kbs:v0.99.0") << "within 30 s, no restart";
      roll_out("trustee-deployment-b");
      co_await loop_->sleep_for(10s);

      auto before = versions_of("a");
      std::size_t others = 0;
      server().on_write = [&](const k8s::sim::written& w) {
        // Each parent says DataLoaded in its status; nothing else of them changes.
        const bool of_parent = w.plural == "trusteeconfigs" || w.plural == "kbsconfigs";
        others += plurals.contains(w.plural) &&
                  (!of_parent || content_of(*w.before) != content_of(*w.after));
      };
      mounted.show([&](std::string& text) {
        with_a_newer(text);
        swap_text(text, "\"schema_version\": 1", "\"schema_version\": 7");
      });
      co_await loop_->sleep_for(30s);
      for (const char* name : {"a", "b"}) {
        EXPECT_EQ(is("trusteeconfigs", name, "CatalogueLoaded"), "False/CatalogueInvalid");
        EXPECT_THAT(field("trusteeconfigs", name, "/status/conditions"),
                    HasSubstr("versions.json: line 2: schema_version: 7 is newer than 1"));
        EXPECT_EQ(is("trusteeconfigs", name, "Ready"), "True/Ready");
      }
      EXPECT_EQ(lines->count("the data of a pack is refused"), 1u) << "once, not for each look";
      EXPECT_EQ(others, 0u);
      auto after = versions_of("a");
      for (auto* versions : {&before, &after}) versions->erase("kbsconfigs/a-kbs-config");
      EXPECT_EQ(after, before);
      server().on_write = nullptr;
      // The last good one is in force, for who comes and for who changes its mind.
      put("c", "v0.99.0");
      server().edit(group, "trusteeconfigs", "default", "a",
                    [](json::object& o) { o["spec"].as_object()["version"] = "v0.20.0"; });
      co_await loop_->sleep_for(10s);
      EXPECT_EQ(image("c"), "registry.example.com/kbs:v0.99.0");
      EXPECT_THAT(image("a"), HasSubstr("v0.20.0"));
      std::string told;
      for (const json::object& e : server().list("", "events")) told += json::serialize(e) + "\n";
      EXPECT_THAT(told, HasSubstr("CatalogueInvalid"));

      mounted.show(with_a_newer);
      co_await loop_->sleep_for(30s);
      EXPECT_EQ(is("trusteeconfigs", "a", "CatalogueLoaded"), "True/Loaded");
    });
  });
}

TEST_F(TrusteeCluster, SevenFilesAReleaseKeepWhatRunsReadyAndRunWhatIsNew) {
  reactor::temporary_folder folder;
  templates_ = folder.path();
  write_seven_files(folder);
  // As the catalogue was before: with the policies beyond the seven.
  for (const char* name : {"ear_default_attestation_policy_gpu.rego", "resource-policy-ibm.rego"})
    folder.write(std::string("latest/") + name, text_of(shipped + "/latest/" + name));
  const auto lines = std::make_shared<reactor::log_capture>();
  log_ = reactor::logger([this] { return loop_->wall(); }, lines);
  const auto put = [this](const std::string& name, const char* version) {
    server().put({{"apiVersion", "confidentialcontainers.org/v1alpha1"},
                  {"kind", "TrusteeConfig"},
                  {"metadata", {{"name", name}, {"namespace", "default"}}},
                  {"spec", {{"version", version}, {"instanceName", name}}}});
  };
  put("a", "latest");
  go([&, this]() -> awaitable<void> {
    co_await serving([&, this](windlass&) -> awaitable<void> {
      roll_out("trustee-deployment-a");
      co_await loop_->sleep_for(10s);
      EXPECT_EQ(is("trusteeconfigs", "a", "Ready"), "True/Ready");
      for (const char* name :
           {"ear_default_attestation_policy_gpu.rego", "resource-policy-ibm.rego"})
        std::filesystem::remove(folder.path() + "/latest/" + name);
      co_await loop_->sleep_for(30s);
      EXPECT_EQ(is("trusteeconfigs", "a", "Ready"), "True/Ready");
      EXPECT_EQ(is("trusteeconfigs", "a", "TemplatesResolved"), "True/FallbackToShipped");
      put("b", "v0.11.0");
      put("c", "v9.9.9");
      co_await loop_->sleep_for(10s);
      for (const char* name : {"b", "c"}) {
        roll_out(std::string("trustee-deployment-") + name);
        co_await loop_->sleep_for(10s);
        EXPECT_EQ(is("trusteeconfigs", name, "Ready"), "True/Ready") << name;
      }
      EXPECT_EQ(is("trusteeconfigs", "b", "ImagesResolved"), "True/FallbackToShipped");
      EXPECT_THAT(
          field("deployments", "trustee-deployment-b", "/spec/template/spec/containers/0/image"),
          HasSubstr("v0.11.0"));
      const bool said = std::ranges::any_of(lines->records(), [](const reactor::log_record& r) {
        return r.field("line").find(
                   "default/c: VersionResolved UnknownVersion: v9.9.9 is not in the "
                   "catalogue: latest is used until it is") != std::string::npos;
      });
      EXPECT_TRUE(said) << "what falls back to latest stands in the log";
    });
  });
}

}  // namespace
}  // namespace trustee_test
