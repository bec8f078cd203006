// One reader of tags, against each habit that registries have.
#include "registry/tag_reader.hpp"

#include "formats/digest.hpp"
#include "reactor/net/metadata_address.hpp"
#include "registry/auth.hpp"
#include "registry/url.hpp"
#include "tests/gzip.hpp"
#include "tests/reactor/http/test_certificates.hpp"
#include "tests/registry/fake_registry.hpp"

#include <sys/resource.h>

namespace registry {
namespace {

using namespace std::chrono_literals;
using formats::digest_of;
using reactor::http::request;
using reactor::http::response;
using testing::AllOf;
using testing::HasSubstr;

constexpr const char* index_manifest =
    R"({"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[]})";
constexpr const char* other_manifest =
    R"({"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[],"annotations":{"a":"b"}})";

std::size_t memory_peak_kb() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return static_cast<std::size_t>(used.ru_maxrss);
}

/// The fake registry, which also says digests and understands HEAD and If-None-Match.
class TagReader : public WebFixture {
protected:
  TagReader() {
    fake.manifest_type = media_type::image_index;
    fake.manifests["latest"] = fake.manifests["v1.0"] = index_manifest;
  }

  response serve(const request& r) {
    response out = fake(r);
    const bool manifest = r.target.find("/manifests/") != std::string::npos;
    if (!manifest || out.status != 200) return out;
    const std::string digest = lie.empty() ? digest_of(out.body) : lie;
    if (says_digest) out.fields.set("Docker-Content-Digest", digest);
    if (r.method == "HEAD" && !knows_head) return respond(405);
    if (r.fields.get("If-None-Match") == "\"" + digest + "\"") return respond(304);
    bodies += r.method == "HEAD" ? 0 : out.body.size();
    return out;
  }

  answer<std::string> ask(const std::string& ref, const std::string& known = "",
                          std::shared_ptr<const pull_secret> with = nullptr) {
    std::optional<answer<std::string>> out;
    run([&]() -> awaitable<void> {
      told_server server(l, "reg", 5000, [&](const request& r) { return serve(r); });
      told_server mirror(l, "mirror", 5000,
                         [&](const request& r) { return mirror_works ? serve(r) : respond(503); });
      web w(l, env());
      {
        tag_reader reader(l, w, options);
        const image_ref of = *parse_image_ref(ref);
        out.emplace(co_await reader.digest_of(of, known, with));
      }
      co_await w.stop();
      co_await server.stop();
      co_await mirror.stop();
      seen = server.seen;
      mirrored = mirror.seen.size();
    });
    return std::move(*out);
  }
  answer<image_labels> labels(const std::string& ref) {
    std::optional<answer<image_labels>> out;
    run([&]() -> awaitable<void> {
      told_server server(l, "reg", 5000, [&](const request& r) { return serve(r); });
      web w(l, env());
      {
        tag_reader reader(l, w, options);
        const image_ref of = *parse_image_ref(ref);
        out.emplace(co_await reader.labels_of(of, nullptr));
      }
      co_await w.stop();
      co_await server.stop();
    });
    return std::move(*out);
  }
  /// The digest, or what went wrong.
  static std::string text(const answer<std::string>& a) { return a ? *a : "! " + a.error().text; }
  static std::shared_ptr<const pull_secret> secret(std::string config) {
    return std::make_shared<pull_secret>(pull_secret{"1", reactor::secret(std::move(config))});
  }

  fake_registry fake;
  tag_reader_options options{.insecure_registries = {"reg:5000", "mirror:5000"}};
  bool says_digest = true, knows_head = true, mirror_works = true;
  std::string lie;
  std::size_t bodies = 0, mirrored = 0;
  std::vector<request> seen;
};

TEST_F(TagReader, T054_TheManifestDigestOfEachTagAndOfNone) {
  for (const char* ref : {"reg:5000/p/app:latest", "reg:5000/p/app:v1.0", "reg:5000/p/app"})
    EXPECT_EQ(text(ask(ref)), digest_of(index_manifest)) << ref;
}

