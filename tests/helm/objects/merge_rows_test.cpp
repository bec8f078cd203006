#include "tests/helm/objects/merge_answers.hpp"

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace helm::objects::testing {
namespace {

namespace json = boost::json;

TEST(MergeRows, AreWhatApimachineryAnswers) {
  std::ifstream in(WINDLASS_SOURCE_DIR "/tests/helm/data/objects.jsonl");
  int rows = 0, failing = 0;
  for (std::string line; std::getline(in, line); ++rows) {
    const json::object row = json::parse(line).as_object();
    const merge_answer a = answer(row);
    EXPECT_EQ(a.out, std::string(row.at("out").as_string())) << line;
    EXPECT_EQ(a.err, std::string(row.at("err").as_string())) << line;
    failing += !a.err.empty();
  }
  EXPECT_GE(rows, 300);
  EXPECT_GE(failing, 10);
}

}  // namespace
}  // namespace helm::objects::testing
