#include "helm/sources/repository.hpp"

#include "formats/digest.hpp"
#include "tests/helm/sources/fixture.hpp"

namespace helm::sources {
namespace {

using reactor::http::request;

class Repository : public SourcesTest {};

TEST_F(Repository, SendsTheUserOfAUrlToThatUrlOnly) {
  run([&]() -> awaitable<void> {
    told_server shop(l, "shop", 80, [](const request&) { return respond(404); });
    web w(l, env());
    repository_entry from;
    from.url = "http://me:p%20w@shop";
    auto got = co_await fetch(w, from, "http://me:p%20w@shop/x", 10);
    EXPECT_EQ(got.error().text, "failed to fetch http://shop/x : 404 Not Found");
    EXPECT_EQ(shop.seen[0].fields.get("Authorization"), "Basic bWU6cCB3");
    co_await w.stop();
    co_await shop.stop();
  });
}

TEST_F(Repository, KeepsARepositorysCredentialsAtHome) {
  run([&]() -> awaitable<void> {
    told_server shop(l, "shop", 80, [](const request&) { return respond(200, "x"); });
    told_server other(l, "other", 80, [](const request&) { return respond(200, "x"); });
    web w(l, env());
    repository_entry from;
    from.url = "http://shop/charts";
    from.username = "me";
    from.password = reactor::secret("pw");
    (void)co_await fetch(w, from, "http://shop/x.tgz", 10);
    EXPECT_TRUE(shop.asked_with_authorization());
    (void)co_await fetch(w, from, "http://other/x.tgz", 10);
    EXPECT_FALSE(other.asked_with_authorization());
    from.pass_credentials_all = true;
    (void)co_await fetch(w, from, "http://other/x.tgz", 10);
    EXPECT_TRUE(other.asked_with_authorization());
    co_await w.stop();
    co_await shop.stop();
    co_await other.stop();
  });
}

TEST(ChartDigest, IsCheckedWhenThereIsOne) {
  EXPECT_TRUE(check_digest("", "x.tgz", "abc"));
  EXPECT_TRUE(check_digest(formats::sha256_hex("abc"), "x.tgz", "abc"));
  EXPECT_TRUE(check_digest(formats::digest_of("abc"), "x.tgz", "abc"));
  EXPECT_THAT(check_digest("00", "x.tgz", "abc").error().text,
              testing::StartsWith("sha256 sum does not match for x.tgz: \"sha256:00\" != "));
}

}  // namespace
}  // namespace helm::sources
