#include "registry/credentials.hpp"

#include <gtest/gtest.h>

namespace registry {
namespace {

TEST(Credentials, AreShownToTheirOwnOriginAlone) {
  tls_choice tls;
  tls.certificate_file = "cert";
  tls.key_file = "key";
  tls.ca_file = "ca";
  tls.skip_verify = true;
  const credentials c("https://Reg.example.com/charts/index.yaml", reactor::secret("proof"), tls);
  for (const char* own : {"https://reg.example.com", "https://REG.example.com:443/x?y=1",
                          "https://reg.example.com/", "https://me:pw@reg.example.com/x"}) {
    const auto shown = c.for_url(own);
    EXPECT_EQ(shown.authorization.reveal(), "proof") << own;
    EXPECT_EQ(shown.tls, tls) << own;
  }
  tls_choice only_ca;
  only_ca.ca_file = "ca";
  for (const char* other :
       {"http://reg.example.com/charts/index.yaml", "https://reg.example.com:444",
        "http://reg.example.com:443/", "https://example.com/", "https://a.reg.example.com/",
        "https://reg.example.com.evil.com/", "https://reg.example.com@evil.com/",
        "https://evil.com/https://reg.example.com/", "https://reg.example.com\\@evil.com/",
        "https://reg.example.com./", "https://reg.example.com:0443/",
        "https://evil.com#@reg.example.com/", "//reg.example.com/", "/x", "", "https://",
        "https://[::1]/"}) {
    const auto shown = c.for_url(other);
    EXPECT_TRUE(shown.authorization.empty()) << other;
    EXPECT_EQ(shown.tls, only_ca) << other;
  }
}

TEST(Credentials, OfNoOriginAreShownToNone) {
  for (const char* nothing : {"", "/x", "reg", "//reg"}) {
    const credentials c(nothing, reactor::secret("proof"), {});
    for (const char* url : {"", "/x", "reg", "//reg", "https://reg/"})
      EXPECT_TRUE(c.for_url(url).authorization.empty()) << nothing << " " << url;
  }
  EXPECT_TRUE(credentials().for_url("https://reg/").authorization.empty());
}

}  // namespace
}  // namespace registry
