#include "formats/glob.hpp"

#include <gtest/gtest.h>

#include <string>

namespace formats {
namespace {

TEST(Glob, StarsStandForAnyLetters) {
  EXPECT_TRUE(fits_glob("*", ""));
  EXPECT_TRUE(fits_glob("v1.*", "v1.2.3"));
  EXPECT_TRUE(fits_glob("*-x86_64", "v1-x86_64-x86_64"));
  EXPECT_TRUE(fits_glob("a*b*c", "a--b-b--c"));
  EXPECT_FALSE(fits_glob("a*b*c", "a--c"));
  EXPECT_FALSE(fits_glob("v1", "v10"));
  EXPECT_FALSE(fits_glob("", "v"));
}

TEST(Glob, AQuestionMarkStandsForOneLetter) {
  EXPECT_TRUE(fits_glob("node-?", "node-7"));
  EXPECT_FALSE(fits_glob("node-?", "node-"));
  EXPECT_FALSE(fits_glob("node-?", "node-12"));
  EXPECT_TRUE(fits_glob("*-??", "node-12"));
  EXPECT_FALSE(fits_glob("?", ""));
}

TEST(Glob, ManyStarsTakeNoLongerThanPatternTimesText) {
  EXPECT_FALSE(fits_glob("*a*a*a*a*b", std::string(5'000, 'a')));
}

}  // namespace
}  // namespace formats
