#include "helm/sources/chart_manifest.hpp"

#include "helm/sources/chart_versions.hpp"

#include <gtest/gtest.h>

namespace helm::sources {

using ::registry::read_manifest;

namespace {

const std::string digest_a = "sha256:" + std::string(64, 'a');
const std::string digest_b = "sha256:" + std::string(64, 'b');

TEST(ChartVersions, AreChosenAmongTags) {
  const auto versions =
      versions_of({"latest", "1.0.0", "v2.0.0", "1.10.0", "1.9.0_b1", "2.0.0-rc.1", "1.2"});
  EXPECT_EQ(versions, (std::vector<std::string>{"2.0.0-rc.1", "1.10.0", "1.9.0+b1", "1.0.0"}));
  EXPECT_EQ(*find_version(versions, ""), "1.10.0");
  EXPECT_EQ(*find_version(versions, "~1.9"), "1.9.0+b1");
  EXPECT_EQ(*find_version(versions, "1.9.0+b1"), "1.9.0+b1");
  EXPECT_EQ(find_version(versions, ">3").error().text,
            "Could not locate a version matching provided version string >3");
  EXPECT_EQ(find_version(versions, "a b c").error().text, "improper constraint: \"a b c\"");
}

descriptor part(const char* type) {
  return {type, digest_a, 3};
}

std::string parts(const std::vector<descriptor>& all, wanted_parts wanted = {}) {
  auto r = find_parts(all, wanted);
  return r ? "" : r.error().text;
}

TEST(ChartManifest, NamesThePartsThatAreMissing) {
  const auto image = part(media_type::image_manifest), config = part(media_type::config),
             chart = part(media_type::chart), prov = part(media_type::provenance),
             other = part("application/x");
  EXPECT_EQ(parts({image, config, chart}), "");
  EXPECT_EQ(parts({other, other}),
            "manifest does not contain minimum number of descriptors (2), descriptors found: 0");
  EXPECT_EQ(parts({image, other}),
            "manifest does not contain minimum number of descriptors (2), descriptors found: 1");
  EXPECT_EQ(parts({image, chart}),
            "could not load config with mediatype application/vnd.cncf.helm.config.v1+json");
  EXPECT_EQ(parts({image, config, prov}),
            "manifest does not contain a layer with mediatype "
            "application/vnd.cncf.helm.chart.content.v1.tar+gzip");
  EXPECT_EQ(parts({image, config, chart}, {true, true}),
            "manifest does not contain a layer with mediatype "
            "application/vnd.cncf.helm.chart.provenance.v1.prov");
  EXPECT_EQ(parts({image, config, prov}, {false, true}), "");
  auto old = find_parts({image, config, part(media_type::legacy_chart)}, {});
  ASSERT_TRUE(old);
  EXPECT_EQ(old->warnings, std::vector<std::string>{
                               "Warning: chart media type application/tar+gzip is deprecated"});
}

TEST(ChartManifest, IsWrittenAsHelmWritesIt) {
  metadata m;
  m.api_version = "v2";
  m.name = "app";
  m.version = "1.0.0";
  m.description = "a <b>";
  m.home = "https://h";
  m.sources = {"https://s", "https://t"};
  for (const char* name : {"A", "B"}) {
    m.maintainers.push_back(std::make_shared<maintainer>());
    m.maintainers.back()->name = name;
  }
  m.maintainers[0]->email = "a@x";
  m.annotations = {{"org.opencontainers.image.title", "no"}, {"k", "v"}};
  m.has_annotations = true;
  EXPECT_EQ(
      write_config(m),
      R"({"name":"app","home":"https://h","sources":["https://s","https://t"],"version":"1.0.0",)"
      R"("description":"a \u003cb\u003e","maintainers":[{"name":"A","email":"a@x"},{"name":"B"}],)"
      R"("apiVersion":"v2","annotations":{"k":"v","org.opencontainers.image.title":"no"}})");
  const auto text =
      write_manifest({media_type::config, digest_a, 10},
                     {{media_type::provenance, digest_b, 2}, {media_type::chart, digest_a, 1}},
                     annotations_of(m, "2026-01-02T03:04:05Z"));
  EXPECT_EQ(
      text,
      R"({"schemaVersion":2,"config":{"mediaType":"application/vnd.cncf.helm.config.v1+json","digest":")" +
          digest_a + R"(","size":10},"layers":[{"mediaType":")" + media_type::chart +
          R"(","digest":")" + digest_a + R"(","size":1},{"mediaType":")" + media_type::provenance +
          R"(","digest":")" + digest_b +
          R"(","size":2}],"annotations":{"k":"v",)"
          R"("org.opencontainers.image.authors":"A (a@x), B","org.opencontainers.image.created":"2026-01-02T03:04:05Z",)"
          R"("org.opencontainers.image.description":"a \u003cb\u003e","org.opencontainers.image.source":"https://s",)"
          R"("org.opencontainers.image.title":"app","org.opencontainers.image.url":"https://h","org.opencontainers.image.version":"1.0.0"}})");
  auto back = read_manifest(text, media_type::image_manifest);
  ASSERT_TRUE(back) << back.error().text;
  EXPECT_EQ(back->media_type, media_type::image_manifest);
  EXPECT_EQ(back->layers.size(), 2u);
}

}  // namespace
}  // namespace helm::sources