/// "a=1 b=2", or what went wrong.
std::string labels_in(const answer<image_labels>& a) {
  if (!a) return "! " + a.error().text;
  std::string out;
  for (const auto& [name, value] : *a) out += (out.empty() ? "" : " ") + name + "=" + value;
  return out;
}

TEST_F(TagReader, SkewLabelsOfAnImageAreThoseOfItsConfigurationItsManifestAndItsIndex) {
  const std::string config =
      R"({"config":{"Labels":{"io.kubernetes.version":"v1.33.1+k3s1","n":7,"a":"of config"}}})";
  const auto blob = [](const std::string& text, const char* type) {
    return R"({"mediaType":")" + std::string(type) + R"(","digest":")" + digest_of(text) +
           R"(","size":)" + std::to_string(text.size()) + "}";
  };
  const std::string image =
      R"({"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":)" +
      blob(config, "application/vnd.oci.image.config.v1+json") +
      R"(,"layers":[],"annotations":{"a":"of manifest","b":"2"}})";
  const std::string index =
      R"({"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[)" +
      blob(image, media_type::image_manifest) + R"(],"annotations":{"b":"of index","c":"3"}})";
  fake.blobs[digest_of(config)] = config;
  fake.manifests[digest_of(image)] = image;
  fake.manifests[digest_of(index)] = index;
  const std::string at = "reg:5000/p/app@";
  EXPECT_EQ(labels_in(labels(at + digest_of(index))),
            "a=of config b=2 c=3 io.kubernetes.version=v1.33.1+k3s1");
  EXPECT_THAT(labels_in(labels(at + digest_of(index_manifest))), HasSubstr("fetching the manifest"))
      << "the registry does not have it";
}

TEST_F(TagReader, SkewLabelsOfAConfigurationThatIsNoneAreAnError) {
  for (const std::string& config : {std::string("<html>"), std::string(2u << 20, ' ')}) {
    const std::string image =
        R"({"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{"mediaType":"application/vnd.oci.image.config.v1+json","digest":")" +
        digest_of(config) + R"(","size":)" + std::to_string(config.size()) + R"(},"layers":[]})";
    fake.manifest_type = media_type::image_manifest;
    fake.blobs[digest_of(config)] = config;
    fake.manifests[digest_of(image)] = image;
    EXPECT_FALSE(labels("reg:5000/p/app@" + digest_of(image))) << config.substr(0, 10);
  }
  for (const std::string& config :
       {std::string("[]"), std::string("{}"), std::string(R"({"config":{"Labels":[1]}})")}) {
    const std::string image =
        R"({"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{"mediaType":"application/vnd.oci.image.config.v1+json","digest":")" +
        digest_of(config) + R"(","size":)" + std::to_string(config.size()) + R"(},"layers":[]})";
    fake.blobs[digest_of(config)] = config;
    fake.manifests[digest_of(image)] = image;
    EXPECT_EQ(labels_in(labels("reg:5000/p/app@" + digest_of(image))), "") << config;
  }
}

TEST_F(TagReader, T056_AnUnreachableRegistryIsAnErrorThatNamesTheFetch) {
  const auto got = ask("nowhere.example:5000/p/app:latest");
  ASSERT_FALSE(got);
  EXPECT_THAT(got.error().text,
              HasSubstr("fetching the manifest of nowhere.example:5000/p/app:latest: "));
  EXPECT_EQ(got.error().code, errc::unavailable);
}

TEST_F(TagReader, AnUnchangedTagIsOneRequestWithoutABody) {
  EXPECT_EQ(text(ask("reg:5000/p/app:latest", digest_of(index_manifest))),
            digest_of(index_manifest));
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].method, "HEAD");
  EXPECT_EQ(bodies, 0u);
}

TEST_F(TagReader, WithoutADigestInTheHeadTheBodyIsAskedForOnlyWhenItChanged) {
  says_digest = false;
  EXPECT_EQ(text(ask("reg:5000/p/app:latest", digest_of(index_manifest))),
            digest_of(index_manifest));
  EXPECT_EQ(bodies, 0u);
  fake.manifests["latest"] = other_manifest;
  EXPECT_EQ(text(ask("reg:5000/p/app:latest", digest_of(index_manifest))),
            digest_of(other_manifest));
  knows_head = false;
  EXPECT_EQ(text(ask("reg:5000/p/app:latest")), digest_of(other_manifest));
}

