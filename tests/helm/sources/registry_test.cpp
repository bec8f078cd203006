#include "helm/sources/registry.hpp"

#include "helm/sources/archive.hpp"
#include "helm/sources/provenance.hpp"
#include "tests/helm/sources/fixture.hpp"

namespace helm::sources {

using ::registry::basic_authorization;
using ::registry::download_timeout;
using ::registry::parse_oci_reference;

namespace {

using namespace std::chrono_literals;
using reactor::http::decode_component;
using reactor::http::request;
using reactor::http::response;
using reactor::http::split_target;
using testing::HasSubstr;

std::string digest_of(const std::string& bytes) {
  return "sha256:" + sha256(bytes);
}

/// A registry in memory. What it does wrong is switched on by its members.
class fake_registry {
public:
  std::map<std::string, std::string> blobs;      // by digest
  std::map<std::string, std::string> manifests;  // by tag and digest
  std::vector<std::string> tags;
  std::size_t tags_per_page = 100;
  std::string manifest_type = media_type::image_manifest;
  std::string token;            // "" = open to all
  std::string password = "pw";  // of the user "me"
  std::string upload_location = "/v2/up/session?state=1";
  std::function<std::optional<response>(const request&)> before;

  response operator()(const request& r) {
    if (before)
      if (auto special = before(r)) return *special;
    const auto at = split_target(r.target);
    if (at.path == "/token") {
      if (r.fields.get("Authorization") !=
          basic_authorization("me", reactor::secret(password)).reveal())
        return respond(401, R"({"errors":[{"code":"UNAUTHORIZED","message":"who?"}]})");
      return respond(200, R"({"token":")" + token + R"("})");
    }
    if (!token.empty() && r.fields.get("Authorization") != "Bearer " + token)
      return respond(
          401, "",
          {{"WWW-Authenticate", "Bearer realm=\"http://reg:5000/token\",service=\"reg\""}});
    if (at.path == "/v2/") return respond(200, "{}");
    if (at.path == "/v2/p/app/tags/list") return page(at);
    const std::string blob = "/v2/p/app/blobs/", manifest = "/v2/p/app/manifests/";
    if (r.method == "POST" && at.path == blob + "uploads/")
      return respond(202, "", {{"Location", upload_location}});
    if (r.method == "PUT" && at.path == "/v2/up/session") {
      blobs[*at.get("digest")] = r.body;
      return respond(201);
    }
    if (at.path.starts_with(blob))
      return stored(blobs, at.path.substr(blob.size()), "application/octet-stream");
    if (at.path.starts_with(manifest)) {
      const std::string name = at.path.substr(manifest.size());
      if (r.method != "PUT") return stored(manifests, name, manifest_type);
      manifests[name] = manifests[digest_of(r.body)] = r.body;
      return respond(201, "", {{"Docker-Content-Digest", digest_of(r.body)}});
    }
    return respond(404,
                   R"({"errors":[{"code":"NAME_UNKNOWN","message":"repository name not known"}]})");
  }

private:
  static response stored(const std::map<std::string, std::string>& in, const std::string& name,
                         const std::string& type) {
    const auto found = in.find(name);
    return found == in.end() ? respond(404) : respond(200, found->second, {{"Content-Type", type}});
  }
  response page(const reactor::http::target_parts& at) const {
    std::size_t from = 0;
    if (auto last = at.get("last"))
      from =
          static_cast<std::size_t>(std::find(tags.begin(), tags.end(), *last) - tags.begin()) + 1;
    const std::size_t to = std::min(tags.size(), from + tags_per_page);
    std::string list;
    for (std::size_t i = from; i < to; ++i) list += (list.empty() ? "\"" : ",\"") + tags[i] + "\"";
    response out = respond(200, R"({"name":"p/app","tags":[)" + list + "]}");
    if (to < tags.size())
      out.fields.add("Link", "</v2/p/app/tags/list?last=" + tags[to - 1] + ">; rel=\"next\"");
    return out;
  }
};

class Registry : public SourcesTest {
protected:
  Registry() {
    options.plain_http = true;
    std::vector<std::string> warnings;
    auto c = load_files({{"Chart.yaml", "apiVersion: v2\nname: app\nversion: 1.0.0+b\n"},
                         {"templates/x.yaml", "x: y"}},
                        warnings);
    meta = (*c)->meta;
    archive = *pack_chart(**c, 0);
  }

  void with(std::function<awaitable<void>(registry&)> body) {
    run([&]() -> awaitable<void> {
      told_server server(l, "reg", 5000, [&](const request& r) { return fake(r); });
      web w(l, env());
      {
        registry r(l, w, where(), options);
        co_await body(r);
      }
      co_await w.stop();
      co_await server.stop();
      seen = server.seen;
    });
  }
  void push() {
    with([&](registry& r) -> awaitable<void> {
      auto to = *parse_oci_reference("reg:5000/p/app:1.0.0+b");
      auto done = co_await r.push(to, meta, archive, "signed", "2026-01-02T03:04:05Z");
      EXPECT_TRUE(done) << (done ? "" : done.error().text);
    });
  }
  std::string pull(std::string reference = "reg:5000/p/app:1.0.0+b", wanted_parts wanted = {}) {
    std::string out;
    with([&](registry& r) -> awaitable<void> {
      auto at = parse_oci_reference(reference);
      auto got = co_await r.pull(*at, wanted);
      out = got ? "" : got.error().text;
      if (got) pulled = std::move(*got);
    });
    return out;
  }
  std::string resolve(std::string reference, std::string version = "") {
    std::string out;
    with([&](registry& r) -> awaitable<void> {
      auto got = co_await r.resolve(reference, version);
      out = got ? got->text() : "! " + got.error().text;
    });
    return out;
  }

