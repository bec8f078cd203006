#include "reactor/plain/printable.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <gtest/gtest.h>

#include <string>

namespace {

using namespace std::string_literals;

using namespace reactor;

std::string repeated(std::string_view text, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += text;
  return out;
}

TEST(Printable, LeavesWhatPeopleWriteAsItIs) {
  for (const char* text : {"", "plain text, {\"quoted\"} \\n", "Zürich → 東京 한국어 🎉",
                           "e\u0301a\u0308", "שלום עולם", "สวัสดี", "नमस्ते"}) {
    EXPECT_EQ(printable(text), text);
    EXPECT_EQ(printable_lines(text), text);
    EXPECT_EQ(printable_json("\"" + std::string(text) + "\""), "\"" + std::string(text) + "\"");
  }
}

TEST(Printable, ShowsWhatATerminalWouldObeyAsAnEscape) {
  const std::pair<std::string, std::string> table[] = {
      {"\x1b]0;owned\x07", "\\u001b]0;owned\\u0007"},
      {"a\x7f", "a\\u007f"},
      {"\u009b31m\u0085", "\\u009b31m\\u0085"},
      {"\x9b"
       "31m\xff\xc2",
       "\\x9b31m\\xff\\xc2"},
      {"\xc0\x9b\xed\xa0\x80", "\\xc0\\x9b\\xed\\xa0\\x80"},
      {"\u202egnp.exe\u202c\u2066x\u2069", "\\u202egnp.exe\\u202c\\u2066x\\u2069"},
      {"a\u200bb\u200d\ufeff\u00ad\u2060\u3164", "a\\u200bb\\u200d\\ufeff\\u00ad\\u2060\\u3164"},
      {"a\u2028b\u2029c", "a\\u2028b\\u2029c"},
      {"\U000e0041\uffff", "\\U000e0041\\uffff"},
      {"a\0b"s, "a\\u0000b"},
  };
  for (const auto& [raw, fit] : table) {
    EXPECT_EQ(printable(raw), fit);
    EXPECT_EQ(printable_lines(raw), fit);
  }
}

TEST(Printable, IsOneLineUnlessSeveralAreAllowed) {
  EXPECT_EQ(printable("a\r\nb\tc\rd"), "a  b c d");
  EXPECT_EQ(printable_lines("a\r\nb\tc\rd\n"), "a\nb\tc\\u000dd\n");
}

TEST(Printable, CutsOnACharacter) {
  EXPECT_EQ(printable("abcdefgh", 8), "abcdefgh");
  EXPECT_EQ(printable("abcdefghi", 8), "abcde…");
  EXPECT_EQ(printable("東京東京", 8), "東…");
  EXPECT_EQ(printable(std::string(10, '\x1b'), 8), "\\u001…");
}

TEST(Printable, BoundsTheMarksOnOneCharacter) {
  const std::string flood = "Z" + repeated("\u0301", 40);
  EXPECT_EQ(printable(flood).substr(0, 1 + 16 + 6), "Z" + repeated("\u0301", 8) + "\\u0301");
  EXPECT_EQ(printable("Z" + repeated("\u0301", 8)), "Z" + repeated("\u0301", 8));
}

TEST(Printable, LeavesItsOwnResultAsItIs) {
  std::string every;
  for (std::uint32_t c = 0; c < 0x3000; ++c) {
    if (c < 0x80) {
      every += static_cast<char>(c);
    } else if (c < 0x800) {
      every += static_cast<char>(0xc0 | c >> 6);
      every += static_cast<char>(0x80 | (c & 0x3f));
    } else {
      every += static_cast<char>(0xe0 | c >> 12);
      every += static_cast<char>(0x80 | (c >> 6 & 0x3f));
      every += static_cast<char>(0x80 | (c & 0x3f));
    }
  }
  for (int byte = 0x80; byte < 0x100; ++byte) every += static_cast<char>(byte);
  const std::string line = printable(every, 1'000'000), lines = printable_lines(every);
  EXPECT_EQ(printable(line, 1'000'000), line);
  EXPECT_EQ(printable_lines(lines), lines);
  EXPECT_EQ(printable(every, 100), printable(printable(every, 100), 100));
  for (const unsigned char c : line) EXPECT_FALSE(c < 0x20 || c == 0x7f) << int(c);
  for (std::size_t i = 0; i + 1 < line.size(); ++i) {
    const bool c1 = line[i] == '\xc2' && static_cast<unsigned char>(line[i + 1]) < 0xa0;
    EXPECT_FALSE(c1);
  }
}

TEST(Printable, CountsTheColumnsThatATerminalGives) {
  EXPECT_EQ(columns("Live"), 4u);
  EXPECT_EQ(columns("é"), 1u);
  EXPECT_EQ(columns("e\u0301"), 1u);
  EXPECT_EQ(columns("東京"), 4u);
  EXPECT_EQ(columns("🎉"), 2u);
  EXPECT_EQ(first_columns("東京tower", 5), "東京t");
  EXPECT_EQ(first_columns("東京", 3), "東");
}

TEST(Printable, JsonKeepsItsValueAndShowsNothingUnfit) {
  const boost::json::value raw = {
      {"name\u202e", "\x1b]0;x\x07\u009b31m\x7f\u2028\U000e0041 \"q\" \\ Zürich"},
      {"list", {1, "a\nb", nullptr}}};
  const std::string text = printable_json(boost::json::serialize(raw));
  EXPECT_EQ(boost::json::parse(text), raw);
  EXPECT_EQ(printable(text), text);
  EXPECT_NE(text.find("Zürich"), std::string::npos);
  EXPECT_NE(text.find("\\u009b31m\\u007f\\u2028\\udb40\\udc41"), std::string::npos) << text;
}

}  // namespace