TEST_F(TagReader, ADigestThatTheBytesDoNotHaveIsRefused) {
  lie = digest_of("something else");
  const auto got = ask("reg:5000/p/app:latest", digest_of(index_manifest));
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::altered);
}

TEST_F(TagReader, NeverSpeaksPlainHttpUnlessItIsAllowedAndTlsWasTried) {
  options.insecure_registries = {"other:5000", "reg"};
  const auto got = ask("reg:5000/p/app:latest");
  ASSERT_FALSE(got);
  EXPECT_THAT(got.error().text, HasSubstr("TLS"));
  EXPECT_TRUE(seen.empty()) << "nothing was said in the open";
}

TEST_F(TagReader, AnAuthorityThatIsNotTrustedIsNamedAndToldNothing) {
  const reactor::test_authority theirs(l, "their CA"), ours(l, "our CA");
  write("ours.pem", ours.pem());
  write("theirs.pem", theirs.pem());
  options.insecure_registries = {"other:5000", "reg"};
  const image_ref of = *parse_image_ref("reg:5000/p/app:latest");
  const auto pull = secret(R"({"auths":{"reg:5000":{"username":"me","password":"pw"}}})");
  run([&]() -> awaitable<void> {
    told_server server(
        l, "reg", 5000, [&](const request& r) { return serve(r); },
        std::make_unique<reactor::tls_server_settings>(theirs.server({"reg"})));
    web w(l, env());
    options.ca_file = path("ours.pem");
    tag_reader careful(l, w, options);
    auto got = co_await careful.digest_of(of, "", pull);
    EXPECT_FALSE(got);
    if (!got) {
      EXPECT_EQ(got.error().code, errc::refused);
      EXPECT_THAT(
          got.error().text,
          AllOf(HasSubstr("fetching the manifest of reg:5000/p/app:latest: "),
                HasSubstr("signed by an authority that is not trusted"), HasSubstr("their CA")));
    }
    EXPECT_TRUE(server.seen.empty());
    options.ca_file = path("theirs.pem");
    tag_reader trusting(l, w, options);
    auto then = co_await trusting.digest_of(of, "", pull);
    EXPECT_EQ(text(then), digest_of(index_manifest));
    co_await w.stop();
    co_await server.stop();
  });
}

TEST_F(TagReader, ATokenThatExpiredIsGotAnewAndARefusedOneIsAnError) {
  const image_ref of = *parse_image_ref("reg:5000/p/app:latest");
  const auto pull = secret(R"({"auths":{"reg:5000":{"username":"me","password":"pw"}}})");
  fake.token = "first";
  run([&]() -> awaitable<void> {
    told_server server(l, "reg", 5000, [&](const request& r) { return serve(r); });
    web w(l, env());
    tag_reader reader(l, w, options);
    const auto tokens = [&server] {
      return std::count_if(server.seen.begin(), server.seen.end(),
                           [](const request& r) { return r.target.starts_with("/token"); });
    };
    for (int i = 0; i < 2; ++i) {
      auto got = co_await reader.digest_of(of, digest_of(index_manifest), pull);
      EXPECT_EQ(text(got), digest_of(index_manifest));
    }
    EXPECT_EQ(tokens(), 1) << "as long as it is good";
    fake.token = "second";  // the first one has expired
    auto renewed = co_await reader.digest_of(of, digest_of(index_manifest), pull);
    EXPECT_EQ(text(renewed), digest_of(index_manifest));
    EXPECT_EQ(tokens(), 2);
    fake.token = "third";
    fake.password = "another";
    auto refused = co_await reader.digest_of(of, digest_of(index_manifest), pull);
    EXPECT_FALSE(refused);
    if (!refused) {
      EXPECT_EQ(refused.error().code, errc::unauthorized);
      EXPECT_THAT(refused.error().text,
                  AllOf(HasSubstr("fetching the manifest of reg:5000/p/app:latest: "),
                        HasSubstr("no access token for reg:5000: ")));
    }
    fake.password = "pw";
    auto again = co_await reader.digest_of(of, digest_of(index_manifest), pull);
    EXPECT_EQ(text(again), digest_of(index_manifest));
    co_await w.stop();
    co_await server.stop();
  });
}

