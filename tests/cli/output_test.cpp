#include "cli/output.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace {

using namespace cli;

TEST(Output, JsonHasPlainNumbersAndReadsBackEqual) {
  const boost::json::value v = {{"ratio", 371.5},
                                {"count", 3},
                                {"none", nullptr},
                                {"list", {1, "a\"b"}},
                                {"empty", boost::json::array()}};
  const std::string text = pretty_json(v);
  EXPECT_NE(text.find("\"ratio\": 371.5,"), std::string::npos) << text;
  EXPECT_NE(text.find("\"empty\": []"), std::string::npos) << text;
  EXPECT_EQ(boost::json::parse(text), v);
}

TEST(Output, DigestsAreCutForPeopleAndOnlyWholeOnes) {
  const std::string digest = "sha256:" + std::string(64, 'a');
  EXPECT_EQ(with_short_digests("run " + digest + " on w1"), "run sha256:aaaaaaaaaaaa on w1");
  EXPECT_EQ(with_short_digests("sha256:abc"), "sha256:abc");
  EXPECT_EQ(with_short_digests(digest + digest), "sha256:aaaaaaaaaaaasha256:aaaaaaaaaaaa");
}

TEST(Output, ColumnsAlignByWhatIsSeen) {
  table t({"NAME", "STATE"});
  t.row({"é", toned("Live", tone::good, true)});
  t.row({"longer", "Stale"});
  EXPECT_EQ(t.text(), "NAME    STATE\né       \033[32mLive\033[0m\nlonger  Stale\n");
}

TEST(Output, ColoursNeedATerminal) {
  EXPECT_EQ(toned("Live", tone::good, false), "Live");
}

}  // namespace
