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

challenge challenge_in(std::string_view header) {
  auto all = parse_challenges(header);
  EXPECT_EQ(all.size(), 1u) << header;
  return all.empty() ? challenge{} : all.front();
}

TEST(RegistryChallenge, OneOfSeveralIsMet) {
  const struct {
    const char* header;
    bool has_password, may_use_realm;
    const char* chosen;  // its scheme and realm
  } rows[] = {
      {R"(Basic realm="x", Bearer realm="https://t",service="s")", false, true, "bearer https://t"},
      {R"(Basic realm="x", Bearer realm="https://t",service="s")", true, true, "bearer https://t"},
      {R"(Basic realm="x", Bearer realm="https://t")", true, false, "basic x"},
      {R"(Basic realm="x", Bearer realm="https://t")", false, false, "bearer https://t"},
      {R"(Bearer realm="https://t",scope="a:b:pull", Basic realm="x, y")", true, false,
       "basic x, y"},
      {R"(Basic realm="x",charset="UTF-8" , bearer realm = "https://t")", false, true,
       "bearer https://t"},
      {R"(Bearer, Basic realm="x")", true, true, "basic x"},
      {R"(Negotiate, Bearer realm="https://t")", false, true, "bearer https://t"},
      {R"(Negotiate YIIabc==, NTLM TlRM, Basic realm="x")", true, true, "basic x"},
      {R"(Digest realm="d",nonce="n", Basic realm="x")", false, true, "basic x"},
      {"Negotiate", true, true, "none"},
      {"", true, true, "none"},
  };
  for (const auto& row : rows) {
    const auto all = parse_challenges(row.header);
    const auto chosen = choose_challenge(all, {row.has_password, row.may_use_realm});
    EXPECT_EQ(chosen ? all[*chosen].scheme + " " + all[*chosen].parameter("realm") : "none",
              row.chosen)
        << row.header;
  }
}

TEST(RegistryChallenge, AsksForTheScopesOfTheRequestAndOfTheChallenge) {
  const struct {
    const char *own, *challenged, *asked;
  } rows[] = {
      {"repository:a:pull", "", "repository:a:pull"},
      {"", "repository:a:pull", "repository:a:pull"},
      {"repository:a:pull,push", "repository:a:pull", "repository:a:pull,push"},
      {"repository:a:pull", "repository:a:pull,push", "repository:a:pull,push"},
      {"repository:a:pull", "repository:library/a:pull",
       "repository:a:pull repository:library/a:pull"},
      {"repository:a:pull,push repository:b:pull", "repository:b:pull repository:a:push,pull",
       "repository:a:pull,push repository:b:pull"},
      {"repository:a:pull", "repository:a:*", "repository:a:pull,*"},
      {"repository:h:5000/a:pull", "repository:h:5000/a:push", "repository:h:5000/a:pull,push"},
      {"repository:a:pull", "aws", "repository:a:pull aws"},
      {"", "", ""},
  };
  for (const auto& row : rows)
    EXPECT_EQ(scopes_to_ask(row.own, row.challenged), row.asked)
        << row.own << " | " << row.challenged;
}

TEST(RegistryChallenge, IsTakenApart) {
  const auto c = challenge_in(
      R"(Bearer realm="https://auth/token?a=1",service="reg \"x\"", scope=repository:a:pull,error="x")");
  EXPECT_EQ(c.scheme, "bearer");
  EXPECT_EQ(c.parameters.at("service"), "reg \"x\"");
  EXPECT_EQ(c.parameters.at("scope"), "repository:a:pull");
  EXPECT_EQ(challenge_in("Basic").scheme, "basic");
  EXPECT_TRUE(parse_challenges("").empty());
  EXPECT_TRUE(parse_challenges(" , ,").empty());
  EXPECT_EQ(challenge_in("Bearer realm=\"unclosed").parameter("realm"), "unclosed");
}

TEST(RegistryChallenge, LeadsToATokenServerThatIsAsSafeAsTheRegistry) {
  const auto at = [](const char* header, const char* registry) {
    const challenge c = challenge_in(header);
    auto u = token_url(c, registry, scopes_to_ask("repository:x:pull", c.parameter("scope")));
    return u ? *u : "! " + u.error().text;
  };
  EXPECT_EQ(at(R"(Bearer realm="https://auth/token",service="s p")", "https://h"),
            "https://auth/token?service=s%20p&scope=repository%3Ax%3Apull");
  EXPECT_EQ(at(R"(Bearer realm="http://auth/token?a=1",scope="y")", "http://h"),
            "http://auth/token?a=1&scope=repository%3Ax%3Apull&scope=y");
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