TEST_F(TagReader, AGzipBombIsNeverUnpacked) {
  const std::string member = tests::gzip(std::string(1'000'000, ' '));
  std::string bomb;
  for (int i = 0; i < 200; ++i) bomb += member;
  for (const std::string at : {"/manifests/", "/token"}) {
    fake.token = at == "/token" ? "granted" : "";
    fake.before = [&](const request& r) -> std::optional<response> {
      if (r.method == "HEAD" || r.target.find(at) == std::string::npos) return std::nullopt;
      return respond(200, bomb,
                     {{"Content-Encoding", "gzip"}, {"Content-Type", "application/json"}});
    };
    const std::size_t before = memory_peak_kb();
    const auto got = ask("reg:5000/p/app:latest", "",
                         secret(R"({"auths":{"reg:5000":{"username":"me","password":"pw"}}})"));
    ASSERT_FALSE(got) << at;
    EXPECT_EQ(got.error().code, errc::malformed) << got.error().text;
    EXPECT_THAT(got.error().text, HasSubstr("fetching the manifest of reg:5000/p/app:latest: "));
    EXPECT_LT(memory_peak_kb() - before, 50'000u) << "nobody asked for gzip";
    for (const request& r : seen) EXPECT_FALSE(r.fields.has("Accept-Encoding"));
  }
}

TEST_F(TagReader, AMirrorIsAskedFirstAndItsFailureIsNotTheEnd) {
  options.mirrors["reg:5000"] = "mirror:5000";
  EXPECT_EQ(text(ask("reg:5000/p/app:latest")), digest_of(index_manifest));
  EXPECT_TRUE(seen.empty());
  mirror_works = false;
  EXPECT_EQ(text(ask("reg:5000/p/app:latest")), digest_of(index_manifest));
  EXPECT_FALSE(seen.empty());
  EXPECT_GT(mirrored, 0u);
}

TEST_F(TagReader, ThePullSecretIsShownToItsRegistryOnly) {
  fake.token = "granted";
  const auto config = [](const std::string& host) {
    return R"({"auths":{")" + host + R"(":{"username":"me","password":"pw"}}})";
  };
  EXPECT_EQ(text(ask("reg:5000/p/app:latest", "", secret(config("reg:5000/p")))),
            digest_of(index_manifest));
  const auto wrong = ask("reg:5000/p/app:latest", "", secret(config("reg")));
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, errc::unauthorized) << "another port is another registry";
  const auto broken = ask("reg:5000/p/app:latest", "", secret("geheim"));
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().text.find("geheim"), std::string::npos);
}

TEST_F(TagReader, ARefusalSaysWhichLoginWasShownOrWhyThereWasNone) {
  fake.token = "granted";
  const auto refused = [&](std::shared_ptr<const pull_secret> with) {
    const auto got = ask("reg:5000/p/app:latest", "", std::move(with));
    EXPECT_FALSE(got);
    return got ? std::string() : got.error().text;
  };
  EXPECT_THAT(refused(nullptr),
              HasSubstr("; it was asked without a login: no pull secret is named"));
  pull_secret none;
  none.id = none.problem = "pull secret ops/pull does not exist";
  EXPECT_THAT(refused(std::make_shared<pull_secret>(none)),
              HasSubstr("; it was asked without a login: pull secret ops/pull does not exist"));
  EXPECT_THAT(refused(secret(R"({"auths":{"https://ghcr.io/v2/":{"auth":"bWU6cHc="},)"
                             R"("reg":{"auth":"bWU6cHc="},"x:geheim@quay.io":{}}})")),
              HasSubstr("; it was asked without a login: the pull secret has none for "
                        "reg:5000/p/app, only for \"ghcr.io/v2/\", \"reg\", \"quay.io\""));
  EXPECT_THAT(refused(secret("{}")), HasSubstr("the pull secret has none for reg:5000/p/app"));
  EXPECT_THAT(refused(secret(R"({"auths":{"reg:5000":{"username":"me","password":"old"}}})")),
              HasSubstr("unauthorized: who?; it was shown the login of the pull secret"));
}

