#include "registry/url.hpp"

#include <gtest/gtest.h>

#include <map>

namespace registry {
namespace {

std::string resolved(const char* base, const char* reference) {
  auto r = resolve_reference(base, reference);
  return r ? *r : "! " + r.error().text;
}

TEST(Url, KeepsEveryPartAsItWasWritten) {
  for (const char* text :
       {"https://user:p%40ss@host:8443/a%20b/c?x=1&y=2#top", "http://host", "oci://[::1]:5000/x",
        "charts/x-1.0.0.tgz", "/x.tgz", "file:///srv/charts", "http://host/?"})
    EXPECT_EQ(parse_url(text)->text(), text);
}

TEST(Url, RefusesWhatNoUrlCanBe) {
  EXPECT_EQ(parse_url("http://h/\n").error().text,
            "parse \"http://h/\\n\": net/url: invalid control character in URL");
  EXPECT_EQ(parse_url("http://h:x/").error().text,
            "parse \"http://h:x/\": invalid port \":x\" after host");
  EXPECT_EQ(parse_url("://h").error().text, "parse \"://h\": missing protocol scheme");
  EXPECT_FALSE(parse_url("1x:y"));
  EXPECT_FALSE(parse_url("http://a b/"));
}

TEST(Url, NeverShowsAPassword) {
  EXPECT_EQ(parse_url("http://me:secret@h:x/").error().text.find("secret"), std::string::npos);
  EXPECT_EQ(without_user("https://me:secret@h/x@y"), "https://h/x@y");
}

TEST(Url, ResolvesReferencesAgainstARepository) {
  EXPECT_EQ(resolved("https://h/charts", "x-1.tgz"), "https://h/charts/x-1.tgz");
  EXPECT_EQ(resolved("https://h/charts/", "x-1.tgz"), "https://h/charts/x-1.tgz");
  EXPECT_EQ(resolved("https://h/charts/", "../x-1.tgz"), "https://h/x-1.tgz");
  EXPECT_EQ(resolved("https://h/charts/", "/x-1.tgz"), "https://h/x-1.tgz");
  EXPECT_EQ(resolved("https://h/charts?sig=1", "x-1.tgz"), "https://h/charts/x-1.tgz?sig=1");
  EXPECT_EQ(resolved("https://h", "index.yaml"), "https://h/index.yaml");
  EXPECT_EQ(resolved("https://h/charts", "http://other/x.tgz"), "http://other/x.tgz");
  EXPECT_EQ(resolved("https://h/charts", "../../../etc"), "https://h/etc");
}

TEST(Url, FollowsALocationFromItsPage) {
  EXPECT_EQ(*follow_location("http://h/v2/x?a=1", "y?b=2"), "http://h/v2/y?b=2");
  EXPECT_EQ(*follow_location("http://h/v2/x", "/z"), "http://h/z");
  EXPECT_EQ(*follow_location("https://h/v2/x", "//other/z"), "https://other/z");
  EXPECT_EQ(*follow_location("http://h/v2/x", "?b=2"), "http://h/v2/x?b=2");
}

TEST(Url, ComparesPlacesAndOrigins) {
  EXPECT_TRUE(same_url("https://h/charts/", "https://h/charts"));
  EXPECT_TRUE(same_url("https://h", "https://h/"));
  EXPECT_FALSE(same_url("https://h/a", "https://h/b"));
  EXPECT_TRUE(same_origin("https://h/a", "https://H:443/b"));
  EXPECT_FALSE(same_origin("https://h/a", "http://h/a"));
  EXPECT_FALSE(same_origin("https://h/a", "https://h:8443/a"));
  EXPECT_FALSE(same_origin("a", "b"));
}

}  // namespace
}  // namespace registry
