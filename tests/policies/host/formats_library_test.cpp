// What policies have of formats/: versions, ranges, digests.
#include "run.hpp"

namespace policies {
namespace {

TEST(PolicyVersions, AreTakenApart) {
  EXPECT_EQ(text_of("return semver.parse('v1.34.10-gs2+a.b')"),
            R"({"build":"a.b","major":1,"minor":34,"patch":10,"prerelease":"gs2"})");
  EXPECT_EQ(text_of("return { a = semver.parse('1.34'), b = semver.parse('01.2.3'), "
                    "c = semver.parse('') }"),
            "[]");
}

TEST(PolicyVersions, AreComparedByPrecedence) {
  EXPECT_EQ(text_of("return { semver.compare('35.10.0', '35.2.0'), "
                    "semver.compare('1.27.3-gs10', '1.27.3-gs9'), "
                    "semver.compare('1.0.0+a', 'v1.0.0+b') }"),
            "[1,-1,0]");
}

TEST(PolicyVersions, SayWhichArgumentIsNone) {
  EXPECT_EQ(text_of("local x = semver.compare('1.0.0', '1.0') return x"),
            "!test/main.lua:1: semver.compare: argument 2: '1.0' is no version of three numbers");
  EXPECT_EQ(text_of("local x = semver.compare('1.0.0') return x"),
            "!test/main.lua:1: semver.compare: argument 2: expected a string, got nil");
}

TEST(PolicyVersions, AreInRanges) {
  EXPECT_EQ(text_of("return { semver.satisfies('34.4.1', '>= 34.2.0 < 35.0.0'), "
                    "semver.satisfies('12.5.0', '> 12.5.0, < 13.0.0'), "
                    "semver.satisfies('34.0.0-e2e.h1', '< 34.0.0') }"),
            "[true,false,true]");
  EXPECT_EQ(text_of("local x = semver.satisfies('1.0.0', '>= 1.0.0 ~2.0.0') return x"),
            "!test/main.lua:1: semver.satisfies: '>= 1.0.0 ~2.0.0': character 10: expected a "
            "version of three numbers, or a wildcard such as 12.* or 1.x");
  EXPECT_EQ(text_of("local why, at = semver.problem('>= 1.0.0 |')\nreturn { why, at, "
                    "semver.problem('1.x') }"),
            R"(["expected a version",10])");
  EXPECT_EQ(text_of("return { semver.overlap('>= 1.3.0', '< 1.3.0'), "
                    "semver.overlap('>= 1.3.0', '<= 1.3.0') }"),
            "[false,true]");
}

TEST(PolicyDigests, AreSha256) {
  EXPECT_EQ(text_of("return sha256('abc')"),
            R"("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")");
}

TEST(PolicyFormats, AreCountedByTheBudget) {
  // As many calls as fit, of the longest texts each takes: the time is bounded because the calls
  // are.
  const std::string prelude =
      "local long = ('9'):rep(120)\nlocal range = '>= 1.0.0-' .. long .. ' || > 2.0.0-' .. long\n";
  for (const char* call :
       {"semver.compare('1.0.0-a' .. long, '1.0.0-a' .. long)", "semver.satisfies('1.0.0', range)",
        "semver.overlap(range, range)", "sha256(('x'):rep(100000))"}) {
    const evaluated e =
        evaluate(prelude + "for i = 1, 1e9 do local _ = " + call + " end", 1'000'000);
    EXPECT_EQ(e.code, make_error_code(reactor::errc::limit)) << call << e.error;
  }
  EXPECT_EQ(evaluate(prelude + "for i = 1, 2000 do semver.overlap(range, range) end", 1'000'000)
                .answer.has_value(),
            false);
}

TEST(PolicyFormats, CannotBeChanged) {
  EXPECT_EQ(text_of("semver.compare = nil"),
            "!test/main.lua:1: semver cannot be changed by a policy");
}

}  // namespace
}  // namespace policies
