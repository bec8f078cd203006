#include "registry/retag.hpp"

#include "formats/digest.hpp"
#include "tests/registry/repositories.hpp"

namespace registry {
namespace {

using formats::digest_of;
using reactor::http::request;
using testing::HasSubstr;

class Retag : public WebFixture {
protected:
  Retag() {
    options.plain_http = true;
    image = push("layer");
    fake.manifests["staged/kbs"]["abc-x86_64"] = image;
  }
  /// An image of one layer, in staged/kbs by its digest.
  std::string push(const std::string& layer) {
    fake.blobs["staged/kbs"].insert(digest_of(layer));
    const std::string text = image_of_layer(layer);
    fake.manifests["staged/kbs"][digest_of(text)] = text;
    return text;
  }
  /// The text of an index of the image that this part names, for amd64.
  answer<std::string> index_for_amd64(const std::string& part) {
    fake.manifests["staged/kbs"]["amd64"] = fake.manifests["staged/kbs"][digest_of(part)] = part;
    std::optional<answer<std::string>> out;
    run([&]() -> awaitable<void> {
      told_server server(l, "reg", 5000, [&](const request& r) { return fake(r); });
      web w(l, env());
      {
        client c(l, w, options);
        std::vector<index_part> parts(1);
        parts[0].at = *parse_oci_reference("reg:5000/staged/kbs:amd64");
        parts[0].at.digest = digest_of(part);
        parts[0].architecture = "amd64";
        out.emplace(co_await index_of(c, std::move(parts)));
      }
      co_await w.stop();
      co_await server.stop();
    });
    return std::move(*out);
  }
  answer<retagged> to(const std::string& name, const std::string& digest) {
    std::optional<answer<retagged>> out;
    run([&]() -> awaitable<void> {
      told_server server(l, "reg", 5000, [&](const request& r) { return fake(r); });
      web w(l, env());
      {
        client c(l, w, options);
        oci_reference from = *parse_oci_reference("reg:5000/staged/kbs:abc-x86_64");
        from.digest = digest;
        oci_reference there = *parse_oci_reference("reg:5000/" + name);
        out.emplace(co_await retag(c, std::move(from), std::move(there)));
      }
      co_await w.stop();
      co_await server.stop();
    });
    return std::move(*out);
  }
  repositories fake;
  client_options options;
  std::string image;
};

TEST_F(Retag, GivesAnotherNameToTheSameDigest) {
  const auto done = to("kbs:v1", digest_of(image));
  ASSERT_TRUE(done) << done.error().text;
  EXPECT_EQ(*done, retagged::made);
  EXPECT_EQ(fake.manifests["kbs"]["v1"], image);
  const auto again = to("kbs:v1", digest_of(image));
  ASSERT_TRUE(again) << again.error().text;
  EXPECT_EQ(*again, retagged::there_already);
  EXPECT_EQ(fake.written, 1u);
}

TEST_F(Retag, TakesAnIndexAlongWithItsImages) {
  const std::string index = R"({"schemaVersion":2,"mediaType":")" +
                            std::string(media_type::image_index) + R"(","manifests":[)" +
                            described(media_type::image_manifest, image) + "," +
                            described(media_type::image_manifest, push("other")) + "]}";
  fake.manifests["staged/kbs"]["abc-x86_64"] = fake.manifests["staged/kbs"][digest_of(index)] =
      index;
  const auto done = to("kbs:v1", digest_of(index));
  ASSERT_TRUE(done) << done.error().text;
  EXPECT_EQ(fake.manifests["kbs"]["v1"], index);
  EXPECT_EQ(fake.manifests["kbs"].size(), 4u);
}

std::string index_text(const std::string& entries) {
  return R"({"schemaVersion":2,"mediaType":")" + std::string(media_type::image_index) +
         R"(","manifests":[)" + entries + "]}";
}
std::string entry(const std::string& bytes, const std::string& more,
                  const char* type = media_type::image_manifest) {
  std::string one = described(type, bytes);
  one.pop_back();
  return one + "," + more + "}";
}
const char* const amd64 = R"("platform":{"architecture":"amd64","os":"linux"})";
const char* const arm64 = R"("platform":{"architecture":"arm64","os":"linux"})";

TEST_F(Retag, AnIndexOfABuilderThatAttestsGivesItsImage) {
  // What `docker buildx build --push` leaves under the tag of one architecture.
  const std::string attestation = push("provenance");
  const std::string part = index_text(
      entry(image, amd64) + "," +
      entry(attestation, R"("annotations":{"vnd.docker.reference.type":"attestation-manifest"},)"
                         R"("platform":{"architecture":"unknown","os":"unknown"})"));
  const auto text = index_for_amd64(part);
  ASSERT_TRUE(text) << text.error().text;
  const auto made = read_manifest(*text, "");
  ASSERT_TRUE(made);
  ASSERT_EQ(made->manifests.size(), 1u);
  EXPECT_EQ(made->manifests[0].digest, digest_of(image));
  EXPECT_EQ(made->manifests[0].media_type, media_type::image_manifest)
      << "podman and skopeo pull it";
  EXPECT_EQ(made->manifests[0].architecture, "amd64");
  EXPECT_EQ(*index_for_amd64(image), *text) << "as of the image without what was attested";
}

TEST_F(Retag, APartWithoutTheOneImageForItsArchitectureIsRefused) {
  const std::string other = push("other");
  const struct {
    std::string part;
    const char* says;
  } rows[] = {
      {index_text(entry(image, arm64)), "0 images for amd64"},
      {index_text(entry(image, amd64) + "," + entry(other, amd64)), "2 images for amd64"},
      {index_text(entry(index_text(entry(image, amd64)), amd64, media_type::image_index)),
       "an index of indexes"},
      {index_text(entry(image, amd64, "application/vnd.docker.distribution.manifest.list.v2+json")),
       "an index of indexes"},
  };
  for (const auto& row : rows) {
    const auto text = index_for_amd64(row.part);
    ASSERT_FALSE(text) << row.says;
    EXPECT_EQ(text.error().code, errc::refused);
    EXPECT_THAT(text.error().text, HasSubstr(row.says));
  }
}

TEST_F(Retag, MovesNoName) {
  fake.manifests["kbs"]["v1"] = push("older");
  const auto done = to("kbs:v1", digest_of(image));
  EXPECT_EQ(done.error().code, errc::refused);
  EXPECT_THAT(done.error().text, HasSubstr("kbs:v1 is sha256:"));
  EXPECT_EQ(fake.written, 0u);
}

TEST_F(Retag, IsOfWhatWasTestedAndNotOfWhatIsCalledSoByNow) {
  const auto done = to("kbs:v1", digest_of("what was tested"));
  EXPECT_EQ(done.error().code, errc::altered);
  EXPECT_THAT(done.error().text, HasSubstr("by now"));
  EXPECT_EQ(fake.written, 0u);
}

}  // namespace
}  // namespace registry
