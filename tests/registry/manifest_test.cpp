#include "registry/manifest.hpp"

#include "tests/registry/digests.hpp"

#include <gtest/gtest.h>

namespace registry {
namespace {

TEST(OciManifest, RefusesWhatCannotBeFollowed) {
  const auto error = [](const std::string& text) {
    auto m = read_manifest(text, "");
    return m ? "" : m.error().text;
  };
  EXPECT_EQ(error("[]"), "manifest is not valid: it is no JSON object");
  EXPECT_TRUE(error("{").starts_with("manifest is not valid JSON: "));
  EXPECT_EQ(error(R"({"config":{"digest":"sha256:../../x","size":1}})"),
            "manifest names a blob with an invalid digest: \"sha256:../../x\"");
  EXPECT_EQ(error(R"({"config":{"digest":")" + digest_a + R"(","size":-1}})"),
            "manifest names a blob with an invalid size: " + digest_a);
  EXPECT_EQ(error(R"({"layers":[{"digest":")" + digest_a + R"(","size":1e300}]})"),
            "manifest names a blob with an invalid size: " + digest_a);
  EXPECT_EQ(error(std::string(manifest_bytes_limit + 1, ' ')),
            "manifest is larger than 4194304 bytes");
}

}  // namespace
}  // namespace registry
