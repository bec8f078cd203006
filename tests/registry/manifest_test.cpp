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

TEST(OciManifest, HasTheTypeThatItNamesElseThatOfTheAnswerElseTheOneOfItsContent) {
  const std::string docker = "application/vnd.docker.distribution.manifest.v2+json";
  const std::string list = R"({"manifests":[{"digest":")" + digest_a + R"(","size":1}]})";
  const struct {
    std::string text, content_type, type;
  } rows[] = {
      {R"({"mediaType":")" + docker + "\"}", media_type::image_index, docker},
      {"{}", docker + "; charset=utf-8", docker},
      {"{}", "application/json; charset=utf-8", media_type::image_manifest},
      {"{}", "", media_type::image_manifest},
      {list, "text/plain", media_type::image_index},
      {list, docker, docker},
  };
  for (const auto& row : rows)
    EXPECT_EQ(read_manifest(row.text, row.content_type)->media_type, row.type) << row.content_type;
}

}  // namespace
}  // namespace registry
