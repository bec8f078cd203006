#include "helm/sources/chart_registry.hpp"

#include "formats/digest.hpp"
#include "helm/sources/archive.hpp"
#include "helm/sources/locate.hpp"
#include "helm/sources/provenance.hpp"
#include "tests/helm/sources/fixture.hpp"
#include "tests/registry/fake_registry.hpp"

namespace helm::sources {

using ::registry::parse_oci_reference;

namespace {

using reactor::http::request;
using reactor::http::response;
using testing::HasSubstr;

class ChartRegistry : public SourcesTest {
protected:
  ChartRegistry() {
    std::vector<std::string> warnings;
    auto c = load_files({{"Chart.yaml", "apiVersion: v2\nname: app\nversion: 1.0.0+b\n"},
                         {"templates/x.yaml", "x: y"}},
                        warnings);
    meta = (*c)->meta;
    archive = *pack_chart(**c, 0);
  }

  void with(std::function<awaitable<void>(chart_registry&)> body) {
    run([&]() -> awaitable<void> {
      told_server server(l, "reg", 5000, [&](const request& r) { return fake(r); });
      web w(l, env());
      {
        chart_origin how;
        how.plain_http = true;
        chart_registry r(l, w, registry_options_of(where(), how, "reg:5000"));
        co_await body(r);
      }
      co_await w.stop();
      co_await server.stop();
      seen = server.seen;
    });
  }
  void push() {
    with([&](chart_registry& r) -> awaitable<void> {
      auto to = *parse_oci_reference("reg:5000/p/app:1.0.0+b");
      auto done = co_await r.push(to, meta, archive, "signed", "2026-01-02T03:04:05Z");
      EXPECT_TRUE(done) << (done ? "" : done.error().text);
    });
  }
  std::string pull(std::string reference = "reg:5000/p/app:1.0.0+b", wanted_parts wanted = {}) {
    std::string out;
    with([&](chart_registry& r) -> awaitable<void> {
      auto at = parse_oci_reference(reference);
      auto got = co_await r.pull(*at, wanted);
      out = got ? "" : got.error().text;
      if (got) pulled = std::move(*got);
    });
    return out;
  }
  std::string resolve(std::string reference, std::string version = "") {
    std::string out;
    with([&](chart_registry& r) -> awaitable<void> {
      auto got = co_await r.resolve(reference, version);
      out = got ? got->text() : "! " + got.error().text;
    });
    return out;
  }

  ::registry::fake_registry fake;
  metadata meta;
  std::string archive;
  pulled_chart pulled;
  std::vector<request> seen;
};

TEST_F(ChartRegistry, GivesBackWhatItWasGiven) {
  push();
  EXPECT_EQ(fake.blobs.size(), 3u);
  EXPECT_EQ(pull("reg:5000/p/app:1.0.0+b", {true, true}), "");
  EXPECT_EQ(pulled.archive, archive);
  EXPECT_EQ(pulled.provenance, "signed");
  EXPECT_EQ(pulled.meta.version, "1.0.0+b");
  ASSERT_GE(pulled.notes.size(), 3u);
  EXPECT_EQ(pulled.notes[0], "Pulled: reg:5000/p/app:1.0.0_b");
  EXPECT_EQ(pulled.notes[1], "Digest: " + pulled.manifest.digest);
  EXPECT_EQ(pull("reg:5000/p/app@" + pulled.manifest.digest), "");
  const auto uploads =
      std::count_if(seen.begin(), seen.end(), [](const request& r) { return r.method == "PUT"; });
  EXPECT_EQ(uploads, 0);
}

TEST_F(ChartRegistry, UploadsOnlyWhatIsMissing) {
  push();
  push();
  const auto uploads =
      std::count_if(seen.begin(), seen.end(), [](const request& r) { return r.method == "PUT"; });
  EXPECT_EQ(uploads, 1);  // the manifest
}

TEST_F(ChartRegistry, RefusesContentThatIsNotWhatItsDigestSays) {
  push();
  const auto intact = fake;
  for (auto& [digest, bytes] : fake.blobs) {
    fake = intact;
    fake.blobs[digest].back() ^= 1;
    const std::string why = pull("reg:5000/p/app:1.0.0+b", {true, true});
    EXPECT_THAT(why, HasSubstr("content does not match its digest: " + digest)) << why;
    if (digest == intact.blobs.rbegin()->first) break;
  }
  fake = intact;
  const std::string digest = pulled.manifest.digest;
  fake.manifests["sha256:" + std::string(64, '0')] = fake.manifests["1.0.0_b"];
  EXPECT_THAT(pull("reg:5000/p/app@sha256:" + std::string(64, '0')),
              HasSubstr("content does not match its digest"));
}

TEST_F(ChartRegistry, RefusesABlobOfAnotherLength) {
  push();
  for (auto& [digest, bytes] : fake.blobs) bytes += "more";
  EXPECT_THAT(pull(), HasSubstr("larger than"));
  for (auto& [digest, bytes] : fake.blobs) bytes.resize(bytes.size() - 6);
  EXPECT_THAT(pull(), HasSubstr("bytes instead of"));
}

TEST_F(ChartRegistry, NamesWhatAManifestLacks) {
  const std::string config = "{}", blob = formats::digest_of(config);
  fake.blobs[blob] = config;
  const auto manifest = [&](const char* config_type, const char* layer_type) {
    fake.manifests["1"] = R"({"config":{"mediaType":")" + std::string(config_type) +
                          R"(","digest":")" + blob + R"(","size":2},"layers":[{"mediaType":")" +
                          layer_type + R"(","digest":")" + blob + R"(","size":2}]})";
    return pull("reg:5000/p/app:1");
  };
  EXPECT_EQ(manifest("x", "y"),
            "manifest does not contain minimum number of descriptors (2), descriptors found: 1");
  EXPECT_EQ(manifest("x", media_type::chart),
            "could not load config with mediatype application/vnd.cncf.helm.config.v1+json");
  EXPECT_EQ(manifest(media_type::config, "y"),
            "manifest does not contain a layer with mediatype "
            "application/vnd.cncf.helm.chart.content.v1.tar+gzip");
  EXPECT_EQ(manifest(media_type::config, media_type::chart), "");
  fake.manifest_type = "application/vnd.docker.distribution.manifest.v2+json";
  EXPECT_EQ(manifest(media_type::config, media_type::chart),
            "manifest does not contain minimum number of descriptors (2), descriptors found: 0");
  fake.manifests["1"] = "<html>";
  EXPECT_THAT(pull("reg:5000/p/app:1"), HasSubstr("manifest is not valid JSON"));
  EXPECT_EQ(pull("reg:5000/p/app:9"),
            "failed to perform \"FetchReference\" on source: reg:5000/p/app:9: not found");
}