  fake_registry fake;
  registry_options options;
  metadata meta;
  std::string archive;
  pulled_chart pulled;
  std::vector<request> seen;
};

TEST_F(Registry, GivesBackWhatItWasGiven) {
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

TEST_F(Registry, UploadsOnlyWhatIsMissing) {
  push();
  push();
  const auto uploads =
      std::count_if(seen.begin(), seen.end(), [](const request& r) { return r.method == "PUT"; });
  EXPECT_EQ(uploads, 1);  // the manifest
}

TEST_F(Registry, RefusesContentThatIsNotWhatItsDigestSays) {
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

TEST_F(Registry, RefusesABlobOfAnotherLength) {
  push();
  for (auto& [digest, bytes] : fake.blobs) bytes += "more";
  EXPECT_THAT(pull(), HasSubstr("larger than"));
  for (auto& [digest, bytes] : fake.blobs) bytes.resize(bytes.size() - 6);
  EXPECT_THAT(pull(), HasSubstr("bytes instead of"));
}

TEST_F(Registry, NamesWhatAManifestLacks) {
  const std::string config = "{}", blob = digest_of(config);
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

TEST_F(Registry, LooksThroughAnIndex) {
  push();
  const std::string inner = fake.manifests["1.0.0_b"];
  fake.manifests["i"] =
      R"({"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[{"mediaType":")" +
      std::string(media_type::image_manifest) + R"(","digest":")" + digest_of(inner) +
      R"(","size":)" + std::to_string(inner.size()) + "}]}";
  EXPECT_EQ(pull("reg:5000/p/app:i"), "");
  EXPECT_EQ(pulled.archive, archive);
}

TEST_F(Registry, ResolvesVersions) {
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

TEST_F(Registry, HoldsADigestAgainstTheTagBesideIt) {
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

TEST_F(Registry, EndsAListOfTagsThatGoesInCircles) {
  fake.before = [](const request&) -> std::optional<response> {
    return respond(200, R"({"tags":[]})", {{"Link", "</v2/p/app/tags/list>; rel=\"next\""}});
  };
  EXPECT_EQ(resolve("oci://reg:5000/p/app"),
            "! the registry's list of tags goes on at a place that cannot be right");
  int page = 0;
  fake.before = [&](const request&) -> std::optional<response> {
    return respond(
        200, R"({"tags":[]})",
        {{"Link", "</v2/p/app/tags/list?n=" + std::to_string(++page) + ">; rel=\"next\""}});
  };
  EXPECT_THAT(resolve("oci://reg:5000/p/app"), HasSubstr("lists more tags"));
  fake.before = [](const request&) -> std::optional<response> {
    return respond(200, R"({"tags":[]})", {{"Link", "<http://other/x>; rel=\"next\""}});
  };
  EXPECT_EQ(resolve("oci://reg:5000/p/app"),
            "! the registry's list of tags goes on at a place that cannot be right");
}

TEST_F(Registry, FetchesATokenOnceAndUsesIt) {
  fake.token = "tok";
  options.login.username = "me";
  options.login.password = reactor::secret("pw");
  push();
  const auto asked = std::count_if(seen.begin(), seen.end(),
                                   [](const request& r) { return r.target.starts_with("/token"); });
  EXPECT_EQ(asked, 1);
  for (const auto& r : seen)
    if (r.target.starts_with("/token")) {
      EXPECT_EQ(r.target, "/token?service=reg&scope=repository%3Ap%2Fapp%3Apull%2Cpush");
    }
  EXPECT_EQ(pull(), "");
}

TEST_F(Registry, TakesLoginsFromTheFiles) {
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

TEST_F(Registry, AsksForABasicLoginWhereThereIsNone) {
  fake.before = [](const request&) -> std::optional<response> {
    return respond(401, "", {{"WWW-Authenticate", "Basic realm=\"x\""}});
  };
  EXPECT_THAT(pull(), HasSubstr("basic credential not found for reg:5000"));
}

TEST_F(Registry, DoesNotUploadToAForeignPlace) {
  fake.upload_location = "http://evil/v2/up/session";
  with([&](registry& r) -> awaitable<void> {
    auto to = *parse_oci_reference("reg:5000/p/app:1.0.0");
    auto done = co_await r.push(to, meta, archive, "", "");
    EXPECT_THAT(
        done ? "" : done.error().text,
        HasSubstr("wants the upload to go to another place: \"http://evil/v2/up/session\""));
  });
  fake.upload_location = "https://reg/v2/up/session?state=1";  // behind a proxy
  push();
}

TEST_F(Registry, IsGivenUpWhenItHangs) {
  const auto before = l.now();
  run([&]() -> awaitable<void> {
    auto listener = *l.net().listen({"reg", 5000});
    web w(l, env());
    {
      registry r(l, w, where(), options);
      const auto from = parse_oci_reference("reg:5000/p/app:1");
      const wanted_parts chart;
      auto got = co_await r.pull(*from, chart);
      EXPECT_FALSE(got);
    }
    co_await w.stop();
    listener->close();
  });
  EXPECT_LE(l.now() - before, 2 * download_timeout);
}

}  // namespace
}  // namespace helm::sources
