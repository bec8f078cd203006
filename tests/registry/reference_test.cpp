#include "registry/reference.hpp"

#include "tests/registry/digests.hpp"

#include <gtest/gtest.h>

#include <string>

namespace registry {
namespace {

std::string read(const std::string& text) {
  auto r = parse_oci_reference(text);
  if (!r) return "! " + r.error().text;
  return r->registry + " " + r->repository + " " + r->tag + " " + r->digest;
}

TEST(OciReference, ReadsEveryForm) {
  EXPECT_EQ(read("oci://h/p/app"), "h p/app  ");
  EXPECT_EQ(read("h:5000/p/app:1.0.0+b"), "h:5000 p/app 1.0.0_b ");
  EXPECT_EQ(read("h/app@" + digest_a), "h app  " + digest_a);
  EXPECT_EQ(read("h/app:1@" + digest_a), "h app 1 " + digest_a);
  EXPECT_EQ(parse_oci_reference("h/app:1.0.0+b")->text(), "h/app:1.0.0_b");
  EXPECT_EQ(parse_oci_reference("h/app@" + digest_a)->text(), "h/app@" + digest_a);
}

TEST(OciReference, SaysWhichPartIsWrong) {
  EXPECT_EQ(read("app"), "! invalid reference: missing registry or repository");
  EXPECT_EQ(read("h/App"), "! invalid reference: invalid repository \"App\"");
  EXPECT_EQ(read("h/a//b"), "! invalid reference: invalid repository \"a//b\"");
  EXPECT_EQ(read("h/a___b"), "! invalid reference: invalid repository \"a___b\"");
  EXPECT_EQ(read("h/../b"), "! invalid reference: invalid repository \"../b\"");
  EXPECT_EQ(read("h/app:-1"), "! invalid reference: invalid tag \"-1\"");
  EXPECT_EQ(read("h/app@sha256:1"), "! invalid reference: invalid digest \"sha256:1\"");
  EXPECT_EQ(read("a b/app"), "! invalid reference: invalid registry \"a b\"");
}

}  // namespace
}  // namespace registry
