#include "k8s/informer/selector.hpp"

#include "k8s/client/wire.hpp"

#include <gtest/gtest.h>

namespace k8s {
namespace {

label_selector read(std::string_view text) {
  auto s = label_selector::parse(text);
  EXPECT_TRUE(s) << text << ": " << s.error();
  return s ? *s : label_selector::nothing();
}

TEST(Selector, MatchesItsStringForm) {
  const string_map labels{{"app", "web"}, {"tier", "front"}, {"empty", ""}};
  for (const char* yes : {"", "app=web", "app==web", "app = web , tier=front", "app!=db",
                          "missing!=x", "app in (db,web)", "app in ( web )", "tier notin (back)",
                          "app", "!missing", "empty=", "empty in ()"})
    EXPECT_TRUE(read(yes).matches(labels)) << yes;
  for (const char* no : {"app=db", "app!=web", "missing", "!app", "app in (db)",
                         "app notin (web,db)", "in", "app=web,tier=back"})
    EXPECT_FALSE(read(no).matches(labels)) << no;
}

TEST(Selector, NamesWhatIsWrong) {
  const auto problem = [](std::string_view text) {
    const auto s = label_selector::parse(text);
    return s ? std::string("accepted") : s.error();
  };
  EXPECT_NE(problem("a=b=c").find("cannot read"), std::string::npos);
  EXPECT_NE(problem("-a=b").find("\"-a\""), std::string::npos);
  EXPECT_NE(problem("a=-b").find("\"-b\""), std::string::npos);
  EXPECT_NE(problem("a in b").find("'('"), std::string::npos);
  EXPECT_NE(problem("a in (b").find("not closed"), std::string::npos);
  EXPECT_NE(problem("a,").find("empty"), std::string::npos);
  EXPECT_NE(problem("Up_Per/a=b").find("DNS"), std::string::npos);
  EXPECT_NE(problem(std::string(64, 'a')).find("63"), std::string::npos);
}

TEST(Selector, TextReadsBackAsTheSame) {
  for (const char* text : {"app=web", "app!=web", "app in (a,b)", "app notin (a,b)", "!app", "app",
                           "a=1,b in (2,3),!c", ""})
    EXPECT_EQ(read(read(text).text()), read(text)) << text;
}

reactor::result<label_selector, std::string> from_json(std::string_view json) {
  const auto v = shared_parser().parse(json);
  EXPECT_TRUE(v);
  return label_selector::parse(*v);
}

TEST(Selector, ReadsTheObjectForm) {
  const auto s = from_json(
      R"({"matchLabels":{"app":"web"},"matchExpressions":[{"key":"tier","operator":"In","values":["a","b"]},
      {"key":"old","operator":"DoesNotExist"},{"key":"zone","operator":"Exists"},{"key":"x","operator":"NotIn","values":["y"]}]})");
  ASSERT_TRUE(s) << s.error();
  EXPECT_EQ(s->text(), "app=web,!old,tier in (a,b),x!=y,zone");
  EXPECT_TRUE(s->matches({{"app", "web"}, {"tier", "b"}, {"zone", "1"}}));
  EXPECT_FALSE(s->matches({{"app", "web"}, {"tier", "b"}, {"zone", "1"}, {"old", ""}}));
}

TEST(Selector, RefusesBadExpressionsByName) {
  EXPECT_NE(
      from_json(R"({"matchExpressions":[{"key":"a","operator":"Near"}]})").error().find("\"Near\""),
      std::string::npos);
  EXPECT_NE(from_json(R"({"matchExpressions":[{"key":"a","operator":"In"}]})")
                .error()
                .find("needs values"),
            std::string::npos);
  EXPECT_NE(from_json(R"({"matchExpressions":[{"key":"a","operator":"Exists","values":["b"]}]})")
                .error()
                .find("no values"),
            std::string::npos);
  EXPECT_NE(from_json(R"({"matchLabels":{"a b":"c"}})").error().find("\"a b\""), std::string::npos);
}

TEST(Selector, AbsentSelectsNothingAndEmptySelectsAll) {
  EXPECT_FALSE(label_selector::parse(wire_value())->matches({}));
  EXPECT_TRUE(from_json("{}")->matches({{"a", "b"}}));
  EXPECT_TRUE(from_json("null")->is_nothing());
}

}  // namespace
}  // namespace k8s
