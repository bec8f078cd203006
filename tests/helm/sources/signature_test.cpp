#include "helm/sources/signature.hpp"

#include "formats/digest.hpp"
#include "helm/sources/locate.hpp"
#include "helm/sources/provenance.hpp"
#include "reactor/system/files.hpp"
#include "tests/helm/sources/test_signer.hpp"

#include <gmock/gmock.h>

#include <filesystem>

namespace helm::sources {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

// Signed by `helm package --sign` with a key made for this test.
const std::string data = WINDLASS_SOURCE_DIR "/tests/helm/sources/data/";
const std::string keyring = data + "signer.gpg";

std::string file(const std::string& name) {
  auto text = reactor::load_file(data + name, 1u << 20);
  EXPECT_TRUE(text);
  return text ? *text : "";
}

class Signature : public testing::Test {
protected:
  void SetUp() override {
    if (std::system("command -v gpg >/dev/null") != 0) GTEST_SKIP() << "there is no gpg here";
  }
  std::string verify(const std::string& name, const std::string& archive, const std::string& prov,
                     const std::string& ring = keyring) {
    auto r = verify_chart(name, archive, prov, ring);
    return r ? "" : r.error().text;
  }
  std::string archive = file("sub-0.1.0.tgz"), prov = file("sub-0.1.0.tgz.prov");
};

TEST_F(Signature, OfHelmIsAccepted) {
  auto r = verify_chart("sub-0.1.0.tgz", archive, prov, keyring);
  ASSERT_TRUE(r) << r.error().text;
  EXPECT_THAT(*r, ElementsAre("Signed by: Test Signer <signer@example.com>",
                              StartsWith("Using Key With Fingerprint: A5A4606D641CD9C4"),
                              "Chart Hash Verified: sha256:" + formats::sha256_hex(archive)));
}

TEST_F(Signature, DoesNotCoverAnotherArchive) {
  EXPECT_EQ(
      verify("sub-0.1.0.tgz", archive + "x", prov),
      "sha256 sum does not match for sub-0.1.0.tgz: \"sha256:" + formats::sha256_hex(archive) +
          "\" != \"sha256:" + formats::sha256_hex(archive + "x") + "\"");
  EXPECT_EQ(verify("x.tgz", archive, prov),
            "provenance does not contain a SHA for a file named \"x.tgz\"");
}

TEST_F(Signature, DoesNotSurviveAChangedText) {
  std::string changed = prov;
  changed.replace(changed.find("version: 0.1.0"), 14, "version: 0.1.1");
  EXPECT_THAT(verify("sub-0.1.0.tgz", archive, changed), StartsWith("openpgp: invalid signature"));
}

TEST_F(Signature, CountsOnlyForItsOwnBlock) {
  // What stands outside is not signed and is not believed.
  const std::string forged = "...\nfiles:\n  x.tgz: sha256:" + formats::sha256_hex(archive) + "\n";
  EXPECT_EQ(verify("x.tgz", archive, forged + prov + "\n" + forged),
            "provenance does not contain a SHA for a file named \"x.tgz\"");
  EXPECT_EQ(verify("sub-0.1.0.tgz", archive, forged + prov + "\n" + forged), "");
}

TEST_F(Signature, OfAStrangerIsRefused) {
  const std::string empty = testing::TempDir() + "windlass-empty.gpg";
  ASSERT_TRUE(reactor::store_file(empty, ""));
  EXPECT_EQ(verify("sub-0.1.0.tgz", archive, prov, empty),
            "openpgp: signature made by unknown entity");
  std::filesystem::remove(empty);
  EXPECT_EQ(verify("sub-0.1.0.tgz", archive, prov, "/nowhere.gpg"),
            "failed to load keyring: open /nowhere.gpg: no such file or directory");
}

TEST_F(Signature, TakesKeysBinaryAndArmoredAndNamesWhatHasNone) {
  const test_signer by("jane");
  const std::string signed_text = by.sign("sub", "0.1.0", archive);
  const std::string sum = formats::digest_of(archive);
  const std::string binary = by.public_key() + file("signer.gpg"), armored = by.armored_key();
  for (const std::string& keys : {binary, armored, armored + armored}) {
    const auto r = check_signer("sub-0.1.0.tgz", sum, signed_text, keys);
    ASSERT_TRUE(r) << r.error().text;
    EXPECT_THAT(r->identities, ElementsAre("jane <jane@example.com>"));
  }
  EXPECT_EQ(check_signer("sub-0.1.0.tgz", sum, signed_text, file("signer.gpg")).error().text,
            "openpgp: signature made by unknown entity");
  EXPECT_EQ(check_signer("sub-0.1.0.tgz", sum, signed_text, "no key at all").error().text,
            "openpgp: the keyring has no key");
}

TEST_F(Signature, IsGivenUpWhenGnuPGTakesTooLong) {
  const auto keys = load_keyring(keyring);
  ASSERT_TRUE(keys);
  const auto by = check_signature(prov, *keys, std::chrono::milliseconds(0));
  ASSERT_FALSE(by);
  EXPECT_THAT(by.error().text, HasSubstr("GnuPG takes too long for these keys"));
}

TEST_F(Signature, NeedsABlock) {
  EXPECT_EQ(verify("sub-0.1.0.tgz", archive, "hello\n"),
            "failed to decode signature: signature block not found");
  EXPECT_EQ(verify("sub-0.1.0.tgz", archive, prov.substr(0, prov.size() - 40)),
            "failed to decode signature: signature block not found");
}

TEST_F(Signature, NeedsTheSecretKeyToBeMade) {
  EXPECT_EQ(sign("text", keyring, "Test Signer", {}).error().text, "private key not found");
}

TEST(SignedText, HoldsTheSumsBehindTheChart) {
  metadata m;
  m.api_version = "v2";
  m.name = "sub";
  m.version = "0.1.0";
  const auto text = write_signed_text(m, "sub-0.1.0.tgz", "abc");
  ASSERT_TRUE(text);
  EXPECT_EQ(*text,
            "apiVersion: v2\nname: sub\nversion: 0.1.0\n\n...\nfiles:\n  sub-0.1.0.tgz: sha256:" +
                formats::sha256_hex("abc") + "\n");
  auto sums = read_signed_text(*text);
  ASSERT_TRUE(sums);
  EXPECT_EQ(sums->at("sub-0.1.0.tgz"), "sha256:" + formats::sha256_hex("abc"));
  EXPECT_EQ(read_signed_text("a: b\n").error().text, "message block must have at least two parts");
  EXPECT_THAT(read_signed_text("a: b: c\n...\nfiles: {}\n").error().text,
              StartsWith("error converting YAML"));
  EXPECT_THAT(read_signed_text("a: b\n...\nfiles: 1\n").error().text,
              StartsWith("error unmarshaling JSON"));
}

}  // namespace
}  // namespace helm::sources
