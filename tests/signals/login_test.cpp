#include "signals/login.hpp"

#include "formats/base64.hpp"
#include "signals/hosts.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>

#include <map>
#include <string>

namespace signals {
namespace {

using ::testing::HasSubstr;

reactor::result<login> read(const std::map<std::string, std::string>& data) {
  boost::json::object inner;
  for (const auto& [key, text] : data) inner[key] = formats::encode_base64(text);
  return read_login(boost::json::object{{"data", std::move(inner)}});
}

TEST(SignalLogin, IsATokenOrANameAndAPasswordForOneOrigin) {
  const auto token = read({{"origin", "https://prom.example.com\n"}, {"token", "abc\n"}});
  ASSERT_TRUE(token) << token.error().message();
  EXPECT_EQ(token->origin, "https://prom.example.com:443");
  EXPECT_EQ(token->authorization.reveal(), "Bearer abc");
  const auto basic = read({{"origin", "http://p:9090"}, {"username", "me"}, {"password", "pw"}});
  ASSERT_TRUE(basic);
  EXPECT_EQ(basic->authorization.reveal(), "Basic bWU6cHc=");
}

TEST(SignalLogin, OfASecretThatIsForAnythingElseIsNone) {
  const std::map<std::string, std::string> rows[] = {
      {},
      {{"kubeconfig", "apiVersion: v1"}},
      {{".dockerconfigjson", "{}"}},
      {{"token", "hidden"}},  // of a service account
      {{"origin", ""}, {"token", "hidden"}},
      {{"origin", "https://x/path"}, {"token", "hidden"}},
      {{"origin", "https://me:hidden@x"}, {"token", "hidden"}},
      {{"origin", "https://169.254.169.254"}, {"token", "hidden"}},
      {{"origin", "https://x"}},
      {{"origin", "https://x"}, {"token", ""}},
      {{"origin", "https://x"}, {"token", "hidden\r\nX-Other: 1"}},
      {{"origin", "https://x"}, {"token", std::string(17'000, 'h')}},
      {{"origin", "https://x"}, {"username", "me"}},
      {{"origin", "https://x"}, {"username", "me"}, {"password", ""}},
  };
  for (const auto& row : rows) {
    const auto got = read(row);
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().message().find("hidden"), std::string::npos) << got.error().message();
  }
  EXPECT_FALSE(read_login(boost::json::object{{"data", "x"}}));
  EXPECT_FALSE(read_login(
      boost::json::object{{"data", boost::json::object{{"origin", 1}, {"token", "%%%"}}}}));
}

TEST(SignalHosts, AreOriginsAndNothingElse) {
  EXPECT_EQ(*read_allowed_host("prom.example.com"), "https://prom.example.com:443");
  EXPECT_EQ(*read_allowed_host("prom.example.com:9090"), "https://prom.example.com:9090");
  EXPECT_EQ(*read_allowed_host("http://prometheus.monitoring.svc:9090"),
            "http://prometheus.monitoring.svc:9090");
  for (const char* text :
       {"", "https://", "x/y", "https://x/", "me@x", "x?y", "x#y", "ftp://x", "x:y", "x y",
        "https://https://x", "169.254.169.254", "http://[fe80::1]:9090"})
    EXPECT_FALSE(read_allowed_host(text)) << text;
}

TEST(SignalHosts, AllowExactlyTheOriginThatIsNamed) {
  const std::vector<std::string> origins{"https://prom.example.com:443", "http://a:9090"};
  EXPECT_TRUE(is_allowed("https://prom.example.com/base?x=1", origins));
  EXPECT_TRUE(is_allowed("http://a:9090", origins));
  for (const char* url : {"http://prom.example.com", "https://prom.example.com:8443/",
                          "https://prom.example.com.evil", "https://sub.prom.example.com",
                          "http://a", "https://a:9090", "http://a:9090@evil/", "nothing", ""})
    EXPECT_FALSE(is_allowed(url, origins)) << url;
  EXPECT_THAT(is_allowed("http://evil/", origins).error().detail,
              HasSubstr("no --allow-signal-host names http://evil:80"));
}

}  // namespace
}  // namespace signals
