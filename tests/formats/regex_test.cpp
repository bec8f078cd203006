#include "formats/go/regex.hpp"

#include <gtest/gtest.h>

namespace formats {
namespace {

bool matches(std::string_view p, std::string_view text) {
  auto compiled = regex::compile(p);
  EXPECT_TRUE(compiled) << p;
  return compiled && compiled->found_in(text);
}

TEST(Regex, IsFoundWhereGoFindsIt) {
  EXPECT_TRUE(matches("^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$", "Abc_d"));
  EXPECT_FALSE(matches("^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$", "Abc,"));
  EXPECT_TRUE(matches("b+", "abbbc"));
  EXPECT_TRUE(matches("^(a|bc){2,3}$", "abcbc"));
  EXPECT_FALSE(matches("^(a|bc){2,3}$", "a"));
  EXPECT_TRUE(matches("^\\d{3}-\\w*$", "123-x_"));
  EXPECT_TRUE(matches("^[^/]+$", "ü"));
  EXPECT_FALSE(matches("^.$", "\n"));
  EXPECT_TRUE(matches("^$", ""));
  EXPECT_TRUE(matches("\\bx\\b", "a x b"));
  EXPECT_TRUE(matches("^(?:[[:digit:]]+|none)$", "none"));
}

TEST(Regex, SaysInGosWordsWhatItCannotRead) {
  for (const char* bad : {"(", "[", "a{2,1}", "*", "\\", "(?=a)", "[z-a]", "a{2000}", "\\q"}) {
    std::string why;
    EXPECT_FALSE(regex::compile(bad, &why)) << bad;
    EXPECT_TRUE(why.starts_with("error parsing regexp: ")) << bad << ": " << why;
  }
  std::string why;
  EXPECT_FALSE(regex::compile("x[", &why));
  EXPECT_EQ(why, "error parsing regexp: missing closing ]: `[`");
  for (const std::string name : {"(?<é>", "(?P<é>", "(?P<aé>", "(?<-é>", "(?<a-b>", "(?<>"}) {
    EXPECT_FALSE(regex::compile(name + "a)", &why)) << name;
    EXPECT_EQ(why, "error parsing regexp: invalid named capture: `" + name + "`");
  }
}

// RE2 counts bytes here.
TEST(Regex, MatchesNothingBetweenTheBytesOfACharacter) {
  EXPECT_FALSE(matches("\\B", "a\u00e9a"));
  EXPECT_FALSE(matches("\\B$|a\\B", "a\u20aca"));
  EXPECT_TRUE(matches("\\B", "\u00e9"));
  EXPECT_EQ(regex::compile("\\Bb?")->place_in("a\u00e9\u20acb"), 3u);
  EXPECT_EQ(regex::compile("\\B")->place_in("a\xe2\x82"), 2u);
  for (const char* byte : {"\\C", "a|\\C+", "x\\C(\u00e9)"}) {
    std::string why;
    EXPECT_FALSE(regex::compile(byte, &why)) << byte;
    EXPECT_EQ(why, "error parsing regexp: invalid escape sequence: `\\C`");
  }
  EXPECT_TRUE(matches("^\\Q\\C\\E$", "\\C"));
}

TEST(Regex, TakesLinearTimeOnLongTexts) {
  auto p = regex::compile("^(a*)*$");
  ASSERT_TRUE(p);
  EXPECT_FALSE(p->found_in(std::string(50'000, 'a') + "b"));
}

}  // namespace
}  // namespace formats
