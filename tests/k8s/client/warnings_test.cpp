#include "reactor/http/warnings.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace k8s {
namespace {

using texts = std::vector<std::string>;

texts of(std::string field) {
  reactor::http::headers fields;
  fields.add("warning", std::move(field));
  return reactor::http::warnings_in(fields);
}

TEST(Warnings, AreReadAsApiServersWriteThem) {
  EXPECT_EQ(of(R"(299 - "v1 Endpoints is deprecated")"), texts{"v1 Endpoints is deprecated"});
  EXPECT_EQ(of(R"(299 - "a \"b\" \\ c")"), texts{R"(a "b" \ c)"});
  EXPECT_EQ(of(R"(299 - "a, b", 299 agent "c")"), (texts{"a, b", "c"}));
  EXPECT_EQ(of(R"(299 - "a" "Wed, 21 Oct 2015 07:28:00 GMT", 299 - "b")"), (texts{"a", "b"}));
  EXPECT_EQ(of("299 - \"a\x1b[31m\""), texts{"a[31m"});
}

TEST(Warnings, OtherCodesAndBrokenFieldsAreLeftOut) {
  for (const char* field : {"", "299", "299 -", "299 - a", "299 - \"a", "199 - \"a\"",
                            "2999 - \"a\"", "299 \"a\"", "299 - \"\"", "deprecated"})
    EXPECT_EQ(of(field), texts{}) << field;
  EXPECT_EQ(of("299 - \"a\", 199 - \"b\""), texts{"a"});
}

TEST(Warnings, OfSeveralFieldsAreAllRead) {
  reactor::http::headers fields;
  fields.add("Warning", "299 - \"a\"");
  fields.add("Date", "299 - \"no\"");
  fields.add("Warning", "299 - \"b\"");
  EXPECT_EQ(reactor::http::warnings_in(fields), (texts{"a", "b"}));
}

}  // namespace
}  // namespace k8s
