#include "registry/client.hpp"

#include "formats/digest.hpp"
#include "tests/registry/fake_registry.hpp"

namespace registry {
namespace {

using namespace std::chrono_literals;
using formats::digest_of;
using reactor::http::request;
using reactor::http::response;
using testing::HasSubstr;

constexpr const char* empty_manifest =
    R"({"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","layers":[]})";

class RegistryClient : public WebFixture {
protected:
  RegistryClient() {
    options.plain_http = true;
    options.config_files = {path("own.json"), path("docker.json")};
    at = *parse_oci_reference("reg:5000/p/app:1");
  }

  void with(std::function<awaitable<void>(client&)> body) {
    run([&]() -> awaitable<void> {
      told_server server(l, "reg", 5000, [&](const request& r) { return fake(r); });
      web w(l, env());
      {
        client c(l, w, options);
        co_await body(c);
      }
      co_await w.stop();
      co_await server.stop();
      seen = server.seen;
    });
  }
  /// Fetches the manifest of `at`.
  answer<stored_manifest> manifest() {
    std::optional<answer<stored_manifest>> out;
    with([&](client& c) -> awaitable<void> { out.emplace(co_await c.manifest(at)); });
    return std::move(*out);
  }
  answer<std::string> blob(descriptor d, std::size_t limit_bytes = 1'000) {
    std::optional<answer<std::string>> out;
    with([&](client& c) -> awaitable<void> { out.emplace(co_await c.blob(at, d, limit_bytes)); });
    return std::move(*out);
  }
  answer<std::vector<std::string>> tags() {
    std::optional<answer<std::vector<std::string>>> out;
    with([&](client& c) -> awaitable<void> { out.emplace(co_await c.tags(at)); });
    return std::move(*out);
  }
  answer<void> put_blob(std::string bytes) {
    std::optional<answer<void>> out;
    with([&](client& c) -> awaitable<void> {
      descriptor d = described(bytes);
      out.emplace(co_await c.put_blob(at, std::move(d), bytes));
    });
    return std::move(*out);
  }
  static descriptor described(const std::string& bytes) {
    return {"application/x", digest_of(bytes), bytes.size()};
  }
  std::ptrdiff_t asked(std::string_view method, std::string_view target = "") const {
    return std::count_if(seen.begin(), seen.end(), [&](const request& r) {
      return r.method == method && r.target.starts_with(target);
    });
  }