TEST_F(TagReader, AForeignTokenServerIsToldNothing) {
  fake.before = [](const request& r) -> std::optional<response> {
    if (r.target.starts_with("/token")) return std::nullopt;
    return respond(
        401, "", {{"WWW-Authenticate", "Bearer realm=\"http://mirror:5000/token\",service=\"x\""}});
  };
  const auto got = ask("reg:5000/p/app:latest", "",
                       secret(R"({"auths":{"reg:5000":{"username":"me","password":"pw"}}})"));
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::refused);
  EXPECT_THAT(got.error().text, HasSubstr("mirror:5000"));
  EXPECT_EQ(mirrored, 0u);
}

TEST_F(TagReader, ARegistryThatIsBusySaysUntilWhen) {
  fake.before = [](const request&) { return respond(429, "", {{"Retry-After", "17"}}); };
  const auto got = ask("reg:5000/p/app:latest");
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::throttled);
  EXPECT_EQ(got.error().retry_after, 17s);
}

TEST_F(TagReader, ARedirectToAnAddressOfTheLinkIsNotFollowed) {
  fake.before = [](const request&) {
    return respond(307, "", {{"Location", "http://169.254.169.254/latest/meta-data"}});
  };
  const auto got = ask("reg:5000/p/app:latest");
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::refused);
}

TEST_F(TagReader, NoErrorShowsAnythingOfThePullSecret) {
  const std::string canary = "kanarienvogel-7d1f";
  const std::string proof = reactor::http::basic_authorization("me", canary).reveal();
  const std::string encoded = proof.substr(proof.find(' ') + 1);
  const auto pull =
      secret(R"({"auths":{"reg:5000":{"username":"me","password":")" + canary + R"("}}})");
  std::size_t paths = 0, hits = 0, refused = 0;
  const auto look = [&](const answer<std::string>& got) {
    ++paths;
    if (got) return;
    ++refused;
    for (const std::string& part : {canary, encoded, encoded.substr(4)})
      if (got.error().text.find(part) != std::string::npos) {
        ++hits;
        ADD_FAILURE() << got.error().text;
      }
  };
  enum class echo { errors, body, fields };
  const image_ref of = *parse_image_ref("reg:5000/p/app:latest");
  run([&]() -> awaitable<void> {
    told_server server(l, "reg", 5000, [&](const request& r) { return serve(r); });
    web w(l, env());  // one for all: to make one costs more than all that is asked here
    for (const bool by_token : {false, true})
      for (const int status : {400, 401, 403, 404, 409, 418, 429, 500, 502, 503})
        for (const echo how : {echo::errors, echo::body, echo::fields}) {
          fake.before = [&](const request& r) -> std::optional<response> {
            const std::string shown(r.fields.get("Authorization"));
            if (shown.empty())
              return respond(
                  401, "",
                  {{"WWW-Authenticate",
                    by_token ? "Bearer realm=\"http://reg:5000/token\"" : "Basic realm=\"reg\""}});
            if (by_token && !r.target.starts_with("/token")) return std::nullopt;
            const std::string said = shown + " " + canary;
            if (how == echo::errors)
              return respond(status,
                             R"({"errors":[{"code":"DENIED","message":")" + said + R"("}]})");
            if (how == echo::body) return respond(status, said);
            return respond(status, "",
                           {{"Location", "http://reg:5000/" + shown},
                            {"WWW-Authenticate", "Basic realm=\"" + said + "\""},
                            {"Docker-Content-Digest", said}});
          };
          tag_reader reader(l, w, options);
          look(co_await reader.digest_of(of, "", pull));
        }
    co_await w.stop();
    co_await server.stop();
  });
  EXPECT_EQ(hits, 0u);
  EXPECT_EQ(refused, paths);
  std::printf("## {\"canary_hits\":%zu,\"error_paths\":%zu}\n", hits, paths);
}

