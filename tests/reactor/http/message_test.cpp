#include "reactor/http/message.hpp"

#include "reactor/http/date.hpp"

#include <gtest/gtest.h>

namespace reactor::http {
namespace {

TEST(Headers, CompareNamesWithoutCase) {
  headers h{{"Content-Type", "a"}, {"X-Name", "b"}, {"content-type", "c"}};
  EXPECT_EQ(h.get("CONTENT-TYPE"), "a");
  EXPECT_TRUE(h.has("x-name"));
  EXPECT_FALSE(h.has("x-nam"));
  EXPECT_EQ(h.get("missing"), "");
  h.set("Content-type", "d");
  EXPECT_EQ(h.size(), 2u);
  EXPECT_EQ(h.get("content-type"), "d");
  h.set("New", "e");
  EXPECT_EQ(h.get("new"), "e");
  h.remove("CONTENT-TYPE");
  EXPECT_FALSE(h.has("Content-Type"));
}

TEST(Target, SplitsPathAndQuery) {
  const target_parts parts = split_target("/api/v1?watch=1&x=a%20b+c&flag&=v&&y=%zz%4#frag");
  EXPECT_EQ(parts.path, "/api/v1");
  EXPECT_EQ(parts.get("watch"), "1");
  EXPECT_EQ(parts.get("x"), "a b c");
  EXPECT_EQ(parts.get("flag"), "");
  EXPECT_EQ(parts.get(""), "v");
  EXPECT_EQ(parts.get("y"), "%zz%4");
  EXPECT_EQ(parts.get("frag"), std::nullopt);
  EXPECT_EQ(parts.query.size(), 5u);
  EXPECT_EQ(split_target("").path, "");
  EXPECT_TRUE(split_target("/x?").query.empty());
}

TEST(Target, EncodesAllButUnreservedCharacters) {
  EXPECT_EQ(encode_component("aZ0-._~"), "aZ0-._~");
  EXPECT_EQ(encode_component("a b/c=d&\xc3\xa4"), "a%20b%2Fc%3Dd%26%C3%A4");
  std::string all;
  for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
  EXPECT_EQ(decode_component(encode_component(all)), all);
  EXPECT_EQ(split_target("/?k=" + encode_component(all)).get("k"), all);
}

TEST(Date, IsWrittenAndReadAsHttpHasIt) {
  const wall_time t(std::chrono::seconds(784'111'777));
  EXPECT_EQ(format_date(t), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(parse_date("Sun, 06 Nov 1994 08:49:37 GMT"), t);
  EXPECT_EQ(format_date(wall_time(std::chrono::seconds(951'782'400))),
            "Tue, 29 Feb 2000 00:00:00 GMT");
}

TEST(Date, InAnotherFormIsNone) {
  for (const char* text : {"", "now", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
                           "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 31 Feb 1994 08:49:37 GMT",
                           "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Now 1994 08:49:37 GMT",
                           "Sun, 06 Nov 9999 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT "})
    EXPECT_FALSE(parse_date(text)) << text;
}

}  // namespace
}  // namespace reactor::http
