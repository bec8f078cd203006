#include "reactor/http/client.hpp"
#include "reactor/http/proxy.hpp"

#include <gmock/gmock.h>

#include <map>

namespace reactor::http {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Origin, IsReadFromAUrl) {
  std::string path = "?";
  EXPECT_EQ(parse_origin("https://api.example:6443", &path).value(),
            (origin{true, "api.example", 6443}));
  EXPECT_EQ(path, "");
  EXPECT_EQ(parse_origin("http://API.Example/k8s/clusters/a/", &path).value(),
            (origin{false, "api.example", 80}));
  EXPECT_EQ(path, "/k8s/clusters/a");
  EXPECT_EQ(parse_origin("https://[::1]:1", &path).value(), (origin{true, "::1", 1}));
  EXPECT_EQ(parse_origin("https://10.0.0.1").value().text(), "https://10.0.0.1:443");
  EXPECT_EQ(parse_origin("https://[fd00::2]").value().text(), "https://[fd00::2]:443");
}

TEST(Origin, RefusesWhatIsNotOne) {
  for (const char* bad :
       {"", "api:6443", "ftp://api", "https://", "https:///x", "https://api:0", "https://api:70000",
        "https://api:99999", "https://api:65536", "https://api:x", "https://user:hunter2@api",
        "https://a b", "https://api?x=1", "https://api#x", "//api", "https://a%2fb",
        "https://a%0ab", "https://[::1"}) {
    auto got = parse_origin(bad);
    ASSERT_FALSE(got.has_value()) << bad;
    EXPECT_EQ(got.error().code, errc::malformed) << bad;
    EXPECT_THAT(got.error().message(), Not(HasSubstr("hunter2")));
  }
}

TEST(Proxy, ReadsUserAndPasswordButNeverRepeatsThem) {
  const auto simple = parse_proxy({reactor::secret("proxy:3128")});
  EXPECT_EQ(simple->to, (origin{false, "proxy", 3128}));
  EXPECT_TRUE(simple->authorization.empty());
  const auto secured = parse_proxy({reactor::secret("https://us%65r:p%40ss@proxy")});
  EXPECT_EQ(secured->to, (origin{true, "proxy", 443}));
  EXPECT_EQ(secured->authorization.reveal(), "Basic dXNlcjpwQHNz");  // user:p@ss
  EXPECT_FALSE(parse_proxy({})->used());
  const auto socks = parse_proxy({reactor::secret("socks5://us%65r:p%40ss@proxy")});
  EXPECT_EQ(socks->to, (origin{false, "proxy", 1080}));
  EXPECT_EQ(socks->language, proxy::speaks::socks);
  EXPECT_EQ(socks->user + " " + socks->password.reveal(), "user p@ss");
  EXPECT_EQ(socks->text(), "socks5://proxy:1080");
  EXPECT_EQ(parse_proxy({reactor::secret("socks5h://[::1]:9")})->text(), "socks5://[::1]:9");
  const auto bad = parse_proxy({reactor::secret("socks4://user:hunter2@proxy")});
  EXPECT_EQ(bad.error().code, errc::malformed);
  EXPECT_THAT(bad.error().message(), Not(HasSubstr("hunter2")));
}

class ProxyEnvironment : public testing::Test {
protected:
  std::string chosen(const char* url) const {
    return proxy_from_environment(*parse_origin(url),
                                  [&](std::string_view name) {
                                    const auto found = env.find(std::string(name));
                                    return found == env.end() ? std::string() : found->second;
                                  })
        .url.reveal();
  }
  std::map<std::string, std::string> env{{"HTTPS_PROXY", "http://s:1"},
                                         {"http_proxy", "http://p:2"}};
};

TEST_F(ProxyEnvironment, ChoosesByScheme) {
  EXPECT_EQ(chosen("https://api"), "http://s:1");
  EXPECT_EQ(chosen("http://api"), "http://p:2");
  env.erase("HTTPS_PROXY");
  EXPECT_EQ(chosen("https://api"), "");
}

TEST_F(ProxyEnvironment, GoesDirectlyToThisMachine) {
  EXPECT_EQ(chosen("https://localhost:6443"), "");
  EXPECT_EQ(chosen("https://127.0.0.2"), "");
  EXPECT_EQ(chosen("https://[::1]"), "");
}

TEST_F(ProxyEnvironment, ExemptsWhatNoProxyNames) {
  const auto exempt = [&](const char* entries, const char* url) {
    env["NO_PROXY"] = entries;
    return chosen(url).empty();
  };
  EXPECT_TRUE(exempt("*", "https://api"));
  EXPECT_TRUE(exempt("other, API.example", "https://api.example"));
  EXPECT_TRUE(exempt("example", "https://api.example"));
  EXPECT_FALSE(exempt("ample", "https://api.example"));
  EXPECT_TRUE(exempt(".example", "https://api.example"));
  EXPECT_TRUE(exempt("*.example", "https://api.example"));
  EXPECT_FALSE(exempt(".api.example", "https://api.example"));
  EXPECT_TRUE(exempt("api.example:443", "https://api.example"));
  EXPECT_FALSE(exempt("api.example:6443", "https://api.example"));
  EXPECT_FALSE(exempt("api.example:x", "https://api.example"));
  EXPECT_TRUE(exempt("10.1.2.3", "https://10.1.2.3"));
  EXPECT_FALSE(exempt("10.1.2.3", "https://10.1.2.33"));
  EXPECT_TRUE(exempt("10.1.2.3:443", "https://10.1.2.3"));
  EXPECT_TRUE(exempt("10.1.0.0/16", "https://10.1.2.3"));
  EXPECT_FALSE(exempt("10.2.0.0/16", "https://10.1.2.3"));
  EXPECT_FALSE(exempt("10.1.0.0/16", "https://api.example"));
  EXPECT_FALSE(exempt("10.1.0.0/99, fd00::/x", "https://10.1.2.3"));
  EXPECT_TRUE(exempt("fd00::/8", "https://[fd00::5]"));
  EXPECT_FALSE(exempt("fd00::/8", "https://10.1.2.3"));
  EXPECT_TRUE(exempt("[fd00::5]:443", "https://[fd00::5]"));
  EXPECT_TRUE(exempt("fd00::5", "https://[fd00:0::5]"));
}

}  // namespace
}  // namespace reactor::http