  fake_registry fake;
  client_options options;
  oci_reference at;
  std::vector<request> seen;
};

TEST_F(RegistryClient, TellsApartWhatTheCallerDoesNext) {
  const std::pair<int, errc> rows[] = {
      {401, errc::unauthorized}, {403, errc::forbidden},   {404, errc::not_found},
      {429, errc::throttled},    {400, errc::rejected},    {408, errc::unavailable},
      {500, errc::unavailable},  {503, errc::unavailable}, {204, errc::rejected}};
  for (const auto& [status, code] : rows) {
    fake.before = [status = status](const request&) { return respond(status); };
    const auto got = manifest();
    ASSERT_FALSE(got) << status;
    EXPECT_EQ(to_string(got.error().code), std::string_view(to_string(code))) << status;
    EXPECT_EQ(got.error().http_status, status);
    EXPECT_FALSE(got.error().retry_after);
  }
}

TEST_F(RegistryClient, KnowsHowLongARegistryWantsToBeLeftAlone) {
  std::string seconds = "7";
  fake.before = [&](const request&) { return respond(429, "", {{"Retry-After", seconds}}); };
  EXPECT_EQ(manifest().error().retry_after, reactor::nanoseconds(7s));
  EXPECT_EQ(tags().error().retry_after, reactor::nanoseconds(7s));
  EXPECT_EQ(blob(described("x")).error().retry_after, reactor::nanoseconds(7s));
  EXPECT_EQ(put_blob("x").error().retry_after, reactor::nanoseconds(7s));
  seconds = "4000000000";
  EXPECT_EQ(manifest().error().retry_after, reactor::nanoseconds(10min));
  seconds = "Wed, 21 Oct 2026 07:28:00 GMT";
  EXPECT_EQ(manifest().error().retry_after, reactor::nanoseconds(10min)) << "a date in October";
}

TEST_F(RegistryClient, SaysWhatATokenServerAnswered) {
  fake.token = "tok";
  for (const auto& [status, code] : {std::pair(401, errc::unauthorized), {403, errc::forbidden}}) {
    fake.before = [status = status](const request& r) -> std::optional<response> {
      if (!r.target.starts_with("/token")) return std::nullopt;
      return respond(status, "", {{"Retry-After", "3"}});
    };
    const auto got = manifest();
    EXPECT_EQ(got.error().code, code);
    EXPECT_EQ(got.error().http_status, status);
    EXPECT_EQ(got.error().retry_after, reactor::nanoseconds(3s));
    EXPECT_THAT(got.error().text, HasSubstr("no access token for reg:5000: GET \"http://reg:5000"));
  }
  fake.before = [](const request& r) -> std::optional<response> {
    if (!r.target.starts_with("/token")) return std::nullopt;
    return respond(200, "<html>");
  };
  EXPECT_EQ(manifest().error().code, errc::malformed);
}

TEST_F(RegistryClient, ReportsNobodyThereAsUnavailable) {
  at = *parse_oci_reference("nowhere:5000/p/app:1");
  const auto got = manifest();
  EXPECT_EQ(got.error().code, errc::unavailable);
  EXPECT_EQ(got.error().http_status, 0);
  EXPECT_FALSE(got.error().cancelled);
}

TEST_F(RegistryClient, ShowsTheRegistrysOwnWords) {
  fake.before = [](const request&) {
    return respond(403, R"({"errors":[{"code":"DENIED","message":"not yours"},{"code":"A_B"}]})");
  };
  EXPECT_EQ(manifest().error().text,
            "GET \"http://reg:5000/v2/p/app/manifests/1\": response status code 403: "
            "denied: not yours; a b");
  fake.before = nullptr;
  EXPECT_EQ(manifest().error().text, "reg:5000/p/app:1: not found");
}

TEST_F(RegistryClient, RefusesBytesThatAreNotWhatTheirDigestSays) {
  const std::string bytes = "abc";
  fake.blobs[digest_of(bytes)] = bytes;
  EXPECT_EQ(*blob(described(bytes)), bytes);
  fake.blobs[digest_of(bytes)] = "abd";
  EXPECT_EQ(blob(described(bytes)).error().code, errc::altered);
  EXPECT_EQ(blob(described(bytes)).error().text,
            "content does not match its digest: " + digest_of("abc") + " was asked for, " +
                digest_of("abd") + " came");
  fake.blobs[digest_of(bytes)] = "ab";
  EXPECT_EQ(blob(described(bytes)).error().code, errc::altered);
  fake.blobs[digest_of(bytes)] = "abcd";
  EXPECT_EQ(blob(described(bytes)).error().code, errc::malformed);
  EXPECT_EQ(blob(described(bytes), 2).error().code, errc::malformed);
  EXPECT_EQ(seen.size(), 0u) << "what is too large is not asked for";
}

TEST_F(RegistryClient, HoldsAManifestAgainstEveryDigestItWasGiven) {
  fake.manifests["1"] = empty_manifest;
  const auto got = manifest();
  ASSERT_TRUE(got) << got.error().text;
  EXPECT_EQ(got->itself.digest, digest_of(empty_manifest));
  EXPECT_EQ(got->itself.media_type, media_type::image_manifest);
  const std::string zeros = "sha256:" + std::string(64, '0');
  at = *parse_oci_reference("reg:5000/p/app@" + zeros);
  fake.manifests[zeros] = empty_manifest;
  EXPECT_EQ(manifest().error().code, errc::altered);
  at = *parse_oci_reference("reg:5000/p/app:1");
  fake.before = [&](const request&) {
    return respond(200, empty_manifest, {{"Docker-Content-Digest", zeros}});
  };
  EXPECT_EQ(manifest().error().code, errc::altered);
  fake.before = [&](const request&) { return respond(200, "<html>"); };
  EXPECT_EQ(manifest().error().code, errc::malformed);
}

TEST_F(RegistryClient, AsksForADigestWithoutTheBytes) {
  fake.before = [](const request& r) -> std::optional<response> {
    if (r.method != "HEAD") return std::nullopt;
    return respond(200, "", {{"Docker-Content-Digest", "sha512:x"}});
  };
  std::optional<answer<std::string>> got;
  with([&](client& c) -> awaitable<void> { got.emplace(co_await c.promised_digest(at)); });
  EXPECT_EQ(**got, "sha512:x");
  EXPECT_EQ(asked("HEAD", "/v2/p/app/manifests/1"), 1);
  EXPECT_EQ(seen.size(), 1u);
  fake.before = nullptr;
  with([&](client& c) -> awaitable<void> { got.emplace(co_await c.promised_digest(at)); });
  EXPECT_EQ(got->error().code, errc::not_found);
}

TEST_F(RegistryClient, ListsTagsPageByPage) {
  fake.tags = {"a", "b", "c", "d", "e"};
  fake.tags_per_page = 2;
  EXPECT_EQ(*tags(), fake.tags);
  EXPECT_EQ(seen.size(), 3u);
}

TEST_F(RegistryClient, EndsAListOfTagsThatGoesInCircles) {
  constexpr const char* wrong =
      "the registry's list of tags goes on at a place that cannot be right";
  fake.before = [](const request&) {
    return respond(200, R"({"tags":[]})", {{"Link", "</v2/p/app/tags/list>; rel=\"next\""}});
  };
  EXPECT_EQ(tags().error().text, wrong);
  int page = 0;
  fake.before = [&](const request&) {
    return respond(
        200, R"({"tags":[]})",
        {{"Link", "</v2/p/app/tags/list?n=" + std::to_string(++page) + ">; rel=\"next\""}});
  };
  EXPECT_THAT(tags().error().text, HasSubstr("lists more tags"));
  fake.before = [](const request&) {
    return respond(200, R"({"tags":[]})", {{"Link", "<http://other/x>; rel=\"next\""}});
  };
  EXPECT_EQ(tags().error().text, wrong);
}

/// Short in the text, and large in memory.
std::string many_values(std::size_t n) {
  std::string out = "[[]";
  for (std::size_t i = 1; i < n; ++i) out += ",[]";
  return out + "]";
}

TEST_F(RegistryClient, ReadsNoMoreValuesThanItsAnswersNeed) {
  fake.before = [](const request& r) -> std::optional<response> {
    if (r.target.find("/tags/") != r.target.npos)
      return respond(200, R"({"tags":)" + many_values(1'000'000) + "}");
    return respond(200, R"({"schemaVersion":2,"layers":[],"x":)" + many_values(300'000) + "}");
  };
  EXPECT_EQ(tags().error().text,
            "the registry's list of tags is not valid: it has more than 100000 values");
  EXPECT_THAT(manifest().error().text, HasSubstr("manifest has more than 50000 values"));
  std::optional<answer<std::string>> digest;
  with([&](client& c) -> awaitable<void> {
    digest.emplace(co_await c.current_digest(at, std::string()));
  });
  EXPECT_THAT(digest->error().text, HasSubstr("manifest has more than 50000 values"));
  fake.before = [](const request&) {
    return respond(200,
                   R"({"schemaVersion":2,"layers":[],"x":")" + std::string(2u << 20, 'x') + "\"}");
  };
  with([&](client& c) -> awaitable<void> {
    digest.emplace(co_await c.current_digest(at, std::string()));
  });
  EXPECT_THAT(digest->error().text, HasSubstr("larger than 1048576 bytes"));
}

TEST_F(RegistryClient, KeepsTagsThatAReferenceCouldNameAndSomeMegabytesOfThem) {
  int page = 0;
  std::size_t of_each = 0, on_a_page = 0;
  fake.before = [&](const request&) {
    std::string all = "\"1.0.0\"";
    for (std::size_t i = 0; i < on_a_page; ++i)
      all +=
          ",\"" + std::to_string(page) + "-" + std::to_string(i) + std::string(of_each, 'x') + "\"";
    reactor::http::response r = respond(200, "{\"tags\":[" + all + "]}");
    if (++page < 60)
      r.fields.add("Link", "</v2/p/app/tags/list?n=" + std::to_string(page) + ">; rel=\"next\"");
    return r;
  };
  of_each = 2u << 20;
  on_a_page = 1;
  EXPECT_THAT(tags().error().text, HasSubstr("has no end of its list"));
  EXPECT_LE(page, 20) << "no such tag is kept";
  page = 0;
  of_each = 110;
  on_a_page = 1'000;
  EXPECT_THAT(tags().error().text, HasSubstr("lists more tags"));
  EXPECT_LE(page, 40);
}

TEST_F(RegistryClient, QuotesALineOfARefusalHoweverLongItIs) {
  std::string said = std::string(2'000, 'm') + "\\nsecond";
  fake.before = [&](const request&) {
    return respond(403, R"({"errors":[{"code":"DENIED","message":")" + said + R"("}]})");
  };
  EXPECT_LE(manifest().error().text.size(), 700u);
  EXPECT_THAT(manifest().error().text, HasSubstr("denied: mmmm"));
  said = std::string(3u << 20, 'm');
  EXPECT_THAT(manifest().error().text, HasSubstr("an answer of 31457"));
}

TEST_F(RegistryClient, AsksItselfForTheNextPageWhateverItCallsItself) {
  fake.tags = {"a", "b", "c"};
  fake.tags_per_page = 1;
  for (const char* name : {"http://reg:5000", "https://reg:5000", "http://reg", "http://registry",
                           "http://registry:5000", "//reg:80", "http://me:pw@reg"}) {
    fake.link_at = name;
    const auto got = tags();
    ASSERT_TRUE(got) << name << ": " << got.error().text;
    EXPECT_EQ(*got, fake.tags) << name;
    EXPECT_EQ(seen.size(), 3u) << name;
  }
}

TEST_F(RegistryClient, APageOfAnotherServerGoesOnThereWithoutTheLogin) {
  options.given_for = "reg:5000";
  options.login.username = "me";
  options.login.password = reactor::secret("pw");
  fake_registry cdn;
  cdn.tags = {"a", "b", "c"};
  cdn.tags_per_page = 1;
  for (const auto& [link, whole] : {std::pair("", true),
                                    {"http://cdn", true},
                                    {"//cdn", true},
                                    {"http://reg:5000", false},
                                    {"http://evil", false}}) {
    cdn.link_at = link;
    run([&]() -> awaitable<void> {
      told_server own(l, "reg", 5000, [](const request& r) {
        if (!r.fields.has("Authorization"))
          return respond(401, "", {{"WWW-Authenticate", "Basic realm=\"a\""}});
        return respond(307, "", {{"Location", "http://cdn" + r.target}});
      });
      told_server there(l, "cdn", 80, [&](const request& r) { return cdn(r); });
      told_server evil(l, "evil", 80, [&](const request& r) { return cdn(r); });
      web w(l, env());
      {
        client c(l, w, options);
        auto got = co_await c.tags(at);
        EXPECT_EQ(got.has_value(), whole) << link;
        if (got) {
          EXPECT_EQ(*got, cdn.tags) << link;
        }
      }
      EXPECT_TRUE(own.asked_with_authorization());
      EXPECT_FALSE(there.asked_with_authorization()) << link;
      EXPECT_TRUE(evil.seen.empty());
      co_await w.stop();
      co_await own.stop();
      co_await there.stop();
      co_await evil.stop();
    });
  }
}

TEST_F(RegistryClient, SendsALoginToTrustedTokenServersAlone) {
  struct row {
    std::string realm_host;
    std::vector<std::string> trusted;
    bool with_login, sent, asked;
  };
  const row rows[] = {{"auth.example.com", {}, true, true, true},
                      {"auth.example.org", {}, true, false, false},
                      {"auth.example.org", {}, false, false, true},
                      {"auth.example.org", {"auth.example.org"}, true, true, true},
                      {"auth.example.org", {"auth.example.org:81"}, true, false, false}};
  for (const row& r : rows) {
    run([&]() -> awaitable<void> {
      told_server own(l, "reg.example.com", 80, [&](const request&) {
        return respond(
            401, "", {{"WWW-Authenticate", "Bearer realm=\"http://" + r.realm_host + "/token\""}});
      });
      told_server tokens(l, r.realm_host, 80,
                         [](const request&) { return respond(200, R"({"token":"t"})"); });
      web w(l, env());
      client_options o;
      o.plain_http = true;
      o.given_for = "reg.example.com";
      o.other_realms = r.trusted;
      if (r.with_login) {
        o.login.username = "me";
        o.login.password = reactor::secret("pw");
      }
      {
        client c(l, w, o);
        auto got = co_await c.tags(*parse_oci_reference("reg.example.com/p/app"));
        EXPECT_FALSE(got);
        if (!got && !r.asked) {
          EXPECT_THAT(got.error().text,
                      HasSubstr("the login is not sent there (WINDLASS_TOKEN_REALMS=" +
                                r.realm_host + " allows it)"));
        }
      }
      EXPECT_EQ(tokens.asked_with_authorization(), r.sent) << r.realm_host;
      EXPECT_EQ(!tokens.seen.empty(), r.asked) << r.realm_host;
      co_await w.stop();
      co_await own.stop();
      co_await tokens.stop();
    });
  }
}

TEST_F(RegistryClient, ALoginOfFlagsIsForTheRegistryThatTheyName) {
  options.given_for = "other:5000";
  options.login.username = "me";
  options.login.password = reactor::secret("pw");
  fake.token = "tok";
  fake.manifests["1"] = empty_manifest;
  EXPECT_EQ(manifest().error().code, errc::unauthorized);
  for (const request& r : seen) EXPECT_FALSE(r.fields.has("Authorization")) << r.target;
  options.given_for = "reg:5000";
  EXPECT_TRUE(manifest());
}

TEST_F(RegistryClient, UploadsOnlyWhatIsMissing) {
  EXPECT_TRUE(put_blob("abc"));
  EXPECT_EQ(fake.blobs[digest_of("abc")], "abc");
  EXPECT_EQ(asked("PUT"), 1);
  EXPECT_TRUE(put_blob("abc"));
  EXPECT_EQ(asked("PUT"), 0);
}

TEST_F(RegistryClient, DoesNotUploadToAForeignPlace) {
  fake.upload_location = "http://evil/v2/up/session";
  EXPECT_EQ(put_blob("abc").error().code, errc::refused);
  EXPECT_EQ(put_blob("abc").error().text,
            "the registry wants the upload to go to another place: \"http://evil/v2/up/session\"");
  fake.upload_location = "https://reg/v2/up/session?state=1";  // behind a proxy
  EXPECT_TRUE(put_blob("abc"));
}

TEST_F(RegistryClient, BelievesNoOtherDigestOfAStoredManifest) {
  std::optional<answer<std::string>> got;
  const auto put = [&] {
    with([&](client& c) -> awaitable<void> {
      got.emplace(co_await c.put_manifest(at, empty_manifest));
    });
  };
  put();
  EXPECT_EQ(**got, digest_of(empty_manifest));
  EXPECT_EQ(fake.manifests["1"], empty_manifest);
  fake.before = [](const request&) {
    return respond(201, "", {{"Docker-Content-Digest", digest_of("another")}});
  };
  put();
  EXPECT_EQ(got->error().code, errc::altered);
}

TEST_F(RegistryClient, FetchesATokenOnceAndUsesIt) {
  fake.token = "tok";
  options.given_for = "reg:5000";
  options.login.username = "me";
  options.login.password = reactor::secret("pw");
  with([&](client& c) -> awaitable<void> {
    for (const char* bytes : {"a", "b"}) {
      descriptor d = described(bytes);
      auto done = co_await c.put_blob(at, std::move(d), bytes);
      EXPECT_TRUE(done);
    }
  });
  EXPECT_EQ(asked("GET", "/token"), 1);
  EXPECT_EQ(asked("GET", "/token?service=reg&scope=repository%3Ap%2Fapp%3Apull%2Cpush"), 1);
}

TEST_F(RegistryClient, TakesLoginsFromTheFilesInTheirOrder) {
  fake.token = "tok";
  fake.manifests["1"] = empty_manifest;
  EXPECT_EQ(manifest().error().code, errc::unauthorized);
  write("docker.json", R"({"auths":{"reg:5000":{"auth":"bWU6cHc="}}})");
  EXPECT_TRUE(manifest());
  write("own.json", R"({"auths":{"reg:5000":{"auth":"bWU6d3Jvbmc="}}})");
  const auto got = manifest();
  EXPECT_EQ(got.error().code, errc::unauthorized);
  EXPECT_THAT(got.error().text, HasSubstr("unauthorized: who?"));
  EXPECT_EQ(got.error().text.find("wrong"), std::string::npos);
  EXPECT_EQ(got.error().text.find("bWU6"), std::string::npos);
  write("own.json", "[");
  EXPECT_EQ(manifest().error().code, errc::refused);
}

TEST_F(RegistryClient, AsksForABasicLoginWhereThereIsNone) {
  fake.before = [](const request&) {
    return respond(401, "", {{"WWW-Authenticate", "Basic realm=\"x\""}});
  };
  EXPECT_EQ(manifest().error().code, errc::unauthorized);
  EXPECT_THAT(manifest().error().text, HasSubstr("basic credential not found for reg:5000"));
}

TEST_F(RegistryClient, IsGivenUpWhenItHangs) {
  const auto before = l.now();
  run([&]() -> awaitable<void> {
    auto listener = *l.net().listen({"reg", 5000});
    web w(l, env());
    {
      client c(l, w, options);
      auto got = co_await c.manifest(at);
      EXPECT_EQ(got.error().code, errc::unavailable);
    }
    co_await w.stop();
    listener->close();
  });
  EXPECT_LE(l.now() - before, 2 * download_timeout);
}

}  // namespace
}  // namespace registry
