#include "registry/auth.hpp"

#include <gtest/gtest.h>

namespace registry {
namespace {

std::string login(std::string_view config, std::string_view registry) {
  auto l = find_login(config, registry, "f");
  if (!l) return "! " + l.error().text;
  if (!*l) return "none";
  return (*l)->username + ":" + (*l)->password.reveal() + (*l)->identity_token.reveal();
}

TEST(RegistryLogin, IsFoundUnderTheNamesThatToolsWrite) {
  constexpr const char* config = R"({"auths":{"h:5000":{"auth":"bWU6Z2VoOmVpbQ=="},
    "https://other/v1/":{"username":"u","password":"p"},"https://index.docker.io/v1/":{"auth":"ZDpk"},
    "t":{"identitytoken":"tok"}}})";
  EXPECT_EQ(login(config, "h:5000"), "me:geh:eim");
  EXPECT_EQ(login(config, "other"), "u:p");
  EXPECT_EQ(login(config, "docker.io"), "d:d");
  EXPECT_EQ(login(config, "t"), ":tok");
  EXPECT_EQ(login(config, "h"), "none");
  EXPECT_EQ(login("", "h"), "none");
}

TEST(RegistryLogin, SaysThatAHelperIsNotSupported) {
  constexpr const char* helper = R"({"credsStore":"desktop","auths":{"h":{}}})";
  EXPECT_EQ(login(helper, "h"),
            "! the credentials of h are kept by the credential helper "
            "\"docker-credential-desktop\" (f), which is not supported by windlass: use 'registry "
            "login'");
  EXPECT_EQ(login(R"({"credHelpers":{"x":"gcr"}})", "h"), "none");
  EXPECT_EQ(login(R"({"credsStore":"desktop","auths":{"h":{"auth":"YTpi"}}})", "h"), "a:b");
}

TEST(RegistryLogin, NeverQuotesTheFile) {
  for (const char* bad : {"geheim", R"({"auths":{"h":{"auth":"geheim!"}}})",
                          R"({"auths":{"h":{"auth":"Z2VoZWlt"}}})", "[\"geheim\"]"})
    EXPECT_TRUE(login(bad, "h").starts_with("! invalid config format")) << login(bad, "h");
}

TEST(RegistryLogin, IsStoredBesideWhatIsThere) {
  registry_login l;
  l.username = "me";
  l.password = reactor::secret("pw");
  auto text = with_login(R"({"auths":{"x":{"auth":"YTpi"}},"detachKeys":"q"})", "h:1", l);
  ASSERT_TRUE(text);
  EXPECT_EQ(*text,
            "{\n\t\"auths\": {\n\t\t\"x\": {\n\t\t\t\"auth\": \"YTpi\"\n\t\t},\n\t\t\"h:1\": {\n"
            "\t\t\t\"auth\": \"bWU6cHc=\"\n\t\t}\n\t},\n\t\"detachKeys\": \"q\"\n}");
  EXPECT_EQ(login(*text, "h:1"), "me:pw");
  auto gone = without_login(*text, "h:1");
  ASSERT_TRUE(gone && *gone);
  EXPECT_EQ(login(**gone, "h:1"), "none");
  EXPECT_EQ(login(**gone, "x"), "a:b");
  EXPECT_FALSE(*without_login("{}", "h"));
}

TEST(RegistryChallenge, IsTakenApart) {
  const auto c = parse_challenge(
      R"(Bearer realm="https://auth/token?a=1",service="reg \"x\"", scope=repository:a:pull,error="x")");
  EXPECT_EQ(c.scheme, "bearer");
  EXPECT_EQ(c.parameters.at("service"), "reg \"x\"");
  EXPECT_EQ(c.parameters.at("scope"), "repository:a:pull");
  EXPECT_EQ(parse_challenge("Basic").scheme, "basic");
  EXPECT_EQ(parse_challenge("").scheme, "");
  EXPECT_EQ(parse_challenge("Bearer realm=\"unclosed").parameters.at("realm"), "unclosed");
}

TEST(RegistryChallenge, LeadsToATokenServerThatIsAsSafeAsTheRegistry) {
  const auto at = [](const char* header, const char* registry) {
    auto u = token_url(parse_challenge(header), registry, "repository:x:pull");
    return u ? *u : "! " + u.error().text;
  };
  EXPECT_EQ(at(R"(Bearer realm="https://auth/token",service="s p")", "https://h"),
            "https://auth/token?service=s%20p&scope=repository%3Ax%3Apull");
  EXPECT_EQ(at(R"(Bearer realm="http://auth/token?a=1",scope="y")", "http://h"),
            "http://auth/token?a=1&scope=y");
  EXPECT_EQ(at(R"(Bearer realm="http://auth/token")", "https://h"),
            "! the registry asks for credentials to be sent without TLS to \"http://auth/token\"");
  EXPECT_EQ(at("Bearer", "https://h"), "! the registry names no usable token server: \"\"");
  EXPECT_EQ(at(R"(Bearer realm="file:///etc/passwd")", "https://h"),
            "! the registry names no usable token server: \"file:///etc/passwd\"");
}

TEST(RegistryToken, IsReadFromEitherMember) {
  EXPECT_EQ(read_token(R"({"token":"a"})")->reveal(), "a");
  EXPECT_EQ(read_token(R"({"token":"a","access_token":"b"})")->reveal(), "b");
  EXPECT_FALSE(read_token(R"({"token":"a\r\nX-Evil: 1"})"));
  EXPECT_FALSE(read_token("{}"));
  EXPECT_FALSE(read_token("nothing"));
}

}  // namespace
}  // namespace registry
