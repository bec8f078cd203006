#include "registry/image_ref.hpp"

#include <gtest/gtest.h>

namespace registry {
namespace {

const std::string digest = "sha256:" + std::string(64, '1');

TEST(ImageRef, T007_GivesTheDigest) {
  auto ref = parse_image_ref("quay.io/org/os@" + digest);
  ASSERT_TRUE(ref);
  EXPECT_EQ(ref->name, "quay.io/org/os");
  EXPECT_EQ(ref->digest, digest);
  EXPECT_EQ(ref->tag, "");
}

TEST(ImageRef, T008_GivesTagAndDigest) {
  auto ref = parse_image_ref("quay.io/org/os:latest@" + digest);
  ASSERT_TRUE(ref);
  EXPECT_EQ(ref->tag, "latest");
  EXPECT_EQ(ref->digest, digest);
  EXPECT_EQ(ref->pinned(ref->digest), "quay.io/org/os@" + digest) << "without the tag";
}

TEST(ImageRef, T009_GivesTheTagAlone) {
  auto ref = parse_image_ref("quay.io/org/os:latest");
  ASSERT_TRUE(ref);
  EXPECT_EQ(ref->tag, "latest");
  EXPECT_EQ(ref->digest, "");
}

TEST(ImageRef, T010_AcceptsABareQualifiedName) {
  auto ref = parse_image_ref("quay.io/org/os");
  ASSERT_TRUE(ref);
  EXPECT_EQ(ref->tag, "");
  EXPECT_EQ(ref->digest, "");
  EXPECT_EQ(ref->effective_tag(), "latest");
}

TEST(ImageRef, T011_RefusesNothing) {
  EXPECT_FALSE(parse_image_ref(""));
}
TEST(ImageRef, T012_RefusesAnAddress) {
  EXPECT_FALSE(parse_image_ref("INVALID:///ref"));
}

TEST(ImageRef, T013_RefusesShortNames) {
  auto ref = parse_image_ref("myos:latest");
  ASSERT_FALSE(ref);
  EXPECT_NE(ref.error().detail.find("registry"), std::string::npos);
}

TEST(ImageRef, AcceptsEveryKindOfRegistry) {
  for (const char* ok : {"localhost/os", "localhost:5000/a/b:v1", "10.0.0.1:5000/os",
                         "[::1]:5000/os", "registry.example.com/a/b/c", "Upper/os",
                         "docker.io/library/os", "q.io/a__b/c-d/e--f/g.h:T_1.x-y"})
    EXPECT_TRUE(parse_image_ref(ok)) << ok;
}

TEST(ImageRef, RefusesWhatIsNotCanonicalOrMalformed) {
  const std::string long_path(256, 'a'), long_tag(129, 't'), hex(64, 'a');
  for (const std::string& bad : {std::string("docker.io/os"),
                                 std::string("index.docker.io/library/os"),
                                 hex,
                                 "quay.io/" + long_path,
                                 "quay.io/a:" + long_tag,
                                 std::string("quay.io/Upper/os"),
                                 std::string("quay.io/os@sha256:abc"),
                                 "quay.io/os@sha512:" + hex + hex,
                                 "quay.io/os@md5:" + hex,
                                 std::string("quay.io/"),
                                 std::string("quay.io//a"),
                                 std::string("quay.io/a/"),
                                 std::string("quay.io/a___b"),
                                 std::string("quay.io/a..b"),
                                 std::string("quay.io/-a"),
                                 std::string("quay.io/a:"),
                                 std::string("quay.io/a:-x"),
                                 std::string("-q.io/a"),
                                 std::string("q..io/a"),
                                 std::string("q.io:/a"),
                                 std::string("org/os"),
                                 std::string("quay.io/a b"),
                                 std::string("quay.io/a@"),
                                 "quay.io/a@" + digest + "@" + digest,
                                 std::string("[::1/os"),
                                 std::string("quay.io/a\n")})
    EXPECT_FALSE(parse_image_ref(bad)) << bad;
}

/// A daemon gives it to `bootc switch` as the last word of a command on the host.
TEST(ImageRef, IsNoOptionOfACommandAndNoMoreThanAWord) {
  const std::string digest = "@sha256:" + std::string(64, 'a');
  for (const char* text :
       {"--retain", "--target=a.io/b", "-a.io/b", "--a.io/b", "a.io/b --apply", "a.io/b\n--apply",
        "a.io/$HOME", "a.io/${HOME}", "a.io/%h", "a.io/b;c", "a.io/`b`", "a.io/b\t", " a.io/b",
        "a.io/..", "a.io/../b", "a.io/b%2fc"}) {
    EXPECT_FALSE(parse_image_ref(text)) << text;
    EXPECT_FALSE(parse_image_ref(text + digest)) << text;
  }
}

TEST(ImageRef, AcceptsTheLongestPathAndTag) {
  EXPECT_TRUE(parse_image_ref("quay.io/" + std::string(255, 'a') + ":" + std::string(128, 't')));
}

TEST(ImageRef, FindsTheDigestOfAPullSpecification) {
  EXPECT_EQ(digest_in("quay.io/os:1@" + digest), digest);
  EXPECT_EQ(digest_in("quay.io/os:1"), "");
  EXPECT_EQ(digest_in("quay.io/os@sha256:short"), "");
}

}  // namespace
}  // namespace registry
