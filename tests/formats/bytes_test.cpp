// Digests, base64, gzip and tar: how bytes are named, written and packed.
#include "formats/base64.hpp"
#include "formats/digest.hpp"
#include "formats/gzip.hpp"
#include "formats/tar.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace formats {
namespace {

using namespace std::string_literals;

TEST(Digest, IsTheHexadecimalSha256OfTheBytes) {
  const std::string abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  EXPECT_EQ(sha256_hex("abc"), abc);
  EXPECT_EQ(digest_of("abc"), "sha256:" + abc);
  EXPECT_EQ(hex_of("\x00\xff\n"s), "00ff0a");
  EXPECT_TRUE(is_digest("sha256:" + abc));
  EXPECT_FALSE(is_digest(abc));
  EXPECT_FALSE(is_digest("sha256:" + abc + "0"));
  EXPECT_FALSE(is_digest("sha256:A" + abc.substr(1)));
}

TEST(Base64, IsReadAsItWasWritten) {
  std::string bytes;
  for (int i = 0; i < 40; ++i) {
    const std::string text = encode_base64(bytes);
    EXPECT_EQ(text.size() % 4, 0u);
    EXPECT_EQ(decode_base64(text), bytes);
    EXPECT_EQ(*base64_decode(text), bytes);
    bytes += static_cast<char>(i * 37);
  }
  EXPECT_EQ(encode_base64("any carnal pleas"), "YW55IGNhcm5hbCBwbGVhcw==");
}

TEST(Base64, MayBeBrokenIntoLinesAndForUsIntoWords) {
  EXPECT_EQ(*base64_decode("YW\r\nJj\n"), "abc");
  EXPECT_EQ(decode_base64("YW\r\nJj\n"), "abc");
  EXPECT_EQ(decode_base64(" Y W\tJj"), "abc");
  EXPECT_EQ(base64_decode("YW Jj").error().text, "illegal base64 data at input byte 2");
}

TEST(Base64, SaysWhereItCannotBeRead) {
  const std::pair<const char*, std::size_t> rows[] = {
      {"Y", 0},   {"YW", 0},   {"YWJ", 0},   {"=", 0},     {"Y===", 1},
      {"YW=", 3}, {"YW=x", 3}, {"YW==x", 4}, {"YWJj*", 4}, {"YWJ=YWJj", 4}};
  for (const auto& [text, at] : rows) {
    EXPECT_EQ(read_base64(text, base64_gaps::lines).error(), at) << text;
    EXPECT_FALSE(decode_base64(text)) << text;
  }
}

TEST(Gzip, IsReadAsItWasWritten) {
  const std::string text(100'000, 'x');
  for (const auto& form : {gzip_form{}, gzip_form{gzip_form::effort::most, "a comment"}}) {
    const std::string packed = gzip(text, form);
    EXPECT_LT(packed.size(), 1'000u);
    const auto back = gunzip(packed, text.size() + 1);
    EXPECT_EQ(back.trouble, gzip_trouble::none);
    EXPECT_EQ(back.text, text);
  }
}

TEST(Gzip, SaysWhyItCannotBeRead) {
  const std::string packed = gzip(std::string(10'000, 'x'));
  EXPECT_EQ(gunzip(packed, 9'999).trouble, gzip_trouble::too_big);
  EXPECT_EQ(gunzip(packed.substr(0, packed.size() - 1), 20'000).trouble, gzip_trouble::cut);
  EXPECT_EQ(gunzip("", 20'000).trouble, gzip_trouble::cut);
  EXPECT_EQ(gunzip("no gzip at all", 20'000).trouble, gzip_trouble::damaged);
  std::string other = packed;
  other[other.size() - 5] ^= 1;  // the checksum
  EXPECT_EQ(gunzip(other, 20'000).trouble, gzip_trouble::damaged);
}

TEST(Gzip, IsReadAsItIsAskedForMemberAfterMember) {
  const std::string packed = gzip("one") + gzip("two") + "rest";
  gzip_reader in(packed, 100);
  char bytes[4] = {};
  EXPECT_EQ(in.read(bytes, 4), 4u);
  EXPECT_EQ(std::string_view(bytes, 4), "onet");
  EXPECT_EQ(in.read(bytes, 4), 2u);
  EXPECT_EQ(in.read(bytes, 4), 0u);
  EXPECT_EQ(in.trouble(), gzip_trouble::none);
  gzip_reader small(packed, 5);
  EXPECT_EQ(small.read(bytes, 4), 4u);
  EXPECT_FALSE(small.read(bytes, 4));
  EXPECT_EQ(small.trouble(), gzip_trouble::too_big);
  EXPECT_FALSE(small.read(bytes, 1));
}

TEST(Tar, IsReadAsItWasWritten) {
  const std::vector<std::pair<std::string, std::string>> files = {
      {"a", ""}, {"dir/" + std::string(150, 'n'), "text"}, {"b", std::string(1'000, 'b')}};
  tar_writer out(1'700'000'000);
  for (const auto& [name, data] : files) out.file(name, data);
  const std::string packed = gzip(std::move(out).finish());
  tar_reader in(packed, 1u << 20);
  tar_entry e;
  for (const auto& [name, data] : files) {
    ASSERT_EQ(in.next(e), tar_reader::step::entry);
    EXPECT_EQ(e.name, name);
    EXPECT_EQ(e.kind, '0');
    EXPECT_EQ(e.size_bytes, data.size());
    std::string body;
    EXPECT_TRUE(in.read_body(e.size_bytes, body));
    EXPECT_EQ(body, data);
  }
  EXPECT_EQ(in.next(e), tar_reader::step::end);
}

TEST(Tar, SaysWhyItCannotBeRead) {
  tar_writer out(0);
  out.file("a", std::string(1'000, 'a'));
  const std::string tar = std::move(out).finish();
  const auto trouble = [](const std::string& packed, std::uint64_t limit = 1u << 20) {
    tar_reader in(packed, limit);
    tar_entry e;
    std::string body;
    for (;;) {
      const auto step = in.next(e);
      if (step != tar_reader::step::entry) return in.trouble();
      if (!in.read_body(e.size_bytes, body)) return gzip_trouble::cut;
    }
  };
  EXPECT_EQ(trouble(gzip(tar)), gzip_trouble::none);
  EXPECT_EQ(trouble(gzip(tar), 1'000), gzip_trouble::cut);
  EXPECT_EQ(trouble(gzip(tar), 100), gzip_trouble::too_big);
  EXPECT_EQ(trouble(gzip(tar.substr(0, 100))), gzip_trouble::cut);
  EXPECT_EQ(trouble(gzip(tar.substr(0, 600))), gzip_trouble::cut);
  EXPECT_EQ(trouble(gzip(std::string(512, 'x'))), gzip_trouble::damaged);
}

}  // namespace
}  // namespace formats
