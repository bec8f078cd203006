#include "bootc/daemon/host_status.hpp"

#include "formats/yaml/yaml.hpp"
#include "tests/bootc/builders.hpp"

#include <boost/json/serialize.hpp>
#include <gtest/gtest.h>

#include <fstream>

namespace bootc {
namespace {

/// A document of bootc's own test data as the JSON that `bootc status --json` would print.
std::string sample(const std::string& name) {
  std::ifstream file(std::string(WINDLASS_SOURCE_DIR) + "/tests/data/bootc-status/" + name);
  std::string text, line;
  while (std::getline(file, line)) {
    // Versions look like numbers and are texts; the tagged scalar is how the library writes an
    // object of one key.
    if (const auto at = line.find("version: 2"); at != std::string::npos)
      line = line.substr(0, at + 9) + "'" + line.substr(at + 9) + "'";
    if (const auto at = line.find("!ostreeRemote"); at != std::string::npos)
      line = line.substr(0, at) + "{ostreeRemote: fedora}";
    text += line + "\n";
  }
  if (name.ends_with(".json")) return text;
  auto value = formats::parse_kubernetes_yaml(text, name);
  return value ? boost::json::serialize(*value) : "unreadable: " + value.error().message();
}

host_status read(const std::string& name) {
  auto parsed = parse_host_status(sample(name));
  EXPECT_TRUE(parsed) << name << ": " << parsed.error().message();
  return parsed ? *parsed : host_status{};
}

TEST(HostStatus, EverySampleIsRead) {
  for (const char* name :
       {"spec-booted-pinned.yaml", "spec-booted-update-same-digest.yaml",
        "spec-booted-usroverlay.yaml", "spec-booted-with-update-no-version.yaml",
        "spec-booted-with-update.yaml", "spec-only-booted.yaml", "spec-ostree-remote.yaml",
        "spec-ostree-to-bootc.yaml", "spec-rfe-ostree-deployment.yaml", "spec-staged-booted.yaml",
        "spec-staged-download-only.yaml", "spec-staged-rollback.yaml", "spec-v1-null.json",
        "spec-v1a1-orig.yaml", "spec-v1a1.yaml", "spec-via-local-oci.yaml"})
    read(name);
}

TEST(HostStatus, FractionsOfSecondsAreCut) {
  const auto s = read("spec-staged-booted.yaml");
  ASSERT_TRUE(s.staged && s.staged->image);
  EXPECT_EQ(s.staged->image->timestamp, "2023-10-14T19:22:15Z");
  EXPECT_EQ(s.booted->image->digest,
            "sha256:736b359467c9437c1ac915acaae952aad854e07eb4a16a94999a48af08c83c34");
}

TEST(HostStatus, TheLockIsSeen) {
  const auto s = read("spec-staged-download-only.yaml");
  EXPECT_TRUE(s.staged->download_only);
  EXPECT_FALSE(s.booted->download_only);
}

TEST(HostStatus, NullAndAbsentSlotsAreNone) {
  const auto null = read("spec-v1-null.json");
  EXPECT_FALSE(null.staged || null.booted || null.rollback);
  EXPECT_EQ(null.type, "");
  EXPECT_FALSE(read("spec-v1a1.yaml").staged);
  const auto rollback = read("spec-staged-rollback.yaml");
  EXPECT_TRUE(rollback.staged && rollback.rollback);
  EXPECT_FALSE(rollback.booted);
}

TEST(HostStatus, ADeploymentWithoutAnImageIsNotPublished) {
  const auto s = read("spec-rfe-ostree-deployment.yaml");
  ASSERT_TRUE(s.staged);
  EXPECT_TRUE(s.staged->incompatible);
  EXPECT_FALSE(published(s.staged));
  EXPECT_FALSE(published(s.booted));
  EXPECT_TRUE(published(read("spec-ostree-to-bootc.yaml").staged));
}

TEST(HostStatus, AnotherTransportStaysVisible) {
  EXPECT_EQ(published(read("spec-via-local-oci.yaml").booted)->image, "oci:/var/mnt/osupdate");
  EXPECT_EQ(published(read("spec-only-booted.yaml").booted)->image.find("oci:"), std::string::npos);
}

TEST(HostStatus, ANumericLookingVersionIsText) {
  EXPECT_EQ(read("spec-v1a1.yaml").booted->image->version, "20231230.1");
}

const std::string entry =
    R"({"image":{"image":{"image":"quay.io/a/b","transport":"registry"},"imageDigest":"sha256:1","architecture":"amd64"},"incompatible":false,"pinned":false,"softRebootCapable":true,"composefs":{"verity":"x","bootType":"Bls","bootloader":"grub","missingVerityAllowed":false}})";

TEST(HostStatus, ComposefsAndSoftRebootAreSeen) {
  auto s = parse_host_status(
      R"({"apiVersion":"org.containers.bootc/v1","kind":"BootcHost","status":{"readOnly":true,"booted":)" +
      entry + "}}");
  ASSERT_TRUE(s) << s.error().message();
  EXPECT_TRUE(s->composefs());
  EXPECT_TRUE(s->booted->soft_reboot_capable);
  EXPECT_TRUE(s->read_only);
}

TEST(HostStatus, OtherDocumentsAreRefusedWithAReason) {
  const std::string head = R"({"apiVersion":"org.containers.bootc/v1","kind":"BootcHost",)";
  for (
      const std::string& bad :
      {std::string(""), std::string("{"), std::string("[]"), std::string("null"), std::string("{}"),
       std::string(R"({"kind":"Pod","apiVersion":"v1"})"),
       std::string(R"({"kind":"BootcHost","apiVersion":"org.containers.bootc/v9"})"),
       head + R"("status":{"booted":"yes"}})",
       head + R"("status":{"booted":{"image":null,"pinned":false}}})",
       head + R"("status":{"booted":{"incompatible":"no","pinned":false}}})",
       head +
           R"("status":{"booted":{"incompatible":false,"pinned":false,"image":{"imageDigest":"sha256:1","architecture":"x"}}}})"}) {
    auto s = parse_host_status(bad);
    ASSERT_FALSE(s) << bad;
    EXPECT_FALSE(s.error().detail.empty()) << bad;
  }
}

}  // namespace
}  // namespace bootc