TEST_F(ChartRegistry, LooksThroughAnIndex) {
  push();
  const std::string inner = fake.manifests["1.0.0_b"];
  fake.manifests["i"] =
      R"({"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[{"mediaType":")" +
      std::string(media_type::image_manifest) + R"(","digest":")" + formats::digest_of(inner) +
      R"(","size":)" + std::to_string(inner.size()) + "}]}";
  EXPECT_EQ(pull("reg:5000/p/app:i"), "");
  EXPECT_EQ(pulled.archive, archive);
}

TEST_F(ChartRegistry, ResolvesVersions) {
  fake.tags = {"1.0.0", "1.1.0_x", "2.0.0-rc.1", "latest", "1.0.1"};
  fake.tags_per_page = 2;
  EXPECT_EQ(resolve("oci://reg:5000/p/app"), "reg:5000/p/app:1.1.0_x");
  EXPECT_EQ(resolve("oci://reg:5000/p/app", "~1.0"), "reg:5000/p/app:1.0.1");
  EXPECT_EQ(resolve("oci://reg:5000/p/app", "1.9.0"), "reg:5000/p/app:1.9.0");
  EXPECT_EQ(resolve("oci://reg:5000/p/app:1.0.0"), "reg:5000/p/app:1.0.0");
  EXPECT_EQ(resolve("oci://reg:5000/p/app:1.0.0", "2.0.0"),
            "! chart reference and version mismatch: 2.0.0 is not 1.0.0");
  EXPECT_EQ(resolve("oci://reg:5000/p/app", ">3"),
            "! Could not locate a version matching provided version string >3");
  fake.tags = {"latest"};
  EXPECT_EQ(resolve("oci://reg:5000/p/app"),
            "! Unable to locate any tags in provided repository: oci://reg:5000/p/app");
  EXPECT_EQ(resolve("oci://reg:5000/other"),
            "! GET \"http://reg:5000/v2/other/tags/list\": response status code 404: name unknown: "
            "repository name not known");
}

TEST_F(ChartRegistry, HoldsADigestAgainstTheTagBesideIt) {
  push();
  (void)pull();
  const std::string digest = pulled.manifest.digest, zeros = "sha256:" + std::string(64, '0');
  fake.before = [&](const request& r) -> std::optional<response> {
    if (r.method != "HEAD") return std::nullopt;
    return respond(200, "", {{"Docker-Content-Digest", digest}});
  };
  EXPECT_EQ(resolve("oci://reg:5000/p/app:1.0.0@" + digest), "reg:5000/p/app@" + digest);
  EXPECT_EQ(resolve("oci://reg:5000/p/app@" + zeros, "1.0.0"),
            "! chart reference digest mismatch: " + digest + " is not " + zeros);
}

TEST_F(ChartRegistry, TakesLoginsFromTheFiles) {
  fake.token = "tok";
  EXPECT_THAT(pull(), HasSubstr("no access token for reg:5000"));
  write(".docker/config.json", R"({"auths":{"reg:5000":{"auth":"bWU6cHc="}}})");
  EXPECT_THAT(pull(), HasSubstr("not found"));
  write(".config/helm/registry/config.json", R"({"auths":{"reg:5000":{"auth":"bWU6d3Jvbmc="}}})");
  const std::string why = pull();
  EXPECT_THAT(why, HasSubstr("unauthorized: who?"));
  EXPECT_EQ(why.find("wrong"), why.npos);
  EXPECT_EQ(why.find("bWU6"), why.npos);
}

}  // namespace
}  // namespace helm::sources