TEST(RegistryPlaces, AddressesWhereCloudsKeepCredentialsAreKnownInEverySpelling) {
  for (const char* host : {"169.254.169.254",
                           "169.254.169.254:80",
                           "[fe80::1]",
                           "[fe80::1%25eth0]:443",
                           "[FEBF::1]",
                           "[::ffff:169.254.169.254]",
                           "[::ffff:a9fe:a9fe]:80",
                           "2852039166",
                           "0xa9fea9fe",
                           "0251.0376.1.1",
                           "169.254.43518",
                           "100.100.100.200",
                           "168.63.129.16:80",
                           "192.0.0.192",
                           "[fd00:ec2::254]",
                           "[fd00:ec2::23]:80",
                           "[fd20:ce::254]",
                           "[fd00:42::42]",
                           "fd00:ec2::254",
                           "[64:ff9b::a9fe:a9fe]",
                           "[::169.254.169.254]",
                           "[2002:a9fe:a9fe::1]"})
    EXPECT_TRUE(reactor::is_metadata_host(host)) << host;
  for (const char* host : {"169.253.1.1", "10.0.0.1:5000", "reg:5000", "169.254.example.com",
                           "[fd00::1]", "[2001:db8::a9fe:1]", "", "[", "100.100.100.20",
                           "metadata.example.com", "[fd00:ec3::1]", "[::1]"})
    EXPECT_FALSE(reactor::is_metadata_host(host)) << host;
}

TEST(RegistryLogin, OfARepositoryIsTheOneWithTheLongestPath) {
  constexpr const char* config = R"({"auths":{"q.io":{"username":"all","password":"1"},
    "q.io/org":{"username":"org","password":"2"},"q.io/org/os":{"username":"os","password":"3"},
    "q.io:8443":{"username":"port","password":"4"},"https://index.docker.io/v1/":{"auth":"ZDpk"},
    "https://old.io/v2/":{"username":"old","password":"5"},"q.io/or":{"username":"part","password":"6"}}})";
  const auto who = [&](const char* registry, const char* repository) {
    const auto found = find_login_for(config, registry, repository, "s");
    return !found ? "! " + found.error().text : *found ? (*found)->username : "none";
  };
  EXPECT_EQ(who("q.io", "org/os"), "os");
  EXPECT_EQ(who("q.io", "org/os/x"), "os");
  EXPECT_EQ(who("q.io", "org/osx"), "org");
  EXPECT_EQ(who("q.io", "other"), "all");
  EXPECT_EQ(who("q.io:8443", "org/os"), "port");
  EXPECT_EQ(who("q.io:9", "org/os"), "none");
  EXPECT_EQ(who("docker.io", "library/x"), "d");
  EXPECT_EQ(who("old.io", "a/b"), "old");
  EXPECT_EQ(who("sub.q.io", "org/os"), "none");
}

TEST(RegistryToken, ServersOfTheRegistrysOwnDomain) {
  for (const auto& [realm, registry] : {std::pair{"auth.docker.io", "registry-1.docker.io"},
                                        {"reg:5000", "reg:5001"},
                                        {"gitlab.com", "registry.gitlab.com"},
                                        {"auth.quay.io", "quay.io"},
                                        {"10.0.0.1:1", "10.0.0.1"},
                                        {"auth.reg.corp.example", "reg.corp.example"}})
    EXPECT_TRUE(is_own_realm(realm, registry)) << realm << " " << registry;
  for (const auto& [realm, registry] : {std::pair{"evil.com", "registry.gitlab.com"},
                                        {"com", "gitlab.com"},
                                        {"evil.com", "gitlab.com"},
                                        {"evil.co.uk", "registry.co.uk"},
                                        {"co.uk", "registry.co.uk"},
                                        {"10.0.0.2", "10.0.0.1"},
                                        {"xdocker.io", "registry-1.docker.io"},
                                        {"docker.io.evil.com", "docker.io"},
                                        {"0.0.1", "10.0.0.1"},
                                        {"[::1]", "[::2]"}})
    EXPECT_FALSE(is_own_realm(realm, registry)) << realm << " " << registry;
}

}  // namespace
}  // namespace registry
